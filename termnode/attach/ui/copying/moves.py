"""What the keys of copy mode do to the cursor."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from termnode.attach.ui.copying.mode import CopyMode, Place

Move = Callable[[CopyMode], None]

_FAR: Final = 1 << 20
"""Beyond the end of any line."""

_MAX_STEPS: Final = 2_000
"""Lines that one word or paragraph may be away."""


def _left(mode: CopyMode) -> None:
    row = mode.flat(mode.line)
    mode.go(mode.line, row.columns[max(0, row.index(mode.x) - 1)] if mode.x < row.width
            else mode.x - 1)  # fmt: skip


def _right(mode: CopyMode) -> None:
    mode.go(mode.line, mode.flat(mode.line).end(mode.x))


def _line_text(mode: CopyMode) -> None:
    text = mode.flat(mode.line).text
    mode.go(mode.line, len(text) - len(text.lstrip()))


def _vertical(by: int) -> Move:
    return lambda mode: mode.go(mode.line + by)


def _column(x: int) -> Move:
    return lambda mode: mode.go(mode.line, x)


def _shown(part: float) -> Move:
    return lambda mode: mode.go(mode.top + int((mode.rows - 1) * part))


def _scroll(by: int) -> Move:
    return lambda mode: mode.scroll(by)


def _pages(part: float, sign: int) -> Move:
    def move(mode: CopyMode) -> None:
        rows = mode.rows - 2 if part == 1 else mode.rows // 2
        mode.page(sign * max(1, rows))

    return move


def _top(mode: CopyMode) -> None:
    mode.go(mode.lines.first, 0)


def _bottom(mode: CopyMode) -> None:
    mode.top = mode.last_top
    mode.go(mode.lines.end - 1, 0)


def _kind(char: str) -> int:
    """0 for blanks, 1 for words, 2 for other marks: a word is characters of one kind."""
    return 0 if char.isspace() else 1 if char.isalnum() or char == "_" else 2


def _chars(mode: CopyMode, step: int) -> Iterator[tuple[Place, int]]:
    """Characters from the cursor's on, forwards or backwards; each line's end is a blank."""
    line, x = mode.line, mode.x
    index: int | None = mode.flat(line).index(x)
    for _ in range(_MAX_STEPS):
        row = mode.flat(line)
        stop = len(row.text)
        start = index if index is not None else (0 if step > 0 else stop)
        for at in range(start, stop + 1 if step > 0 else -1, step):
            yield Place(line, row.columns[at]), _kind(row.text[at : at + 1] or " ")
        line, index = line + step, None
        if not mode.lines.first <= line < mode.lines.end or mode.lines.get(line) is None:
            return


def _next_word(mode: CopyMode) -> None:
    before: int | None = None
    for place, kind in _chars(mode, 1):
        if before is not None and kind and kind != before:
            mode.go(*place)
            return
        before = kind


def _word_end(mode: CopyMode) -> None:
    _last_of_word(mode, 1)


def _previous_word(mode: CopyMode) -> None:
    _last_of_word(mode, -1)


def _last_of_word(mode: CopyMode, step: int) -> None:
    """The last character, in that direction, of the word that the next character is in."""
    found: tuple[Place, int] | None = None
    characters = _chars(mode, step)
    next(characters, None)
    for place, kind in characters:
        if found is not None and kind != found[1]:
            break
        if kind:
            found = (place, kind)
    if found is not None:
        mode.go(*found[0])


def _paragraph(step: int) -> Move:
    def move(mode: CopyMode) -> None:
        line = mode.line + step
        for _ in range(_MAX_STEPS):
            if not mode.lines.first < line < mode.lines.end - 1 or not mode.flat(line).text.strip():
                break
            line += step
        mode.go(line, 0)

    return move


MOVES: Final[Mapping[str, Move]] = MappingProxyType(
    {
        "left": _left,
        "right": _right,
        "up": _vertical(-1),
        "down": _vertical(1),
        "line-start": _column(0),
        "line-end": _column(_FAR),
        "line-text": _line_text,
        "next-word": _next_word,
        "word-end": _word_end,
        "previous-word": _previous_word,
        "previous-paragraph": _paragraph(-1),
        "next-paragraph": _paragraph(1),
        "screen-top": _shown(0),
        "screen-middle": _shown(0.5),
        "screen-bottom": _shown(1),
        "scroll-up": _scroll(-1),
        "scroll-down": _scroll(1),
        "half-up": _pages(0.5, -1),
        "half-down": _pages(0.5, 1),
        "page-up": _pages(1, -1),
        "page-down": _pages(1, 1),
        "top": _top,
        "bottom": _bottom,
    }
)
"""By action name."""


def word_at(mode: CopyMode) -> tuple[int, int]:
    """The first and the last column of the word (or run of marks or blanks) under the cursor."""
    row = mode.flat(mode.line)
    if mode.x >= row.width:
        return mode.x, mode.x
    first = last = row.index(mode.x)
    kind = _kind(row.text[first])
    while first and _kind(row.text[first - 1]) == kind:
        first -= 1
    while last + 1 < len(row.text) and _kind(row.text[last + 1]) == kind:
        last += 1
    return row.columns[first], row.columns[last]
