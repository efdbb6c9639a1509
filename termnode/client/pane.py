"""A pane: a program in a terminal of its own."""

from __future__ import annotations

import os
from collections.abc import Mapping

from termnode.client import requests
from termnode.client.asking import Asking
from termnode.client.pane_replies import PaneInfo
from termnode.client.pane_waits import PaneWaits
from termnode.client.program import Program, argv_of, direction, directory_of
from termnode.client.replies import Exit


class Pane(PaneWaits):
    """One pane of a session. ``info`` and the attributes made of it are as of the last look:
    `refresh` looks again, and so does every method here that changes the pane::

        pane = await session.active_pane
        below = await pane.split("tail -f log", below=True)
        await below.resize(rows=10)
    """

    def __init__(self, asking: Asking, info: PaneInfo) -> None:
        super().__init__(asking, info.id)
        self.info = info

    # -- as of the last look ------------------------------------------------------------------

    @property
    def id(self) -> int:
        """Its number; it keeps it wherever it is moved."""
        return self._id

    @property
    def tab(self) -> int:
        """The id of the tab it is in."""
        return self.info.tab

    @property
    def title(self) -> str:
        """Its name, or the title that its program set."""
        return self.info.title

    @property
    def cols(self) -> int:
        """Columns."""
        return self.info.cols

    @property
    def rows(self) -> int:
        """Rows."""
        return self.info.rows

    @property
    def pid(self) -> int | None:
        """The process that was started in it."""
        return self.info.pid

    @property
    def command(self) -> str | None:
        """The program that has the terminal now."""
        return self.info.command

    @property
    def cwd(self) -> str | None:
        """The directory of that program."""
        return self.info.cwd

    @property
    def exit(self) -> Exit | None:
        """How the program ended; None while it runs."""
        return self.info.exit

    @property
    def active(self) -> bool:
        """Whether verbs that name no pane go to it."""
        return self.info.active

    async def refresh(self) -> Pane:
        """Look again; returns the pane itself. Raises NotFound."""
        self.info = await self._asking.pane_info(self._id)
        return self

    # -- changing it --------------------------------------------------------------------------

    async def split(
        self,
        program: Program = None,
        *,
        below: bool = False,
        cwd: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
        title: str | None = None,
        remain: int = 600,
        background: bool = False,
        clean_env: bool = False,
        with_caller: bool = False,
    ) -> Pane:
        """A new pane in half of its room, to the right or ``below``.

        It becomes the active one, unless in the ``background``.

        Arguments are those of `Session.new_tab`. Raises NotFound, InvalidArgument, ResourceLimit.
        """
        made = await self._asking.ask(
            requests.pane_split(
                dir_=direction(below=below),
                pane=self._id,
                argv=argv_of(program),
                cwd=directory_of(cwd),
                env=env,
                title=title,
                remain=remain,
                background=background,
                clean_env=clean_env,
                with_caller=with_caller,
            )
        )
        return Pane(self._asking, await self._asking.pane_info(made.id))

    async def select(self) -> None:
        """Make it the active pane, and its tab the active tab. Raises NotFound."""
        await self.refresh()
        await self._asking.ask(requests.tab_select(id_=self.tab))
        await self._asking.ask(requests.pane_select(id_=self._id))
        await self.refresh()

    async def resize(self, *, cols: int | None = None, rows: int | None = None) -> None:
        """Give it more or less room; `cols` and `rows` then say what it came to."""
        await self._asking.ask(requests.pane_resize(pane=self._id, cols=cols, rows=rows))
        await self.refresh()

    async def rename(self, title: str) -> None:
        """Name it; an empty name goes back to the title that the program sets."""
        await self._asking.ask(requests.pane_rename(pane=self._id, title=title))
        await self.refresh()

    async def swap(self, other: Pane | int) -> None:
        """Change places with another pane, of any tab."""
        await self._asking.ask(requests.pane_swap(pane=self._id, with_=_id(other)))
        await self.refresh()

    async def break_out(self) -> None:
        """Move it into a tab of its own, which becomes the active one; `tab` then names it."""
        await self._asking.ask(requests.pane_break(pane=self._id))
        await self.refresh()

    async def join(self, beside: Pane | int, *, below: bool = False) -> None:
        """Move it beside another pane, of any tab: to its right, or ``below`` it."""
        call = requests.pane_join(pane=self._id, beside=_id(beside), dir_=direction(below=below))
        await self._asking.ask(call)
        await self.refresh()

    async def zoom(self, *, on: bool = True) -> None:
        """Let it fill its tab, or lay the panes out again."""
        await self._asking.ask(requests.pane_zoom(pane=self._id, on=on))
        await self.refresh()

    async def restart(self) -> None:
        """Start its program again after it ended. Raises Busy while it runs."""
        await self._asking.ask(requests.pane_restart(pane=self._id))
        await self.refresh()

    async def close(self) -> None:
        """Close it and end its program. Raises NotFound."""
        await self._asking.ask(requests.pane_close(pane=self._id))

    async def end(self) -> Exit:
        """As `close`, and wait until the program has ended: how it did. Raises NotFound."""
        closed = await self._asking.ask(requests.pane_close(pane=self._id, wait=True))
        known = closed.exit or Exit()
        return Exit(known.code, known.signal, known.core, closed.duration_ms)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pane) and other._key() == self._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[int, int]:
        return id(self._asking), self._id

    def __repr__(self) -> str:
        return f"<Pane {self._id} in tab {self.tab}, {self.cols}x{self.rows}>"


def _id(pane: Pane | int) -> int:
    return pane if isinstance(pane, int) else pane.id
