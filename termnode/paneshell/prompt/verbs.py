"""shell.execute; and the three verbs about commands by their names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from brokerd.client import Refusal, forbidden
from termnode.paneshell import policy
from termnode.paneshell.calls import VERSION, Call, Verb
from termnode.paneshell.operations import Operation
from termnode.paneshell.prompt import announce, refusals, requests, syntax
from termnode.paneshell.prompt.desk import Desk
from termnode.paneshell.prompt.executions import Execution
from termnode.paneshell.prompt.questions import (
    FAMILY,
    FINISHED,
    RECHECK_SECONDS,
    RUNNING,
    Cancel,
    PromptVerb,
    Result,
    outcome_of,
)

FRESH_MS: Final = 250
"""So long after the broker confirmed a submission its result is told without asking once more."""


class Execute(PromptVerb):
    """Puts a command to the prompt."""

    def read(self, raw: bytes) -> dict[str, Any]:
        """As requests.read_execute."""
        return requests.read_execute(raw)

    def arrived(self, call: Call) -> None:
        """Its id is not retired by higher ones that come later and are decided first."""
        if self._maybe is not None:
            self._maybe.operations.arrived(call.actor, call.body["request_id"])

    async def answer(self, call: Call) -> dict[str, object]:
        """The acceptance, or why it is refused; with what it came to when that was waited for."""
        claim = call.body["on_behalf_of"]
        if claim is not None and not policy.is_owning_term(call.caller, call.own):
            raise forbidden()
        operation, good_until = await self._decided(call)
        accepted = _acceptance(operation, call)
        return {**accepted, **await self._end(operation, call, good_until)}

    async def _decided(self, call: Call) -> tuple[Operation, int]:
        """The operation that it is or was, and until when the right to it is good. Raises Refusal
        for one that does not run."""
        key = (call.actor, call.body["request_id"], _digest(call))
        await self._desk.wait_decided(key)
        known = self._known(call)
        if known is not None:
            return known, await self._confirmed(call)
        self._desk.check(call.body["prompt_generation"])
        with self._desk.admission(key):
            shell = self._desk.shell
            await syntax.check(self._desk.kind, shell.pid, call.body["source"])
            good_until = await self._confirmed(call)
            return await self._submit(call), good_until

    async def _confirmed(self, call: Call) -> int:
        good_until = await call.confirm(RECHECK_SECONDS)
        return min(good_until, self._desk.now_ms() + FRESH_MS)

    def _known(self, call: Call) -> Operation | None:
        desk = self._desk
        return desk.operations.find(
            call.actor, call.body["request_id"], _digest(call), desk.now_ms()
        )

    async def _end(self, operation: Operation, call: Call, good_until: int) -> dict[str, object]:
        """What it came to, when that is waited for and comes in time, and may still be told."""
        wait, execution = call.body["wait_ms"], operation.payload
        over = wait and await self._desk.watch.bell.until(lambda: execution.over, wait / 1_000)
        if not over:
            return {}
        try:
            if self._desk.now_ms() < good_until:
                call.look_again()
            else:
                await call.confirm(RECHECK_SECONDS)
        except Refusal:
            return {"state": FINISHED}  # it has run: that it may not be told is for who asks again
        return outcome_of(execution)

    async def _submit(self, call: Call) -> Operation:
        """Nothing is awaited between the last confirmation and the press."""
        known = self._known(call)  # the same may have been spent for something else meanwhile
        if known is not None:
            return known
        desk, body = self._desk, call.body
        operation = desk.operations.spend(
            FAMILY, call.actor, body["request_id"], _digest(call), now_ms=desk.now_ms()
        )
        who = announce.originator(call.caller, body["on_behalf_of"])
        line = announce.line(who, body["source"])
        await desk.submit(operation, body["prompt_generation"], line, body["source"])
        return operation


def execute_verbs(desk: Desk | None) -> Mapping[str, Verb]:
    """The three verbs by their names; without a desk they refuse."""
    return {
        requests.EXECUTE: Execute(desk),
        requests.RESULT: Result(desk),
        requests.CANCEL: Cancel(desk),
    }


def _digest(call: Call) -> bytes:
    return requests.digest_of(call.body)


def _acceptance(operation: Operation, call: Call) -> dict[str, object]:
    """What is answered to a submission that was taken. Raises the Refusal of one that was not."""
    if isinstance(operation.refusal, Refusal):
        raise operation.refusal
    execution: Execution = operation.payload
    if not execution.admitted:
        raise refusals.not_run("admission")
    return {
        "version": VERSION,
        "operation_id": operation.id,
        "state": FINISHED if execution.over else RUNNING,
        "status": "accepted",
        "prompt_generation": str(call.body["prompt_generation"]),
    }
