"""Commands at the prompt, by a real sidecar on a real broker: admitted, read, cancelled."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import trio

from brokerd.client import CAPABILITIES, Bus, Reply, SessionKey, connect
from termnode.paneshell.channel import ATTACHED, UNBOUND
from termnode.paneshell.status import target_of
from tests.support.prompt_lab import FakeTerm, fake_term
from tests.support.sidecar_lab import Pane, SidecarLab, descriptor_of, in_sidecar_lab, until


class PromptLab:
    """A pane with its shell, as a caller that holds the parent's record sees it."""

    def __init__(self, lab: SidecarLab, pane: Pane, term: FakeTerm) -> None:
        self.lab = lab
        self.pane = pane
        self.term = term
        self._ids = count(1)

    async def ask(self, verb: str, bus: Bus | None = None, **fields: object) -> Reply:
        record = await self.lab.record(self.pane)
        body = {"version": 1, "target": target_of(record), **fields}
        return await (bus or self.lab.bus).request(record.name, verb, body, timeout=60)

    async def snapshot(self) -> dict[str, Any]:
        reply = await self.ask("shell.status")
        body: Any = reply.body
        return dict(body["status"]["snapshot"])

    async def prompt(self, above: int = 0) -> int:
        """The generation of the prompt, once it is ready and above that."""
        while True:
            snapshot = await self.snapshot()
            generation = int(snapshot["prompt_generation"])
            if snapshot["phase"] == "prompt-ready" and generation > above:
                return generation
            await trio.sleep(0.01)

    async def execute(self, source: str, **fields: object) -> Reply:
        body: Any = {"request_id": str(next(self._ids)), "source": source, **fields}
        if "prompt_generation" not in body:
            body["prompt_generation"] = str(await self.prompt())
        return await self.ask("shell.execute", **body)

    async def result(self, accepted: Reply, wait_ms: int = 30_000) -> dict[str, Any]:
        reply = await self.ask(
            "shell.execute.result", operation_id=operation(accepted), wait_ms=wait_ms
        )
        assert reply.ok, reply.error
        body: Any = reply.body
        assert body["operation_id"] == operation(accepted)
        return dict(body)

    async def finished(self, accepted: Reply) -> dict[str, Any]:
        body = await self.result(accepted)
        assert body["state"] == "finished"
        return dict(body["result"])


def operation(reply: Reply) -> str:
    assert reply.ok, reply.error
    body: Any = reply.body
    return str(body["operation_id"])


def refused(reply: Reply) -> tuple[str, object]:
    assert reply.error is not None, reply.body
    return reply.error.code, reply.error.details.get("reason")


def in_prompt_lab(
    test: Callable[[PromptLab], Awaitable[None]], home: Path, kind: str = "bash"
) -> None:
    async def main(lab: SidecarLab) -> None:
        async with fake_term(kind, home) as term, prompt_pane(lab, term) as made:
            await test(made)

    in_sidecar_lab(main)


@asynccontextmanager
async def prompt_pane(lab: SidecarLab, term: FakeTerm, number: int = 1) -> AsyncIterator[PromptLab]:
    pane = await lab.pane(number, shell_pid=term.shell.pid, shell=term.facts)
    term.send = pane.channel.post
    pane.channel._on_record = term.take
    await pane.until(ATTACHED)
    yield PromptLab(lab, pane, term)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    made = tmp_path / "home"
    made.mkdir()
    return made


@pytest.mark.parametrize("kind", ["bash", "zsh", "fish"])
def test_a_command_runs_and_its_end_is_told(kind: str, home: Path) -> None:
    async def test(lab: PromptLab) -> None:
        first = await lab.execute("cd /tmp; printf 'a%s' b; false")
        result = await lab.finished(first)
        assert result["outcome"] == "completed"
        assert result["exit"] == {"code": 1}
        assert "ab" in result["output"]["text"]  # this Term leaves the shells' own signs in
        assert (result["output"]["truncated"], result["output"]["omitted"]) == (False, 0)
        assert result["cwd"] == "/tmp"
        assert result["duration_ms"] >= 0
        assert lab.term.raw.count(b"printf 'a%s' b") >= 2  # announced, and on the line
        assert b"# Term " in lab.term.raw

    in_prompt_lab(test, home, kind)


def test_several_lines_are_one_command_and_the_prompt_rises_by_one(home: Path) -> None:
    async def test(lab: PromptLab) -> None:
        before = await lab.prompt()
        accepted = await lab.execute("cat <<E\none\nE\nfor n in 2 3; do echo $n\ndone")
        result = await lab.finished(accepted)
        assert result["output"]["text"].replace("\r", "") == "one\n2\n3\n"
        assert await lab.prompt() == before + 1

    in_prompt_lab(test, home)


def test_a_retry_is_the_same_operation_and_runs_nothing(home: Path) -> None:
    async def test(lab: PromptLab) -> None:
        fields = {"prompt_generation": str(await lab.prompt()), "request_id": "7"}
        first = await lab.execute("echo x >>ran", **fields)
        await lab.finished(first)
        again = await lab.execute("echo x >>ran", **fields)
        assert operation(again) == operation(first)
        assert (again.body or {})["state"] == "finished"
        assert (home / "ran").read_text() == "x\n"
        assert len(lab.term.pressed) == 1
        assert refused(await lab.execute("echo y", **fields)) == ("CONFLICT", "request_mismatch")
        old = {**fields, "request_id": "6"}
        assert refused(await lab.execute("echo y", **old)) == (
            "UNKNOWN_OUTCOME",
            "retired_request_id",
        )

    in_prompt_lab(test, home)


def test_two_callers_with_one_id_run_two_and_read_their_own(home: Path) -> None:
    async def test(lab: PromptLab) -> None:
        async with connect(lab.lab.broker.directory) as other:
            first = await lab.execute("echo a >>ran", request_id="1")
            await lab.finished(first)
            body = {"request_id": "1", "prompt_generation": str(await lab.prompt(1))}
            second = await lab.ask("shell.execute", other, source="echo a >>ran", **body)
            assert operation(second) != operation(first)
            for bus, theirs in ((other, first), (lab.lab.bus, second)):
                read = await lab.ask("shell.execute.result", bus, operation_id=operation(theirs))
                assert refused(read) == ("UNKNOWN_OUTCOME", None)
            await lab.prompt(2)
            assert (home / "ran").read_text() == "a\na\n"
            named = {**body, "request_id": "2", "on_behalf_of": "me"}
            assert refused(await lab.ask("shell.execute", other, source="x", **named)) == (
                "FORBIDDEN",
                None,
            )

    in_prompt_lab(test, home)


def test_a_draft_of_the_person_is_left_alone(home: Path) -> None:
    async def test(lab: PromptLab) -> None:
        await lab.prompt()
        lab.term.type("echo >mine dra")
        await until(lambda: b"echo >mine dra" in lab.term.raw, "the draft")
        fields = {"request_id": "1", "prompt_generation": "1"}
        refusal = await lab.execute("echo >theirs", **fields)
        assert refused(refusal) == ("BUSY", "draft")
        lab.term.type("ft\r")
        await lab.prompt(1)
        assert (home / "mine").read_text() == "draft\n"
        assert not (home / "theirs").exists()
        assert refused(await lab.execute("echo >theirs", **fields)) == ("STALE_GENERATION", None)
        later = await lab.execute("echo >theirs", request_id="1")  # the id was not spent
        await lab.finished(later)
        assert (home / "theirs").exists()

    in_prompt_lab(test, home)


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("echo 'a", "unfinished_source"),
        ("cat <<E", "unfinished_source"),
        ("echo a\\", "unfinished_source"),
        ("if true; then", "unfinished_source"),
        ("echo )", "syntax"),
        ("}; {", "syntax"),
    ],
)
def test_what_is_no_whole_command_is_told_so_and_presses_nothing(
    source: str, reason: str, home: Path
) -> None:
    async def test(lab: PromptLab) -> None:
        assert refused(await lab.execute(source)) == ("INVALID_ARGUMENT", reason)
        assert lab.term.pressed == []

    in_prompt_lab(test, home)


def test_while_a_command_runs_others_are_busy_and_cancel_interrupts_it(home: Path) -> None:
    async def test(lab: PromptLab) -> None:
        accepted = await lab.execute("sleep 1000")
        await until(lambda: lab.term.shell.foreground() != lab.term.shell.pid, "it runs")
        snapshot = await lab.snapshot()
        assert snapshot["phase"] == "foreground-child"
        assert snapshot["command_id"] == operation(accepted)
        other = {"request_id": "9", "prompt_generation": "1"}
        assert refused(await lab.execute("x", **other)) == ("BUSY", "foreground_program")
        assert (await lab.result(accepted, 0))["state"] == "running"
        group = lab.term.shell.foreground()
        done = await lab.ask("shell.execute.cancel", operation_id=operation(accepted))
        body: Any = done.body
        assert (body["outcome"], body["signalled_pgid"]) == ("requested", group)
        result = await lab.finished(accepted)
        assert (result["outcome"], result["exit"]) == ("cancelled", {"signal": 2})
        assert result["cancellation"] == {"requested": True, "delivered": "signal"}
        again = await lab.ask("shell.execute.cancel", operation_id=operation(accepted))
        body = again.body
        assert (body["outcome"], body["signalled_pgid"]) == ("already_finished", None)

    in_prompt_lab(test, home)


def test_a_loop_of_the_shell_itself_is_interrupted_too(home: Path) -> None:
    async def test(lab: PromptLab) -> None:
        accepted = await lab.execute("echo >began; while :; do :; done")
        await until((home / "began").exists, "it runs")
        done = await lab.ask("shell.execute.cancel", operation_id=operation(accepted))
        assert (done.body or {})["signalled_pgid"] == lab.term.shell.pid
        assert (await lab.finished(accepted))["outcome"] == "cancelled"
        await lab.finished(await lab.execute("echo still here"))

    in_prompt_lab(test, home)


def test_a_command_that_takes_the_signal_ends_as_it_likes(home: Path) -> None:
    async def test(lab: PromptLab) -> None:
        accepted = await lab.execute(
            "sh -c 'trap \"exit 3\" INT; echo >began; while :; do sleep 0.01; done'"
        )
        await until((home / "began").exists, "it runs")
        await lab.ask("shell.execute.cancel", operation_id=operation(accepted))
        result = await lab.finished(accepted)
        assert (result["outcome"], result["exit"]) == ("completed", {"code": 3})
        assert result["cancellation"]["delivered"] == "completed_anyway"

    in_prompt_lab(test, home)


def test_the_shell_s_own_end_is_the_end_of_its_command(home: Path) -> None:
    async def test(lab: PromptLab) -> None:
        accepted = await lab.execute("exit 0")
        result = await lab.finished(accepted)
        assert result["exit"] == {"shell_exited": True, "code": 0}
        assert (await lab.snapshot())["phase"] == "exiting"
        other = {"request_id": "9", "prompt_generation": "1"}
        assert refused(await lab.execute("x", **other))[0] == "UNAVAILABLE"

    in_prompt_lab(test, home)


def test_a_term_that_does_not_press_means_that_nothing_ran(home: Path) -> None:
    async def test(lab: PromptLab) -> None:
        generation = await lab.prompt()
        lab.term.deaf = True
        fields = {"request_id": "1", "prompt_generation": str(generation)}
        assert refused(await lab.execute("echo >ran", **fields)) == ("BUSY", "no_reply")
        lab.term.deaf = False
        lab.term.type("\x1e\x07")  # a key too late, or the person's: there is nothing to find
        await lab.finished(
            await lab.execute(
                "echo",
                **fields,
            )
        )
        assert not (home / "ran").exists()

    in_prompt_lab(test, home)


@pytest.mark.parametrize("kind", ["bash", "zsh", "fish"])
def test_a_shell_that_claims_and_says_nothing_is_asked_once_more(kind: str, home: Path) -> None:
    async def test(lab: PromptLab) -> None:
        fields = {"request_id": "1", "prompt_generation": str(await lab.prompt())}

        def claim(op: str) -> str | None:
            (lab.term.shell.dir.path / f"claim.{op}").touch()
            return "busy"

        usual, lab.term.word = lab.term.word, claim
        first = await lab.execute("echo >ran", **fields)
        assert refused(first) == ("UNKNOWN_OUTCOME", "admission_claimed_without_report")
        assert first.error is not None
        again = await lab.execute("echo >ran", **fields)
        assert again.error == first.error
        other = {**fields, "request_id": "2"}
        assert refused(await lab.execute("echo", **other))[0] == "BUSY"
        about: Any = {"operation_id": first.error.details["operation_id"]}
        told = await lab.ask("shell.execute.result", **about)
        assert (told.body or {})["state"] == "running"
        lab.term.word = usual
        told = await lab.ask("shell.execute.result", wait_ms=30_000, **about)
        body: Any = told.body
        result = body["result"]
        reason = "admission_abandoned_before_execution"
        assert (result["outcome"], result["reason"]) == ("not_started", reason)
        again = await lab.execute("echo >ran", **fields)
        assert again.error == first.error
        await lab.finished(await lab.execute("echo next >>next", **other))
        assert (home / "next").exists()
        assert not (home / "ran").exists()

    in_prompt_lab(test, home, kind)


@pytest.mark.parametrize("kind", ["bash", "zsh", "fish"])
@pytest.mark.parametrize("source", ["sleep 1000", "echo; sh -c 'while :; do :; done'"])
def test_a_cancellation_right_behind_the_acceptance_is_truly_told(
    kind: str, source: str, home: Path
) -> None:
    async def test(lab: PromptLab) -> None:
        for _ in range(5):
            accepted = await lab.execute(source)
            done = await lab.ask("shell.execute.cancel", operation_id=operation(accepted))
            body: Any = done.body
            assert body["outcome"] == "requested"
            assert body["signalled_pgid"] is not None
            result = await lab.finished(accepted)
            assert result["outcome"] == "cancelled"
            assert result["cancellation"]["delivered"] == "signal"
            generation = await lab.prompt()
            lab.term.type("echo person >>mine\r")
            await until((home / "mine").exists, "the person's line")
            (home / "mine").unlink()
            await lab.prompt(generation)
        assert (await lab.finished(await lab.execute("echo next")))["outcome"] == "completed"

    in_prompt_lab(test, home, kind)


def test_a_bash_that_may_tell_no_beginning_tells_it_at_the_end(home: Path) -> None:
    async def test(lab: PromptLab) -> None:
        await lab.finished(await lab.execute("set -x"))
        result = await lab.finished(await lab.execute("echo some"))
        assert (result["outcome"], result["exit"]) == ("completed", {"code": 0})
        assert "some" in result["output"]["text"]
        accepted = await lab.execute("sleep 1000")
        await until(lambda: lab.term.shell.runs("sleep"), "it runs")
        done = await lab.ask("shell.execute.cancel", operation_id=operation(accepted))
        assert (done.body or {})["signalled_pgid"] is not None
        assert (await lab.finished(accepted))["outcome"] == "cancelled"

    in_prompt_lab(test, home)


def test_output_that_term_does_not_tell_is_not_made_up(home: Path) -> None:
    async def test(lab: PromptLab) -> None:
        lab.term.silent = True
        accepted = await lab.execute("echo some")
        body = await lab.result(accepted, wait_ms=20_000)
        assert body["state"] == "finished"
        result: Any = body["result"]
        assert (result["exit"], result["output"]) == ({"code": 0}, None)

    in_prompt_lab(test, home)


def test_a_successor_of_a_killed_sidecar_finds_the_prompt(home: Path) -> None:
    async def test(lab: PromptLab) -> None:
        generation = await lab.prompt()
        await lab.finished(await lab.execute("echo a"))
        generation = await lab.prompt(generation)
        lab.pane.kill()
        await lab.pane.wait_end()
        async with prompt_pane(lab.lab, lab.term, 2) as successor:
            assert await successor.prompt() == generation
            await successor.finished(await successor.execute("echo b >ran"))
        assert (home / "ran").read_text() == "b\n"

    in_prompt_lab(test, home)


def test_hooks_that_were_removed_make_the_outcome_unknown_and_are_put_back(home: Path) -> None:
    async def test(lab: PromptLab) -> None:
        accepted = await lab.execute("PROMPT_COMMAND=()")

        def prompts() -> int:  # since it ran: the prompt before it may be drawn again
            _, ran, after = lab.term.raw.partition(b"\x1b]133;C;")
            return after.count(b"\x1b]133;A;") if ran else 0

        await until(prompts, "the next prompt")
        lab.term.send({"type": "mark", "kind": "prompt"})
        result = await lab.finished(accepted)
        assert (result["outcome"], result["reason"]) == ("unknown", "hooks_lost")
        assert (await lab.snapshot())["prompt_source"] == "lost"

    in_prompt_lab(test, home)


def test_a_pane_without_integration_takes_no_commands(home: Path) -> None:
    async def test(lab: SidecarLab) -> None:
        pane = await lab.attached()
        record = await lab.record(pane)
        fields = {"request_id": "1", "prompt_generation": "1", "source": "echo"}
        body = {"version": 1, "target": target_of(record), **fields}
        reply = await lab.bus.request(record.name, "shell.execute", body, timeout=10)
        assert refused(reply) == ("UNSUPPORTED", "no_integration")

    in_sidecar_lab(test)


def test_an_unbound_sidecar_reads_what_the_shell_tells(home: Path) -> None:
    async def test(lab: SidecarLab) -> None:
        async with fake_term("bash", home) as term:
            pane = await lab.launch(None, shell_pid=term.shell.pid, shell=term.facts)
            await pane.until(UNBOUND)
            told = b"x" * 65_536
            for _ in range(32):  # twice what the pipe holds
                await _write_all(term.shell.dir.control, told)

    in_sidecar_lab(test)


async def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        await trio.lowlevel.wait_writable(descriptor)
        with suppress(BlockingIOError):
            data = data[os.write(descriptor, data) :]


def test_who_may_not_execute_presses_nothing(home: Path) -> None:
    async def test(lab: PromptLab) -> None:
        fields: Any = {"request_id": "1", "prompt_generation": str(await lab.prompt())}
        async with connect(lab.lab.broker.directory) as other:
            await other.sessions.allocate(SessionKey.generate())
            refusal = await lab.ask("shell.execute", other, source="echo", **fields)
            assert refused(refusal) == ("FORBIDDEN", None)
        allowed = tuple(name for name in CAPABILITIES if name != "execute")
        key = SessionKey.generate()
        grant, record = await lab.lab.grant(2, key, allowed)
        descriptor = descriptor_of(grant, record, key)
        pane = await lab.lab.launch(descriptor, 2, key, record, shell=lab.term.facts)
        os.close(descriptor)
        await pane.until(ATTACHED)
        lab.pane = pane
        assert refused(await lab.ask("shell.execute", source="echo", **fields)) == (
            "FORBIDDEN",
            None,
        )
        assert lab.term.pressed == []

    in_prompt_lab(test, home)
