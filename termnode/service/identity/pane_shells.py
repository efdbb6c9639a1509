"""The panes as the table of children knows them, and the processes of their pane shells."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

import trio

from termnode.paneshell.client import Launch
from termnode.service.config import Config
from termnode.service.identity.child import SILENT_S, Child
from termnode.service.identity.children import Children
from termnode.service.identity.effects import End
from termnode.service.identity.sidecars import NotStarted, Sidecars
from termnode.service.identity.zygote_keeper import ZygoteKeeper
from termnode.service.live_pane import LivePane

LAST_WORDS_S: Final = 1.0
"""A shell that has ended has its pane shell so much longer: for what it ran last."""


class PaneShells:
    """Tells the table what happens to panes, and starts and ends what it asks for.

    ``ring`` is called when something may be to be done, or to be told; ``clock`` is the table's.
    """

    def __init__(
        self,
        config: Config,
        children: Children,
        clock: Callable[[], float],
        ring: Callable[[], None],
    ) -> None:
        self._config = config
        self._children = children
        self._clock = clock
        self._ring = ring
        self._zygotes = ZygoteKeeper(self._zygote_changed)
        self._sidecars = Sidecars(self._said, self._sidecar_ended)
        self._live: dict[int, LivePane] = {}
        self._ended: dict[int, trio.Event] = {}

    def pane_started(self, live: LivePane) -> None:
        """A program runs in a pane."""
        self._live[live.id], self._ended[live.id] = live, trio.Event()
        self._children.pane_started(live.id, self._clock())
        self._ring()

    def program_ended(self, live: LivePane) -> None:
        """A pane's program has ended. What it ran last can be told of for LAST_WORDS_S more."""
        if live.shell is None:
            self._over(live)
        elif self._live.get(live.id) is live:
            self._ended[live.id].set()

    def _over(self, live: LivePane) -> None:
        if self._live.get(live.id) is live:
            self._children.program_ended(live.id)
            self._ring()

    def pane_gone(self, live: LivePane) -> None:
        """A pane was closed."""
        if self._live.get(live.id) is live:
            del self._live[live.id], self._ended[live.id]
            self._children.pane_gone(live.id)
            self._ring()

    async def watch(self, live: LivePane) -> None:
        """Beside one pane: see when it shows something for the first time, and after its end."""
        terminal = live.terminal
        with trio.move_on_after(SILENT_S):
            while not terminal.bytes_out and not terminal.final:
                await terminal.changed(terminal.revision)
        if self._live.get(live.id) is live:
            self._children.pane_shown(live.id, self._clock())
            self._ring()
            await self._ended[live.id].wait()
            await trio.sleep(LAST_WORDS_S)
            self._over(live)

    async def run(self, rest: Callable[[], Awaitable[None]]) -> None:
        """Start and end pane shells until cancelled; ``rest`` waits until something is due."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._zygotes.run)
            while True:
                step = self._children.next_process(self._clock())
                if step is None:
                    await rest()
                elif isinstance(step, End):
                    self._sidecars.end(step.child)
                else:
                    await self._start(step.child, nursery)

    def end_all(self) -> None:
        """End every pane shell, without waiting; none is started any more."""
        self._children.launching(possible=False)
        self._sidecars.end_all()

    async def _start(self, child: Child, nursery: trio.Nursery) -> None:
        live, zygote = self._live.get(child.pane), self._zygotes.zygote
        try:
            if live is None or zygote is None:
                raise NotStarted("there is no process to start it from now")
            await self._sidecars.start(child, self._launch(live), zygote, nursery, live.shell)
        except NotStarted as error:
            self._children.start_failed(child, str(error), self._clock())
        else:
            self._children.started(child)
        self._ring()

    def _launch(self, live: LivePane) -> Launch:
        return Launch(
            str(self._config.directory),
            live.id,
            live.terminal.tty(),
            live.pid,
            live.program.cwd,
            self._config.name,
            None if live.shell is None else live.shell.facts,
        )

    def _zygote_changed(self) -> None:
        self._children.launching(possible=self._zygotes.zygote is not None)
        self._ring()

    def _said(self, child: Child, reason: str, unbound: bool) -> None:
        self._children.shell_said(child, reason, unbound=unbound)
        self._ring()

    def _sidecar_ended(self, child: Child) -> None:
        self._children.shell_ended(child, self._clock())
        self._ring()
