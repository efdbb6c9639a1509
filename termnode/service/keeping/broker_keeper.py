"""Keeps a broker running in the runtime directory: starts one when none does, again if it dies.

libzmq ends a broker that runs out of descriptors, so a dead broker is an ordinary event. Several
services may share one broker; whoever notices first starts the next, and the broker's own lock
decides who wins.
"""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final, TextIO

import trio

from brokerd.client import broker_pid, open_broker
from termnode.service.keeping.pausing import Pauses

FIRST_PAUSE_S: Final = 0.05
LONGEST_PAUSE_S: Final = 2.0
START_TIMEOUT_S: Final = 20.0

END_TIMEOUT_S: Final = 5.0
MAX_WORDS: Final = 2_000
"""Characters of a dead broker's last words that are logged."""

log = logging.getLogger("termnode.broker")


class BrokerFailed(Exception):
    """No broker could be started; the message is the broker's own reason."""


class BrokerKeeper:
    """Keeps a broker in one runtime directory; knows the one that it started itself, if any."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._started: trio.Process | None = None

    async def run(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Run for ever, with a live broker except for the moments after one died.

        ``started`` once there is one. Raises BrokerFailed if the first cannot be started.
        """
        await self._first(task_status)
        pauses = Pauses(FIRST_PAUSE_S, LONGEST_PAUSE_S)
        while True:
            log.warning("the broker has ended; starting another")
            began = trio.current_time()
            try:
                await self._one(_nobody)
            except OSError as error:  # no descriptor, process or memory is left at this moment
                log.error("the broker cannot be started now (%s)", error.strerror)
            await trio.sleep(pauses.after(trio.current_time() - began))

    async def _first(self, task_status: trio.TaskStatus[None]) -> None:
        """Wait until there is a broker, say so, and wait for its end."""
        while not await self._one(task_status.started):
            # Several services that start at once each start a broker, and one broker gets the lock.
            # While another one holds it, ours has lost that race, and the other is ours to use.
            if broker_pid(self._directory) is None:
                raise BrokerFailed(
                    "the broker ended before it was ready; its reason is in the log line above"
                )
            await trio.sleep(FIRST_PAUSE_S)

    async def _one(self, when_there: Callable[[], None]) -> bool:
        """Wait for the end of the broker that is there, or of one that is started now.

        False, and ``when_there`` was not called, if it was started and never became ready.
        """
        found = open_broker(self._directory)
        if found is None:
            return await self._start_one(when_there)
        _pid, descriptor = found
        try:
            when_there()
            await trio.lowlevel.wait_readable(descriptor)
        finally:
            os.close(descriptor)
        return True

    async def _start_one(self, when_there: Callable[[], None]) -> bool:
        """Start a broker and wait for its end; True if it was ever ready.

        One that is not ready in time, or when this is cancelled, is ended: nobody would look after
        it. What it wrote is logged: it says nothing in health.
        """
        with tempfile.TemporaryFile("w+", errors="replace") as words:
            reader, process = await _launch(self._directory, words)
            self._started = process
            ready = False
            try:
                ready = await _says_ready(reader)
            finally:
                if not ready:
                    await _end(process)
            if ready:
                when_there()
            await process.wait()
            words.seek(0)
            log.warning("the broker said: %s", words.read(MAX_WORDS).strip() or "nothing")
        return ready

    async def end_if_lost(self) -> None:
        """End the broker started here when nobody can find it any more: its lock was removed."""
        process = self._started
        if process is None or process.poll() is not None:
            return
        if broker_pid(self._directory) != process.pid:
            await _end(process)


def _nobody() -> None:
    """Nobody waits for this broker."""


async def _end(process: trio.Process) -> None:
    process.terminate()
    with trio.move_on_after(END_TIMEOUT_S, shield=True):
        await process.wait()
    process.kill()


async def _launch(directory: Path, words: TextIO) -> tuple[int, trio.Process]:
    """Exec a broker; returns the descriptor on which it says that it is ready.

    Its stderr goes to ``words``: a broker that outlives this service must not hold its terminal.
    """
    reader, writer = os.pipe()
    try:
        process = await trio.lowlevel.open_process(
            _command(directory, writer),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=words,
            pass_fds=[writer],
            start_new_session=True,
            cwd="/",
        )
    except BaseException:
        os.close(reader)
        raise
    finally:
        os.close(writer)
    return reader, process


async def _says_ready(reader: int) -> bool:
    """Whether the new broker writes its ready line before it ends or the time is up."""
    async with trio.lowlevel.FdStream(reader) as stream:
        with trio.move_on_after(START_TIMEOUT_S):
            return bool(await stream.receive_some(4_096))
    return False


def _command(directory: Path, ready_fd: int) -> list[str]:
    options = ["--runtime-dir", str(directory), "--ephemeral", "--ready-fd", str(ready_fd)]
    return [sys.executable, "-P", "-m", "brokerd", *options]
