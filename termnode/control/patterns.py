"""Regular expressions of callers, in an engine whose time is linear in the text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import re2

from brokerd.client import Refusal, invalid

MAX_PATTERN: Final = 1_024
"""Characters."""

_MEMORY: Final = 1 << 20
"""Bytes that one compiled pattern may take; what needs more is refused."""

_TOO_BIG: Final = "is no text, or needs too much memory: make its repetitions smaller"

_WORDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "missing )": "this ( is never closed: add ), or write \\( for the character",
        "unexpected )": "this ) closes nothing: write \\) for the character",
        "missing ]": "this [ is never closed: add ], or write \\[ for the character",
        "trailing \\": "it ends in a backslash: write \\\\ for the character",
        "invalid escape sequence": "RE2 has no such escape (nor back-references)",
        "invalid character class": "this is no character class",
        "invalid character class range": "this is no character class, or its range is backwards",
        "no argument for repetition operator": "there is nothing before this to repeat",
        "invalid repetition size": "repetitions go up to 1000, nested ones together, smaller first",
        "bad repetition operator": "one repetition after the other: put the first into ( )",
        "invalid perl operator": "RE2 has no such group (nor look-around)",
        "invalid named capture group": "the group's name is not closed or no word",
    }
)
"""What RE2 says, in words that help and repeat nothing of the pattern."""

_PIECE: Final = re.compile(
    r"\\Q.*?(?:\\E|$)|\\.|\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]|.", re.DOTALL
)
"""Parentheses in quotes, escapes and classes are none."""


class _Fault(NamedTuple):
    kind: str
    part: str
    """Of the pattern, where RE2 names one."""


def compile_pattern(text: str, field: str = "until") -> Any:  # noqa: ANN401  # RE2 ships no types
    """The compiled RE2 pattern, with ``search(text)``.

    Raises Refusal INVALID_ARGUMENT, naming ``field`` and, in ``position``, the character (from 0)
    at which it is not RE2; without one when it needs too much memory or is no text.
    """
    compiled, fault = _compile(text)
    if fault is not None:
        raise _refused(text, field, fault)
    return compiled


def _refused(text: str, field: str, fault: _Fault) -> Refusal:
    words = _WORDS.get(fault.kind)
    if words is None:
        return invalid(field, f"{field} {_TOO_BIG}", reason="pattern")
    at = _position(text, fault)
    message = f"{field} is not a regular expression in RE2 syntax, at character {at}: {words}"
    return invalid(field, message, reason="pattern", position=at)


def _compile(text: str) -> tuple[Any, _Fault | None]:
    options = re2.Options()
    options.max_mem = _MEMORY
    options.log_errors = False  # it would write the caller's pattern to stderr
    try:
        return re2.compile(text, options=options), None
    except (re2.error, ValueError) as error:
        return None, _fault(error)


def _fault(error: Exception) -> _Fault:
    said = error.args[0] if error.args else ""
    words = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
    kind, _, part = words.partition(": ")
    return _Fault(kind.strip(), part)


def _position(text: str, fault: _Fault) -> int:
    """Where the fault is: RE2 says what is wrong, not where."""
    match fault.kind:
        case "missing )":
            return _unclosed(text)
        case "missing ]":
            return len(text) - len(fault.part)
        case "trailing \\":
            return len(text) - 1
        case "unexpected )":
            return _first_end(text, fault, whole=False) - 1
    end = _first_end(text, fault, whole=True)
    return max(0, text.rfind(fault.part, 0, end))


def _first_end(text: str, fault: _Fault, *, whole: bool) -> int:
    """The length of the shortest beginning that has the fault already, by bisection."""
    good, bad = 0, len(text)
    while bad - good > 1:
        middle = (good + bad) // 2
        found = _compile(text[:middle])[1]
        same = found is not None and found.kind == fault.kind
        if same and (not whole or found == fault):
            bad = middle
        else:
            good = middle
    return bad


def _unclosed(text: str) -> int:
    """The last ( that is never closed."""
    opened: list[int] = []
    for piece in _PIECE.finditer(text):
        if piece[0] == "(":
            opened.append(piece.start())
        elif piece[0] == ")" and opened:
            opened.pop()
    return opened[-1] if opened else 0
