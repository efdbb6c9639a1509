"""From the parser's actions to the screen: controls, escapes, and the tables of the rest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from termnode.terminal.pyte_engine import csi, osc, reports
from termnode.terminal.pyte_engine.charsets import SLOTS
from termnode.terminal.pyte_engine.modes import KEYPAD
from termnode.terminal.pyte_engine.screen import PyteScreen

_MAX_CAPABILITIES: Final = 64

_ESCAPES: Final[Mapping[str, Callable[[PyteScreen], None]]] = {
    "7": PyteScreen.save_cursor,
    "8": PyteScreen.restore_cursor,
    "=": lambda s: s.set_mode(KEYPAD, private=True),
    ">": lambda s: s.reset_mode(KEYPAD, private=True),
    "D": PyteScreen.next_row,
    "E": PyteScreen.next_line,
    "H": PyteScreen.set_tab_stop,
    "M": PyteScreen.reverse_index,
    "N": lambda s: s.shift_once(2),
    "O": lambda s: s.shift_once(3),
    "Z": lambda s: s.outbox.reply(reports.ANSWERS["c"](s, ())),
    "c": PyteScreen.reset,
    "n": lambda s: s.shift(2),
    "o": lambda s: s.shift(3),
}


class Dispatcher:
    """The actions of one screen (see ``grammar.Actions``)."""

    def __init__(self, screen: PyteScreen) -> None:
        self._screen = screen
        self.draw = screen.draw
        self.newline = screen.next_line
        self._controls: Mapping[str, Callable[[], None]] = {
            "\x07": screen.bell,
            "\x08": screen.backspace,
            "\x09": screen.tab,
            "\x0a": screen.linefeed,
            "\x0b": screen.linefeed,
            "\x0c": screen.linefeed,
            "\x0d": screen.carriage_return,
            "\x0e": screen.shift_out,
            "\x0f": screen.shift_in,
        }

    def control(self, char: str) -> None:
        """Execute a control character."""
        self._controls[char]()

    def rendition(self, params: str) -> None:
        """SGR."""
        screen = self._screen
        pen = screen.pen
        screen.pen = pen.turns.get(params) or screen.palette.turn(pen, params)

    def csi(self, key: str, params: str) -> None:
        """A control sequence; one that no table has is swallowed."""
        screen, values = self._screen, csi.numbers(params)
        handler = csi.HANDLERS.get(key)
        if handler is not None:
            handler(screen, values)
        elif key in reports.ANSWERS:
            answer = reports.ANSWERS[key](screen, values)
            if answer:
                screen.outbox.reply(answer)
            elif key == "t":
                csi.WINDOW(screen, values)

    def escape(self, intermediates: str, final: str) -> None:
        """An escape sequence; unknown ones are swallowed."""
        if not intermediates:
            action = _ESCAPES.get(final)
            if action is not None:
                action(self._screen)
        elif intermediates == "#" and final == "8":
            self._screen.alignment_display()
        elif intermediates in SLOTS:
            self._screen.designate(intermediates, final)

    def osc(self, text: str, end: str) -> None:
        """An operating system command."""
        number, _, rest = text.partition(";")
        handler = osc.HANDLERS.get(number)
        if handler is not None:
            handler(self._screen, rest, end)

    def dcs(self, text: str) -> None:
        """DECRQSS and XTGETTCAP; every other string is nothing to us."""
        reply = self._screen.outbox.reply
        if text.startswith("$q"):
            reply(reports.setting(self._screen, text[2:]))
        elif text.startswith("+q"):
            for name in text[2:].split(";", _MAX_CAPABILITIES)[:_MAX_CAPABILITIES]:
                reply(reports.capability(name))
