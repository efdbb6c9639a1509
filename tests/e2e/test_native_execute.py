"""Commands and tasks for a pane's own shell through the Term, in a service with a real bash."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio

from brokerd.client import Bus, DirectedEvents
from termnode.client import Session
from tests.support.native_caller import (
    Answer,
    Fields,
    NativeCaller,
    native_caller,
    ready_targets,
    until,
)
from tests.support.termnode_process import Service, service
from tests.support.three_clients import THREE, Together

WITHIN_S = 90.0
NAME = "term"


@pytest.fixture(scope="module")
def bash() -> Iterator[Service]:
    """A service whose panes are the person's bash; each test has a pane of its own."""
    with service(SHELL="/usr/bin/bash") as running:
        yield running


class Pane:
    """A pane with a bash at its prompt, for one caller."""

    def __init__(self, me: NativeCaller, target: Fields) -> None:
        self.me = me
        self.target = target

    async def generation(self) -> str:
        """Of its prompt, once it has one and is free, as its shell says."""
        found: list[Fields] = []

        async def ready() -> bool:
            found[:] = [await status(self.me.bus, self.target)]
            return found[0].get("phase") == "prompt-ready"

        await until(ready)
        generation: str = found[0]["prompt_generation"]
        return generation

    async def execute(self, source: str, **own: object) -> Answer:
        """term.execute at the prompt that there is, again while a person might have been there."""
        while True:
            prompt = await self.generation()
            body: Any = {"source": source, "prompt_generation": prompt, **own}
            answer = await self.me.act("term.execute", self.target, **body)
            if answer.code not in {"BUSY", "STALE_GENERATION"}:
                return answer

    async def finished(self, accepted: Answer, family: str = "exec") -> Fields:
        """The result, waited for."""
        assert accepted.rc == 0, accepted
        while True:
            answer = await self.ask(f"{family}.result", accepted, wait_ms=20_000)
            assert answer.rc == 0, answer
            if answer.body["state"] in {"finished", "settled"}:
                return answer.body

    async def ask(self, what: str, accepted: Answer, **own: object) -> Answer:
        """About an operation."""
        number = accepted.body["operation_id"]
        return await self.me.read(f"term.{what}", self.target, operation_id=number, **own)

    async def screen(self) -> str:
        """What it shows, wrapped rows put together."""
        seen = await self.me.read("term.snapshot", self.target, contents=True)
        text: str = seen.body["text"]
        return text.replace("\n", "")


async def status(bus: Bus, target: Fields) -> Fields:
    """shell.status of the shell that a target names: its snapshot; empty while there is none."""
    listed: Any = (await bus.request("brokerd", "session.list", {})).body
    for record in listed["records"]:
        if (record["pane_id"], record["pane_generation"]) == (
            target["pane_id"],
            target["pane_generation"],
        ) and record["parent_incarnation"] == target["incarnation"]:
            mine = {key: record[key] for key in ("record_id", "incarnation", "binding_generation")}
            named = {
                "broker_epoch": record["broker_epoch"],
                "record": mine,
                "instance_id": record["instance_id"],
                "pane_id": record["pane_id"],
                "pane_generation": record["pane_generation"],
            }
            asked = {"version": 1, "target": named}
            reply: Any = (await bus.request(record["name"], "shell.status", asked)).body
            found: Fields = reply.get("status", {}).get("snapshot", {})
            return found
    return {}


@asynccontextmanager
async def new_pane(running: Service, me: NativeCaller) -> AsyncIterator[Pane]:
    """A pane of its own, closed at the end."""
    opened: Any = (await me.bus.request(NAME, "term.tab.new", {"background": True})).body
    number = opened["pane"]
    targets = await ready_targets(me, NAME, number)
    yield Pane(me, targets[number])
    await me.bus.request(NAME, "term.pane.close", {"pane": number})


def said(answer: Answer) -> str:
    """The code and the reason of a refusal."""
    return f"{answer.code} {answer.details.get('reason', '')}".strip()


def talk(running: Service, test: Callable[[Pane], Awaitable[None]]) -> None:
    """Run a test with a pane of its own."""

    async def run() -> None:
        with trio.fail_after(WITHIN_S):
            async with native_caller(running) as me, new_pane(running, me) as pane:
                await test(pane)

    trio.run(run)


def test_a_command_runs_in_sight_of_the_person_and_its_result_is_read(bash: Service) -> None:
    async def body(pane: Pane) -> None:
        accepted = await pane.execute("cd /; echo he''llo; false")
        assert accepted.rc == 0, accepted
        said = accepted.body
        assert (said["status"], said["target"]) == ("accepted", pane.target)
        assert said["operation_id_request"] == str(pane.me.last_id)
        found = await pane.finished(accepted)
        assert found["operation_id"] == said["operation_id"]
        assert found["target"] == pane.target
        result = found["result"]
        assert (result["outcome"], result["exit"], result["cwd"]) == ("completed", {"code": 1}, "/")
        assert result["output"]["text"].split() == ["hello"]
        who = f"# uid {os.geteuid()} pid {os.getpid()} via Term"
        assert f"{who}: cd /; echo he''llo; false" in await pane.screen()
        kept = await pane.me.read(
            "term.operation", pane.target, operation_id=said["operation_id_request"]
        )
        assert kept.raw == accepted.raw

    talk(bash, body)


def test_the_same_bytes_again_run_nothing(bash: Service) -> None:
    async def body(pane: Pane) -> None:
        source = "echo once >>~/ran"
        prompt = await pane.generation()
        change = pane.me.change(pane.target, source=source, prompt_generation=prompt)
        first = await pane.me.send("term.execute", change)
        await pane.finished(first)
        again = await pane.me.send("term.execute", change)
        assert again.raw == first.raw
        assert (bash.directory / "ran").read_text() == "once\n"

    talk(bash, body)


def test_two_callers_with_one_id_have_their_own(bash: Service) -> None:
    async def body(pane: Pane) -> None:
        async with native_caller(bash) as other:
            theirs = Pane(other, pane.target)
            other.last_id = pane.me.last_id
            one = await pane.execute("echo mine")
            first = await pane.finished(one)
            two = await theirs.execute("echo theirs")
            second = await theirs.finished(two)
            assert one.body["operation_id"] != two.body["operation_id"]
            assert "mine" in first["result"]["output"]["text"]
            assert "theirs" in second["result"]["output"]["text"]
            for caller, foreign in ((pane, two), (theirs, one)):
                for what in ("exec.result", "exec.cancel", "task.result"):
                    answer = await caller.ask(what, foreign)
                    assert said(answer) == "UNKNOWN_OUTCOME unknown_operation", answer

    talk(bash, body)


def test_the_shells_refusals_say_what_to_do(bash: Service) -> None:
    async def body(pane: Pane) -> None:
        prompt = int(await pane.generation())
        act, target = pane.me.act, pane.target
        stale = await act("term.execute", target, source="true", prompt_generation=str(prompt + 9))
        assert stale.code == "STALE_GENERATION"
        broken = await act("term.execute", target, source="if", prompt_generation=str(prompt))
        assert said(broken) == "INVALID_ARGUMENT unfinished_source", broken
        other = {**target, "pane_generation": "77"}
        nobody = await act("term.execute", other, source="true", prompt_generation=str(prompt))
        assert nobody.body == {"error_code": "FORBIDDEN", "message": "forbidden", "details": {}}
        typed: Any = {"text": "dra", "foreground_generation": await pane.me.typing(target)}
        assert (await act("term.type", target, **typed)).rc == 0
        await until(lambda: shows(pane, "dra"))
        busy = await act("term.execute", target, source="true", prompt_generation=str(prompt))
        assert busy.code == "BUSY"
        assert "dra" in await pane.screen()

    talk(bash, body)


async def shows(pane: Pane, text: str) -> bool:
    return text in await pane.screen()


def test_a_command_is_interrupted(bash: Service) -> None:
    async def body(pane: Pane) -> None:
        running = await pane.execute("sleep 600")
        look = await pane.ask("exec.result", running)
        assert look.body["state"] == "running"

        async def interrupted() -> bool:
            """A shell that has not begun it yet is not interrupted by one signal."""
            answer = await pane.ask("exec.cancel", running)
            assert answer.rc == 0, answer
            after = await pane.ask("exec.result", running, wait_ms=1_000)
            return bool(after.body["state"] == "finished")

        await until(interrupted)
        found = await pane.finished(running)
        assert found["result"]["outcome"] == "cancelled"

    talk(bash, body)


def test_a_command_that_ends_the_shell_says_so(bash: Service) -> None:
    async def body(pane: Pane) -> None:
        accepted = await pane.execute("exit 3")
        answer = await pane.ask("exec.result", accepted, wait_ms=20_000)
        assert answer.rc == 0, answer
        result = answer.body["result"]
        assert result["outcome"] == "completed"
        assert result["exit"] == {"shell_exited": True, "code": 3}
        assert result["duration_ms"] >= 0
        again = await pane.ask("exec.result", accepted)
        assert again.body["result"]["exit"] == result["exit"]

    talk(bash, body)


async def begin_output(me: NativeCaller, target: Fields) -> None:
    """Have it told what commands of that caller write."""
    answer = await me.read("term.events", target, kinds=["exec.output"])
    assert answer.rc == 0, answer


async def pieces(events: DirectedEvents, operation: str) -> AsyncIterator[Fields]:
    """What is told of an operation, until nothing follows."""
    async for event in events:
        told: Any = event.body
        if event.command == "term.event" and told["operation_id"] == operation:
            yield told
            if told.get("over"):
                return


def test_its_caller_is_told_what_a_command_writes_while_it_runs(bash: Service) -> None:
    async def body(pane: Pane) -> None:
        me = pane.me
        async with (
            native_caller(bash) as other,
            me.bus.subscribe_service(me.name) as mine,
            other.bus.subscribe_service(other.name) as others,
        ):
            await begin_output(me, pane.target)
            await begin_output(other, pane.target)
            running = await pane.execute("printf first; read x; echo last")
            told = pieces(mine, running.body["operation_id"])
            first = await anext(told)
            assert (first["text"], first["offset"], first["bytes"]) == ("first", 0, 5)
            assert first["target"] == pane.target
            state = await pane.ask("exec.result", running)
            assert state.body["state"] == "running", "it was told while it runs"
            generation = await me.typing(pane.target)
            own: Fields = {"text": "\n", "foreground_generation": generation}
            typed = await me.act("term.type", pane.target, **own)
            assert typed.rc == 0, typed
            rest = [each async for each in told]
            assert "".join(each["text"] for each in (first, *rest)) == "first\r\nlast\r\n"
            ended = await pane.execute("true")
            told = pieces(mine, ended.body["operation_id"])
            assert "".join([each["text"] async for each in told]) == ""
            assert len(others) == 0, "nobody else is told"

    talk(bash, body)


async def reads_output(session: Session, _together: Together) -> object:
    native = await session.native()
    pane = await (await native.wait_pane(1, timeout=30)).new_tab(background=True, timeout=30)
    texts = []
    for source in ("echo one; read x; echo two", "true"):
        await pane.wait(prompt=True)
        free = (await pane.prompt()).free
        while not free:
            free = (await pane.prompt()).free
        running = await pane.submit(source)
        async with running.output() as output:
            text = ""
            async for piece in output:
                if not text:
                    await pane.refresh()
                    await pane.type("x", enter=True)
                text += piece.text
                assert piece.lost == 0
        done = await running.result()
        assert done.exit is not None
        texts.append((text, done.exit.code))
        assert await running.output().next(timeout=30) is None, "it had all been told"
    await pane.close()
    return texts


@pytest.mark.parametrize("client", THREE)
def test_the_clients_read_it_as_it_comes(bash: Service, client: str) -> None:
    assert THREE[client](bash, reads_output) == [("one\r\nx\r\ntwo\r\n", 0), ("", 0)]


def test_a_reader_that_does_not_read_delays_nothing_and_what_is_lost_is_counted(
    bash: Service,
) -> None:
    async def body(pane: Pane) -> None:
        me = pane.me
        async with me.bus.subscribe_service(me.name, capacity=1_024) as events:
            await begin_output(me, pane.target)
            running = await pane.execute("seq 300000")
            found = (await pane.finished(running))["result"]
            written = found["output"]["bytes"]
            at = 0
            async for each in pieces(events, running.body["operation_id"]):
                assert each["offset"] == at + each.get("lost", 0)
                at = each["offset"] + each["bytes"]
                assert len(each["text"]) <= 4_096
            assert at == written

    talk(bash, body)


def test_a_task_runs_beside_the_shell(bash: Service) -> None:
    async def body(pane: Pane) -> None:
        own: Any = {"source": "echo out; echo '[1]' >&3", "cwd": "/", "timeout_ms": 20_000}
        accepted = await pane.me.act("term.task.submit", pane.target, **own)
        found = await pane.finished(accepted, "task")
        report = found["report"]
        assert report["outcome"] == {"kind": "exited", "code": 0}
        assert report["stdout"]["text"] == "out\n"
        assert report["result"] == {"kind": "value", "data": [1]}
        assert "out" not in await pane.screen()
        both: Any = {"source": "true", "argv": ["true"], "cwd": "/", "timeout_ms": 1}
        for wrong in (both, {"cwd": "/", "timeout_ms": 1}):
            answer = await pane.me.act("term.task.submit", pane.target, **wrong)
            assert (answer.code, answer.details["field"]) == ("INVALID_ARGUMENT", "source")
        missing: Any = {"argv": ["true"], "cwd": "/nowhere", "timeout_ms": 1_000}
        answer = await pane.me.act("term.task.submit", pane.target, **missing)
        assert answer.code == "NOT_FOUND"
        long: Any = {"argv": ["sleep", "600"], "cwd": "/", "timeout_ms": 600_000}
        accepted = await pane.me.act("term.task.submit", pane.target, **long)
        assert (await pane.ask("task.cancel", accepted)).body["outcome"] == "requested"
        settled = await pane.finished(accepted, "task")
        assert settled["report"]["outcome"]["kind"] == "cancelled"

    talk(bash, body)


def test_a_program_that_is_no_shell_takes_tasks_alone() -> None:
    with service(SHELL="/bin/sh") as running:

        async def body(pane: Pane) -> None:
            answer = await pane.me.act(
                "term.execute", pane.target, source="true", prompt_generation="1"
            )
            assert said(answer) == "UNSUPPORTED no_integration", answer
            own: Any = {"argv": ["true"], "cwd": "/", "timeout_ms": 20_000}
            accepted = await pane.me.act("term.task.submit", pane.target, **own)
            assert (await pane.finished(accepted, "task"))["state"] == "settled"

        talk(running, body)
