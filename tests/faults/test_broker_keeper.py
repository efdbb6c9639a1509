"""Several services start and stop around one broker."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
import trio

from brokerd.client import broker_pid
from termnode.service.keeping.broker_keeper import BrokerKeeper
from termnode.service.keeping.broker_retire import retire_if_unused
from tests.support.broker_process import short_directory
from tests.support.termnode_process import alive

WITHIN = 40.0


async def until(true: Callable[[], object]) -> None:
    """Look again and again, letting everybody else run; the caller's deadline ends it."""
    while not true():
        with trio.move_on_after(0.002):
            await trio.sleep_forever()


def _brokers_of(directory: Path) -> list[int]:
    """Live processes with the directory on their command line."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if b"brokerd" in words and os.fsencode(directory) in words and alive(int(entry.name)):
                found.append(int(entry.name))
    return found


# A broker outlives its keeper by design; Popen complains of it where the keeper's process goes on.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_services_that_start_at_once_all_get_the_one_broker() -> None:
    async def body(directory: Path) -> None:
        with trio.fail_after(WITHIN):
            async with trio.open_nursery() as running:
                async with trio.open_nursery() as starting:
                    for _ in range(3):
                        starting.start_soon(running.start, BrokerKeeper(directory).run)
                assert broker_pid(directory) in _brokers_of(directory)
                running.cancel_scope.cancel()
            await retire_if_unused(directory)
            await until(lambda: not _brokers_of(directory))

    with short_directory() as directory:
        trio.run(body, directory)


def test_a_service_that_stops_while_its_broker_starts_leaves_none() -> None:
    async def body(directory: Path) -> list[int]:
        with trio.fail_after(WITHIN):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(BrokerKeeper(directory).run)
                await until(lambda: _brokers_of(directory))
                nursery.cancel_scope.cancel()
        left = _brokers_of(directory)
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        return left

    with short_directory() as directory:
        assert trio.run(body, directory) == []
