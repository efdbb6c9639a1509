"""Arguments of the primitives, checked before anything is done.

All raise TermError INVALID_ARGUMENT.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from brokerd.client import Refusal
from termnode.control.schema import checked
from termnode.control.verbs import find
from termnode.modelterm.limits import Limits
from termnode.modelterm.results import wrong

BUTTONS: Final = ("left", "middle", "right")

_NOT_TEXT: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
_KEYS: Final = find("term.keys")


def check_size(cols: int, rows: int, limits: Limits) -> None:
    """Columns and rows of a terminal."""
    if not limits.min_cols <= cols <= limits.max_cols:
        raise wrong(f"cols is {limits.min_cols} to {limits.max_cols}")
    if not limits.min_rows <= rows <= limits.max_rows:
        raise wrong(f"rows is {limits.min_rows} to {limits.max_rows}")


def check_text(text: str, limits: Limits) -> None:
    """A text to type: no control characters but Tab and newlines."""
    if not text:
        raise wrong("text is empty: to press Enter, use term_keys")
    found = _NOT_TEXT.search(text)
    if found is not None:
        raise wrong(
            f"text has a control character at position {found.start()}: press keys with "
            "term_keys, as Escape or C-c; nothing was typed"
        )
    if len(text.encode()) > limits.type_bytes:
        raise wrong(
            f"text has more than {limits.type_bytes} bytes: type it in parts, or write a file; "
            "nothing was typed"
        )


def check_keys(keys: Sequence[str], limits: Limits) -> None:
    """Names of keys, all of them, by the table of the terminal service."""
    names = list(keys)
    if not 1 <= len(names) <= limits.keys:
        raise wrong(f"keys is a list of 1 to {limits.keys} keys; nothing was pressed")
    assert _KEYS is not None, "the verb is in the table"
    try:
        checked((_KEYS.fields[0],), {"keys": [*names]}, None)
    except Refusal as refusal:
        number = refusal.details.get("index")
        which = f" (key {number + 1})" if isinstance(number, int) else ""
        words = refusal.message.replace("term.type", "term_type")
        raise wrong(f"{words}{which}; nothing was pressed") from None


def check_wait(seconds: float, until: str | None, limits: Limits) -> None:
    """How long, and for what."""
    if not limits.wait_min_s <= seconds <= limits.wait_max_s:
        raise wrong(f"seconds is {limits.wait_min_s:g} to {limits.wait_max_s:g}")
    if until is not None and not 1 <= len(until) <= limits.pattern_chars:
        raise wrong(f"until is a regular expression of 1 to {limits.pattern_chars} characters")


def check_offset(offset: int, since: int | None, limits: Limits) -> None:
    """What part of a screen or its history."""
    if not 0 <= offset <= limits.offset:
        raise wrong(f"offset is 0 to {limits.offset}: rows back in the history")
    if since is not None and offset:
        raise wrong("take since or offset: history does not change")
    if since is not None and since < 0:
        raise wrong("since is a revision, as the header of a screen says")


def check_click(row: int, col: int, button: str, rows: int, cols: int) -> None:
    """A cell of the screen, from 1."""
    if button not in BUTTONS:
        raise wrong(f"button is one of {', '.join(BUTTONS)}")
    if not (1 <= row <= rows and 1 <= col <= cols):
        raise wrong(f"there is no such cell: row is 1 to {rows}, col is 1 to {cols}")
