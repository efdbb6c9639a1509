"""Lines that the kernel would cut and then hand over as if they were whole.

A terminal in canonical mode keeps 4,095 bytes of a line and drops the rest without a word, so that
a shortened command would run. What several requests type into one line is counted together.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from brokerd.client import Refusal, limit_reached
from termnode.service.live_pane import LivePane

CANONICAL_LINE: Final = 4_095
"""Bytes of one line that the kernel keeps in canonical mode (Linux: N_TTY's buffer less one)."""


class Span(NamedTuple):
    """Bytes of the longest line, and of the last one, which no line end follows yet."""

    longest: int
    begun: int


def measure(begun: int, data: bytes, ends: bytes) -> Span:
    """The lines of ``data`` behind a line of which ``begun`` bytes are there.

    Each byte of ``ends``, one at least, ends a line or throws it away, and counts for none.
    """
    one = ends[:1]
    first, *others = map(len, data.translate(bytes.maketrans(ends, one * len(ends))).split(one))
    lengths = [begun + first, *others]
    return Span(max(lengths), lengths[-1])


def begun_after(live: LivePane, data: bytes) -> int:
    """Bytes of the line that is begun once ``data`` was written; 0 where nobody reads by lines.

    Raises Refusal RESOURCE_LIMIT when a line would be cut. Erased characters are counted as well.
    """
    discipline = live.terminal.line_discipline()
    if discipline is None or not discipline.canonical:
        return 0
    span = measure(live.line_begun, data, discipline.line_ends)
    if span.longest <= CANONICAL_LINE:
        return span.begun
    raise _too_long(live.line_begun)


def begun_after_all(live: LivePane, begun: int, data: bytes) -> int:
    """As ``begun_after`` behind ``begun`` bytes, for what nobody refuses: what is cut is gone."""
    discipline = live.terminal.line_discipline()
    if discipline is None or not discipline.canonical:
        return 0
    return min(measure(begun, data, discipline.line_ends).begun, CANONICAL_LINE)


def _too_long(begun: int) -> Refusal:
    said, details = "", {}
    if begun:
        said, details = f"{begun} are there already: press Enter or C-u, or ", {"begun": begun}
    message = (
        f"the program reads by lines of at most {CANONICAL_LINE} bytes: {said}put the text into a "
        "file, or wait for the shell's prompt"
    )
    return limit_reached("line_too_long", CANONICAL_LINE, message, **details)
