"""Requests about commands and tasks of one pane, and the wait for their ends in parts. No I/O."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final, TypeVar

from termnode.client.calls import REPLY_S
from termnode.client.native_calls import NativeCall, native_call
from termnode.client.native_exec_replies import (
    FINISHED,
    SETTLED,
    Admitted,
    CancelReply,
    ExecState,
    TaskState,
)
from termnode.client.wait_plan import LONGEST_S, SHORTEST_S
from termnode.control.native.targets import Target

S = TypeVar("S", ExecState, TaskState)

SUBMIT_S: Final = 15.0
"""For the answer to a submission: the Term asks the shell, and gives it 5 s."""


class Family(StrEnum):
    """Commands and tasks have ids of their own: neither is read as the other."""

    COMMAND = "term.exec"
    TASK = "term.task"


@dataclass(frozen=True, slots=True)
class Submitted:
    """One submission: of which pane, and which it is."""

    family: Family
    target: Target
    number: int


def execute(
    target: Target, source: str, prompt_generation: int, wait_s: float = 0.0
) -> NativeCall[Admitted]:
    """Run a command at the prompt of that generation, and wait for its end for a while."""
    fields: dict[str, object] = {"source": source, "prompt_generation": str(prompt_generation)}
    fields["wait_ms"] = round(1000 * wait_s) or None
    return native_call("term.execute", Admitted, target, fields, timeout=SUBMIT_S + wait_s)


def submit_task(
    target: Target,
    *,
    argv: Sequence[str] | None,
    source: str | None,
    cwd: str,
    env: Mapping[str, str] | None,
    timeout_ms: int,
) -> NativeCall[Admitted]:
    """Run a program, or a script, beside the shell. Fields that are None are left out."""
    fields: dict[str, object] = {
        "argv": None if argv is None else list(argv),
        "source": source,
        "cwd": cwd,
        "env": [list(pair) for pair in (env or {}).items()] or None,
        "timeout_ms": timeout_ms,
    }
    return native_call("term.task.submit", Admitted, target, fields, timeout=SUBMIT_S)


def exec_result(operation: Submitted, wait_s: float) -> NativeCall[ExecState]:
    """Where a command stands, once it has ended or the wait is over."""
    return _result(operation, ExecState, wait_s)


def task_result(operation: Submitted, wait_s: float) -> NativeCall[TaskState]:
    """Where a task stands, once it has settled or the wait is over."""
    return _result(operation, TaskState, wait_s)


def cancel(operation: Submitted) -> NativeCall[CancelReply]:
    """End it."""
    fields = {"operation_id": str(operation.number)}
    call = native_call(f"{operation.family}.cancel", CancelReply, operation.target, fields)
    return replace(call, timeout=SUBMIT_S)


def _result(operation: Submitted, state: type[S], wait_s: float) -> NativeCall[S]:
    milliseconds = max(0, round(1000 * wait_s))
    return native_call(
        f"{operation.family}.result",
        state,
        operation.target,
        {"operation_id": str(operation.number), "wait_ms": milliseconds},
        timeout=milliseconds / 1000 + REPLY_S,
    )


def has_ended(state: ExecState | TaskState) -> bool:
    """Whether its outcome is there."""
    return state.state in {FINISHED, SETTLED}


class Parts:
    """The wait for an end, in parts: one that nobody waits for any more does not last for much
    longer than it was of use. Seconds of one clock; ``timeout`` None waits for ever."""

    def __init__(self, timeout: float | None, start: float) -> None:
        if timeout is not None and math.isnan(timeout):
            raise ValueError("timeout must be a number of seconds")
        self._start = start
        self._end = math.inf if timeout is None else start + max(0.0, timeout)

    def next(self, now: float) -> float:
        """How long the next part is, at most LONGEST_S."""
        longest = min(LONGEST_S, max(SHORTEST_S, now - self._start))
        return max(0.0, min(longest, self._end - now))

    def over(self, now: float) -> bool:
        """Whether the time is up."""
        return now >= self._end
