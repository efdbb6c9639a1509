"""Character sets G0-G3: DEC special graphics and the United Kingdom set over ASCII."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pyte import charsets

Translation = Mapping[int, str]

_GRAPHICS: Final[Translation] = {
    **{code: charsets.VT100_MAP[code] for code in range(0x5F, 0x7F)},
    ord("h"): "\N{SYMBOL FOR NEWLINE}",
}
_KNOWN: Final[Mapping[str, Translation]] = {"0": _GRAPHICS, "A": {ord("#"): "£"}}

SLOTS: Final = "()*+"
"""The intermediate characters that designate G0 to G3."""

Saved = tuple[tuple[Translation | None, ...], int]


class Charsets:
    """What was designated to G0-G3 and which of them printable characters go through."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """ASCII everywhere, G0 in use."""
        self._sets: list[Translation | None] = [None] * len(SLOTS)
        self._in_use = 0
        self._once: int | None = None

    @property
    def active(self) -> bool:
        """Whether text is anything but itself at the moment."""
        return self._once is not None or self._sets[self._in_use] is not None

    def designate(self, slot: str, name: str) -> None:
        """Put a set into G0-G3; a set we do not know reads as ASCII."""
        self._sets[SLOTS.index(slot)] = _KNOWN.get(name)

    def shift(self, number: int) -> None:
        """Use G-``number`` from here on (SI, SO, LS2, LS3)."""
        self._in_use = number

    def shift_once(self, number: int) -> None:
        """Use G-``number`` for the next character alone (SS2, SS3)."""
        self._once = number

    def translate(self, text: str) -> str:
        """``text`` as the sets in use show it; ends a single shift."""
        head = ""
        if self._once is not None:
            head, text = text[:1].translate(self._sets[self._once] or {}), text[1:]
            self._once = None
        return head + text.translate(self._sets[self._in_use] or {})

    def save(self) -> Saved:
        """What DECSC keeps."""
        return tuple(self._sets), self._in_use

    def restore(self, saved: Saved) -> None:
        """Take back what ``save`` gave."""
        self._sets, self._in_use = list(saved[0]), saved[1]
