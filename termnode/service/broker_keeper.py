"""Keeps a broker running in the runtime directory: starts one when none does, again if it dies.

libzmq ends a broker that runs out of descriptors, so a dead broker is an ordinary event. Several
services may share one broker; whoever notices first starts the next, and the broker's own lock
decides who wins.
"""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final, TextIO

import trio

from brokerd.client import Bus, BusError, broker_pid, connect, remove_broker_leftovers

FIRST_PAUSE_S: Final = 0.05
LONGEST_PAUSE_S: Final = 2.0
START_TIMEOUT_S: Final = 20.0
SETTLED_S: Final = 5.0
"""A broker that lived this long did not fail at its start: the next one need not wait."""

RETIRE_TIMEOUT_S: Final = 5.0
BROKER: Final = "brokerd"
MAX_WORDS: Final = 2_000
"""Characters of a dead broker's last words that are logged."""

log = logging.getLogger("termnode.broker")


class BrokerFailed(Exception):
    """No broker could be started; the message is the broker's own reason."""


async def keep_broker(
    directory: Path, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
) -> None:
    """Run for ever, with a live broker except for the moments after one died.

    ``started`` once there is one. Raises BrokerFailed if the first cannot be started.
    """
    await _first_broker(directory, task_status)
    pause = FIRST_PAUSE_S
    while True:
        log.warning("the broker has ended; starting another")
        began = trio.current_time()
        try:
            await _one_broker(directory, _nobody)
        except OSError as error:  # no descriptor, process or memory is left at this moment
            log.error("the broker cannot be started now (%s)", error.strerror)
        lived = trio.current_time() - began
        pause = FIRST_PAUSE_S if lived > SETTLED_S else min(2 * pause, LONGEST_PAUSE_S)
        await trio.sleep(pause)


async def _first_broker(directory: Path, task_status: trio.TaskStatus[None]) -> None:
    """Wait until there is a broker, say so, and wait for its end."""
    while not await _one_broker(directory, task_status.started):
        # Several services that start at once each start a broker, and one broker gets the lock.
        # While another one holds it, ours has lost that race, and the other is ours to use.
        if broker_pid(directory) is None:
            raise BrokerFailed(
                "the broker ended before it was ready; its reason is in the log line above"
            )
        await trio.sleep(FIRST_PAUSE_S)


def _nobody() -> None:
    """Nobody waits for this broker."""


async def _one_broker(directory: Path, when_there: Callable[[], None]) -> bool:
    """Wait for the end of the broker that is there, or of one that is started now.

    False, and ``when_there`` was not called, if it was started and never became ready.
    """
    pid = broker_pid(directory)
    if not pid:
        return await _run_one(directory, when_there)
    when_there()
    await _ended(directory, pid)
    return True


async def _ended(directory: Path, pid: int) -> None:
    """Wait for the end of the directory's broker, which may not be our child."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        if broker_pid(directory) == pid:  # it lives, so the descriptor is not of a later process
            await trio.lowlevel.wait_readable(descriptor)
    finally:
        os.close(descriptor)


async def _run_one(directory: Path, when_there: Callable[[], None]) -> bool:
    """Start a broker and wait for its end; True if it was ever ready.

    One that is not ready in time, or when this is cancelled, is ended: nobody would look after it.
    What it wrote is logged: it says nothing in health.
    """
    with tempfile.TemporaryFile("w+", errors="replace") as words:
        reader, process = await _launch(directory, words)
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


async def _end(process: trio.Process) -> None:
    process.terminate()
    with trio.move_on_after(RETIRE_TIMEOUT_S, shield=True):
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


async def retire_if_unused(directory: Path) -> None:
    """End the broker of this directory if it was started for services and serves none any more.

    Without a broker, what a killed one left is removed. A service that registers in between
    notices and starts another.
    """
    pid = broker_pid(directory)
    if not pid:
        remove_broker_leftovers(directory)
        return
    try:
        async with connect(directory) as bus:
            unused = await _unused(bus)
    except BusError:
        return
    if unused:
        await _terminate(directory, pid)


async def _unused(bus: Bus) -> bool:
    info = (await bus.request(BROKER, "broker.info", {})).body or {}
    names = (await bus.request(BROKER, "broker.list", {})).body or {}
    return info.get("ephemeral") is True and names.get("names") == []


async def _terminate(directory: Path, pid: int) -> None:
    """SIGTERM to the process that holds the broker's lock, and wait for its end."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        if broker_pid(directory) == pid:
            signal.pidfd_send_signal(descriptor, signal.SIGTERM)
            with trio.move_on_after(RETIRE_TIMEOUT_S):
                await trio.lowlevel.wait_readable(descriptor)
    finally:
        os.close(descriptor)
