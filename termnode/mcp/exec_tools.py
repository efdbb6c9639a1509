"""Tools that run commands at a pane's own prompt, and tasks beside its shell.

A wait for an end is bounded: what still runs then goes on, and is asked for by its operation.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable
from typing import Any, Final, cast

from termnode.client import WaitTimeout
from termnode.mcp import exec_arguments as of
from termnode.mcp.call import Call
from termnode.mcp.exec_api import Command, Running, Shell, Task
from termnode.mcp.exec_facts import CancelFacts, RunFacts
from termnode.mcp.limits import LONGEST_WAIT_S
from termnode.mcp.outcome import Outcome
from termnode.mcp.paging import part
from termnode.mcp.patience import patiently
from termnode.modelterm.screen import WARNING

VALUE_CHARS: Final = 8_192
"""Of the value of a script, as JSON."""

_SEQUENCE: Final = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]PX^_].*?(?:\x07|\x1b\\)|\x1b[ -/]*[0-~]", re.DOTALL
)
_CONTROL: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


async def exec_(call: Call, args: of.Exec) -> Outcome:
    """Run a command, and give its end if it comes soon."""
    running = await (await _shell(call, args.pane)).submit(args.command)
    return await _command(call, args.pane, running, args.seconds, 1)


async def exec_result(call: Call, args: of.Result) -> Outcome:
    """The end of a command, waited for."""
    running = (await _shell(call, args.pane)).execution(args.operation)
    return await _command(call, args.pane, running, args.seconds, args.from_line)


async def exec_cancel(call: Call, args: of.OfOperation) -> Outcome:
    """Interrupt a command."""
    return await _cancelled(args.pane, (await _shell(call, args.pane)).execution(args.operation))


async def task(call: Call, args: of.Task) -> Outcome:
    """Run a program or script, and give its report if it comes soon."""
    shell = await _shell(call, args.pane)
    running = await shell.submit_task(
        args.argv, source=args.source, cwd=args.cwd, timeout=args.limit
    )
    return await _task(call, args.pane, running, args.seconds, 1)


async def task_result(call: Call, args: of.Result) -> Outcome:
    """The report of a task, waited for."""
    running = (await _shell(call, args.pane)).task_of(args.operation)
    return await _task(call, args.pane, running, args.seconds, args.from_line)


async def task_cancel(call: Call, args: of.OfOperation) -> Outcome:
    """End a task."""
    return await _cancelled(args.pane, (await _shell(call, args.pane)).task_of(args.operation))


async def _shell(call: Call, pane: int) -> Shell:
    native = await call.house.reach.native()
    return cast("Shell", await native.pane(pane))


async def _command(
    call: Call, pane: int, running: Command, seconds: float, from_line: int
) -> Outcome:
    ended = await _waited(call, seconds, lambda left: running.result(timeout=left))
    facts = RunFacts(pane=pane, operation=running.id, state="running")
    if ended is None:
        return _goes_on("exec_result", facts)
    output = ended.output
    facts.state = ended.outcome
    facts.ended = None if ended.exit is None else str(ended.exit)
    facts.cwd, facts.duration_ms = ended.cwd, ended.duration_ms
    facts.cut = output is not None and output.truncated
    return _told("exec_result", facts, ended.text, from_line)


async def _task(call: Call, pane: int, running: Task, seconds: float, from_line: int) -> Outcome:
    report = await _waited(call, seconds, lambda left: running.report(timeout=left))
    facts = RunFacts(pane=pane, operation=running.id, state="running")
    if report is None:
        return _goes_on("task_result", facts)
    kind = report.outcome.kind
    facts.state = "completed" if kind in {"exited", "signalled"} else kind
    facts.ended = str(report.outcome)
    facts.duration_ms = report.duration_ms
    facts.cut = report.stdout.truncated or report.stderr.truncated
    facts.value = _short(report.result)
    errors = report.stderr.text
    text = report.stdout.text + (f"\n-- standard error --\n{errors}" if errors else "")
    return _told("task_result", facts, text, from_line)


async def _waited(call: Call, seconds: float, wait: Callable[[float], Awaitable[Any]]) -> Any:  # noqa: ANN401
    """How it ended; None while it runs."""
    left = min(seconds, LONGEST_WAIT_S)
    try:
        return await patiently(call, left, "it runs", lambda: wait(left))
    except WaitTimeout:
        return None


def _goes_on(tool: str, facts: RunFacts) -> Outcome:
    ask = f"{tool} pane={facts.pane} operation={facts.operation}"
    return Outcome(f"still running: {ask} waits on", facts)


def _told(tool: str, facts: RunFacts, output: str, from_line: int) -> Outcome:
    head = " | ".join(filter(None, [facts.state, facts.ended, f"operation {facts.operation}"]))
    text, next_line = part(f"[pane:{facts.pane}] {head}\n{WARNING}\n{plain(output)}", from_line)
    if next_line is not None:
        facts.next = (
            f"{tool} pane={facts.pane} operation={facts.operation} from_line={next_line} gives "
            "the rest"
        )
        text = f"{text}\n... {facts.next}"
    return Outcome(text, facts)


def _short(result: Any) -> Any:  # noqa: ANN401  # any JSON
    """What a script told, unless it is longer than a result should be."""
    if result.kind != "value" or len(json.dumps(result.data)) > VALUE_CHARS:
        return None
    return result.data


async def _cancelled(pane: int, running: Running) -> Outcome:
    answer = await running.cancel()
    facts = CancelFacts(pane=pane, operation=running.id, outcome=answer.outcome)
    return Outcome(f"{answer.outcome}: ask for its result to see how it ended", facts)


def plain(output: str) -> str:
    """Without sequences and control characters."""
    return _CONTROL.sub("\ufffd", _SEQUENCE.sub("", output.replace("\r\n", "\n"))).rstrip("\n")
