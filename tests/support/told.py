"""A subscriber of a service's events, for tests: what it is told, and what it has not seen."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from brokerd.client import Bus, DirectedEvents, connect

Body = dict[str, Any]


@dataclass
class Told:
    """One subscription. ``reply`` is what term.events answered; ``seen`` is what came since."""

    bus: Bus
    stream: DirectedEvents
    name: str
    reply: Body = field(default_factory=dict)
    seen: list[Body] = field(default_factory=list)
    lost: bool = False
    last: int = 0

    async def ask(self, **asked: object) -> Body:
        """term.events; its reply must be good."""
        reply = await self.bus.request(self.name, "term.events", asked)
        assert reply.ok, reply.error
        self.reply = dict(reply.body or {})
        after = asked.get("after")
        self.last = after if isinstance(after, int) else self.reply["seq"]
        self.lost = False
        return self.reply

    async def next(self) -> Body:
        """The next event, whatever it is."""
        event = await anext(self.stream)
        assert event.command == "term.event"
        body: Body = event.body or {}
        self.lost = self.lost or event.gap or body["previous"] != self.last
        self.last = body["seq"]
        self.seen.append(body)
        return body

    async def until(self, true: Callable[[Body], object]) -> Body:
        """The first event for which it is ``true``; the caller's deadline ends the wait."""
        while True:
            body = await self.next()
            if true(body):
                return body

    async def kind(self, kind: str) -> Body:
        """The next event of this kind."""
        return await self.until(lambda body: body["kind"] == kind)

    async def flush(self) -> None:
        """What was sent to it before now has come: the service's answers keep their order."""
        reply = await self.bus.request(self.name, "INFO", {})
        assert reply.ok

    async def good(self, verb: str, **body: object) -> Body:
        """A verb on the same connection, which must be done."""
        reply = await self.bus.request(self.name, verb, body)
        assert reply.ok, (verb, reply.error)
        return reply.body or {}


@asynccontextmanager
async def told(
    directory: Path, *, name: str = "term", capacity: int = 2_048, ask: bool = True, **asked: object
) -> AsyncIterator[Told]:
    """A connection that welcomes events of the service; with ``ask`` it subscribes to them too."""
    async with (
        connect(directory) as bus,
        bus.subscribe_service(name, capacity=capacity) as stream,
    ):
        one = Told(bus, stream, name)
        if ask:
            await one.ask(**asked)
        yield one
