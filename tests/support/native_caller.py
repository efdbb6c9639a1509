"""A hand-made caller of the native lane: targets, ids and epochs are written out by hand."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any, TypeAlias

import trio

from brokerd.client import Bus, connect
from tests.support.termnode_process import DEADLINE_S, Service

Fields: TypeAlias = "dict[str, Any]"


class Answer:
    """A reply, decoded."""

    def __init__(self, rc: int, raw: bytes) -> None:
        self.rc = rc
        self.raw = raw
        self.body: Fields = json.loads(raw)

    @property
    def code(self) -> str:
        """The error code; "ok" without one."""
        return str(self.body.get("error_code", "ok"))

    @property
    def details(self) -> Fields:
        """Of a refusal."""
        found: Fields = self.body.get("details", {})
        return found

    def __repr__(self) -> str:
        return f"<{self.rc} {self.raw[:300]!r}>"


class NativeCaller:
    """One connection to the Term that serves under ``name``; ids go up from 1."""

    def __init__(self, bus: Bus, name: str, record: Fields) -> None:
        self.bus = bus
        self.name = name
        self.record = record
        self.last_id = 0

    @property
    def epoch(self) -> str:
        """What it names as request_epoch."""
        return self.bus.connection_id

    def target(self, pane: int, generation: int | str) -> Fields:
        """A target of this Term."""
        return {
            "instance_id": self.record["instance_id"],
            "incarnation": self.record["incarnation"],
            "pane_id": str(pane),
            "pane_generation": str(generation),
        }

    async def send(self, verb: str, body: Fields | bytes) -> Answer:
        """A request as it is given."""
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        reply = await self.bus.request_raw(self.name, verb, raw, timeout=DEADLINE_S * 2)
        return Answer(reply.rc, reply.raw)

    async def read(self, verb: str, target: Fields, **own: object) -> Answer:
        """A verb that spends no id."""
        return await self.send(verb, {"target": target, **own})

    def change(self, target: Fields, affected: Iterable[Fields] = (), **own: object) -> Fields:
        """The body of a mutation under the next id."""
        self.last_id += 1
        body: Fields = {
            "target": target,
            "request_id": str(self.last_id),
            "request_epoch": self.epoch,
            **own,
        }
        others = [each for each in affected if each != target]
        return {**body, "affected": others} if others else body

    async def act(
        self, verb: str, target: Fields, affected: Iterable[Fields] = (), **own: object
    ) -> Answer:
        """A mutation under the next id."""
        return await self.send(verb, self.change(target, affected, **own))

    async def panes(self, target: Fields) -> dict[int, Fields]:
        """What it may read of each pane, asked through ``target``."""
        answer = await self.read("term.panes", target)
        assert answer.rc == 0, answer
        return {int(each["target"]["pane_id"]): each for each in answer.body["panes"]}

    async def typing(self, target: Fields) -> str:
        """The foreground generation of a pane."""
        answer = await self.read("term.snapshot", target)
        assert answer.rc == 0, answer
        found: str = answer.body["foreground_generation"]
        return found


@asynccontextmanager
async def native_caller(running: Service) -> AsyncIterator[NativeCaller]:
    """A connection of its own to a running service, which must be ready."""
    async with connect(running.directory / "rt") as bus:
        name, record = await own_record(bus, running.name)
        yield NativeCaller(bus, name, record)


async def own_record(bus: Bus, service: str) -> tuple[str, Fields]:
    """The allocated name of a service, and its record."""
    reply = await bus.request(service, "INFO", {})
    assert reply.body is not None
    identity: Any = reply.body["identity"]
    listed = await bus.request("brokerd", "session.list", {})
    assert listed.body is not None
    records: Any = listed.body["records"]
    (record,) = [each for each in records if each["name"] == identity["name"]]
    return identity["name"], record


async def ready_targets(caller: NativeCaller, service: str, *panes: int) -> dict[int, Fields]:
    """The targets of all panes, as the global lane tells them, once they are control-ready."""
    while True:
        reply = await caller.bus.request(service, "term.panes", {})
        assert reply.body is not None
        listed: Any = reply.body["panes"]
        found = {each["id"]: each["binding"] for each in listed}
        if all(each["ready"] for each in found.values()) and set(panes) <= found.keys():
            return {pane: caller.target(pane, each["generation"]) for pane, each in found.items()}
        await _a_moment()


async def until(true: Callable[[], Awaitable[object]]) -> object:
    """Ask again and again; the test's own deadline ends it."""
    while True:
        found = await true()
        if found:
            return found
        await _a_moment()


async def _a_moment() -> None:
    """A poll interval: the condition decides."""
    with trio.move_on_after(0.01):
        await trio.sleep_forever()
