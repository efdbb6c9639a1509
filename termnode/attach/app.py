"""A whole view under Trio: the terminal, the connection, and who waits for what."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import trio

from termnode.attach.config import Config, ConfigError, load, locate
from termnode.attach.ends import SLOW, End, How
from termnode.attach.link import Opened
from termnode.attach.places import tab_room
from termnode.attach.seat import Seat
from termnode.attach.talking import talk
from termnode.attach.tty import Tty
from termnode.terminal.render.cells import width_of
from termnode.view.messages import Attach

__all__ = ["End", "How", "Wish", "show"]

PASSED_ON: Final = (
    "SSH_AUTH_SOCK",
    "SSH_CONNECTION",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
)
"""Of the person's environment: where their agent and their screen are, for new panes."""

MAX_VALUE: Final = 4_096

Again = Callable[[], Awaitable[Opened]]
"""Authorises another connection; raises whatever the bus raises."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What the person wants to see; ``environment`` is that of their terminal."""

    read_only: bool = False
    tab: int | None = None
    environment: Mapping[str, str] = field(default_factory=dict)


async def show(opened: Opened, again: Again, wish: Wish) -> End:
    """Show the service on standard input and output until it is over.

    The terminal is then as it was found, however it ends. Raises NoTerminal when there is none.
    """
    config, complaint = _config(wish.environment)
    tty = Tty(environ=wish.environment)
    view = _View(tty, config, wish, again)
    with tty:
        if complaint is not None:
            view.seat.say(complaint)
        return await view.run(opened)


def _config(environment: Mapping[str, str]) -> tuple[Config, str | None]:
    """The person's configuration, or the defaults and what is wrong with it."""
    try:
        return load(locate(environment)), None
    except ConfigError as error:
        return Config(), f"{error} (the defaults are used)"


def passed_on(environment: Mapping[str, str]) -> dict[str, str]:
    """What of the person's environment new panes get."""
    values = {name: environment.get(name, "") for name in PASSED_ON}
    return {name: value for name, value in values.items() if 0 < len(value) <= MAX_VALUE}


def load_widths(emulator: str) -> None:
    """Load what measures text, so that it is there."""
    with suppress(ValueError, ImportError, OSError):  # then another one measures, when it must
        width_of(emulator)


class _View:
    def __init__(self, tty: Tty, config: Config, wish: Wish, again: Again) -> None:
        self.seat = Seat(tty, config)
        self._tty = tty
        self._wish = wish
        self._again = again

    async def run(self, opened: Opened) -> End:
        """Until it is over."""
        seat = self.seat
        async with trio.open_nursery() as nursery:
            for task in (
                self._keys, self._sizes, self._drained, self._get_widths, seat.alarm.run,
            ):  # fmt: skip
                nursery.start_soon(task)
            nursery.start_soon(self._connections, opened)
            await seat.over.wait()
            nursery.cancel_scope.cancel()
        assert seat.end is not None, "it is over"
        return seat.end

    async def _keys(self) -> None:
        while data := await self._tty.read():
            self.seat.typed(data)
        self.seat.finish(End(How.LOST, "the terminal hung up"))

    async def _sizes(self) -> None:
        async for _size in self._tty.sizes():
            self.seat.resized()

    async def _drained(self) -> None:
        while True:
            await self._tty.drained()
            self.seat.drained()

    async def _get_widths(self) -> None:
        """Load the emulator that measures text beside everything else: it takes a while, and would
        be loaded in the middle of the first frame that has such text."""
        await self.seat.welcomed.wait()
        welcome = self.seat.drawing.model.welcome
        if welcome is not None:
            load = partial(load_widths, welcome.emulator)
            await trio.to_thread.run_sync(load, abandon_on_cancel=True)

    async def _connections(self, opened: Opened) -> None:
        """One after another: a view that was let go of is opened again while the service lives."""
        tab = self._wish.tab
        again: Opened | None = opened
        while again is not None:
            end = await talk(self.seat, again, self._attach(again, tab))
            again = await self._open_again() if end == SLOW else None
            tab = None
        self.seat.finish(end)

    def _attach(self, opened: Opened, tab: int | None) -> Attach:
        cols, rows = tab_room(*self._tty.size())
        wish = self._wish
        return Attach(opened.token, cols, rows, wish.read_only, tab, passed_on(wish.environment))

    async def _open_again(self) -> Opened | None:
        try:
            return await self._again()
        except Exception:  # noqa: BLE001  # whatever it is: then there is no other connection
            return None
