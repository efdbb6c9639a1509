"""Text to the bytes that a keyboard would send: bounded typing, never a paste (specs/input.md)."""

from __future__ import annotations

import re
from typing import Final

from brokerd.client import invalid

MAX_TEXT: Final = 8_192
"""Bytes, and since the text is ASCII, characters."""

ENTER: Final = b"\r"

_KEYS: Final = re.compile(r"[\x03\x04\x08\t\n\r\x20-\x7f]*")
_SENT: Final = bytes.maketrans(b"\n\x08", b"\r\x7f")


def encode_keys(text: str) -> bytes:
    """The bytes for ``text``: LF and CR press Enter, BS and DEL press Backspace.

    Also takes printable ASCII, Tab, Ctrl-C (0x03) and Ctrl-D (0x04). Anything else refuses the
    whole text, so that half a command is never typed: Refusal INVALID_ARGUMENT, field "text".
    """
    if not 1 <= len(text) <= MAX_TEXT:
        raise invalid("text", f"text takes 1 to {MAX_TEXT} bytes: send more in parts")
    if _KEYS.fullmatch(text) is None:
        raise invalid(
            "text",
            "text takes printable ASCII, Enter (CR or LF), Tab, Backspace, Ctrl-C and Ctrl-D: send "
            "other text with term.paste and other keys with term.keys",
        )
    return text.encode("ascii").translate(_SENT)
