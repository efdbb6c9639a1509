"""How runs of a row look, in words, and the columns in which they do. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from wcwidth import wcwidth

Run = tuple[str, str]
"""Text, and the words for its look; empty for what is plain."""

_ATTRIBUTES: Final = ("bold", "dim", "italic", "underline", "reverse", "strike")
_NAMES: Final = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
_STEPS: Final = (0, 95, 135, 175, 215, 255)
"""Of xterm's cube of 6 by 6 by 6 colours."""

_FOREGROUND: Final = (None, 7)
_BACKGROUND: Final = (None, 0)
"""Of what is not coloured: curses says white on black for every cell of a program with colours."""

_ON_BLANKS: Final = ("underline", "reverse", "strike", "on-")
"""What is seen of a blank."""


def row_of(runs: Iterable[Mapping[str, Any]]) -> tuple[Run, ...]:
    """A row of a snapshot of format styled: neighbours of one look joined, plain end cut off."""
    joined: list[Run] = []
    for run in runs:
        text, look = str(run.get("text", "")), words(run)
        if joined and joined[-1][1] == look:
            joined[-1] = (joined[-1][0] + text, look)
        elif text:
            joined.append((text, look))
    while joined and not joined[-1][1] and not joined[-1][0].strip(" "):
        joined.pop()
    if joined and not joined[-1][1]:
        joined[-1] = (joined[-1][0].rstrip(" "), "")
    return tuple(joined)


def words(run: Mapping[str, Any]) -> str:
    """What a run sets, as ``reverse,red``; on blanks only what is seen of them."""
    found = [name for name in _ATTRIBUTES if run.get(name)]
    found += [color(run["fg"])] if run.get("fg") not in _FOREGROUND else []
    found += [f"on-{color(run['bg'])}"] if run.get("bg") not in _BACKGROUND else []
    blank = not str(run.get("text", "")).strip(" ")
    if blank and "reverse" not in found:  # the foreground of a blank is seen when it is reversed
        found = [word for word in found if word.startswith(_ON_BLANKS)]
    return ",".join(found)


def color(value: object) -> str:
    """A colour of a snapshot: a palette index, or ``#rrggbb``."""
    if not isinstance(value, int):
        return str(value)
    if value < 8:
        return _NAMES[value]
    if value < 16:
        return f"bright-{_NAMES[value - 8]}"
    if value < 232:
        steps = divmod(value - 16, 36)
        red, (green, blue) = steps[0], divmod(steps[1], 6)
        return "#{:02x}{:02x}{:02x}".format(*(_STEPS[each] for each in (red, green, blue)))
    return "#" + f"{8 + 10 * (value - 232):02x}" * 3


def notes(row: Sequence[Run]) -> str:
    """``bold 1-4; reverse,red 8-20``: the looks of a row with their columns, from 1."""
    return "; ".join(f"{look} {_columns(*span)}" for look, span in _spans(row))


def _spans(row: Sequence[Run]) -> Iterator[tuple[str, tuple[int, int]]]:
    at = 1
    for text, look in row:
        width = sum(max(0, wcwidth(char)) for char in text)
        if look and width:
            yield look, (at, at + width - 1)
        at += width


def _columns(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}-{last}"
