"""What a program asked to be told of the mouse.

The library keeps a flag for every mode, and what counts (the mode set last, if it was not reset)
for itself. Its own encoder knows: it is asked what it would send.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from termnode.terminal.ghostty_engine.library import CData, check, ffi, lib, owned
from termnode.terminal.ghostty_engine.sink import CELL_HEIGHT_PX, CELL_WIDTH_PX

_ROOM: Final = 64
"""Bytes for one report; the longest is half of it."""

_SPAN: Final = 4
"""Cells each way of the screen that reports are made for; they are about its second cell."""

_PROBES: Final = (
    (1003, lib.GHOSTTY_MOUSE_ACTION_MOTION, False),
    (1002, lib.GHOSTTY_MOUSE_ACTION_MOTION, True),
    (1000, lib.GHOSTTY_MOUSE_ACTION_RELEASE, True),
    (9, lib.GHOSTTY_MOUSE_ACTION_PRESS, True),
)
"""Mode, and what is told in it but not in those below; with a button held or not."""


class Asked(NamedTuple):
    """The fields of ``Modes`` about the mouse."""

    mouse: int = 0
    mouse_sgr: bool = False
    mouse_pixels: bool = False


class Mouse:
    """Asks the encoder about one terminal, about 8 us a time."""

    def __init__(self, terminal: CData) -> None:
        self._terminal = terminal
        self._encoder = owned(
            "GhosttyMouseEncoder", lib.ghostty_mouse_encoder_new, lib.ghostty_mouse_encoder_free
        )
        self._event = owned(
            "GhosttyMouseEvent", lib.ghostty_mouse_event_new, lib.ghostty_mouse_event_free
        )
        self._buffer = ffi.new("char[]", _ROOM)
        self._length = ffi.new("size_t *")
        self._place()

    def _place(self) -> None:
        size = ffi.new("GhosttyMouseEncoderSize *")
        size.size = ffi.sizeof("GhosttyMouseEncoderSize")
        size.cell_width, size.cell_height = CELL_WIDTH_PX, CELL_HEIGHT_PX
        size.screen_width, size.screen_height = _SPAN * CELL_WIDTH_PX, _SPAN * CELL_HEIGHT_PX
        lib.ghostty_mouse_encoder_setopt(self._encoder, lib.GHOSTTY_MOUSE_ENCODER_OPT_SIZE, size)
        place = ffi.new("GhosttyMousePosition *", {"x": CELL_WIDTH_PX + 1, "y": CELL_HEIGHT_PX + 1})
        lib.ghostty_mouse_event_set_position(self._event, place[0])

    def asked(self) -> Asked:
        """What the program asked for, now."""
        lib.ghostty_mouse_encoder_setopt_from_terminal(self._encoder, self._terminal)
        for mode, action, held in _PROBES:
            report = self._report(action, held)
            if report:
                sgr = report.startswith(b"\x1b[<")
                return Asked(mode, sgr, sgr and b";2;2" not in report)
        return Asked()

    def _report(self, action: int, held: bool) -> bytes:
        lib.ghostty_mouse_encoder_reset(self._encoder)
        lib.ghostty_mouse_event_set_action(self._event, action)
        if held:
            lib.ghostty_mouse_event_set_button(self._event, lib.GHOSTTY_MOUSE_BUTTON_LEFT)
        else:
            lib.ghostty_mouse_event_clear_button(self._event)
        result = lib.ghostty_mouse_encoder_encode(
            self._encoder, self._event, self._buffer, _ROOM, self._length
        )
        check(result, "mouse")
        return bytes(ffi.buffer(self._buffer, self._length[0]))
