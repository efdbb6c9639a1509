"""Whether a text matches a pattern, in a limited time, and with something new in the match."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from termnode.service.waiting.wait_lines import Span, Target

REACH: Final = 64
"""How many characters before new text a second match may begin that reaches into it."""


class Candidate(NamedTuple):
    """A text to search; with ``spans``, a match needs a character of one of them.

    ``recent`` is what is newer than the start of each wait, known when a thread is to search.
    """

    target: Target
    spans: Sequence[Span] | None
    recent: Sequence[Span] = ()


def first_match(
    pattern: Any,  # noqa: ANN401  # re2 ships no types
    candidates: Sequence[Candidate],
    seconds: float = math.inf,
    chars: float = math.inf,
) -> tuple[Candidate | None, int]:
    """The first match, and how many texts were searched in ``seconds``, none over ``chars``."""
    end = time.perf_counter() + seconds
    for count, candidate in enumerate(candidates):
        if len(candidate.target.text) > chars or time.perf_counter() > end:
            return None, count
        found = matches(pattern, candidate.target.text, candidate.spans, end)
        if found is None:
            return None, count
        if found:
            return candidate, count
    return None, len(candidates)


def matches(
    pattern: Any,  # noqa: ANN401
    text: str,
    spans: Sequence[Span] | None,
    end: float = math.inf,
) -> bool | None:
    """Whether the text matches, with at least one character of the spans when there are some.

    After an old match comes another try, one character on or REACH before the next new text: it may
    end in new text. None when it is not known at the time ``end`` (of ``time.perf_counter``).
    """
    if spans is not None and not spans:
        return False
    found = pattern.search(text)
    if spans is None:
        return bool(found)
    while found:
        if _touches(found.span(), spans):
            return True
        if time.perf_counter() > end:
            return None
        start = _next_start(found.start() + 1, spans)
        found = None if start is None else pattern.search(text, start)
    return False


def _next_start(start: int, spans: Sequence[Span]) -> int | None:
    """From where another match may touch a span; None when none can."""
    ahead = next((span for span in spans if span[1] > start), None)
    return None if ahead is None else max(start, ahead[0] - REACH)


def _touches(match: Span, spans: Sequence[Span]) -> bool:
    return any(max(match[0], start) < min(match[1], end) for start, end in spans)
