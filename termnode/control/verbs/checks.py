"""Checks of fields that are right alone and may not go together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from brokerd.client import invalid

_CONDITIONS: Final = ("until", "quiet_ms", "prompt", "changed", "exit", "alternate")
_PAGE: Final = ("offset", "line")


def one_condition(args: Mapping[str, Any]) -> None:
    """A wait needs something to wait for."""
    if not any(args.get(name) for name in _CONDITIONS):
        raise invalid("until", f"name what to wait for: {', '.join(_CONDITIONS)}", reason="nothing")


def one_part(args: Mapping[str, Any]) -> None:
    """A snapshot is of the screen, of what is new, of a page, or of the last command."""
    names = ("since", *_PAGE, "command")
    chosen = [name for name in names if args.get(name) is not None and args[name] is not False]
    if len(chosen) > 1:
        raise invalid(chosen[1], f"take one of {' and '.join(chosen)}", reason="not_together")
    if args["format"] == "html" and args.get("since") is not None:
        raise invalid("since", "a page is of all rows: leave since out", reason="not_together")


def one_line(args: Mapping[str, Any]) -> None:
    """Only one line can be watched on its way to the screen."""
    if args["confirm"] and not args["text"].isprintable():
        raise invalid(
            "confirm", "confirm takes one line without control characters", reason="not_together"
        )


def operation_and_offset(args: Mapping[str, Any]) -> None:
    """A part of a paste names both, or neither when it is the first."""
    if ("operation" in args) != ("offset" in args):
        missing = "offset" if "operation" in args else "operation"
        raise invalid(missing, "a part after the first names operation and offset")


def a_size(args: Mapping[str, Any]) -> None:
    """A pane is resized in one direction at least."""
    if "cols" not in args and "rows" not in args:
        raise invalid("cols", "name the columns, the rows, or both")
