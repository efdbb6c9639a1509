"""Finds the marks of one integrated shell in raw output. Sans-IO, incremental, bounded.

A mark is OSC 133 with the shell's nonce. Whatever lacks the nonce is output as any other: programs
can write OSC 133 too, and do.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, TypeAlias

MAX_MARK: Final = 512
"""Bytes of one mark, its introducer and its end included; something longer is output."""

MAX_OP: Final = 64
"""Characters of an operation's id in a mark; a longer one is no id."""

_ESC: Final = b"\x1b"
_NUMBER: Final = re.compile(rb"-?\d{1,19}", re.ASCII)

_UNFINISHED: Final = re.compile(
    rb"\x1b(?:\](?:1(?:3(?:3(?:;(?:[ABCD](?:;[\x20-\x7e]*\x1b?)?)?)?)?)?)?)?"
)
"""What may still become a mark."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A mark with the nonce. ``letter`` is A, B, C or D; None is what it does not say.

    ``status`` is of the command that ended, as the shell gave it.
    """

    letter: str
    status: int | None = None
    generation: int | None = None
    op: str | None = None


Found: TypeAlias = "bytes | Mark"


class MarkScanner:
    """Parts output into marks and what lies between them.

    Between two calls at most MAX_MARK bytes are held back: the beginning of a mark, perhaps. Only
    what bears ``nonce`` costs a step of ours: whatever else comes is passed over by one search.
    """

    def __init__(self, nonce: str) -> None:
        self._nonce = nonce.encode("ascii")
        self._mark = _pattern(self._nonce)
        self._held = b""

    def feed(self, data: bytes) -> list[Found]:
        """The next slice of output, parted; nothing in it is empty."""
        data = self._held + data if self._held else data
        found: list[Found] = []
        at = 0
        if self._nonce in data:
            for match in self._mark.finditer(data):
                _put(found, data[at : match.start()])
                found.append(_read(match[1], match[2]))
                at = match.end()
        end = _unfinished_from(data, at)
        _put(found, data[at:end])
        self._held = data[end:]
        return found

    def finish(self) -> bytes:
        """What was held back: nothing follows that could make a mark of it."""
        held, self._held = self._held, b""
        return held


def _pattern(nonce: bytes) -> re.Pattern[bytes]:
    """Each attempt ends at the first control character, so a search is linear in its input."""
    field = rb"[\x20-\x7e]{0,%d}" % MAX_MARK
    body = rb"((?:%s;)??n=%s(?:;%s)?)" % (field, re.escape(nonce), field)
    return re.compile(rb"\x1b\]133;([ABCD]);%s(?:\x07|\x1b\\)" % body)


def _put(found: list[Found], data: bytes) -> None:
    if data:
        found.append(data)


def _unfinished_from(data: bytes, at: int) -> int:
    """Where behind ``at`` a mark begins that is not all there; the end of the data when none does.

    Of the last two escapes only: an escape can also be the first byte of a mark's own end.
    """
    low = max(at, len(data) - MAX_MARK)
    last = data.rfind(_ESC, low)
    if last < 0:
        return len(data)
    before = data.rfind(_ESC, low, last)
    for start in (before, last):
        if start >= 0 and _UNFINISHED.fullmatch(data, start):
            return start
    return len(data)


def _read(letter: bytes, body: bytes) -> Mark:
    fields = body.split(b";")
    named = dict(field.partition(b"=")[::2] for field in fields)
    return Mark(
        letter.decode("ascii"),
        status=_number(fields[0]) if letter == b"D" else None,
        generation=_number(named.get(b"g", b"")),
        op=_op(named.get(b"op", b"")),
    )


def _number(digits: bytes) -> int | None:
    return int(digits) if _NUMBER.fullmatch(digits) else None


def _op(given: bytes) -> str | None:
    return given.decode("ascii") if 0 < len(given) <= MAX_OP else None
