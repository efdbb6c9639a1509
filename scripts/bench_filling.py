"""A broker of a benchmark's own, and what fills its tables of sessions."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from brokerd.client import CAPABILITIES, DEFAULTS, RC_OK, Bus, Ref, Request, SessionKey, connect

LIMITS: Final = DEFAULTS.sessions
TERMS: Final = LIMITS.terms_per_uid
GRANTS: Final = LIMITS.grants
DEPENDENCIES: Final = LIMITS.dependencies
RECIPIENTS: Final = DEPENDENCIES // TERMS
"""Each hears from every Term."""

LONG_MS: Final = 600_000
"""For what would end by itself while it is measured."""

PATIENT: Final = 60.0
"""Seconds for an answer while much else is asked."""


@dataclass(frozen=True, slots=True)
class Broker:
    """A broker of the benchmark's own."""

    directory: str
    pid: int

    def rss(self) -> int:
        """Resident bytes."""
        pages = int(Path(f"/proc/{self.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")


@contextlib.contextmanager
def broker(directory: str) -> Iterator[Broker]:
    """A broker process, ended afterwards."""
    times = ("lease_ms", "grant_ms", "dependency_ms", "challenge_ms")
    settings = [f"--set=sessions.{name}={LONG_MS}" for name in times]
    command = [sys.executable, "-m", "brokerd", "--runtime-dir", directory, "--json", *settings]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        ready = json.loads(process.stdout.readline())
        yield Broker(directory, int(ready["pid"]))
    finally:
        process.terminate()
        process.wait()


class Filler:
    """The connections that fill a broker; each Term has one, and so has each other recipient."""

    def __init__(self, directory: str) -> None:
        self._directory = directory
        self._stack = contextlib.AsyncExitStack()
        self.terms: list[Bus] = []
        self._refs: list[Ref] = []
        self._names: list[str] = []

    async def fill(self) -> None:
        """All three tables, to their limits."""
        for _ in range(TERMS):
            await self._term()
        for number in range(GRANTS):
            await self.grant(number % (GRANTS // LIMITS.grants_per_parent), number)
        for number in range(RECIPIENTS - TERMS):
            await self.recipient(f"bench-{number}")
        for name in list(self._names):
            for sender in self.terms:
                await self.deliver(sender, name)

    async def connection(self) -> Bus:
        """One more connection, open until the filler closes."""
        return await self._stack.enter_async_context(connect(self._directory))

    async def _term(self) -> None:
        bus = await self.connection()
        record = await bus.sessions.allocate(SessionKey.generate(), timeout=PATIENT)
        self.terms.append(bus)
        self._refs.append(record.ref)
        self._names.append(record.name)

    async def grant(self, parent: int, pane: int) -> None:
        """A pending grant of that Term."""
        await self.terms[parent].sessions.grant_create(
            self._refs[parent],
            pane_id=pane + 1,
            pane_generation=1,
            public_key=SessionKey.generate().public_key,
            capabilities=CAPABILITIES,
            timeout=PATIENT,
        )

    async def recipient(self, name: str) -> None:
        """A service that hears from Terms and says nothing."""
        bus = await self.connection()
        await self._stack.enter_async_context(bus.attend(name, _take))
        self._names.append(name)

    async def deliver(self, sender: Bus, name: str) -> str:
        """A request to ``name``; the reason when the broker refused to deliver it, else ''."""
        reply = await sender.request(name, "bench.note", {}, timeout=PATIENT)
        details = reply.error.details if reply.error else {}
        return str(details.get("reason") or "")

    async def close(self) -> None:
        """Revoke every Term, its children with it, and let every connection go."""
        for bus, ref in zip(self.terms, self._refs, strict=True):
            await bus.sessions.revoke(ref, timeout=PATIENT)
        await self._stack.aclose()


def _take(request: Request) -> None:
    request.respond(RC_OK, {})


@contextlib.asynccontextmanager
async def filled(place: Broker) -> AsyncIterator[Filler]:
    """A full broker; empty again afterwards."""
    filler = Filler(place.directory)
    try:
        await filler.fill()
        yield filler
    finally:
        await filler.close()
