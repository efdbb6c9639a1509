"""Operating system commands: titles, links, clipboard writes, prompt marks, notices, colors."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping
from typing import Final

from termnode.terminal.engine import MAX_TITLE, EventKind
from termnode.terminal.pyte_engine import reports
from termnode.terminal.pyte_engine.outbox import CONTROLS
from termnode.terminal.pyte_engine.screen import PyteScreen

MAX_TEXT: Final = 4_096
"""Characters of a directory, a prompt mark or a notice; the rest is cut."""

MAX_LINK: Final = 2_083
"""Characters of a hyperlink; a longer one is no link."""

MAX_CLIPBOARD: Final = 65_536
"""Bytes of a clipboard write; a larger one is ignored."""

_MAX_QUERIES: Final = 256
_DYNAMIC: Final = range(10, 13)


def _title(screen: PyteScreen, text: str, _end: str) -> None:
    screen.set_title(CONTROLS.sub("", text)[:MAX_TITLE])
    screen.outbox.event(EventKind.TITLE, screen.title)


def _icon(screen: PyteScreen, text: str, _end: str) -> None:
    screen.set_icon_name(CONTROLS.sub("", text)[:MAX_TITLE])


def _link(screen: PyteScreen, text: str, _end: str) -> None:
    """OSC 8: parameters, then the link; an empty link ends the one before."""
    uri = CONTROLS.sub("", text.partition(";")[2])
    usable = bool(uri) and len(uri) <= MAX_LINK
    screen.pen = screen.palette.link(screen.pen, uri if usable else None)


def _cwd(screen: PyteScreen, text: str, _end: str) -> None:
    screen.outbox.event(EventKind.CWD, text[:MAX_TEXT])


def _clipboard(screen: PyteScreen, text: str, _end: str) -> None:
    """OSC 52: an event for valid base64 alone. Reads get no answer: they are refused."""
    try:
        data = base64.b64decode(text.partition(";")[2].encode(), validate=True)
    except (binascii.Error, ValueError):
        return
    if 0 < len(data) <= MAX_CLIPBOARD:
        screen.outbox.event(EventKind.CLIPBOARD, data.decode("utf-8", "replace"))


def _prompt(screen: PyteScreen, text: str, _end: str) -> None:
    line = None if screen.alternate else screen.history.scrolled + screen.cursor.y
    screen.outbox.event(EventKind.PROMPT_MARK, text[:MAX_TEXT], line, screen.cursor.x)


def _notify(screen: PyteScreen, text: str, _end: str) -> None:
    """OSC 9: a notice; ``9;4`` is a progress bar and tells nobody anything."""
    if text and text != "4" and not text.startswith("4;"):
        screen.outbox.event(EventKind.NOTIFY, text[:MAX_TEXT])


def _notify_titled(screen: PyteScreen, text: str, _end: str) -> None:
    """OSC 777: ``notify;title;body``."""
    command, _, rest = text.partition(";")
    title, _, body = rest.partition(";")
    if command == "notify" and (title or body):
        screen.outbox.event(EventKind.NOTIFY, ": ".join(filter(None, (title, body)))[:MAX_TEXT])


def _palette(screen: PyteScreen, text: str, end: str) -> None:
    """OSC 4: pairs of index and color; a color of ``?`` asks for it, anything else is ignored."""
    parts = text.split(";", _MAX_QUERIES)[:_MAX_QUERIES]
    for index, color in zip(parts[::2], parts[1::2], strict=False):
        if color == "?" and index.isdecimal() and index.isascii() and len(index) <= 3:
            number = int(index)
            if number <= 255:
                screen.outbox.reply(reports.palette_color(number, end))


def _dynamic(first: int) -> Handler:
    """OSC 10, 11, 12: colors from ``first`` on, one per part."""

    def ask(screen: PyteScreen, text: str, end: str) -> None:
        for number, color in zip(range(first, _DYNAMIC.stop), text.split(";", 3), strict=False):
            if color == "?":
                screen.outbox.reply(reports.dynamic_color(number, end))

    return ask


Handler = Callable[[PyteScreen, str, str], None]

HANDLERS: Final[Mapping[str, Handler]] = {
    "0": _title,
    "1": _icon,
    "2": _title,
    "4": _palette,
    "7": _cwd,
    "8": _link,
    "9": _notify,
    "52": _clipboard,
    "133": _prompt,
    "777": _notify_titled,
    **{str(number): _dynamic(number) for number in _DYNAMIC},
}
"""Number of a command to what it does; every other number is swallowed."""
