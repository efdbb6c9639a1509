"""Regular expressions of callers, in an engine whose time is linear in the text."""

from __future__ import annotations

from typing import Any, Final

import re2

from brokerd.client import invalid

MAX_PATTERN: Final = 1_024
"""Characters."""

_MEMORY: Final = 1 << 20
"""Bytes that one compiled pattern may take; what needs more is refused."""


def _options() -> Any:  # noqa: ANN401  # the library ships no types
    options = re2.Options()
    options.max_mem = _MEMORY
    options.log_errors = False  # it would write the caller's pattern to stderr
    return options


def compile_pattern(text: str, field: str = "until") -> Any:  # noqa: ANN401
    """The compiled RE2 pattern, with ``search(text)``.

    Raises Refusal INVALID_ARGUMENT, naming ``field``, when it is not RE2 or needs too much memory.
    """
    try:
        return re2.compile(text, options=_options())
    except (re2.error, ValueError):
        raise invalid(
            field,
            f"{field} is not a regular expression in RE2 syntax (no back-references, no "
            "look-around), or is too big",
        ) from None
