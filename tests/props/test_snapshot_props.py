"""Whoever takes in what is newer at each look knows the screen, and history, from that alone."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from termnode.service.looking.snapshot_part import Part, choose, read
from termnode.service.looking.snapshot_reply import Listed, fill, styled_line
from termnode.service.state import Result
from termnode.terminal import engines
from termnode.terminal.engine import Engine
from termnode.terminal.screen_log import ScreenLog
from tests.support.vt_streams import stream

COLS, ROWS = 20, 5
LINES = b"".join(b"%d\r\n" % n for n in range(ROWS * 2))

looks = st.lists(stream | st.just(LINES), min_size=1, max_size=5)

Known = dict[int, object]
Choose = Callable[[ScreenLog, int, int], Part]


def newer(log: ScreenLog, rows: int, since: int) -> Part:
    return choose(log, rows, {"since": since})


def given_lines(engine: Engine, log: ScreenLog, part: Part) -> list[Result]:
    form = Listed(styled_line, styled=True)
    assert fill(form, read(engine, log, part, styled=True)) is None
    lines = form.result()["lines"]
    assert isinstance(lines, list)
    return lines


def follow(emulator: str, outputs: list[bytes], select: Choose) -> None:
    engine, log = engines.make(emulator)(COLS, ROWS, 1000), ScreenLog()
    known: Known = {}
    since = 0
    try:
        for revision, output in enumerate(outputs, 1):
            engine.feed(output)
            log.sync(engine, revision)
            part = select(log, ROWS, since)
            if part.full:
                known.clear()
            known |= {int(str(row["line"])): row["runs"] for row in given_lines(engine, log, part)}
            since = revision
            shown = given_lines(engine, log, Part(range(log.base, log.base + ROWS)))
            assert [known.get(int(str(row["line"])), []) for row in shown] == [
                row["runs"] for row in shown
            ]
    finally:
        engine.close()


@pytest.mark.parametrize("emulator", engines.available())
@settings(max_examples=200, deadline=None)
@given(outputs=looks)
def test_what_is_newer_makes_up_the_screen(emulator: str, outputs: list[bytes]) -> None:
    follow(emulator, outputs, newer)


def test_a_line_left_out_is_noticed() -> None:
    def forgetful(log: ScreenLog, rows: int, since: int) -> Part:
        part = newer(log, rows, since)
        return Part(part.lines[1:], full=part.full)

    with pytest.raises(AssertionError):
        follow("pyte", [b"one", b"\x1b[31m two"], forgetful)
