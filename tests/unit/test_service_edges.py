"""Small parts of the service, the terminal and the command line at their edges."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar

import trio
import trio.testing

from brokerd.client import Lock, connect
from termnode.cli.down import _clear_up, _end
from termnode.service.keeping.instance import InstanceFiles
from termnode.terminal.master import Master
from termnode.terminal.pty_writer import PtyWriter
from tests.support.broker_process import broker_process

COMMAND = (sys.executable, "-P", "-m", "termnode.cli.main")


def test_input_behind_answers_that_nobody_reads_expires() -> None:
    async def body() -> None:
        # A pipe, which is full for certain: a PTY passes bytes on inside the kernel for a while.
        reader, end = os.pipe()
        owner = Master(end)
        writer = PtyWriter(owner, time.monotonic)
        for _ in range(100):
            writer.answer(b"a" * 4_000)
        with trio.fail_after(20):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(writer.run)
                await trio.testing.wait_all_tasks_blocked()
                ticket = writer.write(b"ls\r", 0.05, None)
                assert await ticket.wait() == "expired"
                nursery.cancel_scope.cancel()
        owner.close()
        os.close(reader)

    trio.run(body)


class _Ended(InstanceFiles):
    """A service that ends between being found and being signalled."""

    def open_process(self) -> tuple[int, int] | None:
        child = subprocess.Popen([sys.executable, "-c", ""])
        descriptor = os.pidfd_open(child.pid)
        child.wait()
        return child.pid, descriptor


def test_a_service_that_has_just_ended_is_ended(tmp_path: Path) -> None:
    assert _end(_Ended(tmp_path, "term"))


class _Overtaken(InstanceFiles):
    """A service of the name starts in the moment after somebody asked whether one runs."""

    successors: ClassVar[list[Lock]] = []

    def running(self) -> int | None:
        found = super().running()
        if found is None:
            self.successors.append(self.acquire())
        return found

    def clean(self) -> None:
        assert not self.successors, "these files are the successor's"
        super().clean()


def test_clearing_up_leaves_a_service_that_has_just_started(tmp_path: Path) -> None:
    _clear_up(_Overtaken(tmp_path, "term"))
    files = InstanceFiles(tmp_path, "term")
    lock = files.acquire()
    files.posture.write_text("open\n")
    assert not _clear_up(files)
    assert files.posture.exists()
    assert files.lock.exists()
    lock.release()


def test_the_log_goes_before_the_lock(tmp_path: Path) -> None:
    order: list[str] = []

    class Watched(InstanceFiles):
        @property
        def log(self) -> Path:
            order.append("log" if self.lock.exists() else "log after lock")
            return super().log

    files = Watched(tmp_path, "term")
    lock = files.acquire()
    files.clean()
    lock.release()
    assert order
    assert "log after lock" not in order


def _environment(directory: Path) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(directory),
        "SHELL": "/bin/sh",
        "LANG": "C.UTF-8",
        "COSMIX_RUNTIME_DIR": str(directory),
    }


@contextmanager
def _ended_after(directory: Path) -> Iterator[None]:
    try:
        yield
    finally:
        down = [*COMMAND, "down"]
        subprocess.run(down, env=_environment(directory), timeout=60, check=False)


def test_a_detached_service_takes_no_code_from_the_current_directory(tmp_path: Path) -> None:
    with broker_process() as broker, _ended_after(broker.directory):
        (tmp_path / "trio.py").write_text("raise SystemExit('taken from here')\n")
        done = subprocess.run(
            [*COMMAND, "up", "--detach"],
            env=_environment(broker.directory),
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr


def test_a_service_can_be_started_from_a_directory_that_is_gone(tmp_path: Path) -> None:
    with broker_process() as broker, _ended_after(broker.directory):
        script = 'mkdir x && cd x && rmdir ../x && exec "$@"'
        done = subprocess.run(
            ["sh", "-c", script, "sh", *COMMAND, "up", "--detach"],
            env=_environment(broker.directory),
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr


def test_interrupting_a_command_that_waits_prints_no_traceback() -> None:
    async def body(directory: Path) -> tuple[int | None, bytes]:
        with trio.fail_after(40):
            async with connect(directory) as bus, bus.listen("term") as requests:
                process = await trio.lowlevel.open_process(
                    [*COMMAND, "wait", "--until", "never"],
                    env=_environment(directory),
                    stderr=subprocess.PIPE,
                )
                async for _request in requests:  # it has been sent, and is never answered
                    process.send_signal(signal.SIGINT)
                    break
                assert process.stderr is not None
                said = b"".join([part async for part in process.stderr])
                return await process.wait(), said

    with broker_process() as broker:
        assert trio.run(body, broker.directory) == (130, b"")


def test_bytes_that_are_no_text_are_a_usage_error() -> None:
    with broker_process() as broker:
        done = subprocess.run(
            [*COMMAND, "type", b"secret\xff"],
            env=_environment(broker.directory),
            capture_output=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 2
        assert b"UTF-8" in done.stderr
        assert b"Traceback" not in done.stderr


def test_a_reader_that_has_had_enough_is_no_error() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [*COMMAND, "completion", "bash"],
        stdout=writer,
        stderr=subprocess.PIPE,
        timeout=60,
        check=False,
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_log_that_cannot_be_opened_is_explained() -> None:
    with broker_process() as broker:
        (broker.directory / "term.log").symlink_to("/nowhere")
        done = subprocess.run(
            [*COMMAND, "up", "--detach"],
            env=_environment(broker.directory),
            capture_output=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 1
        assert b"Traceback" not in done.stderr
        assert b"term.log" in done.stderr


def test_a_service_under_nohup_ignores_the_end_of_its_terminal() -> None:
    with broker_process() as broker:
        script = 'trap "" HUP && exec "$@"'
        with subprocess.Popen(
            ["sh", "-c", script, "sh", *COMMAND, "up"],
            env=_environment(broker.directory),
            stdout=subprocess.PIPE,
        ) as process:
            try:
                assert process.stdout is not None
                assert b"ready" in process.stdout.readline()
                status = Path(f"/proc/{process.pid}/status").read_text()
                (ignored,) = (line for line in status.splitlines() if line.startswith("SigIgn:"))
                assert int(ignored.split()[1], 16) & 1 << (signal.SIGHUP - 1)
            finally:
                process.terminate()
                assert process.wait(60) == 0
