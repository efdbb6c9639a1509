"""What the primitives do, over a session with the service; arguments are checked by then."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import trio

from brokerd.client import ErrorCode
from termnode.client import Pane, Session, TermnodeError
from termnode.modelterm import showing, waiting
from termnode.modelterm.command import program_name, title
from termnode.modelterm.environment import clean
from termnode.modelterm.holding import Holding
from termnode.modelterm.home import not_started
from termnode.modelterm.looking import look
from termnode.modelterm.record import Terminal
from termnode.modelterm.refusals import ended_as
from termnode.modelterm.results import Shown, TermError

REMAIN_S: Final = 86_400
"""The longest that the service keeps the screen of an ended program."""


class Driver(Holding):
    """Tasks may call it at once: what a call changes of a terminal's record, it does in one step.

    All raise TermError, as `Terminals` says.
    """

    def size(self, id_: str) -> tuple[int, int]:
        """Columns and rows, as last seen."""
        seen = self._table.find(id_).last
        return (self._limits.cols, self._limits.rows) if seen is None else (seen.cols, seen.rows)

    async def open(self, words: Sequence[str], size: tuple[int, int]) -> Shown:
        """Start the program; the screen once it has shown something and is quiet.

        When it is cancelled or fails before it has said which terminal it is, the program is hung
        up.
        """
        with self._openings.one():
            terminal = self._table.take(program_name(words, self._limits))
            try:
                await self._prepare()
                session = (await self._keeper.need()).session
                with trio.CancelScope(shield=True):  # a program that was started is to be known
                    terminal.pane = await self._start(session, words, size)
                return await self._first(terminal)
            except BaseException:
                await self._undo(terminal)
                raise

    async def _undo(self, terminal: Terminal) -> None:
        """Nobody is told of this terminal: its program must not run on."""
        if terminal.pane is not None:
            with trio.CancelScope(shield=True), trio.move_on_after(self._limits.close_s):
                await self._hang_up(terminal)
        self._table.give_up(terminal)

    async def _start(self, session: Session, words: Sequence[str], size: tuple[int, int]) -> Pane:
        try:
            tmux = self._tmux.make()
        except OSError as error:
            raise not_started(f"{self._settings.place} has no room ({error.strerror})") from None
        try:
            tab = await session.new_tab(
                words,
                cwd=self._settings.root,
                env=clean(self._settings.environment, tmux),
                title=title(words, self._limits),
                remain=REMAIN_S,
                background=True,
                clean_env=True,
                with_caller=True,
                size=size,
            )
            return await session.pane(tab.info.active_pane)
        except TermnodeError as error:
            raise self._refusal(error) from None

    async def _first(self, terminal: Terminal) -> Shown:
        limits, began = self._limits, trio.current_time()
        async with self._on(terminal.id) as (_, pane):
            await waiting.shows(pane, limits.first_output_s)
            left = limits.open_most_s - (trio.current_time() - began)
            await waiting.quiet(pane, limits.open_quiet_s, left, after=0)
            return await self._shown(terminal, pane)

    async def close(self, id_: str) -> Shown:
        """Hang up; the last screen, and how the program ended."""
        async with self._on(id_) as (terminal, pane):
            last = await look(terminal, pane)
            how = "still ending"
            with trio.move_on_after(self._limits.close_s):
                ended = ended_as(await pane.end())
                how = ended if last.state == "running" else last.state
            self._table.closed(terminal, f"closed, {how}")
            return showing.closed(last, how)

    async def type(self, id_: str, text: str, since: int | None, *, plain: bool) -> Shown:
        """Type or paste."""
        async with self._on(id_) as (terminal, pane):
            await pane.paste(text, plain=plain, within=self._limits.write_s)
            return await self._settled(terminal, pane, since)

    async def press(self, id_: str, keys: Sequence[str], since: int | None) -> Shown:
        """Press keys."""
        async with self._on(id_) as (terminal, pane):
            await pane.press(*keys, within=self._limits.write_s)
            return await self._settled(terminal, pane, since)

    async def click(self, id_: str, at: tuple[int, int], button: str, since: int | None) -> Shown:
        """Click a cell, from 0."""
        async with self._on(id_) as (terminal, pane):
            await pane.click(*at, button=button)
            return await self._settled(terminal, pane, since)

    async def resize(self, id_: str, cols: int, rows: int) -> Shown:
        """Another size; the screen once the program has drawn itself anew."""
        async with self._on(id_) as (terminal, pane):
            before = await pane.screen(lines=1)
            await pane.resize(cols=cols, rows=rows)
            limits = self._limits
            await waiting.quiet(pane, limits.type_quiet_s, limits.type_most_s, before.revision)
            return await self._shown(terminal, pane)

    async def screen(self, id_: str, offset: int, since: int | None, *, style: bool) -> Shown:
        """The screen, or a page of history."""
        async with self._on(id_) as (terminal, pane):
            if offset:
                return await self._page(terminal, pane, offset, style=style)
            return await self._shown(terminal, pane, since, style=style)

    async def wait(
        self, id_: str, seconds: float, until: str | None, since: int | None
    ) -> tuple[str, Shown]:
        """Wait; how it ended, and the screen."""
        async with self._on(id_) as (terminal, pane):
            if until is not None:
                how = await waiting.matched(pane, until, seconds, since)
            else:
                how = await waiting.quiet(pane, self._limits.wait_quiet_s, seconds, since)
            return how, await self._shown(terminal, pane, since)

    async def _settled(self, terminal: Terminal, pane: Pane, since: int | None) -> Shown:
        """The screen once the program has answered to input, or has not for a while."""
        await waiting.quiet(pane, self._limits.type_quiet_s, self._limits.type_most_s)
        return await self._shown(terminal, pane, since)

    async def _shown(
        self, terminal: Terminal, pane: Pane, since: int | None = None, *, style: bool = False
    ) -> Shown:
        seen = await look(terminal, pane)
        before = terminal.since(since)
        terminal.remember(seen, self._limits.shown)
        return showing.shown(seen, before, style=style)

    async def _page(self, terminal: Terminal, pane: Pane, offset: int, *, style: bool) -> Shown:
        seen = await look(terminal, pane, offset)
        if seen.full_screen:
            raise TermError(
                ErrorCode.UNSUPPORTED,
                "a full-screen program has no history: scroll it with its own keys, or look "
                "without offset",
            )
        terminal.told_of(seen)
        return showing.shown(seen, style=style)
