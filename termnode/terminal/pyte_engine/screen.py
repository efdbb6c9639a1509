"""The whole screen: modes, character sets, resets and the bell over the layers below."""

from __future__ import annotations

from termnode.terminal.engine import DEFAULT_SCROLLBACK, PLAIN, EventKind
from termnode.terminal.pyte_engine import modes
from termnode.terminal.pyte_engine.outbox import Outbox
from termnode.terminal.pyte_engine.storing import StoreScreen


class PyteScreen(StoreScreen):
    """A ``pyte.Screen`` that programs of today can use; see the layers it is made of."""

    def __init__(self, columns: int, lines: int, scrollback: int = DEFAULT_SCROLLBACK) -> None:
        self.outbox = Outbox()
        super().__init__(columns, lines, scrollback)

    def reset(self) -> None:
        """RIS: everything as in a new terminal, but for the scrollback."""
        super().reset()
        self.forget_stored()
        self.cursor_shape = 0
        self.modify_other_keys = 0
        self.titles: list[str] = []
        self.saved_modes: dict[int, bool] = {}
        self.last_graphic = ""
        self.tabs.reset()
        self._reset_look()

    def soft_reset(self) -> None:
        """DECSTR: modes, margins and rendition of a new terminal; the text and cursor stay."""
        self.margins = None
        self.forget_cursor()
        for number in (modes.APP_CURSOR, modes.ORIGIN, modes.KEYPAD):
            self.mode.discard(number << modes.PRIVATE_SHIFT)
        self._reset_look()
        self.mode |= modes.DEFAULTS

    def _reset_look(self) -> None:
        self.mode -= modes.KNOWN_STANDARD
        self.pen = self.palette.pen(PLAIN)
        self.cursor.hidden = False
        self.charsets.reset()
        self.refresh_direct()

    # Modes

    def has_mode(self, number: int) -> bool:
        """Whether a private mode is set."""
        if number in modes.ALTERNATE:
            return self.alternate
        return number << modes.PRIVATE_SHIFT in self.mode

    def set_mode(self, *numbers: int, **kwargs: object) -> None:
        """SM and, with ``private``, DECSET."""
        self._change_modes(numbers, True, bool(kwargs.get("private")))

    def reset_mode(self, *numbers: int, **kwargs: object) -> None:
        """RM and, with ``private``, DECRST."""
        self._change_modes(numbers, False, bool(kwargs.get("private")))

    def _change_modes(self, numbers: tuple[int, ...], on: bool, private: bool) -> None:
        for number in numbers:
            if private and number in modes.KNOWN_PRIVATE:
                self._change_private(number, on)
            elif not private and number in modes.KNOWN_STANDARD:
                self.flag(number, on)
                self.refresh_direct()

    def _change_private(self, number: int, on: bool) -> None:
        if number in modes.ALTERNATE:
            self.switch(number, on)
            return
        for rivals in (modes.MOUSE, modes.MOUSE_FORMS):
            if number in rivals:
                self.mode -= {rival << modes.PRIVATE_SHIFT for rival in rivals}
        self.flag(number << modes.PRIVATE_SHIFT, on)
        self._act_on(number, on)

    def _act_on(self, number: int, on: bool) -> None:
        """What a change of mode does at once."""
        if number == modes.ORIGIN:
            self.cursor_position()
        elif number == modes.AUTOWRAP and not on:
            self.settle()
        elif number == modes.SHOW_CURSOR:
            self.cursor.hidden = not on
        elif number == modes.REVERSE:
            self.all_dirty = True
        elif number == modes.SAVE_CURSOR:
            (self.save_cursor if on else self.restore_cursor)()

    def set_private(self, number: int, on: bool) -> None:
        """Set or reset one private mode, if we know it."""
        self._change_modes((number,), on, True)

    def save_mode(self, number: int) -> None:
        """XTSAVE: remember one private mode."""
        if number in modes.KNOWN_PRIVATE:
            self.saved_modes[number] = self.has_mode(number)

    # Character sets

    def designate(self, slot: str, name: str) -> None:
        """SCS: put a character set into G0-G3."""
        self.charsets.designate(slot, name)
        self.refresh_direct()

    def shift(self, number: int) -> None:
        """LS0-LS3: use G0-G3."""
        self.charsets.shift(number)
        self.refresh_direct()

    def shift_once(self, number: int) -> None:
        """SS2, SS3: use G2 or G3 for one character."""
        self.charsets.shift_once(number)
        self.refresh_direct()

    def shift_in(self) -> None:
        """SI: use G0."""
        self.shift(0)

    def shift_out(self) -> None:
        """SO: use G1."""
        self.shift(1)

    # Lines and the bell

    def next_row(self) -> None:
        """IND: down one row in the same column."""
        self.settle()
        self.index()

    def next_line(self) -> None:
        """CR and LF; NEL."""
        self.cursor.x = 0
        self.index()

    def bell(self, *_args: object) -> None:
        """BEL."""
        self.outbox.event(EventKind.BELL)
