"""The primitives themselves: what a model does with its terminals."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import trio

from brokerd.client import ErrorCode, background
from termnode.client import Session
from termnode.modelterm.call_log import CallLog
from termnode.modelterm.checks import (
    check_click,
    check_keys,
    check_offset,
    check_size,
    check_text,
    check_wait,
)
from termnode.modelterm.command import check_argv
from termnode.modelterm.driving import Driver
from termnode.modelterm.results import Settings, Shown, TermError


class Terminals:
    """One set of terminals; get one from `open_terminals`.

    Each method returns the screen as `Shown`, and raises TermError: UNAVAILABLE when the service
    cannot be reached, NOT_FOUND and DISCONNECTED when the terminal or its program is gone,
    INVALID_ARGUMENT, and what its own docstring says.
    """

    def __init__(self, settings: Settings, driver: Driver, log: CallLog) -> None:
        self._limits = settings.limits
        self._driver = driver
        self._log = log

    @property
    def session(self) -> Session | None:
        """The session with the service; None when none runs and no terminal was opened."""
        home = self._driver.home
        return None if home is None else home.session

    @property
    def private(self) -> bool:
        """Whether that service is one of this set's own, which nobody else knows of."""
        home = self._driver.home
        return home is not None and home.private

    async def find(self) -> Session | None:
        """As `session`, after another look for a service that runs by now."""
        await self._driver.find()
        return self.session

    async def open(
        self, argv: Sequence[str], cols: int | None = None, rows: int | None = None
    ) -> Shown:
        """Start a program on a terminal; the screen once it is quiet.

        Raises RESOURCE_LIMIT when as many are open as may be, NOT_FOUND for no such program.
        """
        with self._log.call("term_open", words=len(argv)) as sizes:
            words = check_argv(argv, self._limits)
            size = (cols or self._limits.cols, rows or self._limits.rows)
            check_size(*size, self._limits)
            return _sized(sizes, await self._driver.open(words, size))

    async def type(
        self,
        id: str,  # noqa: A002  # the surface
        text: str,
        paste: bool = False,
        since: int | None = None,
    ) -> Shown:
        """Type a text, a newline pressing Enter; or ``paste`` it, in brackets if it was asked for.

        With ``since`` the screen is only what changed since that revision, here as elsewhere.

        Raises EXPIRED when the program does not read it, CANCELLED when a person types.
        """
        with self._log.call("term_type", chars=len(text)) as sizes:
            check_text(text, self._limits)
            return _sized(sizes, await self._driver.type(id, text, since, plain=not paste))

    async def keys(
        self,
        id: str,  # noqa: A002
        keys: Sequence[str],
        since: int | None = None,
    ) -> Shown:
        """Press keys; a wrong name presses none. Raises as `type`."""
        with self._log.call("term_keys", keys=len(keys)) as sizes:
            check_keys(keys, self._limits)
            return _sized(sizes, await self._driver.press(id, keys, since))

    async def click(
        self,
        id: str,  # noqa: A002
        row: int,
        col: int,
        button: str = "left",
        since: int | None = None,
    ) -> Shown:
        """Press and release a mouse button at a cell, from 1.

        Raises UNSUPPORTED when the program did not ask for the mouse; else as `type`.
        """
        with self._log.call("term_click") as sizes:
            known = self._driver.size(id)
            check_click(row, col, button, known[1], known[0])
            return _sized(sizes, await self._driver.click(id, (col - 1, row - 1), button, since))

    async def screen(
        self,
        id: str,  # noqa: A002
        offset: int = 0,
        since: int | None = None,
        style: bool = False,
    ) -> Shown:
        """The screen now, or ``offset`` rows back; with ``since`` what changed.

        Raises UNSUPPORTED for the history of a full-screen program.
        """
        with self._log.call("term_screen") as sizes:
            check_offset(offset, since, self._limits)
            return _sized(sizes, await self._driver.screen(id, offset, since, style=style))

    async def wait(
        self,
        id: str,  # noqa: A002
        seconds: float | None = None,
        until: str | None = None,
        since: int | None = None,
        most: float = 60.0,
    ) -> tuple[str, Shown]:
        """Wait for ``until``, else for quiet, at most ``seconds`` and never longer than ``most``.

        Returns matched, quiet, exited or deadline, and the screen. Raises INVALID_ARGUMENT that
        names the position at which ``until`` is no RE2.
        """
        with self._log.call("term_wait") as sizes:
            longest = self._limits.wait_s if seconds is None else seconds
            check_wait(longest, until, self._limits)
            how, shown = await self._driver.wait(id, min(longest, most), until, since)
            return how, _sized(sizes, shown)

    async def resize(self, id: str, cols: int, rows: int) -> Shown:  # noqa: A002
        """Give the terminal another size."""
        with self._log.call("term_resize") as sizes:
            check_size(cols, rows, self._limits)
            return _sized(sizes, await self._driver.resize(id, cols, rows))

    async def close(self, id: str) -> Shown:  # noqa: A002
        """Hang up; the last screen, and how the program ended."""
        with self._log.call("term_close") as sizes:
            return _sized(sizes, await self._driver.close(id))


@asynccontextmanager
async def open_terminals(settings: Settings) -> AsyncIterator[Terminals]:
    """A set of terminals; at the end of the block all are hung up and nothing of them is left.

    A service that runs is found at once; a private one is started with the first terminal. Raises
    TermError INVALID_ARGUMENT when the call log cannot be written.
    """
    with _call_log(settings) as log:
        async with background(_idle) as nursery:
            driver = Driver(settings, nursery)
            try:
                await driver.find()
                yield Terminals(settings, driver, log)
            finally:
                with trio.CancelScope(shield=True):
                    await driver.close_all()


def _call_log(settings: Settings) -> CallLog:
    try:
        return CallLog(settings.call_log, limits=settings.limits)
    except OSError as error:
        why = f"the call log cannot be written ({error.strerror}): name another file"
        raise TermError(ErrorCode.INVALID_ARGUMENT, why) from None


def _sized(sizes: dict[str, int], shown: Shown) -> Shown:
    sizes["shown_chars"] = len(shown.text)
    return shown


async def _idle(_nursery: trio.Nursery) -> None:
    await trio.sleep_forever()
