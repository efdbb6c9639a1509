"""shell.task.submit, .result and .cancel, and the two that are for later (specs/tasks.md)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, Final

import trio

from brokerd.client import ErrorCode, Refusal
from termnode.paneshell import policy
from termnode.paneshell.calls import VERSION, Call, Verb, read_body
from termnode.paneshell.operations import Operation
from termnode.paneshell.tasks.client import FAMILY, Tasks
from termnode.paneshell.tasks.limits import MAX_REQUEST
from termnode.paneshell.tasks.model import Task
from termnode.paneshell.tasks.request import (
    OPTIONAL,
    REQUIRED,
    Submission,
    read_operation_id,
    read_wait,
    submission,
)

SUBMIT: Final = "shell.task.submit"
RESULT: Final = "shell.task.result"
CANCEL: Final = "shell.task.cancel"
DEFERRED: Final = ("shell.task.watch", "shell.task.list")

CONFIRM_SECONDS: Final = 2.0
"""For the broker to say that the caller and this pane are still what they were."""


def task_verbs(tasks: Tasks) -> Mapping[str, Verb]:
    """The verbs of isolated tasks, by their names."""
    verbs: dict[str, Verb] = {
        SUBMIT: SubmitVerb(tasks),
        RESULT: ResultVerb(tasks),
        CANCEL: CancelVerb(tasks),
    }
    return verbs | {name: DeferredVerb() for name in DEFERRED}


class _TaskVerb:
    capability = policy.EXECUTE
    shape_first = True

    def __init__(self, tasks: Tasks) -> None:
        self._tasks = tasks

    def arrived(self, call: Call) -> None:
        """Nothing is kept of it."""

    def _find(self, call: Call) -> Task:
        """The task that a request is about. Raises Refusal UNKNOWN_OUTCOME."""
        operation_id = call.body["operation_id"]
        self._tasks.operations.get(operation_id, call.actor, FAMILY, self._tasks.clock_ms())
        return self._tasks.table.get(operation_id)


class SubmitVerb(_TaskVerb):
    """shell.task.submit."""

    def read(self, raw: bytes) -> dict[str, Any]:
        """``submission``, and the ``digest`` of what was sent."""
        body = read_body(raw, MAX_REQUEST, required=REQUIRED, optional=OPTIONAL)
        digest = hashlib.sha256(SUBMIT.encode() + b"\0" + raw).digest()
        return {"target": body.pop("target"), "submission": submission(body), "digest": digest}

    def arrived(self, call: Call) -> None:
        """Its id is not retired by a later one that is spent first."""
        self._tasks.operations.arrived(call.actor, call.body["submission"].request_id)

    async def answer(self, call: Call) -> dict[str, object]:
        """Accepted, when the program runs. The id is spent by that alone."""
        wanted: Submission = call.body["submission"]
        digest: bytes = call.body["digest"]
        while (known := await self._known(call, wanted.request_id, digest)) is None:
            await call.confirm(CONFIRM_SECONDS)
            if self._tasks.table.starting((call.actor, wanted.request_id)) is None and (
                self._found(call, wanted.request_id, digest) is None
            ):
                return await self._start(call, wanted, digest)
        await call.confirm(CONFIRM_SECONDS)
        return self._accepted(known)

    async def _known(self, call: Call, request_id: int, digest: bytes) -> Operation | None:
        """What the same submission has become, once that is decided. Raises Refusal."""
        await self._tasks.wait_decided((call.actor, request_id))
        return self._found(call, request_id, digest)

    def _found(self, call: Call, request_id: int, digest: bytes) -> Operation | None:
        now = self._tasks.clock_ms()
        return self._tasks.operations.find(call.actor, request_id, digest, now)

    async def _start(self, call: Call, wanted: Submission, digest: bytes) -> dict[str, object]:
        followed = self._tasks.submit(call.actor, wanted, digest)
        await followed.decided.wait()
        if followed.operation is None:
            assert followed.refusal is not None, "it is decided"
            raise followed.refusal
        return self._accepted(followed.operation)

    def _accepted(self, operation: Operation) -> dict[str, object]:
        return {
            "version": VERSION,
            "operation_id": operation.id,
            "state": self._tasks.table.state_of(operation.id),
            "status": "accepted",
        }


class ResultVerb(_TaskVerb):
    """shell.task.result."""

    def read(self, raw: bytes) -> dict[str, Any]:
        """``operation_id`` and ``wait``, in seconds."""
        body = _read_operation(raw, {"wait_ms"})
        return {**body, "wait": read_wait(body)}

    async def answer(self, call: Call) -> dict[str, object]:
        """Where the task stands, after it has settled or the wait is over."""
        followed = self._tasks.followed(self._find(call))
        if followed is not None:
            with trio.move_on_after(call.body["wait"]):
                await followed.settled.wait()
        await call.confirm(CONFIRM_SECONDS)
        return self._find(call).answer(self._tasks.clock_ms())


class CancelVerb(_TaskVerb):
    """shell.task.cancel."""

    def read(self, raw: bytes) -> dict[str, Any]:
        """``operation_id``."""
        return _read_operation(raw, set())

    async def answer(self, call: Call) -> dict[str, object]:
        """What was done."""
        self._find(call)
        await call.confirm(CONFIRM_SECONDS)
        task = self._find(call)
        done = await self._tasks.cancel(task)
        return {"version": VERSION, "operation_id": task.operation_id, **done}


class DeferredVerb:
    """A verb that is known and for later."""

    capability = policy.EXECUTE
    shape_first = True

    def read(self, raw: bytes) -> dict[str, Any]:  # noqa: ARG002  # nothing else is looked at
        """Raises Refusal UNSUPPORTED."""
        text = "tasks cannot be listed or watched yet: ask for each result with wait_ms"
        raise Refusal(ErrorCode.UNSUPPORTED, text, reason="deferred")

    def arrived(self, call: Call) -> None:
        """Never."""

    async def answer(self, call: Call) -> dict[str, object]:
        """Never."""
        raise NotImplementedError


def _read_operation(raw: bytes, optional: set[str]) -> dict[str, Any]:
    body = read_body(raw, MAX_REQUEST, required={"operation_id"}, optional=optional)
    return {**body, "operation_id": read_operation_id(body)}
