"""What a shell itself writes between the marks of a command: no part of the command's output.

zsh and fish say before a prompt that the last line has no end: a sign, blanks up to the border, and
back. They cannot be told not to without a change that the person would see. Sans-IO.
"""

from __future__ import annotations

import re
from typing import Final

_PASTE_SWITCHES: Final = (b"\x1b[?2004h", b"\x1b[?2004l")

_SGR: Final = rb"\x1b\[[0-9;:]*m"

_FISH_BEGIN: Final = re.compile(
    rb"(?:\x1b\[[<>=?][0-9;]*[a-zA-Z])*"  # switches of keyboard protocols
    rb"(?:\x1b\]0;[^\x07\x1b]*(?:\x07|\x1b\\))?"  # the title
    rb"(?:\x1b\[30m)?(?:\x1b\(B)?(?:\x1b\[0?m)?\r?"
)
_FISH_END: Final = re.compile(
    rb"(?:%s)?(\xe2\x8f\x8e|\xc2\xb6|~|\^J)(?:\x1b\(B)?(?:%s)? *\r\1 *\r\x1b\[K\Z" % (_SGR, _SGR)
)
_ZSH_END: Final = re.compile(rb"\x1b\[1m\x1b\[7m[%#]\x1b\[27m\x1b\[1m\x1b\[0m +\r \r\Z")
_ZSH_OWN_END: Final = re.compile(rb"( *)\r( *)\r\Z")

MAX_END: Final = 4_096
"""Bytes at the end of an output that are looked at: the widest line of blanks and a sign."""


def without_switches(data: bytes) -> bytes:
    """Without the switches of bracketed paste, which line editors write."""
    for switch in _PASTE_SWITCHES:
        data = data.replace(switch, b"")
    return data


def trim_begin(kind: str, data: bytes) -> bytes:
    """Without what the shell wrote after the mark of the command's begin."""
    if kind != "fish":
        return data
    match = _FISH_BEGIN.match(data)
    return data if match is None else data[match.end() :]


def trim_end(kind: str, data: bytes, cols: int) -> bytes:
    """Without what the shell wrote before the mark of the command's end, on so many columns."""
    low = max(0, len(data) - MAX_END)
    if kind == "fish":
        match = _FISH_END.search(data, low)
    elif kind == "zsh":
        match = _ZSH_END.search(data, low)
        if match is None:
            return _without_own_sign(data, low, cols)
    else:
        match = None
    return data if match is None else data[: match.start()]


def _without_own_sign(data: bytes, low: int, cols: int) -> bytes:
    """Without a sign of the person's choice: how wide it is, the blanks around it say."""
    match = _ZSH_OWN_END.search(data, low)
    if match is None:
        return data
    width = len(match[2])
    blanks = cols - width
    if blanks <= 0 or len(match[1]) < blanks:
        return data
    return _without_sign(data[: match.end(1) - blanks], width)


def _without_sign(data: bytes, width: int) -> bytes:
    """Without the last ``width`` characters and the looks that go with them."""
    if not width:
        return data
    characters = rb"(?:[\x20-\x7e]|[\xc2-\xf4][\x80-\xbf]{1,3}){%d}" % min(width, 64)
    sign = re.compile(rb"(?:%s)?%s(?:%s)*\Z" % (_SGR, characters, _SGR))
    match = sign.search(data, max(0, len(data) - MAX_END))
    return data if match is None else data[: match.start()]
