"""The line above a command that somebody else than the person runs: who, and what, unmistakably.

Everything that could move the cursor, hide or reorder text, or look like another announcement is
shown as an escape.
"""

from __future__ import annotations

import hashlib
import unicodedata
from typing import Final

from brokerd.client import TERM, Principal

MAX_SOURCE: Final = 512
"""Characters of the line that are of the source."""

MAX_CLAIM: Final = 96
"""Characters of a name that the owning Term gives for somebody else."""

_NAMED: Final = {"\n": "\\n", "\t": "\\t", "\r": "\\r", "\\": "\\\\"}
_BLANK_LETTERS: Final = frozenset("\u115f\u1160\u17b4\u17b5\u3164\uffa0")
"""Letters by their category that show nothing."""


def line(originator: str, source: str) -> str:
    """The whole announcement: one line of printable characters. ``originator`` is escaped."""
    return f"# {originator}: {shown(source)}"


def originator(caller: Principal, claim: str | None) -> str:
    """Who is announced: the caller as the broker stamped it, or whom the owning Term names."""
    if claim is not None:
        return f"{claimed(claim)} via Term"
    session = caller.session
    if session is None:
        return f"uid {caller.unix_uid} pid {caller.peer_pid}"
    role = "Term" if session.role == TERM else "PaneShell"
    return f"{role} {session.record_id[:8]}"


def claimed(claim: str) -> str:
    """A name that was only told, so that it ends where it ends and names no second one."""
    return escape(claim).replace(" via ", "\\x20via\\x20").replace(":", "\\x3a")


def shown(source: str) -> str:
    """The source escaped; of a long one the head, how much more there is, and its SHA-256."""
    pieces = [_piece(char) for char in source]
    if sum(map(len, pieces)) <= MAX_SOURCE:
        return "".join(pieces)
    whole = source.encode()
    hidden = f" [+{len(whole)} bytes, sha256 {hashlib.sha256(whole).hexdigest()[:8]}]"
    count = _fitting(pieces, MAX_SOURCE - len(hidden))
    more = len(source[count:].encode())
    return "".join(pieces[:count]) + hidden.replace(f"+{len(whole)}", f"+{more}", 1)


def escape(text: str) -> str:
    """Printable ASCII, letters and digits as they are; anything else as an escape."""
    return "".join(map(_piece, text))


def _fitting(pieces: list[str], room: int) -> int:
    """How many of the first pieces have room."""
    for count, piece in enumerate(pieces):
        room -= len(piece)
        if room < 0:
            return count
    return len(pieces)


def _piece(char: str) -> str:
    if char in _NAMED:
        return _NAMED[char]
    if " " <= char <= "~":
        return char
    if char > "\x7f" and _is_plain(char):
        return char
    return f"\\x{ord(char):02x}" if ord(char) <= 0xFF else f"\\u{{{ord(char):x}}}"


def _is_plain(char: str) -> bool:
    category = unicodedata.category(char)
    return (category[0] == "L" or category == "Nd") and char not in _BLANK_LETTERS
