"""Where one thing in a stream of input ends and the next begins."""

from __future__ import annotations

import codecs
import re
from typing import Final, NamedTuple

from termnode.attach.keys.events import Event, KeyEvent, RawEvent, ReplyEvent, TextEvent
from termnode.attach.keys.mouse import old_mouse
from termnode.attach.keys.naming import control_key, held_key, key_event, with_alt
from termnode.attach.keys.sequences import console_events, csi_events, ss3_events
from termnode.terminal.input.keyboard import ALT
from termnode.terminal.input.names import CHAR

MAX_PARAMETERS: Final = 128
"""Bytes of a control sequence after ``CSI``. More is none."""

MAX_STRING: Final = 4_096
"""Bytes of an answer that is a string (OSC, DCS and the like)."""

_TEXT: Final = re.compile(rb"[^\x00-\x1f\x7f]+")
_BAD: Final = re.compile("([\udc80-\udcff\x80-\x9f]+)")
"""Bytes that are no UTF-8, and control characters written as UTF-8."""

_CSI: Final = re.compile(
    rb"\x1b\[([\x30-\x3f]{0,%d})([\x20-\x2f]{0,4})([\x40-\x7e]?)" % MAX_PARAMETERS
)
_RXVT_SHIFT: Final = re.compile(rb"\x1b\[([0-9]{1,2})\$")
"""No answer has this beginning: there is a semicolon in them."""

_SS3: Final = re.compile(rb"\x1bO([0-9]{0,2})([A-Za-z]?)")
_STRING: Final = re.compile(rb"\x1b[\]PX^_][^\x00-\x1f\x7f]{0,%d}" % MAX_STRING)
_ESC: Final = 0x1B
_ESCAPE: Final = KeyEvent("Escape")


class Taken(NamedTuple):
    """What a piece of input means, and where the next begins."""

    events: tuple[Event, ...]
    end: int


def take(data: bytes, at: int, *, final: bool) -> Taken | None:
    """The first thing in ``data`` from ``at``, which is inside it; None: more must come first.

    ``final`` means that no more comes: what could go on is taken for what it is without, and the
    result is never None.
    """
    if data[at] == _ESC:
        return _escape(data, at, final=final)
    if _is_control(data[at]):
        return Taken((key_event(control_key(data[at])),), at + 1)
    return _text(data, at, final=final)


def _is_control(code: int) -> bool:
    return code < 0x20 or code == 0x7F


def _text(data: bytes, at: int, *, final: bool) -> Taken | None:
    found = _TEXT.match(data, at)
    assert found is not None
    ends = final or found.end() < len(data)
    text, used = codecs.utf_8_decode(found[0], "surrogateescape", ends)
    return Taken(_pieces(text), at + used) if used else None


def _pieces(text: str) -> tuple[Event, ...]:
    """Good and bad parts alternate; a bad one is passed on as the bytes that it was."""
    return tuple(
        RawEvent(piece.encode("utf-8", "surrogateescape")) if number % 2 else TextEvent(piece)
        for number, piece in enumerate(_BAD.split(text))
        if piece
    )


def _escape(data: bytes, at: int, *, final: bool) -> Taken | None:
    if at + 1 == len(data):
        return _alone(at) if final else None
    follows = data[at + 1]
    if follows == ord("["):
        return _csi(data, at, final=final)
    if follows == ord("O"):
        return _ss3(data, at, final=final)
    if follows in b"]PX^_":
        return _string(data, at, final=final)
    if _is_control(follows):
        return _alt_key(data, at, final=final)
    return _alt_character(data, at, final=final)


def _alone(at: int) -> Taken:
    return Taken((_ESCAPE,), at + 1)


def _alt_key(data: bytes, at: int, *, final: bool) -> Taken | None:
    """ESC before a key that is no character: Alt is held with it. Else it was Escape by itself."""
    if data[at + 1] == _ESC and data[at + 2 : at + 3] not in {b"", b"[", b"O"}:
        return _alone(at)
    follows = take(data, at + 1, final=final)
    if follows is None:
        return None
    changed = with_alt(follows.events[0]) if len(follows.events) == 1 else None
    return _alone(at) if changed is None else Taken((changed,), follows.end)


def _alt_character(data: bytes, at: int, *, final: bool) -> Taken | None:
    found = _TEXT.match(data, at + 1, at + 5)  # no character has more than four bytes
    assert found is not None
    ends = final or found.end() < len(data)
    text, _ = codecs.utf_8_decode(found[0], "surrogateescape", ends)
    if not text:
        return None
    if _BAD.match(text):
        return _alone(at)
    return Taken((key_event(held_key(CHAR, ALT, text[0])),), at + 1 + len(text[0].encode()))


def _cut(data: bytes, at: int, end: int) -> Taken:
    """What began like a sequence and is none: Alt and a character, or bytes that mean nothing."""
    if end - at <= 2:
        return Taken((key_event(held_key(CHAR, ALT, chr(data[at + 1]))),), at + 2)
    return Taken((RawEvent(data[at:end]),), end)


def _csi(data: bytes, at: int, *, final: bool) -> Taken | None:
    if (shifted := _RXVT_SHIFT.match(data, at)) is not None:
        return Taken(csi_events(shifted[1].decode(), "", "$", shifted[0]), shifted.end())
    found = _CSI.match(data, at)
    assert found is not None
    if not found[3]:
        waits = found.end() == len(data) and not final
        return None if waits else _cut(data, at, found.end())
    if found[0] in _LONGER:
        return _longer(data, at, final=final)
    parameters, intermediates, letter = (part.decode() for part in found.groups())
    return Taken(csi_events(parameters, intermediates, letter, found[0]), found.end())


_LONGER: Final = {b"\x1b[[": 1, b"\x1b[M": 3}
"""What goes on after what would be its end, and by how many bytes."""


def _longer(data: bytes, at: int, *, final: bool) -> Taken | None:
    begun = data[at : at + 3]
    end = at + 3 + _LONGER[begun]
    if len(data) < end:
        return _cut(data, at, at + 2) if final else None
    if begun == b"\x1b[M":
        report = old_mouse(data[at + 3 : end])
        return Taken(() if report is None else (report,), end)
    events = console_events(chr(data[at + 3]))
    return Taken(events, end) if events else _cut(data, at, at + 2)


def _ss3(data: bytes, at: int, *, final: bool) -> Taken | None:
    found = _SS3.match(data, at)
    assert found is not None
    if not found[2] and found.end() == len(data) and not final:
        return None
    events = ss3_events(found[1].decode(), found[2].decode())
    return Taken(events, found.end()) if events else _cut(data, at, at + 2)


def _string(data: bytes, at: int, *, final: bool) -> Taken | None:
    found = _STRING.match(data, at)
    assert found is not None
    end = found.end()
    for terminator in (b"\x07", b"\x1b\\"):
        if data.startswith(terminator, end):
            whole = end + len(terminator)
            return Taken((ReplyEvent(data[at:whole]),), whole)
    unfinished = data[end:] in {b"", b"\x1b"}
    if unfinished and not final:
        return None
    if end - at > 2 and (unfinished or not _is_control(data[end])):
        return Taken((ReplyEvent(found[0]),), end)  # an answer that was cut, or has no end
    return _cut(data, at, at + 2)
