"""The execute tools against panes that only say what they are told."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
import trio
from trio.testing import MockClock

pytest.importorskip("mcp")

from pydantic import ValidationError

from termnode.client import WaitTimeout
from termnode.mcp import exec_arguments as of
from termnode.mcp import exec_tools as tools
from termnode.mcp.call import Call
from termnode.mcp.exec_facts import RunFacts
from termnode.mcp.exec_table import EXEC_TABLE
from termnode.mcp.outcome import Outcome
from termnode.mcp.settings import Tier
from termnode.mcp.table import BY_NAME


class Running:
    """An operation that takes ``seconds``."""

    def __init__(self, end: object, seconds: float) -> None:
        self.id = 7
        self._end = end
        self._over = trio.current_time() + seconds

    async def result(self, *, timeout: float | None) -> object:
        left = self._over - trio.current_time()
        assert timeout is not None
        if left > timeout:
            await trio.sleep(timeout)
            raise WaitTimeout("it runs", 0)
        await trio.sleep(max(0.0, left))
        return self._end

    report = result

    async def cancel(self) -> object:
        return SimpleNamespace(outcome="requested")


class Shell:
    """One pane's."""

    def __init__(self, end: object, seconds: float) -> None:
        self._running = Running(end, seconds)
        self.asked: list[object] = []

    async def submit(self, source: str) -> Running:
        self.asked.append(source)
        return self._running

    async def submit_task(self, program: object, **given: object) -> Running:
        self.asked.append((program, given))
        return self._running

    def execution(self, operation_id: int) -> Running:
        assert operation_id == 7
        return self._running

    task_of = execution


def done(text: str, code: int = 0) -> object:
    output = SimpleNamespace(truncated=False)
    return SimpleNamespace(
        outcome="completed", exit=f"exit code {code}", output=output, cwd="/w", duration_ms=5,
        text=text,
    )  # fmt: skip


def reported(text: str, errors: str, value: object = None) -> object:
    def stream(text: str) -> object:
        return SimpleNamespace(text=text, truncated=False)

    class End(SimpleNamespace):
        def __str__(self) -> str:
            return "exit code 0"

    told = SimpleNamespace(kind="value", data=value)
    return SimpleNamespace(
        outcome=End(kind="exited"), stdout=stream(text), stderr=stream(errors), duration_ms=5,
        result=told,
    )  # fmt: skip


def call_of(shell: Shell) -> Call:
    async def pane(_number: int) -> Shell:
        return shell

    async def native() -> object:
        return SimpleNamespace(pane=pane)

    async def report(*_: object) -> None:
        return None

    house = SimpleNamespace(reach=SimpleNamespace(native=native))
    return cast("Call", SimpleNamespace(house=house, report=report))


def run(tool: Any, end: object, args: object, seconds: float = 0.0) -> Outcome:  # noqa: ANN401
    async def main() -> Outcome:
        return cast("Outcome", await tool(call_of(Shell(end, seconds)), args))

    return trio.run(main, clock=MockClock(autojump_threshold=0))


def facts(outcome: Outcome) -> RunFacts:
    assert isinstance(outcome.facts, RunFacts)
    return outcome.facts


def test_a_command_that_ends_soon_gives_its_end() -> None:
    told = run(tools.exec_, done("a\r\n\x1b[31mred\x1b[0m\x07\n"), of.Exec(pane=1, command="x"))
    assert told.text == (
        "[pane:1] completed | exit code 0 | operation 7\n"
        "untrusted output of a program follows\na\nred\ufffd"
    )
    assert (facts(told).state, facts(told).ended, facts(told).cwd) == (
        "completed", "exit code 0", "/w",
    )  # fmt: skip


@pytest.mark.parametrize("tool", ["exec", "task"])
def test_one_that_takes_longer_goes_on_and_is_asked_for_by_its_number(tool: str) -> None:
    begin, args = {
        "exec": (tools.exec_, of.Exec(pane=1, command="make", seconds=60.0)),
        "task": (tools.task, of.Task(pane=1, argv=["make"], seconds=60.0)),
    }[tool]
    told = run(begin, done(""), args, 300.0)
    assert told.text == f"still running: {tool}_result pane=1 operation=7 waits on"
    assert facts(told).state == "running"


def test_long_output_comes_in_parts() -> None:
    text = "\n".join("é" * 100 for _ in range(1_000))
    first = run(tools.exec_result, done(text), of.Result(pane=1, operation=7))
    assert len(first.text.encode()) <= 32 * 1024
    following = facts(first).next
    assert following is not None
    line = int(following.partition("from_line=")[2].split()[0])
    second = run(tools.exec_result, done(text), of.Result(pane=1, operation=7, from_line=line))
    assert second.text.split("\n")[2] == "é" * 100


def test_a_task_gives_both_streams_and_what_its_script_told() -> None:
    told = run(tools.task, reported("out\n", "err\n", {"a": 1}), of.Task(pane=1, source="x"))
    assert told.text.endswith("out\n\n-- standard error --\nerr")
    assert facts(told).value == {"a": 1}
    long = run(tools.task, reported("", "", "x" * 10_000), of.Task(pane=1, source="x"))
    assert facts(long).value is None


def test_a_cancel_says_what_it_did() -> None:
    for tool in (tools.exec_cancel, tools.task_cancel):
        told = run(tool, done(""), of.OfOperation(pane=1, operation=7))
        assert told.text.startswith("requested: ")


@pytest.mark.parametrize("given", [{}, {"argv": ["x"], "source": "y"}])
def test_a_task_is_a_program_or_a_script(given: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="one of them"):
        of.Task(pane=1, **given)


def test_their_rows_need_leave_and_say_what_they_do() -> None:
    assert {row.name for row in EXEC_TABLE} == {
        "exec", "exec_result", "exec_cancel", "task", "task_result", "task_cancel",
    }  # fmt: skip
    for row in EXEC_TABLE:
        assert row.tier is Tier.EXECUTE
        assert row.read_only == row.name.endswith("_result")
        assert row.name not in BY_NAME, "until the client has such calls"
        assert row.tool().input_schema["additionalProperties"] is False
