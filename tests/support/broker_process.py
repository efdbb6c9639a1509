"""A real broker for tests: ``python -m brokerd`` on a short directory of its own."""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

START_SECONDS = 20.0
"""For a process to start, or to end, on a loaded machine."""


class BrokerProcess:
    """One broker at a time on ``directory``; end and start as often as a test needs."""

    def __init__(self, directory: Path, *arguments: str) -> None:
        self.directory = directory
        self.ready: dict[str, object] = {}
        """What the broker said when it was ready."""
        self._arguments = arguments
        self._process: subprocess.Popen[bytes] | None = None
        self._pidfd = -1

    @property
    def pid(self) -> int:
        """Of the broker that runs."""
        assert self._process is not None, "no broker runs"
        return self._process.pid

    def start(self) -> None:
        """Start a broker and wait until it is ready; blocks (in Trio: use a thread)."""
        self.start_with(files=None)

    def start_with(self, *, files: int | None) -> None:
        """As ``start``; ``files``: how many it may have open, at most."""
        assert self._process is None, "a broker runs already"
        ready, told = os.pipe()
        try:
            self._process = subprocess.Popen(
                [*_limited(files), *self._command(told)],
                pass_fds=(told,),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
            )
            self._pidfd = os.pidfd_open(self._process.pid)
        finally:
            os.close(told)
        try:
            self.ready = json.loads(read_all(ready))
        finally:
            os.close(ready)

    def send(self, number: signal.Signals) -> None:
        """Send a signal to the broker, and to nothing else."""
        signal.pidfd_send_signal(self._pidfd, number)

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        """End the broker and wait until it has; returns its exit status. Blocks."""
        process, self._process = self._process, None
        assert process is not None, "no broker runs"
        signal.pidfd_send_signal(self._pidfd, number)
        if not select.select([self._pidfd], [], [], START_SECONDS)[0]:
            signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
        os.close(self._pidfd)
        return process.wait()

    def kill(self) -> None:
        """SIGKILL, and wait until it is gone."""
        self.end(signal.SIGKILL)

    def close(self) -> None:
        """End the broker if one runs."""
        if self._process is not None:
            self.kill()

    def _command(self, ready_fd: int) -> list[str]:
        arguments = ["--runtime-dir", str(self.directory), "--ready-fd", str(ready_fd)]
        return [sys.executable, "-m", "brokerd", *arguments, *self._arguments]


@contextmanager
def short_directory() -> Iterator[Path]:
    """A private directory whose path leaves room for a socket's name."""
    path = Path(tempfile.mkdtemp(prefix="tn", dir="/tmp"))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


@contextmanager
def broker_process(*arguments: str) -> Iterator[BrokerProcess]:
    """A broker that is ready, with more ``arguments`` for its command line; ended on leaving."""
    with short_directory() as directory:
        broker = BrokerProcess(directory / "r", *arguments)
        try:
            broker.start()
            yield broker
        finally:
            broker.close()


def _limited(files: int | None) -> list[str]:
    """What runs the rest of a command line with a limit."""
    return [] if files is None else ["prlimit", f"--nofile={files}:{files}"]


def read_all(descriptor: int) -> bytes:
    """Everything up to end of file; fails when nothing comes for START_SECONDS."""
    parts = []
    while True:
        if not select.select([descriptor], [], [], START_SECONDS)[0]:
            raise AssertionError("the broker was not ready in time")
        part = os.read(descriptor, 65_536)
        if not part:
            break
        parts.append(part)
    assert parts, "the broker ended before it was ready; its message is above"
    return b"".join(parts)
