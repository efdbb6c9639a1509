"""The desk with a shell and a Term that do as they are told: repeats, doubts, cancellations."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, cast

import pytest
import trio

from brokerd.client import Principal, Refusal, Request, encode
from termnode.paneshell.calls import Call, actor_of
from termnode.paneshell.integration import ShellDir, take_claim
from termnode.paneshell.launch import ShellFacts
from termnode.paneshell.operations import Operation, Operations
from termnode.paneshell.prompt import cancelling, desk, interrupting, probing, refusals
from termnode.paneshell.prompt.desk import Desk
from termnode.paneshell.prompt.executions import Execution
from termnode.paneshell.prompt.verbs import Execute
from termnode.paneshell.shell_process import ShellProcess
from termnode.paneshell.status import FOREGROUND_CHILD, STARTING, Observation, target_of
from tests.props.test_paneshell_status_props import ALLOWED, OWN

SHELL, PROGRAM = 70_001, 70_002
"""Process groups of nobody: beyond the numbers that are given."""


class FakeShell:
    """A shell whose terminal is in front as told."""

    pid = os.getpid()
    front = SHELL

    def observe(self) -> Observation:
        return Observation(STARTING if self.front == SHELL else FOREGROUND_CHILD, None)

    def groups(self) -> tuple[int, int] | None:
        return SHELL, self.front


class Rig:
    """A desk at prompt 1. ``on_press`` is what follows a press."""

    def __init__(self, directory: ShellDir) -> None:
        self.directory = directory
        self.shell = FakeShell()
        self.now = 0
        self.pressed: list[str] = []
        self.on_press: Callable[[str], object] = self.admit
        facts = ShellFacts("bash", str(directory.path), directory.nonce)
        self.operations = Operations()
        shell = cast("ShellProcess", self.shell)
        self.desk = Desk(facts, shell, self, self.operations, clock_ms=lambda: self.now)
        self.tell("PROMPT 1 0 - /")

    def post(self, record: Mapping[str, Any]) -> bool:
        """As the way to Term."""
        self.pressed.append(record["op"])
        self.desk.watch.take({"type": "pressed", "op": record["op"], "word": "pressed"})
        self.on_press(record["op"])
        return True

    def tell(self, *records: str) -> None:
        """As the shell."""
        os.write(self.directory.control, "".join(f"{each}\0" for each in records).encode())
        self.desk.watch.drain()

    def claim(self, op: str) -> None:
        """The shell takes the claim, and no word follows; all of its time passes."""
        assert take_claim(self.directory.path, op)
        self.now += 400

    def admit(self, op: str) -> None:
        take_claim(self.directory.path, op)
        self.tell(f"REPLY {op} ADMITTED 1 0")

    def doubtful(self) -> tuple[Operation, Execution]:
        """An operation of which nobody can say."""
        operation = self.operations.spend("execute", ("x", 1, "", ""), 1, b"", now_ms=self.now)
        execution = self.desk.watch.add(operation, 1)
        take_claim(self.directory.path, operation.id)
        operation.refusal = refusals.unknown(operation.id)
        self.desk.watch.doubt(operation)
        return operation, execution

    def running(self) -> Execution:
        """An operation that the shell took."""
        operation, execution = self.doubtful()
        self.tell(f"REPLY {operation.id} ADMITTED 1 0")
        return execution

    def call(self, pane_generation: str = "1", source: str = "echo") -> Call:
        """A submission under id 7; ``pane_generation`` is of its target."""
        target = {**target_of(OWN), "pane_generation": pane_generation}
        body = {"version": 1, "target": target, "request_id": "7", "prompt_generation": "1"}
        verb = Execute(self.desk)
        read = verb.read(encode({**body, "source": source}))
        read.pop("target")
        caller = ALLOWED["parent"]
        assert isinstance(caller, Principal)
        call = Call(cast("Request", None), caller, OWN, read, _confirmed, lambda: None)
        verb.arrived(call)
        return call

    async def ask(self, call: Call) -> object:
        """The operation's id, or the reason of the refusal."""
        try:
            return (await Execute(self.desk).answer(call))["operation_id"]
        except Refusal as refusal:
            return refusal.details.get("reason")


async def _confirmed(_seconds: float) -> int:
    await trio.lowlevel.checkpoint()
    return 1 << 62


@pytest.fixture(autouse=True)
def _no_strangers(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test here signals anybody."""
    monkeypatch.setattr(os, "killpg", lambda *_: pytest.fail("somebody was signalled"))


def in_rig(tmp_path: Path, test: Callable[[Rig], Awaitable[None]]) -> None:
    async def main() -> None:
        with trio.fail_after(30):
            async with trio.open_nursery() as nursery:
                rig = Rig(directory)
                nursery.start_soon(rig.desk.run)
                await test(rig)
                nursery.cancel_scope.cancel()

    directory = ShellDir.make(tmp_path)
    try:
        trio.run(main)
    finally:
        directory.close()


# Repeats


async def together(rig: Rig, *calls: Call) -> list[object]:
    """Answers to submissions of which all are there before the first is decided."""
    answers: list[object] = []

    async def ask(call: Call) -> None:
        answers.append(await rig.ask(call))

    async with trio.open_nursery() as nursery:
        for call in calls:
            nursery.start_soon(ask, call)
    return answers


def test_a_repeat_waits_for_the_answer_of_the_first(tmp_path: Path) -> None:
    async def test(rig: Rig) -> None:
        answers = await together(rig, rig.call(), rig.call(), rig.call())
        assert answers == rig.pressed * 3
        assert len(rig.pressed) == 1

    in_rig(tmp_path, test)


def test_a_repeat_of_what_nobody_can_say_is_told_the_same(tmp_path: Path) -> None:
    async def test(rig: Rig) -> None:
        def claim_and_wait(op: str) -> None:
            rig.claim(op)
            rig.now += 600

        rig.on_press = claim_and_wait
        reason = "admission_claimed_without_report"
        # The clock stands still but for the press, so the claim is found, and then its time runs.
        async with trio.open_nursery() as nursery:
            nursery.start_soon(pass_time, rig)
            assert await together(rig, rig.call(), rig.call()) == [reason] * 2
            nursery.cancel_scope.cancel()
        assert len(rig.pressed) == 1

    in_rig(tmp_path, test)


async def pass_time(rig: Rig) -> None:
    while True:
        rig.now += 50
        rig.desk.watch.bell.ring()
        await trio.lowlevel.checkpoint()


def test_another_submission_meanwhile_is_told_at_once(tmp_path: Path) -> None:
    async def test(rig: Rig) -> None:
        answers = await together(rig, rig.call(), rig.call(source="ls"))
        assert sorted(map(str, answers)) == sorted([*rig.pressed, "admission"])

    in_rig(tmp_path, test)


def test_a_repeat_for_a_later_enrolment_is_the_same_submission(tmp_path: Path) -> None:
    async def test(rig: Rig) -> None:
        first = await rig.ask(rig.call())
        assert await rig.ask(rig.call(pane_generation="2")) == first
        assert await rig.ask(rig.call(source="ls")) == "request_mismatch"

    in_rig(tmp_path, test)


def test_a_repeat_does_not_wait_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(desk, "DECIDED_SECONDS", 0)

    async def test(rig: Rig) -> None:
        call = rig.call()
        with rig.desk.admission((actor_of(call.caller), 7, b"")):
            assert await rig.ask(call) == "admission"

    in_rig(tmp_path, test)


def test_without_the_wait_a_repeat_is_turned_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Desk, "wait_decided", lambda *_: _confirmed(0))
    with pytest.raises(BaseExceptionGroup):
        test_a_repeat_waits_for_the_answer_of_the_first(tmp_path)


# Doubts


def test_a_shell_in_doubt_is_asked_once_and_its_free_prompt_settles_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probing, "SILENT_SECONDS", 0)

    async def test(rig: Rig) -> None:
        rig.on_press = lambda op: rig.tell(f"REPLY {op} READY 1 0")
        _, execution = rig.doubtful()
        watch = rig.desk.watch
        assert await watch.bell.until(lambda: not watch.unresolved, 20)
        assert execution.result is not None
        assert execution.result["outcome"] == "not_started"
        assert len(rig.pressed) == 1
        rig.desk.check(1)

    in_rig(tmp_path, test)


def test_a_command_that_is_said_to_run_needs_no_admitted(tmp_path: Path) -> None:
    """Interrupted before it could say so, the shell runs it all the same."""

    async def test(rig: Rig) -> None:
        def run(op: str) -> None:
            take_claim(rig.directory.path, op)
            rig.tell(f"RUN 1 {op}")

        rig.on_press = run
        assert [await rig.ask(rig.call())] == rig.pressed

    in_rig(tmp_path, test)


def test_a_line_that_wants_more_is_interrupted_only_while_it_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[int] = []
    monkeypatch.setattr(os, "killpg", lambda group, _: sent.append(group))

    async def test(rig: Rig) -> None:
        execution = rig.running()
        rig.tell("CONT 2", f"PROMPT 3 130 {execution.id} /")  # the person was faster
        assert sent == []
        other = rig.running()
        rig.tell("CONT 4", "CONT 5")
        rig.tell("CONT 6")
        assert sent == [SHELL]
        assert other.result is None

    async def alone() -> None:
        directory = ShellDir.make(tmp_path)
        await test(Rig(directory))
        directory.close()

    trio.run(alone)


# Cancellations


def cancelled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *records: str, front: int = SHELL
) -> tuple[list[int], str]:
    """Whom a cancellation signals, and its words, after these records (of operation {})."""
    sent: list[int] = []
    found: list[str] = []
    monkeypatch.setattr(os, "killpg", lambda group, _: sent.append(group))
    monkeypatch.setattr(cancelling, "LOOK_MS", 0)

    async def main() -> None:
        directory = ShellDir.make(tmp_path)
        rig = Rig(directory)
        execution = rig.running()
        rig.tell(*(each.format(execution.id) for each in records))
        rig.shell.front = front
        async with trio.open_nursery() as nursery:
            nursery.start_soon(pass_time, rig)
            pgid, words = await rig.desk.cancel(execution)
            nursery.cancel_scope.cancel()
        assert [pgid] * (pgid is not None) == sent
        found.append(words)
        directory.close()

    trio.run(main)
    return sent, found[0]


def test_what_runs_is_signalled_where_it_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent, _ = cancelled(tmp_path, monkeypatch, "RUN 1 {}", front=PROGRAM)
    assert sent == [PROGRAM]
    sent, words = cancelled(tmp_path, monkeypatch, "RUN 1 {}")
    assert sent == [SHELL]
    assert "the shell itself" in words
    assert cancelled(tmp_path, monkeypatch, front=PROGRAM)[0] == [PROGRAM]  # its RUN comes late


def test_what_has_ended_or_not_begun_is_not_signalled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The shell's own group would be at the person's prompt, though the output is not told yet."""
    for records in ((), ("RUN 1 {}", "PROMPT 2 0 {} /")):
        sent, words = cancelled(tmp_path, monkeypatch, *records)
        assert sent == []
        assert words.startswith("nothing was sent")


def test_without_the_look_at_its_end_the_person_is_signalled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Execution, "ended", property(lambda self: self.over))
    with pytest.raises(AssertionError):
        test_what_has_ended_or_not_begun_is_not_signalled(tmp_path, monkeypatch)


@pytest.mark.parametrize("front", [-1, 0, 1, os.getpgrp()])
def test_nobody_s_own_and_our_own_group_are_never_signalled(
    front: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell = FakeShell()
    shell.front = front
    pgid, words = interrupting.interrupt(cast("ShellProcess", shell), itself=True)
    assert pgid is None
    assert "no process group" in words
    assert cancelled(tmp_path, monkeypatch, "RUN 1 {}", front=front)[0] == []


def test_a_shell_that_shares_our_group_is_not_signalled() -> None:
    shell = FakeShell()
    shell.groups = lambda: (os.getpgrp(), os.getpgrp())  # type: ignore[method-assign]  # as told
    assert interrupting.interrupt(cast("ShellProcess", shell), itself=True)[0] is None
