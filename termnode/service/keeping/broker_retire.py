"""Ends a broker that was started for services once it serves none any more."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Final

import trio

from brokerd.client import Bus, BusError, broker_pid, connect, open_broker, remove_broker_leftovers

BROKER: Final = "brokerd"
RETIRE_TIMEOUT_S: Final = 5.0


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
    """SIGTERM to the broker if it is still this one, and wait for its end."""
    found = open_broker(directory)
    if found is None:
        return
    holder, descriptor = found
    try:
        if holder == pid:
            signal.pidfd_send_signal(descriptor, signal.SIGTERM)
            with trio.move_on_after(RETIRE_TIMEOUT_S):
                await trio.lowlevel.wait_readable(descriptor)
    finally:
        os.close(descriptor)
