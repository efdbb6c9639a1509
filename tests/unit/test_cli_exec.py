"""The parts of exec, task, result and cancel: what is shown, exit codes, where operations are."""

from __future__ import annotations

import argparse
import json
import os
import socket
import threading
from contextlib import closing
from pathlib import Path
from typing import Any, cast

import pytest
import trio

from termnode.cli import exec_asking, exec_serving, exec_words, parser, values
from termnode.cli.exec_files import KEPT_S, OperationFiles, exchange
from termnode.cli.exec_following import Following
from termnode.cli.exits import CommandError
from termnode.cli.interrupts import SAME_S, Interrupts
from termnode.cli.result import tell
from termnode.client import (
    Busy,
    CancelReply,
    Executed,
    Execution,
    Output,
    OutputPiece,
    UnknownOutcome,
)
from termnode.client.native_exec_replies import CommandExit, CommandOutput
from termnode.version import VERSION

OPERATION = 2**64 - 1


@pytest.fixture
def files(tmp_path: Path) -> OperationFiles:
    """In a directory whose path is longer than a socket's address can be."""
    deep = tmp_path / ("d" * 120)
    deep.mkdir()
    return OperationFiles(deep, "term")


# -- what is shown -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("output", "shown"),
    [
        ("one\r\ntwo\r\n", "one\ntwo\n"),
        ("no end", "no end"),
        ("\x1b[1;31mred\x1b[0m\ttab", "red\ttab"),
        ("\x1b]0;title\x07a\x1b]8;;x\x1b\\b\x1bP+q\x1b\\c", "abc"),
        ("10 %\r50 %\r100 %\r\nnext", "100 %\nnext"),
        ("done\r\r\n", "done\n"),
        ("a\x00b\x07c\x7f\x9b2J\x1b", "abc2J"),
        ("\x1b]52;c;never ended", ""),
        ("日本\r\n", "日本\n"),
    ],
)
def test_output_is_shown_without_its_sequences(output: str, shown: str) -> None:
    assert exec_words.plain(output) == shown


def command(**result: object) -> dict[str, Any]:
    return {"state": "finished", "result": {"outcome": "completed", **result}}


def task(**outcome: object) -> dict[str, Any]:
    nothing = {"bytes": 0, "truncated": False, "writer_survived": False, "text": ""}
    report = {"outcome": outcome, "stdout": nothing, "stderr": nothing, "survivors": 0}
    return {"state": "settled", "report": report}


@pytest.mark.parametrize(
    ("told", "code", "words"),
    [
        (command(exit={"code": 0}, output={"text": "", "omitted": 0}), 0, ""),
        (command(exit={"code": 7}, output={"text": "", "omitted": 9}), 7, "9 bytes"),
        (command(exit={"signal": 2}), 130, "not known"),
        (command(exit={"stopped": 20}), 148, "stopped"),
        (command(exit={"code": 3, "shell_exited": True}), 3, "shell has ended"),
        (command(exit={"shell_exited": True}), 125, "shell has ended"),
        (command(outcome="unknown", reason="hooks_lost"), 125, "hooks_lost"),
        (command(outcome="not_started", reason="unfinished_source"), 125, "nothing ran"),
        (task(kind="exited", code=5), 5, ""),
        (task(kind="signalled", signal=9), 137, ""),
        (task(kind="timeout", escalated_to="sigkill", wait={"signal": 9}), 124, "SIGKILL"),
        (task(kind="cancelled", escalated_to="sigterm", wait={"signal": 15}), 143, "SIGTERM"),
        (task(kind="cancelled", escalated_to="sigterm", wait={"code": 0}), 0, "cancelled"),
        (task(kind="unknown", detail="lost"), 125, "lost"),
    ],
)
def test_exit_codes_are_the_commands_own_or_none_of_its(
    told: dict[str, Any], code: int, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exec_words.show(told) == code == exec_words.status_of(told)
    said = capsys.readouterr()
    assert said.out == ""
    assert words in said.err
    assert bool(words) == bool(said.err)


def test_output_and_what_is_left_out_go_to_their_own_streams(
    capsys: pytest.CaptureFixture[str],
) -> None:
    told = task(kind="exited", code=0)
    told["report"] |= {
        "stdout": {"bytes": 100_000, "truncated": True, "text": "a\r\nb"},
        "stderr": {"bytes": 3, "truncated": False, "text": "err"},
        "survivors": 2,
    }
    assert exec_words.show(told) == 0
    said = capsys.readouterr()
    assert said.out == "a\r\nb"
    assert said.err.startswith("termnode: of its 100000 bytes of stdout")
    assert "err" in said.err
    assert "were killed: 2" in said.err
    assert "the first 4 are shown" in said.err


@pytest.mark.parametrize(
    ("code", "exit_code"),
    [("BUSY", 75), ("STALE_GENERATION", 75), ("RESOURCE_LIMIT", 75), ("FORBIDDEN", 125),
     ("UNKNOWN_OUTCOME", 125), (None, 125)],
)  # fmt: skip
def test_refusals_say_whether_to_try_again(code: str | None, exit_code: int) -> None:
    told = {"error": {"message": "no", "error_code": code, "details": {"reason": "draft"}}}
    with pytest.raises(CommandError) as raised:
        tell(argparse.Namespace(json=False), told)
    assert (raised.value.code, raised.value.error_code) == (exit_code, code)
    assert raised.value.reply is not None
    assert raised.value.reply["body"] == {
        "error_code": code,
        "message": "no",
        "details": {"reason": "draft"},
    }


# -- where operations are ------------------------------------------------------------------------


def test_a_result_takes_the_place_of_who_held_it(files: OperationFiles) -> None:
    assert files.connect(OPERATION) is None
    assert files.result(OPERATION) is None
    with files.listen(OPERATION):
        assert files.directory.stat().st_mode & 0o777 == 0o700
        held = files.connect(OPERATION)
        assert held is not None
        held.close()
    files.finish(OPERATION, {"state": "finished", "text": "日"})
    files.unlisten(OPERATION)
    assert files.result(OPERATION) == {"state": "finished", "text": "日"}
    assert [each.name for each in files.directory.iterdir()] == [f"{OPERATION}.json"]
    assert exec_asking.ask(files, OPERATION, {"do": "cancel"})["state"] == "finished"


def test_what_nobody_knows_is_said_so(files: OperationFiles) -> None:
    with pytest.raises(CommandError) as raised:
        exec_asking.outcome(files, OPERATION, 0)
    assert raised.value.error_code == "UNKNOWN_OUTCOME"
    with files.listen(OPERATION) as listener:

        def hang_up() -> None:
            listener.accept()[0].close()

        thread = threading.Thread(target=hang_up)
        thread.start()
        with pytest.raises(CommandError):
            exec_asking.outcome(files, OPERATION, 0)
        thread.join()


def test_only_what_is_over_is_swept(files: OperationFiles) -> None:
    with files.listen(1), files.listen(2) as left:
        left.close()
        with files.listen(3) as young:
            young.close()
        for operation in (4, 5):
            files.finish(operation, {})
        old = os.stat(files.directory).st_mtime - KEPT_S - 1
        for name in ("1.sock", "2.sock", "4.json"):
            os.utime(files.directory / name, (old, old))
        files.sweep()
        assert {each.name for each in files.directory.iterdir()} == {"1.sock", "3.sock", "5.json"}


def test_to_sweep_where_nothing_is_does_nothing(files: OperationFiles) -> None:
    files.sweep()
    assert not files.directory.exists()


# -- who holds one -------------------------------------------------------------------------------


class Writes(Output):
    """Two pieces; then nothing follows once ``over``, or it can be told no more."""

    def __init__(self, over: trio.Event, error: Exception | None) -> None:
        self._pieces = [OutputPiece("one\r\n", 0), OutputPiece("three\r\n", 10, 5)]
        self._over = over
        self._error = error
        self.closed = False

    async def next(self, *, timeout: float | None = None) -> OutputPiece | None:
        if self._pieces:
            return self._pieces.pop(0)
        if self._error is not None:
            raise self._error
        await self._over.wait()
        return None

    async def close(self) -> None:
        self.closed = True


class Running(Execution):
    """A command that ends when it is told to."""

    def __init__(self) -> None:
        self.over = trio.Event()
        self.error: Exception | None = None
        self.silent: Exception | None = None
        self.written = trio.Event()
        self.reader: Writes | None = None
        self.omitted = 0

    def output(self) -> Output:
        self.reader = Writes(self.written, self.silent)
        return self.reader

    @property
    def id(self) -> int:
        return OPERATION

    async def cancel(self) -> CancelReply:
        if self.error is not None:
            raise self.error
        return CancelReply("requested", "SIGINT was sent", 7)

    async def result(self, *, timeout: float | None = 30.0) -> Executed:
        await self.over.wait()
        if self.error is not None:
            raise self.error
        output = CommandOutput("hi\r\n", 4, truncated=False, omitted=self.omitted)
        return Executed("completed", CommandExit(0), output)


async def asked(files: OperationFiles, question: dict[str, Any]) -> dict[str, Any] | None:
    def ask() -> dict[str, Any] | None:
        held = files.connect(OPERATION)
        return None if held is None else exchange(held, question)

    return cast("dict[str, Any] | None", await trio.to_thread.run_sync(ask))


async def holding(files: OperationFiles, running: Running, nursery: trio.Nursery) -> None:
    listener = files.listen(OPERATION)

    async def hold() -> None:
        with listener:
            await exec_serving.hold(files, running, 3, listener)

    nursery.start_soon(hold)


def test_it_answers_while_it_runs_and_leaves_its_result(files: OperationFiles) -> None:
    async def main() -> None:
        running = Running()
        with trio.fail_after(20):
            async with trio.open_nursery() as nursery:
                await holding(files, running, nursery)
                now = await asked(files, {"do": "result", "wait_s": 0})
                assert now == {"operation_id": str(OPERATION), "state": "running"}
                told = await asked(files, {"do": "cancel"})
                assert told is not None
                assert told["signalled_pgid"] == 7
                waiting: list[object] = []

                async def wait() -> None:
                    waiting.append(await asked(files, {"do": "result", "wait_s": 30}))

                nursery.start_soon(wait)
                running.over.set()
        kept = files.result(OPERATION)
        assert kept is not None
        assert kept["result"] == {
            "outcome": "completed",
            "exit": {"code": 0, "shell_exited": False},
            "output": {"text": "hi\r\n", "bytes": 4, "truncated": False, "omitted": 0},
        }
        assert kept["pane"] == 3
        assert waiting in ([kept], [None])  # None: it came after the end, and looks at what is kept
        assert [each.suffix for each in files.directory.iterdir()] == [".json"]

    trio.run(main)


async def followed(
    files: OperationFiles, running: Running, nursery: trio.Nursery
) -> tuple[Following, list[dict[str, Any]]]:
    """Somebody who follows it, and what comes of that."""
    await holding(files, running, nursery)
    following = Following(files, OPERATION, None, live=True)
    found: list[dict[str, Any]] = []

    async def follow() -> None:
        found.append(await trio.to_thread.run_sync(following.told))
        following.rest(found[0])
        following.close()

    nursery.start_soon(follow)
    return following, found


@pytest.mark.parametrize("omitted", [0, 7])
@pytest.mark.parametrize("told", [True, False])
def test_who_follows_it_is_told_what_it_writes(
    files: OperationFiles, omitted: int, told: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """With all in the result nothing more is waited for, else for the end of what is told."""

    async def main() -> None:
        running = Running()
        running.omitted = omitted
        running.silent = None if told else UnknownOutcome("gone", {})
        with trio.fail_after(20):
            async with trio.open_nursery() as nursery:
                _following, found = await followed(files, running, nursery)
                if omitted:
                    running.written.set()
                running.over.set()
            assert running.reader is not None
            assert running.reader.closed
        assert found[0]["complete"] is (told and omitted > 0)
        assert found[0]["result"]["output"]["text"] == "hi\r\n"

    trio.run(main)
    said = capsys.readouterr()
    assert said.out.startswith("one\n")
    assert "left out" in said.err


def test_who_no_longer_follows_it_is_nothing_to_it(files: OperationFiles) -> None:
    async def main() -> None:
        running = Running()
        with trio.fail_after(20):
            async with trio.open_nursery() as nursery:
                await holding(files, running, nursery)
                held = files.connect(OPERATION)
                assert held is not None
                with held:
                    held.sendall(b'{"do": "follow"}\n')
                while running.reader is None or not running.reader.closed:
                    await trio.lowlevel.checkpoint()
                running.over.set()
        assert files.result(OPERATION)

    trio.run(main)


def test_who_follows_a_dead_holder_asks_what_is_kept(
    files: OperationFiles, capsys: pytest.CaptureFixture[str]
) -> None:
    with files.listen(OPERATION) as listener:
        following = Following(files, OPERATION, None, live=True)
        kept = command(exit={"code": 0}, output={"text": "a\r\nb", "omitted": 0})
        files.finish(OPERATION, kept)
        held, _ = listener.accept()
        with held:
            held.sendall(b'{"text": "a\\r\\n", "lost": 0}\n')
            held.recv(100)
    files.unlisten(OPERATION)
    told = following.told()
    assert told == kept
    following.rest(told)
    assert capsys.readouterr().out == "a\nb"


def test_to_follow_ends_with_the_time(files: OperationFiles) -> None:
    with files.listen(OPERATION) as listener:
        following = Following(files, OPERATION, 0.01, live=True)

        def answer() -> None:
            for _ in range(2):
                held, _ = listener.accept()
                with held:
                    if json.loads(held.recv(100))["do"] == "result":
                        held.sendall(b'{"state": "running"}\n')
                        return
                    kept.append(held.dup())

        kept: list[socket.socket] = []
        thread = threading.Thread(target=answer)
        thread.start()
        with closing(following):
            assert following.told() == {"state": "running"}
        thread.join()
        kept[0].close()


def test_one_press_of_ctrl_c_counts_once() -> None:
    times = iter([100.0, 100.01, 101.0, 101.01])
    assert SAME_S < 1
    pressed = Interrupts(lambda: next(times))
    with pytest.raises(KeyboardInterrupt):
        pressed(2, None)
    pressed(2, None)
    with pytest.raises(KeyboardInterrupt):
        pressed(2, None)
    pressed(2, None)


def test_what_nobody_can_say_any_more_is_kept_as_that(files: OperationFiles) -> None:
    async def main() -> None:
        running = Running()
        running.error = UnknownOutcome("the broker was started anew", {"reason": "x"})
        with trio.fail_after(20):
            async with trio.open_nursery() as nursery:
                await holding(files, running, nursery)
                refused = await asked(files, {"do": "cancel"})
                assert refused is not None
                assert refused["error"]["error_code"] == "UNKNOWN_OUTCOME"
                running.over.set()
        kept = files.result(OPERATION)
        assert kept is not None
        assert (kept["state"], kept["error"]["details"]) == ("lost", {"reason": "x"})

    trio.run(main)


@pytest.mark.parametrize("raw", [b"\n", b"[1]\n", b"x" * 5_000, b'{"do":'])
def test_what_is_no_question_ends_nothing_but_its_connection(
    files: OperationFiles, raw: bytes
) -> None:
    def ask() -> bytes:
        held = files.connect(OPERATION)
        assert held is not None
        with held:
            held.sendall(raw)
            held.shutdown(socket.SHUT_WR)
            try:
                return held.recv(100)
            except ConnectionResetError:
                return b""

    async def main() -> None:
        running = Running()
        with trio.fail_after(20):
            async with trio.open_nursery() as nursery:
                await holding(files, running, nursery)
                assert await trio.to_thread.run_sync(ask) == b""
                assert await asked(files, {"do": "result", "wait_s": 0})
                running.over.set()

    trio.run(main)


def test_problems_are_said_as_everywhere() -> None:
    said = exec_serving.problem(Busy("somebody types", {"reason": "person"}))
    assert said["message"] == "BUSY: somebody types"
    assert said["error_code"] == "BUSY"
    assert exec_serving.problem(OSError("no room"))["error_code"] is None


# -- options -------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["0", "-1", "x", "", "1.5", "18446744073709551616", "\u0661"])
def test_operations_that_are_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError):
        values.operation(text)


@pytest.mark.parametrize(("text", "seconds"), [("0", 0.0), ("0.5", 0.5), ("86400", 86_400.0)])
def test_patience_may_be_none(text: str, seconds: float) -> None:
    assert values.patience(text) == seconds


def test_a_task_has_at_most_ten_minutes() -> None:
    assert values.task_seconds("600") == 600.0
    for text in ("600.1", "0", "-1"):
        with pytest.raises(argparse.ArgumentTypeError):
            values.task_seconds(text)


def test_a_program_takes_its_own_options_after_two_hyphens() -> None:
    given = parser.build(VERSION).parse_args(["task", "--cwd", "/", "--", "ls", "--json", "-l"])
    assert (given.program, given.json, given.source) == (["ls", "--json", "-l"], False, None)


def test_the_help_says_what_exit_codes_mean(capsys: pytest.CaptureFixture[str]) -> None:
    for command_ in ("exec", "task", "result"):
        with pytest.raises(SystemExit):
            parser.build(VERSION).parse_args([command_, "--help"])
        assert "128+N" in capsys.readouterr().out
