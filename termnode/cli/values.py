"""What the values of options may be, checked as they are parsed."""

from __future__ import annotations

import argparse
import re
from typing import Final

MAX_LOG: Final = 1_000
"""Entries that one ``termnode log`` may ask for (`termnode.control.fields`)."""

MAX_TASK_S: Final = 600.0
"""For which a task may run, in seconds."""

_NAME = re.compile(r"[a-z][a-z0-9-]{1,30}")
_SIZE = re.compile(r"([1-9][0-9]{0,3})x([1-9][0-9]{0,3})", re.ASCII)


def service_name(text: str) -> str:
    """A service name: 2-31 of a-z, 0-9 and hyphen, beginning with a letter."""
    if not _NAME.fullmatch(text) or text == "brokerd":
        raise argparse.ArgumentTypeError(
            "a service name has 2-31 lower-case letters, digits or hyphens, begins with a letter "
            "and is not the broker's own"
        )
    return text


def size(text: str) -> tuple[int, int]:
    """``COLSxROWS`` as two integers, at most 1000x500."""
    match = _SIZE.fullmatch(text)
    if match is None:
        raise argparse.ArgumentTypeError("a size is COLSxROWS, for example 120x40")
    cols, rows = int(match[1]), int(match[2])
    if not (2 <= cols <= 1000 and 1 <= rows <= 500):
        raise argparse.ArgumentTypeError("a size is from 2x1 to 1000x500")
    return cols, rows


def seconds(text: str) -> float:
    """A time span in seconds, more than 0 and at most a day."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= 86_400:
        raise argparse.ArgumentTypeError(
            "a time is a number of seconds, more than 0 and at most 86400"
        )
    return value


def whole_seconds(text: str) -> int:
    """A time span in whole seconds, from 0 to a day."""
    value = int(text) if text.isascii() and text.isdigit() and len(text) < 9 else -1
    if not 0 <= value <= 86_400:
        raise argparse.ArgumentTypeError("a whole number of seconds, from 0 to 86400")
    return value


def pane_id(text: str) -> int:
    """A pane id as ``termnode panes`` shows it."""
    if not (text.isascii() and text.isdigit() and len(text) < 20):
        raise argparse.ArgumentTypeError(
            "tabs and panes are named by numbers; see 'termnode panes'"
        )
    return int(text)


def log_limit(text: str) -> int:
    """How many entries of the log: 1-1000."""
    value = int(text) if text.isascii() and text.isdigit() and len(text) < 9 else 0
    if not 1 <= value <= MAX_LOG:
        raise argparse.ArgumentTypeError(f"a number of entries is from 1 to {MAX_LOG}")
    return value


def whole_number(text: str) -> int:
    """A number as the service counts lines and revisions."""
    if not (text.isascii() and text.isdigit() and len(text) < 20):
        raise argparse.ArgumentTypeError("a whole number, 0 or more")
    return int(text)


def length(text: str) -> tuple[str, int]:
    """How long a side is to be: ``("", N)``, or ``("+", N)`` and ``("-", N)`` for a change by N."""
    sign = text[:1] if text[:1] in {"+", "-"} else ""
    digits = text[len(sign) :]
    if not (digits.isascii() and digits.isdigit() and len(digits) < 5):
        raise argparse.ArgumentTypeError("a number of cells: 80, or +5 or -5 for a change")
    return sign, int(digits)


def variable(text: str) -> tuple[str, str]:
    """``NAME=VALUE`` as two strings."""
    name, separator, value = text.partition("=")
    if not (name and separator):
        raise argparse.ArgumentTypeError("a variable is NAME=VALUE")
    return name, value


def patience(text: str) -> float:
    """A time span in seconds, from 0 to a day."""
    return 0.0 if text in {"0", "0.0"} else seconds(text)


def task_seconds(text: str) -> float:
    """For how long a task may run: more than 0 and at most 600 seconds."""
    value = seconds(text)
    if value > MAX_TASK_S:
        raise argparse.ArgumentTypeError("a task runs for at most 600 seconds")
    return value


def operation(text: str) -> int:
    """The number of an operation: 1 and up."""
    value = int(text) if text.isascii() and text.isdigit() and len(text) < 21 else 0
    if not 0 < value < 2**64:
        raise argparse.ArgumentTypeError("an operation is a number, as --detach printed it")
    return value
