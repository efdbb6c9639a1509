"""Cursor and modes of the native terminal, each read in one call."""

from __future__ import annotations

from typing import Final

from termnode.terminal.engine import Cursor, Modes
from termnode.terminal.ghostty_engine.library import CData, check, ffi, lib
from termnode.terminal.ghostty_engine.mouse import Asked, Mouse

_MODES: Final = {
    "app_cursor": 1,
    "reverse": 5,
    "autowrap": 7,
    "app_keypad": 66,
    "focus_events": 1004,
    "bracketed_paste": 2004,
    "synchronized": 2026,
}


class _Reading:
    """A prepared read of several terminal data."""

    def __init__(self, terminal: CData, fields: list[tuple[str, CData]]) -> None:
        self._terminal = terminal
        self._count = len(fields)
        self._outs = [out for _, out in fields]
        keys = [getattr(lib, f"GHOSTTY_TERMINAL_DATA_{name}") for name, _ in fields]
        self._keys = ffi.new("GhosttyTerminalData[]", keys)
        self._values = ffi.new("void *[]", self._outs)
        self._written = ffi.new("size_t *")

    def read(self) -> list[CData]:
        """The values, in the order of the fields."""
        result = lib.ghostty_terminal_get_multi(
            self._terminal, self._count, self._keys, self._values, self._written
        )
        check(result, "status")
        return [out[0] for out in self._outs]


class Status:
    """Reads cursor and modes of one terminal."""

    def __init__(self, terminal: CData) -> None:
        self._cursor = _Reading(
            terminal,
            [
                ("CURSOR_X", ffi.new("uint16_t *")),
                ("CURSOR_Y", ffi.new("uint16_t *")),
                ("CURSOR_VISIBLE", ffi.new("bool *")),
                ("CURSOR_PENDING_WRAP", ffi.new("bool *")),
            ],
        )
        configs = [
            ffi.new("GhosttyTerminalModeConfig *", {"mode": mode}) for mode in _MODES.values()
        ]
        self._mouse = Mouse(terminal)
        self._modes = _Reading(
            terminal,
            [
                ("ACTIVE_SCREEN", ffi.new("GhosttyTerminalScreen *")),
                ("KITTY_KEYBOARD_FLAGS", ffi.new("uint8_t *")),
                ("MOUSE_TRACKING", ffi.new("bool *")),
                *(("MODE", config) for config in configs),
            ],
        )

    def cursor(self, shape: int) -> Cursor:
        """The cursor, with the shape found elsewhere."""
        x, y, visible, pending = self._cursor.read()
        return Cursor(int(x), int(y), bool(visible), shape, bool(pending))

    def modes(self, modify_other_keys: int) -> Modes:
        """The modes, with the one that the library does not tell."""
        screen, kitty, tracking, *configs = self._modes.read()
        asked = self._mouse.asked() if tracking else Asked()
        return Modes(
            alternate=screen == lib.GHOSTTY_TERMINAL_SCREEN_ALTERNATE,
            mouse=asked.mouse,
            mouse_sgr=asked.mouse_sgr,
            mouse_pixels=asked.mouse_pixels,
            kitty_flags=int(kitty),
            modify_other_keys=modify_other_keys,
            **dict(zip(_MODES, (bool(config.value) for config in configs), strict=True)),
        )
