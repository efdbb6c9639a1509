"""What a session asks about commands and tasks of a pane, done on its link in its Trio run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeVar

import trio

from termnode.client.errors import (
    BadReply,
    Disconnected,
    ResourceLimit,
    ServiceUnavailable,
    StaleGeneration,
    TermnodeError,
    WaitTimeout,
)
from termnode.client.link import Link
from termnode.client.native_calls import NativeCall
from termnode.client.native_exec_calls import (
    Family,
    Parts,
    Submitted,
    exec_result,
    execute,
    has_ended,
    task_result,
)
from termnode.client.native_exec_replies import (
    Admitted,
    ExecState,
    Executed,
    ShellPrompt,
    TaskReport,
    TaskState,
)
from termnode.client.native_link import ask
from termnode.client.native_term import Term
from termnode.control.native.targets import Target

S = TypeVar("S", ExecState, TaskState)

PATIENCE_S: Final = 10.0
"""For a shell, or its Term, that does not answer for a moment while a result is waited for."""

QUICK_S: Final = 0.02
"""Most commands have ended so long after they were taken; others are asked after."""

PAUSE_S: Final = 0.25
"""Between two such questions."""

_PASSING: Final = frozenset({"not_confirmed", "too_busy"})
"""Reasons of UNAVAILABLE that pass while the connection lasts."""


async def prompt(link: Link, term: Term, target: Target) -> ShellPrompt:
    """What the pane's shell is at. Raises TermnodeError."""
    link.check_open()
    return await link.native.prompt(term, target)


@dataclass(frozen=True, slots=True)
class Command:
    """``source`` for the prompt of a pane; of that ``generation``, or the one that there is."""

    target: Target
    source: str
    generation: int | None = None


async def run_to_end(link: Link, term: Term, command: Command, timeout: float | None) -> Executed:
    """Have a command run, and how it ended; one request for a quick one.

    Raises as `run_at_prompt`, and WaitTimeout while it runs.
    """
    parts = Parts(timeout, trio.current_time())
    admitted = await run_at_prompt(link, term, command, _quick(link, timeout))
    if admitted.result is not None:
        return admitted.result
    running = Submitted(Family.COMMAND, command.target, admitted.operation_id)
    return _result_of(await _ended(link, term, running, exec_result, parts))


def _result_of(state: ExecState) -> Executed:
    if state.result is None:
        raise BadReply("the reply has no field result")
    return state.result


def _quick(link: Link, timeout: float | None) -> float:
    """For how long the answer to a submission is waited for: other requests wait behind it."""
    if link.native.others_wait:
        return 0.0
    return QUICK_S if timeout is None else max(0.0, min(QUICK_S, timeout))


async def run_at_prompt(link: Link, term: Term, command: Command, wait_s: float = 0.0) -> Admitted:
    """Have a command run, at the prompt that there is now when no generation is given.

    A prompt that moved on between the look and the request is looked at once more: nothing ran.
    """
    target = command.target
    if command.generation is not None:
        return await _submitted(link, term, command, command.generation, wait_s)
    expected = link.native.shells.take_next(target)
    if expected is None:
        expected = (await prompt(link, term, target)).prompt_generation
    try:
        return await _submitted(link, term, command, expected, wait_s)
    except StaleGeneration:
        seen = await prompt(link, term, target)
        return await _submitted(link, term, command, seen.prompt_generation, wait_s)


async def _submitted(
    link: Link, term: Term, command: Command, generation: int, wait_s: float
) -> Admitted:
    target = command.target
    admitted = await ask(link, term, execute(target, command.source, generation, wait_s))
    link.native.shells.ran_at(target, generation)
    return admitted


async def executed(link: Link, term: Term, operation: Submitted, timeout: float | None) -> Executed:
    """How a command ended. Raises WaitTimeout while it runs."""
    parts = Parts(timeout, trio.current_time())
    return _result_of(await _ended(link, term, operation, exec_result, parts))


async def settled(
    link: Link, term: Term, operation: Submitted, timeout: float | None
) -> TaskReport:
    """How a task ended. Raises WaitTimeout while it runs."""
    parts = Parts(timeout, trio.current_time())
    state = await _ended(link, term, operation, task_result, parts)
    if state.report is None:
        raise BadReply("the reply has no field report")
    return state.report


async def _ended(
    link: Link,
    term: Term,
    operation: Submitted,
    ask_result: Callable[[Submitted, float], NativeCall[S]],
    parts: Parts,
) -> S:
    while True:
        wait = parts.next(trio.current_time())
        state = await patiently(link, term, ask_result(operation, wait))
        if has_ended(state):
            return state
        if parts.over(trio.current_time()):
            raise _still_runs(operation)


async def patiently(link: Link, term: Term, call: NativeCall[S]) -> S:
    """Ask, and again while the shell or its Term is away for a moment, has no room, or cannot ask
    its broker. For questions alone. Raises TermnodeError.
    """
    end = trio.current_time() + PATIENCE_S
    while True:
        try:
            return await ask(link, term, call)
        except (Disconnected, ResourceLimit, ServiceUnavailable) as error:
            if trio.current_time() >= end or _is_final(error):
                raise
        await trio.sleep(PAUSE_S)


def _is_final(error: TermnodeError) -> bool:
    """A result that one reply does not hold never will be held by one."""
    reason = error.details.get("reason")
    if isinstance(error, ServiceUnavailable):
        return reason not in _PASSING
    return isinstance(error, ResourceLimit) and reason == "reply_too_large"


def _still_runs(operation: Submitted) -> WaitTimeout:
    error = WaitTimeout("it still runs: its operation can be waited for again, or cancelled")
    error.details = {"operation_id": str(operation.number)}
    return error
