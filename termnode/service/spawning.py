"""Starting a pane's program through the pane host, with the integration of its shell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import trio

from brokerd.client import ErrorCode, Refusal
from termnode.panehost.client import HostLost, PaneHost, Spawned, SpawnFailed
from termnode.service.config import Config
from termnode.service.keeping.host_keeper import host_lost
from termnode.service.program import Program
from termnode.service.shells.starting import Integration, Prepared, prepare, shells_directory


@dataclass(frozen=True, slots=True)
class Started:
    """A program that runs; ``integration`` is None when it is no shell that has one."""

    spawned: Spawned
    integration: Integration | None


async def spawn(
    config: Config,
    host: PaneHost,
    program: Program,
    environment: Mapping[str, str],
    size: tuple[int, int],
) -> Started:
    """Start it, on a terminal of that size. Raises Refusal: it was not started, as far as known."""
    parent = shells_directory(config.directory, config.name) if config.integration else None
    prepared = prepare(program.argv, environment, parent)
    try:
        spawned = await _spawn(config, host, prepared, program.cwd, size)
    except BaseException:
        prepared.close()
        raise
    return Started(spawned, prepared.integration)


async def _spawn(
    config: Config, host: PaneHost, prepared: Prepared, cwd: str, size: tuple[int, int]
) -> Spawned:
    try:
        with trio.fail_after(config.spawn_timeout_s):
            return await host.spawn(prepared.argv, cwd, prepared.environment, *size)
    except trio.TooSlowError:
        raise _not_started_in_time() from None
    except SpawnFailed as failed:
        raise Refusal(ErrorCode(failed.code), failed.message, **failed.details) from None
    except HostLost:
        raise host_lost() from None


def _not_started_in_time() -> Refusal:
    """It is hung up as soon as it is there; nobody knows what it did until then."""
    return Refusal(
        ErrorCode.UNKNOWN_OUTCOME,
        "the program was not started in time; if its directory is on a file system that does not "
        "answer, choose another",
        reason="pane_host_stuck",
    )
