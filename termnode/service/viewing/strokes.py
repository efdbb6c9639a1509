"""What a person did, as the bytes that the program has asked for. Decisions only.

Nothing is refused here as it is to agents: what the program did not ask for is left out, as a
terminal leaves it out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from termnode.terminal.engine import Engine, Modes
from termnode.terminal.input.encode import encode_key
from termnode.terminal.input.kitty import ALL_KEYS
from termnode.terminal.input.mouse import NotRequested, OutOfRange, encode_mouse
from termnode.terminal.input.names import CHAR, UnknownKey, parse_key
from termnode.terminal.input.names import Key as NamedKey
from termnode.terminal.input.paste import PASTE_END, clean_paste, paste_bytes
from termnode.view.items import Focus, Item, Key, Mouse, Pasted, Raw, Text

FOCUS_IN: Final = b"\x1b[I"
FOCUS_OUT: Final = b"\x1b[O"

_WITH_BUTTON: Final = frozenset(("press", "release", "click", "drag"))
_WITHOUT: Final = frozenset(("move", "wheel-up", "wheel-down"))
_BUTTONS: Final = frozenset(("left", "middle", "right"))
_MODIFIERS: Final = frozenset(("shift", "alt", "ctrl"))


@dataclass(frozen=True, slots=True)
class Stroke:
    """Bytes to write as one. ``human`` unless they only tell where the mouse or the focus is.

    ``closing`` is written if they are not all written; a ``paste`` may take its time.
    """

    data: bytes
    human: bool = True
    paste: bool = False
    closing: bytes = b""


def strokes(items: Iterable[Item], engine: Engine) -> list[Stroke]:
    """The items in order; neighbours that are no pastes together. A `Pasted` is a whole paste."""
    modes, found = engine.modes, list[Stroke]()
    for item in items:
        stroke = _stroke(item, modes, engine)
        if found and not (stroke.paste or found[-1].paste):
            last = found.pop()
            stroke = Stroke(last.data + stroke.data, last.human or stroke.human)
        found.append(stroke)
    return [stroke for stroke in found if stroke.data]


def _stroke(item: Item, modes: Modes, engine: Engine) -> Stroke:
    match item:
        case Key():
            return _human(_key(item.name, modes))
        case Text():
            return _human(_text(item.text, modes))
        case Pasted():
            return _paste(item.text, modes)
        case Mouse():
            data = _mouse(item, modes, engine)
            return Stroke(data, human=bool(data) and item.action != "move")
        case Focus():
            data = FOCUS_IN if item.has else FOCUS_OUT
            return Stroke(data if modes.focus_events else b"", human=False)
        case Raw():
            return _human(item.data)


def _human(data: bytes) -> Stroke:
    return Stroke(data, human=bool(data))


def _key(name: str, modes: Modes) -> bytes:
    try:
        return encode_key(parse_key(name), modes)
    except UnknownKey:
        return b""


def _text(text: str, modes: Modes) -> bytes:
    """Text as it is; for a program that wants every key told, each character as a key."""
    if not modes.kitty_flags & ALL_KEYS:
        return text.encode("utf-8", "replace")
    keys = {char: encode_key(NamedKey(CHAR, char), modes) for char in set(text)}
    return b"".join(map(keys.__getitem__, text))


def _paste(text: str, modes: Modes) -> Stroke:
    data = paste_bytes(clean_paste(text).text, modes.bracketed_paste)
    return Stroke(data, paste=True, closing=PASTE_END if modes.bracketed_paste else b"")


def _mouse(item: Mouse, modes: Modes, engine: Engine) -> bytes:
    known = item.action in _WITHOUT or (item.action in _WITH_BUTTON and item.button in _BUTTONS)
    if not known or item.x >= engine.cols or item.y >= engine.rows:
        return b""
    held = _MODIFIERS.intersection(item.modifiers)
    try:
        return encode_mouse(item.action, item.button, item.x, item.y, held, modes)
    except (NotRequested, OutOfRange):
        return b""
