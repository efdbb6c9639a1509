"""The sequences that the library lacks, done with those it has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Protocol

from termnode.terminal.ghostty_engine.prefilter import Action

MAX_TITLES: Final = 16
"""Titles that CSI 22 t can set aside; the oldest is forgotten."""

_SOFT_RESET: Final = (
    b'\x1b[?25h\x1b[4l\x1b[?6l\x1b[?7h\x1b[?1l\x1b>\x1b[?69l\x1b[r\x1b[m\x1b(B\x1b)B\x0f\x1b[0"q'
    b"\x1b[H\x1b7"
)
"""DECSTR after the VT510 manual (cursor, insert, origin, keypad, margins, looks, character sets,
protection, saved cursor), with autowrap on as xterm has it. Leaves the cursor at home."""


@dataclass(slots=True)
class State:
    """What the library does not keep."""

    titles: list[str] = field(default_factory=list)
    modify_other_keys: int = 0


class Target(Protocol):
    """The terminal, as actions see it."""

    state: State

    @property
    def position(self) -> tuple[int, int]:
        """Column and row of the cursor."""

    @property
    def title(self) -> str:
        """The title."""

    def write(self, data: bytes) -> None:
        """Give bytes to the library, past the filter."""

    def query(self, data: bytes) -> bytes:
        """Give a query to the library; its answer is returned instead of queued."""

    def reply(self, data: bytes) -> None:
        """Queue an answer for the program."""

    def note_prompt(self) -> None:
        """Keep where the cursor is for the prompt mark that comes next."""

    def number_lines(self) -> object:
        """Work out how lines are numbered at this point."""

    def history_wiped(self) -> None:
        """There is no history any more."""

    def screen_wiped(self) -> None:
        """Count a wipe of the screen in use."""

    def alternate_wiped(self) -> None:
        """Count a wipe of the alternate screen alone."""

    def note_wipe_below(self) -> None:
        """Count a wipe, if the cursor is in the first cell."""

    def note_screens(self) -> None:
        """Count a change of screens, if there was one."""


def _soft_reset(target: Target) -> None:
    x, y = target.position
    target.write(_SOFT_RESET + b"\x1b[%d;%dH" % (y + 1, x + 1))


def _extended_report(target: Target) -> None:
    target.reply(target.query(b"\x1b[6n").replace(b"\x1b[", b"\x1b[?", 1))


def _push_title(target: Target) -> None:
    target.state.titles = [*target.state.titles[1 - MAX_TITLES :], target.title]


def _pop_title(target: Target) -> None:
    if target.state.titles:
        target.write(b"\x1b]2;%b\x1b\\" % target.state.titles.pop().encode())


def _full_reset(target: Target) -> None:
    target.state.titles.clear()
    target.state.modify_other_keys = 0
    target.history_wiped()
    target.note_screens()
    target.screen_wiped()


def _other_keys(level: int) -> Callable[[Target], None]:
    def set_level(target: Target) -> None:
        target.state.modify_other_keys = level

    return set_level


_ACTIONS: Final[dict[Action, Callable[[Target], object]]] = {
    Action.SOFT_RESET: _soft_reset,
    Action.EXTENDED_CURSOR_REPORT: _extended_report,
    Action.PUSH_TITLE: _push_title,
    Action.POP_TITLE: _pop_title,
    Action.FULL_RESET: _full_reset,
    Action.OTHER_KEYS_OFF: _other_keys(0),
    Action.OTHER_KEYS_1: _other_keys(1),
    Action.OTHER_KEYS_2: _other_keys(2),
    Action.NOTE_PROMPT: lambda target: target.note_prompt(),
    Action.NUMBER_LINES: lambda target: target.number_lines(),
    Action.HISTORY_WIPED: lambda target: target.history_wiped(),
    Action.ALTERNATE_WIPED: lambda target: target.alternate_wiped(),
    Action.WIPING_BELOW: lambda target: target.note_wipe_below(),
    Action.SCREENS_MAY_HAVE_CHANGED: lambda target: target.note_screens(),
}


def perform(action: Action, target: Target) -> None:
    """Do ``action`` at this point of the output."""
    _ACTIONS[action](target)
