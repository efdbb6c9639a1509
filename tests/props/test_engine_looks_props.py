"""A row's look, made to be compared, tells the same as its runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings

from termnode.terminal import engines
from termnode.terminal.engine import Engine, Run
from tests.support.vt_streams import stream, well_formed


def plain(row: Sequence[Run]) -> list[tuple[str, object]]:
    """Character by character, without links."""
    return [(char, replace(style, link=None)) for text, style in row for char in text]


def shown(engine: Engine) -> list[tuple[object, list[tuple[str, object]]]]:
    top = -engine.history_len
    return list(zip(engine.looks(top), map(plain, engine.runs(top)), strict=True))


def make(name: str) -> Engine:
    return engines.make(name)(20, 4, 20)


@pytest.mark.parametrize("name", engines.available())
@settings(max_examples=300, deadline=None)
@given(data=well_formed | stream, more=well_formed | stream)
def test_rows_that_look_alike_have_the_same_look(name: str, data: bytes, more: bytes) -> None:
    """Before and after more output, and read alone or among others."""
    engine = make(name)
    try:
        rows = []
        for part in (data, more):
            engine.feed(part)
            rows += shown(engine)
            top = -engine.history_len
            alone = [engine.looks(y, 1)[0] for y in range(top, engine.rows)]
            assert alone == list(engine.looks(top))
        for look, row in rows:
            for other_look, other_row in rows:
                if look == other_look:
                    assert row == other_row
                elif name == "ghostty":
                    assert row != other_row
    finally:
        engine.close()


@pytest.mark.parametrize("name", engines.available())
@pytest.mark.parametrize(
    "sgr",
    b"1 2 3 4 4:2 4:3 4:4 4:5 5 7 8 9 21 53 31 91 38;5;9 38;5;200 38;2;1;2;3 44 104 48;2;1;2;3 "
    b"4;58;5;3 4;58;2;1;2;3".split(),
)
def test_every_style_is_in_it(name: str, sgr: bytes) -> None:
    engine = make(name)
    try:
        engine.feed(b"word\r\n\x1b[%bmword\x1b[0m\r\n\x1b[%bmw\x1b[0mord\r\n" % (sgr, sgr))
        looks = engine.looks(0, 3)
        assert len({str(look) for look in looks}) == len({str(row) for row in engine.runs(0, 3)})
    finally:
        engine.close()
