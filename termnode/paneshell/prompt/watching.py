"""Watches one shell's prompt and the commands that run there, as the shell and Term tell.

What the shell tells is taken before anything that Term tells: Term's word may overtake it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import trio

from termnode.paneshell.operations import Operation, Operations
from termnode.paneshell.prompt.admission import ADMITTED, Attempt
from termnode.paneshell.prompt.bell import Bell
from termnode.paneshell.prompt.control_dir import ControlDir
from termnode.paneshell.prompt.executions import Execution
from termnode.paneshell.prompt.output import Output
from termnode.paneshell.prompt.records import PromptRecord, ReplyWord, Run
from termnode.paneshell.prompt.state import EVALUATING, PromptState


class Watch:
    """``take`` is for each record of Term, ``drain`` for what the shell has told.

    ``attempt`` is the admission under way. ``on_unfinished`` is called when the shell asks for more
    of a command that it took. The bell rings after each change.
    """

    def __init__(
        self,
        directory: ControlDir,
        operations: Operations,
        clock_ms: Callable[[], int],
        on_unfinished: Callable[[], object],
    ) -> None:
        self.state = PromptState()
        self.bell = Bell()
        self.attempt: Attempt | None = None
        self._directory = directory
        self._operations = operations
        self._clock_ms = clock_ms
        self._on_unfinished = on_unfinished
        self._live: dict[str, Operation] = {}
        self._freed: set[str] = set()

    @property
    def unresolved(self) -> bool:
        """Whether nobody can say if the last command runs."""
        return any(operation.refusal is not None for operation in self._live.values())

    def add(self, operation: Operation, generation: int) -> Execution:
        """Watch for what becomes of it, from before its request for that prompt is written."""
        execution = operation.payload = Execution(operation.id, self._clock_ms(), generation)
        self._live[operation.id] = operation
        return execution

    def remove(self, operation: Operation) -> None:
        """It did not run."""
        self._live.pop(operation.id, None)

    def doubt(self, operation: Operation) -> None:
        """Nobody can say whether it runs, unless the shell has told it already."""
        operation.payload.doubted = True
        self._settle(self._clock_ms())
        self.bell.ring()

    async def run(self) -> None:
        """Take what the shell tells, until cancelled."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._settle_in_time)
            while True:
                await trio.lowlevel.wait_readable(self._directory.descriptor)
                self.drain()

    def drain(self) -> None:
        """Take all that the shell has told until now; never waits."""
        for record in self._directory.read():
            self._note(record, self._clock_ms())
        self._free_the_prompt()

    def take(self, record: Mapping[str, Any]) -> None:
        """What Term tells; what is malformed is passed over."""
        self.drain()
        kind, now = record["type"], self._clock_ms()
        if kind == "pressed" and self.attempt is not None:
            self.attempt.pressed(str(record.get("op")), str(record.get("word")), now)
        elif kind == "output":
            self._output(record, now)
        elif kind == "mark" and record.get("kind") == "prompt":
            self._hooks_lost(now)
        elif kind == "program" and isinstance(record.get("ended"), dict):
            self._program_ended(record["ended"], now)
        self._settle(now)
        self.bell.ring()

    def _note(self, record: PromptRecord, now_ms: int) -> None:
        self.state.note(record)
        if self.attempt is not None:
            self._note_attempt(self.attempt, record)
        for operation in self._live.values():
            self._note_for(operation, record, now_ms)
        self._settle(now_ms)
        self.bell.ring()

    @staticmethod
    def _note_attempt(attempt: Attempt, record: PromptRecord) -> None:
        if isinstance(record, ReplyWord):
            attempt.replied(record.id, record.word)
        elif isinstance(record, Run) and record.op is not None:
            attempt.replied(record.op, ADMITTED)  # interrupted before it could say so

    def _note_for(self, operation: Operation, record: PromptRecord, now_ms: int) -> None:
        execution: Execution = operation.payload
        execution.note(record, now_ms)
        if execution.admitted:
            operation.refusal = None

    def _free_the_prompt(self) -> None:
        """Once for each command: only what the shell told last says what an interrupt would do."""
        stuck = {each.id for each in self._executions() if each.stuck}
        if stuck - self._freed:
            self._on_unfinished()
        self._freed = stuck

    def _output(self, record: Mapping[str, Any], now_ms: int) -> None:
        output = Output.from_record(record)
        if output is not None:
            for execution in self._executions():
                execution.note_output(output, now_ms)

    def _hooks_lost(self, now_ms: int) -> None:
        """A prompt was shown; if the shell told of one too, in its own order, nothing is lost."""
        if self.state.phase == EVALUATING:
            self.state.lose_hooks()
            for execution in self._executions():
                execution.note_lost(now_ms)

    def _program_ended(self, ended: Mapping[str, Any], now_ms: int) -> None:
        self.state.end()
        if self.attempt is not None:
            self.attempt.pressed(self.attempt.id, "gone", now_ms)
        for execution in self._executions():
            execution.note_program(ended, now_ms)

    def _executions(self) -> list[Execution]:
        return [operation.payload for operation in self._live.values()]

    async def _settle_in_time(self) -> None:
        while True:
            due = [at for each in self._executions() if (at := each.due_ms()) is not None]
            await self.bell.wait((min(due) - self._clock_ms()) / 1_000 if due else math.inf)
            self._settle(self._clock_ms())

    def _settle(self, now_ms: int) -> None:
        """What has its result is watched no more."""
        for operation in list(self._live.values()):
            execution: Execution = operation.payload
            execution.settle_if_due(now_ms)
            if execution.result is not None:
                del self._live[operation.id]
                self._operations.settle(operation, now_ms)
                self.bell.ring()
