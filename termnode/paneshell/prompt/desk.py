"""Where commands are put to a pane's prompt: one at a time, and each of them at most once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Final

import trio

from brokerd.client import Refusal
from termnode.paneshell.integration import Request, as_one_command
from termnode.paneshell.launch import ShellFacts
from termnode.paneshell.operations import Operation, Operations, new_id
from termnode.paneshell.prompt import refusals
from termnode.paneshell.prompt.admission import NotRun, Outcome, Unknown
from termnode.paneshell.prompt.cancelling import cancel, has_child
from termnode.paneshell.prompt.control_dir import ControlDir
from termnode.paneshell.prompt.executions import Execution
from termnode.paneshell.prompt.interrupting import Sent, interrupt
from termnode.paneshell.prompt.probing import ask_in_doubt, find_the_prompt
from termnode.paneshell.prompt.putting import Putter, Term
from termnode.paneshell.prompt.watching import Watch
from termnode.paneshell.shell_process import ShellProcess

DECIDED_SECONDS: Final = 4.0
"""For an admission to end: the checks and the shell's answer take less."""


class Desk:
    """Puts commands to one shell. ``operations`` may be shared with other kinds of submissions.

    ``run`` keeps it going. Raises OSError when the control directory is not there.
    """

    def __init__(
        self,
        facts: ShellFacts,
        shell: ShellProcess,
        term: Term,
        operations: Operations,
        *,
        clock_ms: Callable[[], int],
    ) -> None:
        self.kind: Final = facts.kind
        self.shell: Final = shell
        self.operations: Final = operations
        self.now_ms: Final = clock_ms
        self._directory = ControlDir(facts.directory)
        self._directory.retire()
        self._taken = False
        self._key: object = None
        free = partial(interrupt, shell, itself=True)
        self.watch: Final = Watch(self._directory, operations, clock_ms, free)
        self._putter = Putter(self._directory, self.watch, term, clock_ms)

    async def run(self) -> None:
        """Watch the shell, until cancelled."""
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self.watch.run)
                nursery.start_soon(find_the_prompt, self.watch, self._probe)
                nursery.start_soon(ask_in_doubt, self.watch, self._probe)
        finally:
            self._directory.close()

    def check(self, generation: int) -> None:
        """Raises Refusal unless a command may be tried at the prompt of this generation."""
        self.watch.drain()
        if self._taken:
            raise refusals.not_run("admission")
        self._check_prompt(generation)

    @contextmanager
    def admission(self, key: object = None) -> Iterator[None]:
        """One admission at a time, of ``key``. Raises Refusal BUSY."""
        if self._taken:
            raise refusals.not_run("admission")
        self._taken, self._key = True, key
        try:
            yield
        finally:
            self._taken, self._key = False, None
            self.watch.bell.ring()

    async def wait_decided(self, key: object) -> None:
        """Until no admission of ``key`` is under way, or for DECIDED_SECONDS."""
        await self.watch.bell.until(lambda: self._key != key, DECIDED_SECONDS)

    async def submit(
        self, operation: Operation, generation: int, announcement: str, source: str
    ) -> None:
        """Have the operation's source run at that prompt, within an ``admission``.

        Looks, writes and presses before it waits for anything. One that did not run is given back;
        raises Refusal for it, and for one of which nobody can say, which keeps its refusal.
        """
        execution = self.watch.add(operation, generation)
        outcome: Outcome | None = None
        try:
            self.watch.drain()
            self._check_prompt(generation)
            command = as_one_command(self.kind, source)
            request = Request(operation.id, generation, announcement, command)
            outcome = await self._putter.put(request)
        finally:
            if outcome is None or isinstance(outcome, NotRun):
                self.watch.remove(operation)
                self.operations.give_back(operation)
        if isinstance(outcome, NotRun):
            raise refusals.not_run(outcome.why)
        if isinstance(outcome, Unknown):
            operation.refusal = refusals.unknown(operation.id)
            self.watch.doubt(operation)
            raise operation.refusal
        execution.admitted = True

    async def cancel(self, execution: Execution) -> Sent:
        """As `cancelling.cancel`."""
        return await cancel(self.watch, self.shell, execution, self.now_ms)

    def _check_prompt(self, generation: int) -> None:
        refusals.check(self.watch.state, generation, foreground_child=has_child(self.shell))
        if self.watch.unresolved:
            raise refusals.not_run("unresolved")

    async def _probe(self) -> bool:
        """Ask where the prompt is; whether the key was pressed for it."""
        request = Request(new_id(), 0)
        with suppress(Refusal), self.admission():
            await self._putter.put(request)
        return request.id == self._putter.pressed
