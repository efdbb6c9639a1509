"""Every emulator passes every case, but for the differences it is known for."""

from __future__ import annotations

from collections import Counter

import pytest

from termnode.terminal import engines
from termnode.terminal.engine import Engine
from tests.support.vt_case import Case, run
from tests.support.vt_cases import CASES, KNOWN_DIFFERENCES

ENGINES = engines.available()


@pytest.mark.parametrize("case", CASES, ids=repr)
@pytest.mark.parametrize("name", ENGINES)
def test_case(name: str, case: Case) -> None:
    differences = run(case, engines.make(name))
    reason = KNOWN_DIFFERENCES[name].get(case.name)
    if reason is None:
        assert not differences
    else:
        assert differences, f"passes now: take it from the table of differences ({reason})"


def test_names_are_unique_and_the_table_names_cases() -> None:
    names = Counter(case.name for case in CASES)
    assert max(names.values()) == 1
    assert all(known.keys() <= names.keys() for known in KNOWN_DIFFERENCES.values())


@pytest.mark.parametrize("name", ENGINES)
def test_the_cases_notice_an_engine_that_drops_input(name: str) -> None:
    """The suite itself is tested: an engine that loses its first feed fails many cases."""

    def broken(cols: int, rows: int, scrollback: int = 100) -> Engine:
        engine = engines.make(name)(cols, rows, scrollback)
        engine.feed(b"\x1b]2;")  # an unfinished title swallows all that follows
        return engine

    failing = [case for case in CASES if run(case, broken)]
    assert len(failing) > len(CASES) // 3
