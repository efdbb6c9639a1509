"""Where the library's callbacks put what they are told: replies and events, both bounded.

The C callbacks are made once per process and never freed. They find the engine's sink through the
library's user data, so an engine costs no callback objects and cannot outlive its own.
"""

from __future__ import annotations

from typing import Final

from termnode.terminal.engine import (
    CELL_PIXELS,
    MAX_REPLY_BYTES,
    MAX_TITLE,
    Event,
    EventKind,
)
from termnode.terminal.event_queue import EventQueue
from termnode.terminal.ghostty_engine.library import (
    CData,
    ffi,
    get_value,
    lib,
    set_option,
    string_bytes,
)
from termnode.terminal.ghostty_engine.prefilter import PROMPT_OSC

MAX_EVENT_TEXT: Final = 4_096
"""Bytes of an event's text; the rest is cut."""

MAX_CLIPBOARD: Final = 64 * 1024
"""Bytes that one clipboard write may carry; a larger one is ignored."""

CELL_WIDTH_PX, CELL_HEIGHT_PX = CELL_PIXELS

_VERSION_TEXT: Final[CData] = ffi.new("char[]", b"termnode")
_VERSION: Final[CData] = ffi.new("GhosttyString *", [ffi.cast("uint8_t *", _VERSION_TEXT), 8])
_PROMPT: Final = PROMPT_OSC + b";"
_CONTROLS: Final = dict.fromkeys((*range(0x20), *range(0x7F, 0xA0)))


def printable(raw: bytes) -> str:
    """Program output as text: bad UTF-8 replaced, control characters removed."""
    return raw.decode("utf-8", "replace").translate(_CONTROLS)


class Sink:
    """Replies and events of one engine, and the size it reports."""

    def __init__(self, cols: int, rows: int) -> None:
        self.cols = cols
        self.rows = rows
        self._replies = bytearray()
        self._events = EventQueue()
        self.prompt: tuple[int | None, int | None] = (None, None)
        """Line and column of the prompt mark that the library is being given."""

    def reply(self, data: bytes) -> None:
        """Queue an answer for the program whole, or drop it when it does not fit."""
        if len(self._replies) + len(data) <= MAX_REPLY_BYTES:
            self._replies += data

    def event(self, kind: EventKind, raw: bytes = b"") -> None:
        """Queue an event."""
        line, column = self.prompt if kind is EventKind.PROMPT_MARK else (None, None)
        self._events.put(Event(kind, printable(raw), line, column))

    def take_replies(self) -> bytes:
        """Give and clear the replies."""
        replies = bytes(self._replies)
        self._replies.clear()
        return replies

    def take_events(self) -> list[Event]:
        """Give and clear the events."""
        return self._events.take()


def _sink(userdata: CData) -> Sink:
    sink: Sink = ffi.from_handle(userdata)
    return sink


def _on_write(_terminal: CData, userdata: CData, data: CData, length: int) -> None:
    _sink(userdata).reply(bytes(ffi.buffer(data, length)))


def _on_bell(_terminal: CData, userdata: CData) -> None:
    _sink(userdata).event(EventKind.BELL)


def read_string(terminal: CData, name: str, limit: int) -> bytes:
    """A string datum of the terminal, at most ``limit`` bytes."""
    return string_bytes(get_value(terminal, name, ffi.new("GhosttyString *")), limit)


def _on_title(terminal: CData, userdata: CData) -> None:
    _sink(userdata).event(EventKind.TITLE, read_string(terminal, "TITLE", MAX_TITLE))


def _on_cwd(terminal: CData, userdata: CData) -> None:
    _sink(userdata).event(EventKind.CWD, read_string(terminal, "PWD", MAX_EVENT_TEXT))


def _on_clipboard(_terminal: CData, userdata: CData, write: CData) -> None:
    # Unanswered: whoever takes the event decides. The library refuses where an answer is due.
    if write.contents_len and write.contents[0].data.len <= MAX_CLIPBOARD:
        content = string_bytes(write.contents[0].data, MAX_CLIPBOARD)
        _sink(userdata).event(EventKind.CLIPBOARD, content)


def _on_notify(_terminal: CData, userdata: CData, note: CData) -> None:
    title = string_bytes(note.title, MAX_EVENT_TEXT)
    body = string_bytes(note.body, MAX_EVENT_TEXT)
    _sink(userdata).event(EventKind.NOTIFY, b": ".join(filter(None, (title, body))))


def _on_unknown(_terminal: CData, userdata: CData, sequence: CData) -> None:
    if sequence.tag != lib.GHOSTTY_TERMINAL_UNKNOWN_SEQUENCE_OSC:
        return
    content = string_bytes(sequence.value.osc.content, MAX_EVENT_TEXT)
    if content.startswith(_PROMPT):
        _sink(userdata).event(EventKind.PROMPT_MARK, content[len(_PROMPT) :])


def _on_size(_terminal: CData, userdata: CData, out: CData) -> bool:
    sink = _sink(userdata)
    out.rows, out.columns = sink.rows, sink.cols
    out.cell_width, out.cell_height = CELL_WIDTH_PX, CELL_HEIGHT_PX
    return True


def _on_version(_terminal: CData, _userdata: CData) -> CData:
    return _VERSION[0]


def _on_error(_kind: CData, _error: CData, _traceback: CData) -> None:
    """An exception in a callback costs that one reply or event; it never reaches the library."""


_CALLBACKS: Final = {
    name: ffi.callback(f"GhosttyTerminal{ctype}Fn", call, onerror=_on_error)
    for name, ctype, call in (
        ("WRITE_PTY", "WritePty", _on_write),
        ("BELL", "Bell", _on_bell),
        ("TITLE_CHANGED", "TitleChanged", _on_title),
        ("PWD_CHANGED", "PwdChanged", _on_cwd),
        ("CLIPBOARD_WRITE", "ClipboardWrite", _on_clipboard),
        ("DESKTOP_NOTIFICATION", "DesktopNotification", _on_notify),
        ("UNKNOWN_SEQUENCE", "UnknownSequence", _on_unknown),
        ("SIZE", "Size", _on_size),
        ("XTVERSION", "Xtversion", _on_version),
    )
}


def attach(terminal: CData, handle: CData) -> None:
    """Send the terminal's callbacks to the sink behind ``handle`` (from ``ffi.new_handle``).

    The caller keeps ``handle`` alive as long as the terminal.
    """
    set_option(terminal, "USERDATA", handle)
    for name, callback in _CALLBACKS.items():
        set_option(terminal, name, callback)
