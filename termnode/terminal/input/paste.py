"""Pasted text: what of it may reach a program, and in which brackets.

A program that asked for brackets takes all between the markers as text. So nothing in the text may
end it early: markers and all control characters but Tab and newlines are left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

PASTE_START: Final = b"\x1b[200~"
PASTE_END: Final = b"\x1b[201~"

_INTRODUCER: Final = re.compile("(?=[\x1b\x9b])")
_OTHER_CONTROLS: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f-\x9a\x9c-\x9f]+")
_INTRODUCERS: Final = re.compile("[\x1b\x9b]+")
_NEWLINE: Final = re.compile("\r\n?")

_MARKERS: Final = ("\x1b[200~", "\x1b[201~", "\x9b200~", "\x9b201~")
"""Both markers, also with the one character that stands for ESC [."""

_LONGEST: Final = max(map(len, _MARKERS))
_ENDS: Final[Mapping[str, tuple[str, ...]]] = {
    begun: tuple(marker.removeprefix(begun) for marker in _MARKERS if marker.startswith(begun))
    for begun in {marker[:length] for marker in _MARKERS for length in range(1, len(marker))}
}
"""What makes a marker of its beginning. All ends of one beginning are equally long."""


@dataclass(frozen=True, slots=True)
class Cleaned:
    """Text with newlines as LF, and how many characters were left out of it."""

    text: str
    removed: int


def clean_paste(text: str) -> Cleaned:
    """``text`` without control characters (Tab, CR and LF stay) and paste markers.

    A marker goes as a whole, also one that comes about because something inside it went. CR LF and
    CR become LF, which counts as nothing left out. Takes time in proportion to the text.
    """
    kept = "".join(_without_markers(_OTHER_CONTROLS.sub("", text)))
    kept = _INTRODUCERS.sub("", kept)
    return Cleaned(_NEWLINE.sub("\n", kept), len(text) - len(kept))


def paste_bytes(text: str, bracketed: bool) -> bytes:
    """The bytes of a cleaned text. Without brackets, newlines are sent as Enter sends them."""
    if bracketed:
        return PASTE_START + text.encode() + PASTE_END
    return text.replace("\n", "\r").encode()


def _without_markers(text: str) -> list[str]:
    """The text in pieces, none of which make a marker when they are joined again."""
    if not any(marker in text for marker in _MARKERS):
        return [text]  # nothing goes that could bring one about
    kept: list[str] = []
    for piece in _INTRODUCER.split(text):
        position = _after_markers(kept, piece)
        if position < len(piece):
            _keep(kept, piece[position:])
    return kept


def _keep(kept: list[str], rest: str) -> None:
    """Add ``rest``, to the piece before it when both together are still the beginning of one."""
    if kept and len(rest) < _LONGEST and kept[-1] in _ENDS and kept[-1] + rest in _ENDS:
        kept[-1] += rest
    else:
        kept.append(rest)


def _after_markers(kept: list[str], piece: str) -> int:
    """How much of ``piece`` belongs to markers. Their beginnings are taken from ``kept``.

    Every step takes a piece away that was kept, so that all steps together are no more than pieces.
    """
    position = 0
    if (ends := _ENDS.get(piece[:1])) is not None:
        if not piece.startswith(ends, 1):
            return 0  # it begins anew, so it ends nothing that was begun before
        position = 1 + len(ends[0])
    while kept and (ends := _ENDS.get(kept[-1])) and piece.startswith(ends, position):
        kept.pop()
        position += len(ends[0])
    return position
