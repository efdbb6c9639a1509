"""shell.execute.result and shell.execute.cancel, and what all verbs about commands share."""

from __future__ import annotations

from typing import Any, Final

from termnode.paneshell import policy
from termnode.paneshell.calls import VERSION, Call
from termnode.paneshell.operations import Operation
from termnode.paneshell.prompt import refusals, requests
from termnode.paneshell.prompt.desk import Desk
from termnode.paneshell.prompt.executions import Execution

FAMILY: Final = "execute"

RUNNING: Final = "running"
FINISHED: Final = "finished"

RECHECK_SECONDS: Final = 0.8
"""For the broker to confirm the caller's and the own session."""


class PromptVerb:
    """What the three verbs have in common."""

    capability = policy.EXECUTE
    shape_first = True

    def __init__(self, desk: Desk | None) -> None:
        self._maybe = desk

    @property
    def _desk(self) -> Desk:
        """Raises Refusal UNSUPPORTED where there is no integration."""
        if self._maybe is None:
            raise refusals.no_integration()
        return self._maybe

    def arrived(self, call: Call) -> None:
        """Nothing is kept of it."""

    def _find(self, call: Call) -> Operation:
        """The caller's operation. Raises Refusal UNKNOWN_OUTCOME."""
        desk = self._desk
        desk.watch.drain()
        number = call.body["operation_id"]
        return desk.operations.get(number, call.actor, FAMILY, desk.now_ms())


class Result(PromptVerb):
    """Reads what became of a command, waiting for it when asked to."""

    def read(self, raw: bytes) -> dict[str, Any]:
        """As requests.read_result."""
        return requests.read_result(raw)

    async def answer(self, call: Call) -> dict[str, object]:
        """The state, with the result once there is one."""
        self._find(call)
        await call.confirm(RECHECK_SECONDS)
        wait = call.body["wait_ms"]
        execution: Execution = self._find(call).payload
        if wait and execution.result is None:
            bell = self._desk.watch.bell
            await bell.until(lambda: execution.over, wait / 1_000)
            await call.confirm(RECHECK_SECONDS)
        operation = self._find(call)
        known = {"version": VERSION, "operation_id": operation.id}
        return {**known, **outcome_of(operation.payload)}


class Cancel(PromptVerb):
    """Interrupts a command, once, and says what was done."""

    def read(self, raw: bytes) -> dict[str, Any]:
        """As requests.read_cancel."""
        return requests.read_cancel(raw)

    async def answer(self, call: Call) -> dict[str, object]:
        """What was done. What it came to is in the result."""
        self._find(call)
        await call.confirm(RECHECK_SECONDS)
        operation = self._find(call)
        execution: Execution = operation.payload
        over = execution.over
        pgid, words = await self._desk.cancel(execution)
        if over or (execution.over and pgid is None):
            outcome = "already_finished"
        else:
            outcome = "unknown" if operation.refusal is not None else "requested"
        return {
            "version": VERSION,
            "operation_id": operation.id,
            "outcome": outcome,
            "delivery": words,
            "signalled_pgid": pgid,
        }


def outcome_of(execution: Execution) -> dict[str, object]:
    """The state of a command, with the result once there is one."""
    if execution.result is None:
        return {"state": RUNNING}
    return {"state": FINISHED, "result": execution.result}
