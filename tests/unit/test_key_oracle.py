"""Keys against the native library's own encoder; every difference is listed with its reason."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import product

import pytest

from termnode.terminal.engine import Modes
from termnode.terminal.input.encode import encode_key
from termnode.terminal.input.keyboard import held
from termnode.terminal.input.names import CHAR, Key

pytest.importorskip("pyghostty", reason="the native emulator is not installed")

from termnode.terminal.ghostty_engine.library import NULL, CData, check, ffi, lib

NAMED = {
    **{f"F{number}": f"F{number}" for number in range(1, 13)},
    **{f"KP{digit}": f"NUMPAD_{digit}" for digit in range(10)},
    "Up": "ARROW_UP", "Down": "ARROW_DOWN", "Left": "ARROW_LEFT", "Right": "ARROW_RIGHT",
    "Home": "HOME", "End": "END", "Insert": "INSERT", "Delete": "DELETE", "PageUp": "PAGE_UP",
    "PageDown": "PAGE_DOWN", "Tab": "TAB", "BSpace": "BACKSPACE", "Enter": "ENTER",
    "Escape": "ESCAPE", "KP/": "NUMPAD_DIVIDE", "KP*": "NUMPAD_MULTIPLY", "KP-": "NUMPAD_SUBTRACT",
    "KP+": "NUMPAD_ADD", "KP.": "NUMPAD_DECIMAL", "KPEnter": "NUMPAD_ENTER",
}  # fmt: skip
PHYSICAL = {
    **{chr(code): chr(code).upper() for code in range(ord("a"), ord("z") + 1)},
    **{str(digit): f"DIGIT_{digit}" for digit in range(10)},
    " ": "SPACE", "-": "MINUS", "=": "EQUAL", "[": "BRACKET_LEFT", "]": "BRACKET_RIGHT",
    "\\": "BACKSLASH", ";": "SEMICOLON", "'": "QUOTE", ",": "COMMA", ".": "PERIOD", "/": "SLASH",
    "`": "BACKQUOTE",
}  # fmt: skip

MODES = {
    "normal": Modes(),
    "application": Modes(app_cursor=True, app_keypad=True),
    "other keys": Modes(modify_other_keys=2),
    **{f"kitty {flags}": Modes(kitty_flags=flags) for flags in (1, 3, 5, 8, 9, 12, 15, 24, 31)},
}


@pytest.fixture
def encoder() -> Iterator[CData]:
    made = ffi.new("GhosttyKeyEncoder *")
    check(lib.ghostty_key_encoder_new(NULL, made), "encoder")
    yield made[0]
    lib.ghostty_key_encoder_free(made[0])


def configure(encoder: CData, modes: Modes) -> None:
    for name, on in {
        "CURSOR_KEY_APPLICATION": modes.app_cursor,
        "KEYPAD_KEY_APPLICATION": modes.app_keypad,
        "ALT_ESC_PREFIX": True,
        "IGNORE_KEYPAD_WITH_NUMLOCK": False,
        "MODIFY_OTHER_KEYS_STATE_2": modes.modify_other_keys == 2,
    }.items():
        option = getattr(lib, f"GHOSTTY_KEY_ENCODER_OPT_{name}")
        lib.ghostty_key_encoder_setopt(encoder, option, ffi.new("bool *", on))
    flags = ffi.new("uint8_t *", modes.kitty_flags)
    lib.ghostty_key_encoder_setopt(encoder, lib.GHOSTTY_KEY_ENCODER_OPT_KITTY_FLAGS, flags)


def theirs(encoder: CData, key: Key) -> bytes:
    made = ffi.new("GhosttyKeyEvent *")
    check(lib.ghostty_key_event_new(NULL, made), "event")
    try:
        return encoded(encoder, made[0], key)
    finally:
        lib.ghostty_key_event_free(made[0])


def encoded(encoder: CData, event: CData, key: Key) -> bytes:
    name = PHYSICAL[key.char] if key.code == CHAR else NAMED[key.code]
    plain = key.char or (key.code[2:] if key.code[:2] == "KP" and key.code != "KPEnter" else "")
    capital = key.shift and plain.isalpha()
    text = (plain.upper() if capital else plain).encode()
    kept = ffi.new("char[]", text)  # the event borrows it
    lib.ghostty_key_event_set_action(event, lib.GHOSTTY_KEY_ACTION_PRESS)
    lib.ghostty_key_event_set_key(event, getattr(lib, f"GHOSTTY_KEY_{name}"))
    lib.ghostty_key_event_set_mods(event, key.shift | key.ctrl << 1 | key.alt << 2)
    lib.ghostty_key_event_set_consumed_mods(event, int(capital))
    if plain:
        lib.ghostty_key_event_set_unshifted_codepoint(event, ord(plain))
        lib.ghostty_key_event_set_utf8(event, kept, len(text))
    out, length = ffi.new("char[64]"), ffi.new("size_t *")
    check(lib.ghostty_key_encoder_encode(encoder, event, out, 64, length), "encode")
    return bytes(ffi.buffer(out, length[0]))


def keys() -> Iterator[Key]:
    every = [*((code, "") for code in NAMED), *((CHAR, char) for char in PHYSICAL)]
    for code, char in every:
        for ctrl, alt, shift in product((False, True), repeat=3):
            yield Key(code, char, ctrl, alt, shift)


def test_all_keys_in_all_modes(encoder: CData) -> None:
    compare(encoder, encode_key)


def compare(encoder: CData, ours: Callable[[Key, Modes], bytes]) -> None:
    for label, modes in MODES.items():
        configure(encoder, modes)
        for key in keys():
            mine, other = ours(key, modes), theirs(encoder, key)
            assert mine == other or explained(key, modes, mine, other), (label, key, mine, other)


def explained(key: Key, modes: Modes, mine: bytes, other: bytes) -> bool:
    """Whether the difference is one of the known ones."""
    if modes.kitty_flags:
        return by_kitty(key, modes.kitty_flags, mine, other)
    return (modes.modify_other_keys > 0 and by_level_2(key, other)) or by_xterm(key, mine, other)


def by_kitty(key: Key, flags: int, mine: bytes, other: bytes) -> bool:
    # With some keys it writes the event type of a press, which is the default and may be left out.
    if flags & 2:
        other = re.sub(rb"\[1;1:1([A-Z])", rb"[\1", other)
        other = re.sub(rb"\[1;(\d):1([A-Z])", rb"[1;\1\2", other)
    # It takes the text of a keypad key for its shifted key; the protocol wants the layout's.
    if flags & 4 and key.code.startswith("KP") and key.shift:
        other = other.replace(b":%d" % ord(key.code[2:3]), b"")
    if mine == other:
        return True
    # Shift with a character without a capital still writes it: kitty sends text as text.
    text = (key.char or key.code[2:]).encode()
    return held(key) == 2 and not flags & 8 and mine == text


def by_level_2(key: Key, other: bytes) -> bool:
    return any(
        (
            # xterm keeps CSI Z for Shift-Tab and plain ESC for Shift-Escape.
            key.code in {"Tab", "Escape"} and held(key) == 2,
            # With Ctrl, Backspace is BS to xterm, also in the parameter.
            key.code == "BSpace" and key.ctrl and other.endswith(b";127~"),
        )
    )


def by_xterm(key: Key, mine: bytes, other: bytes) -> bool:
    """What the library encodes although the program did not ask for it; xterm does not."""
    return any(
        (
            # F3 as a number, so that it is no cursor report: kitty's way. xterm: CSI 1;m R.
            key.code == "F3" and other == mine.replace(b"[1;", b"[13;").replace(b"R", b"~"),
            # Modified keys that have no bytes of their own, as sequences. xterm: the plain bytes.
            other.startswith(b"\x1b[27;") and key.code in {"Tab", "Enter", "Escape"},
            key.code == CHAR and key.ctrl and other == b"\x1b[%d;%du" % (ord(key.char), held(key)),
            # Alt with keys of the keypad is lost there, and with Ctrl, Shift and Backspace.
            key.alt and key.code.startswith("KP") and mine == b"\x1b" + other,
            key.code == "BSpace" and held(key) == 8 and (mine, other) == (b"\x1b\x08", b"\x7f"),
        )
    )


@pytest.mark.parametrize("spoilt", ["Up", "Delete", "KPEnter", "Tab", "Enter"])
def test_a_wrong_encoding_is_found(encoder: CData, spoilt: str) -> None:
    def wrong(key: Key, modes: Modes) -> bytes:
        return encode_key(key, modes) + (b"!" if key.code == spoilt else b"")

    with pytest.raises(AssertionError):
        compare(encoder, wrong)
