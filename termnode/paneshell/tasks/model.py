"""The tasks of one pane shell: which run, and the last ones that have settled. No I/O.

Times are milliseconds since boot.
"""

from __future__ import annotations

import errno
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from brokerd.client import ErrorCode, Refusal, limit_reached
from termnode.paneshell.calls import Actor
from termnode.paneshell.tasks import wire
from termnode.paneshell.tasks.capture import Stream
from termnode.paneshell.tasks.launching import CWD, NOT_THERE
from termnode.paneshell.tasks.limits import KEPT_SETTLED, MAX_RUNNING
from termnode.paneshell.tasks.result import NOT_APPLICABLE, result_of

RUNNING: Final = "running"
CANCELLING: Final = "cancelling"
SETTLED: Final = "settled"
VERSION: Final = 1

KEEPER_LOST: Final = "its keeper or the task supervisor was killed, and the task with it"
NOT_STARTED: Final = "it was accepted, and then its program could not be started: nothing ran"

STREAMS: Final = ("stdout", "stderr", "result")


@dataclass(slots=True, eq=False)
class Task:
    """One task from its submission on. ``report`` is None until it has settled."""

    key: tuple[Actor, int]
    digest: bytes
    result_wanted: bool
    began_ms: int
    operation_id: str = ""
    cancelled: bool = False
    report: dict[str, Any] | None = None
    streams: dict[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def state(self) -> str:
        """``cancelling`` after a cancel alone, not after its timeout."""
        if self.report is not None:
            return SETTLED
        return CANCELLING if self.cancelled else RUNNING

    def answer(self, now_ms: int) -> dict[str, object]:
        """What is known of it, for a result."""
        known: dict[str, object] = {
            "version": VERSION,
            "operation_id": self.operation_id,
            "state": self.state,
        }
        if self.report is None:
            return {**known, "elapsed_ms": max(0, now_ms - self.began_ms)}
        return {**known, "report": self.report}

    def take(self, record: Mapping[str, Any]) -> None:
        """What its keeper says at the end: a stream, or that all was said."""
        if record["type"] == wire.STREAM:
            self.streams[record["name"]] = record
        elif record["type"] == wire.SETTLED and self.report is None:
            self.report = self._report(record)
            self.streams.clear()

    def not_started(self, now_ms: int) -> None:
        """It was accepted, and nothing ran: so nothing came."""
        for name in STREAMS:
            self.streams[name] = {"kept": b"", "bytes": 0, "open": False}
        self.lose(NOT_STARTED, now_ms)

    def lose(self, detail: str, now_ms: int) -> None:
        """Nobody can say what became of it."""
        if self.report is None:
            outcome = {"kind": "unknown", "detail": detail}
            duration = max(0, now_ms - self.began_ms)
            counts = {"survivors": 0, "survivors_left": 0}
            self.take({"type": wire.SETTLED, "outcome": outcome, "duration_ms": duration, **counts})

    def _report(self, record: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "version": VERSION,
            "outcome": record["outcome"],
            "stdout": self._stream("stdout").report(),
            "stderr": self._stream("stderr").report(),
            "result": self._result(),
            "survivors": record["survivors"],
            "survivors_left": record["survivors_left"],
            "duration_ms": record["duration_ms"],
        }

    def _result(self) -> dict[str, Any]:
        return result_of(self._stream("result")) if self.result_wanted else NOT_APPLICABLE

    def _stream(self, name: str) -> Stream:
        told = self.streams.get(name)
        return _LOST if told is None else Stream(told["kept"], told["bytes"], told["open"])


_LOST: Final = Stream(b"", 0, writer_survived=False, lost=True)
"""One of which no keeper has told."""


class Table:
    """Tasks by their operation id: those that run, and the last KEPT_SETTLED that have settled."""

    def __init__(self) -> None:
        self._tasks: dict[str, Task] = {}
        self._starting: dict[tuple[Actor, int], Task] = {}
        self._settled: deque[str] = deque()

    @property
    def running(self) -> list[Task]:
        """Those that have not settled, the starting ones among them."""
        accepted = [task for task in self._tasks.values() if task.report is None]
        return [*self._starting.values(), *accepted]

    def starting(self, key: tuple[Actor, int]) -> Task | None:
        """The one with that caller and request id of which it is not known yet whether it runs."""
        return self._starting.get(key)

    def begin(self, task: Task) -> None:
        """It is about to be started. Raises Refusal RESOURCE_LIMIT."""
        if len(self.running) >= MAX_RUNNING:
            text = "as many tasks as may run of one shell do: wait for one, and send this again"
            raise limit_reached("running_tasks", MAX_RUNNING, text)
        self._starting[task.key] = task

    def drop(self, task: Task) -> None:
        """Nothing of it ran."""
        self._starting.pop(task.key, None)

    def accept(self, task: Task, operation_id: str) -> None:
        """It runs, and is known by this from now on."""
        self.drop(task)
        task.operation_id = operation_id
        self._tasks[operation_id] = task

    def settled(self, task: Task) -> None:
        """It has its report; the oldest over the bound loses its own."""
        self._settled.append(task.operation_id)
        if len(self._settled) > KEPT_SETTLED:
            del self._tasks[self._settled.popleft()]

    def get(self, operation_id: str) -> Task:
        """Raises Refusal UNKNOWN_OUTCOME for one whose report is kept no longer."""
        found = self._tasks.get(operation_id)
        if found is None:
            text = f"only the last {KEPT_SETTLED} reports are kept: read each soon after its end"
            raise Refusal(ErrorCode.UNKNOWN_OUTCOME, text, reason="report_dropped")
        return found

    def state_of(self, operation_id: str) -> str:
        """For a submission that comes again: running until it has settled."""
        found = self._tasks.get(operation_id)
        return SETTLED if found is None or found.report is not None else RUNNING


def refusal_of(failure: Mapping[str, Any]) -> Refusal:
    """Why nothing ran, from what a keeper or the supervisor told; the request id is not spent."""
    stage, number = failure["stage"], failure["errno"]
    detail = errno.errorcode.get(number, "unknown")
    if stage == CWD:
        text = "cwd is no directory that can be entered: name one that is"
        return Refusal(ErrorCode.NOT_FOUND, text, field="cwd", detail=detail)
    if number in NOT_THERE:
        text = "there is no such program that can be run: see PATH, the name and its first line"
        return Refusal(ErrorCode.NOT_FOUND, text, reason="spawn_failed", detail=detail)
    text = "the machine could not start it, and nothing ran: send the same again later"
    return Refusal(ErrorCode.RESOURCE_LIMIT, text, reason="spawn_failed", detail=detail)


def no_supervisor(shell_exited: bool) -> Refusal:
    """No task can be started from here any more."""
    if shell_exited:
        text = "the pane's shell has ended, and its tasks with it: use another pane"
        return Refusal(ErrorCode.UNAVAILABLE, text, reason="shell_exited")
    text = "this pane has no task supervisor now, and nothing ran: use another pane"
    return Refusal(ErrorCode.UNAVAILABLE, text, reason="no_task_supervisor")
