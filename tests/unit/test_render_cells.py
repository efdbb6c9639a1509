"""Text is cut into columns as the emulators count them."""

from __future__ import annotations

import pytest

from termnode.terminal import engines
from termnode.terminal.engine import PLAIN, Style
from termnode.terminal.render.cells import cells, clip, columns, width_of

RED = Style(fg=1)


def narrow(_char: str) -> int:
    return 1


@pytest.fixture(params=engines.available())
def emulator(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_a_cell_has_its_marks_and_its_columns(emulator: str) -> None:
    width = width_of(emulator)
    assert cells("a中e\u0301👩\u200d", width) == [
        ("a", 1),
        ("中", 2),
        ("e\u0301", 1),
        ("👩\u200d", 2),
    ]
    assert cells("\u0301a", width) == [("\u0301", 0), ("a", 1)]
    assert cells("ab", width) == [("a", 1), ("b", 1)]


@pytest.mark.parametrize("text", ["plain", "日本語 x", "e\u0301─❤🇫🇷", "한글\u3000ｱ"])
def test_the_columns_are_those_the_cursor_moved(emulator: str, text: str) -> None:
    def agrees(count: int) -> bool:
        engine = engines.make(emulator)(80, 2, 0)
        try:
            engine.feed(text.encode())
            return engine.cursor.x == count
        finally:
            engine.close()

    assert agrees(columns(text, width_of(emulator)))
    if not text.isascii():
        assert not agrees(sum(map(narrow, text)))


def test_a_row_is_clipped_by_columns(emulator: str) -> None:
    width = width_of(emulator)
    runs = [("ab中", PLAIN), ("文cd", RED)]
    assert clip(runs, 0, None, width) == runs
    assert clip(runs, 2, None, width) == [("中", PLAIN), ("文cd", RED)]
    assert clip(runs, 0, 4, width) == [("ab中", PLAIN)]
    assert clip(runs, 0, 3, width) == [("ab中", PLAIN)]  # a character is in whole or not at all
    assert clip(runs, 3, 7, width) == [("文c", RED)]
    assert clip(runs, 1, 1, width) == []
    assert clip(runs, 90, None, width) == []
    assert clip([("abc", RED), ("def", PLAIN)], 2, 4, narrow) == [("c", RED), ("d", PLAIN)]


def test_an_unknown_emulator_has_no_width() -> None:
    with pytest.raises(ValueError, match="no emulator"):
        width_of("recording")
