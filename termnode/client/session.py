"""A session: everything that one service has."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from termnode.client import native_link, requests, watching
from termnode.client.asking import Asking
from termnode.client.calls import by_name
from termnode.client.errors import NotFound
from termnode.client.events import Events
from termnode.client.link import Link
from termnode.client.native import Native
from termnode.client.pane import Pane
from termnode.client.program import Program, argv_of, directory_of
from termnode.client.replies import LogEntry, SessionInfo
from termnode.client.runner import Runner
from termnode.client.tab import Tab


class Session:
    """A connection to one terminal service. Get one from ``connect``.

    It belongs to the process that serves the name: when that is started anew, everything here
    raises ServiceRestarted. A broker that ends and comes back is no more than a delay.
    """

    def __init__(self, runner: Runner) -> None:
        self._asking = Asking(runner)

    async def new_tab(
        self,
        program: Program = None,
        *,
        cwd: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
        title: str | None = None,
        remain: int = 600,
        background: bool = False,
        clean_env: bool = False,
        with_caller: bool = False,
        size: tuple[int, int] | None = None,
    ) -> Tab:
        """Open a tab with one pane and make it the active one, unless in the ``background``.

        ``program`` is a list of words, or a string that is split into words; the person's shell if
        left out. ``cwd`` is the directory to start in, ``env`` is set on top of the service's own,
        and ``remain`` is for how many seconds the pane stays to be read after the program ended.
        ``clean_env``: ``env`` is the whole environment. ``with_caller``: the tab is closed when
        this process has ended, however it ended. ``size`` is columns and rows that the tab keeps,
        whatever views there are. Raises NotFound, InvalidArgument, ResourceLimit.
        """
        made = await self._asking.ask(
            requests.tab_new(
                argv=argv_of(program),
                cwd=directory_of(cwd),
                env=env,
                title=title,
                remain=remain,
                background=background,
                clean_env=clean_env,
                with_caller=with_caller,
                cols=None if size is None else size[0],
                rows=None if size is None else size[1],
            )
        )
        return await self.tab(made.id)

    @property
    async def tabs(self) -> list[Tab]:
        """All tabs, in order."""
        found = (await self._asking.ask(requests.tabs())).tabs
        return [Tab(self._asking, info) for info in found]

    @property
    async def panes(self) -> list[Pane]:
        """All panes of all tabs."""
        found = (await self._asking.ask(requests.panes())).panes
        return [Pane(self._asking, info) for info in found]

    @property
    async def active_tab(self) -> Tab:
        """The active tab. Raises NotFound when there is none."""
        for tab in await self.tabs:
            if tab.active:
                return tab
        raise NotFound("there is no tab")

    @property
    async def active_pane(self) -> Pane:
        """The active pane of the active tab. Raises NotFound when there is none."""
        for pane in await self.panes:
            if pane.active:
                return pane
        raise NotFound("there is no pane")

    async def tab(self, tab: int) -> Tab:
        """The tab of that number. Raises NotFound."""
        return Tab(self._asking, await self._asking.tab_info(tab))

    async def pane(self, pane: int) -> Pane:
        """The pane of that number. Raises NotFound."""
        return Pane(self._asking, await self._asking.pane_info(pane))

    async def info(self) -> SessionInfo:
        """How the service is and what is active in it."""
        return await self._asking.ask(requests.session())

    async def resize(self, *, cols: int, rows: int) -> None:
        """Set the size of every tab."""
        await self._asking.ask(requests.resize(cols=cols, rows=rows))

    async def ask(self, title: str, text: str, *, timeout: float = 120.0) -> bool | None:
        """Ask the person at an attached view a yes-or-no question, and wait for the answer.

        ``title`` has at most 120 characters, ``text`` 4,096; ``timeout`` is at most 120 seconds.
        None when nobody answered in that time: only True is a yes. Raises ServiceUnavailable when
        no view is attached that may answer, ResourceLimit when too many questions are open,
        Forbidden. A question whose asker was cancelled stays until its time is up, or until this
        process ends; its answer then goes nowhere.
        """
        milliseconds = max(1, round(1000 * timeout))
        call = requests.ask(title=title, text=text, timeout_ms=milliseconds)
        return {"yes": True, "no": False}.get((await self._asking.ask(call)).answer)

    async def log(self, limit: int = 100) -> list[LogEntry]:
        """Who asked for what, newest last; at most 1,000 entries."""
        return list((await self._asking.ask(requests.log(limit=limit))).entries)

    def events(
        self,
        *,
        pane: Pane | int | None = None,
        kinds: Sequence[str] | None = None,
        after: int | None = None,
        timeout: float | None = None,
    ) -> Events:
        """What happens from now on, or ``after`` the event of that number: see `Events`.

        ``kinds`` are quiet, prompt, command, title, bell, exit, layout and input; all if left out.
        """
        number = pane.id if isinstance(pane, Pane) else pane
        asked = watching.events(pane=number, kinds=kinds, after=after)
        return Events(self._asking, asked, timeout)

    async def native(self, *, timeout: float = 5.0) -> Native:
        """Control that is bound to panes: see `Native`.

        ``timeout`` is how many seconds the service has to get its verified session. Raises
        ServiceUnavailable when it has none, Forbidden when it is another user's.
        """
        runner = self._asking.runner
        return Native(runner, await runner.run(native_link.find, timeout))

    async def call(self, verb: str, **fields: object) -> Mapping[str, Any]:
        """Any verb that is asked and answered once, by its name: the body of its good reply.

        Nothing is done twice, as everywhere here. A field whose name Python keeps for itself may
        have an underscore behind it. Raises TermnodeError.
        """
        asked = by_name(verb, fields)
        return await self._asking.runner.run(Link.ask_anything, asked)
