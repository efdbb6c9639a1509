"""The dispatcher of the native lane with the real gate and ledger; all it touches is made up.

Nothing runs by itself: mutations take their turn when the test says so, leases are confirmed and
waits end when the test lets them.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

import trio

from brokerd.client import BusError, NotConnected, Ref, Request
from termnode.control.audit import Audit
from termnode.control.native.decisions import Go
from termnode.control.native.forwards import Forwards
from termnode.control.native.gate import Gate
from termnode.control.native.leases import LeaseCache
from termnode.control.native.ledger import Ledger
from termnode.control.native.table import NATIVE
from termnode.lanes.calls import Sealed
from termnode.lanes.native_lane import NativeLane
from termnode.service.input.inputs import Inputs
from termnode.service.native.checks import LeaseChecks
from termnode.service.native.desk import Desk
from termnode.service.native.dispatch import NativeDispatcher
from termnode.service.native.forwarding import Forwarding
from termnode.service.native.jobs import queue_places, wait_places
from termnode.service.native.line import Ways
from termnode.service.native.parts import Native
from termnode.service.native.performing import Done, Unfinished
from termnode.service.native.relaying import Ended
from termnode.service.native.turns import Turns
from termnode.service.state import State, Work
from termnode.service.waiting.wait_conditions import Ask as WaitAsk
from termnode.service.waiting.wait_conditions import Verdict
from tests.support.native_gate import (
    AMBIENT,
    NOW,
    NOW_MS,
    FakeWorld,
    Who,
    body_for,
    encoded,
)
from tests.support.native_shells import FakeShells


class FakeRequest:
    """A request whose answer is kept."""

    def __init__(self, principal: Who, command: str, raw: bytes) -> None:
        self.principal = principal
        self.command = command
        self.raw = raw
        self.answers: list[tuple[int, bytes]] = []

    def respond(self, rc: int, body: bytes) -> bool:
        self.answers.append((rc, body))
        return True

    @property
    def body(self) -> dict[str, Any]:
        """Of the only answer."""
        ((_, raw),) = self.answers
        found: dict[str, Any] = json.loads(raw)
        return found

    @property
    def said(self) -> str:
        """The error code with its reason; "ok" for a success, "" while there is no answer."""
        if not self.answers:
            return ""
        found = self.body
        if "error_code" not in found:
            return "ok"
        return f"{found['error_code']} {found['details'].get('reason', '')}".strip()


class FakeWatches:
    """Waits that end when the test says how."""

    def __init__(self) -> None:
        self.under_way: list[tuple[trio.Event, list[Verdict]]] = []

    async def wait(self, _live: object, _ask: WaitAsk, _timeout: float) -> tuple[Verdict, int]:
        ended, verdicts = trio.Event(), list[Verdict]()
        self.under_way.append((ended, verdicts))
        await ended.wait()
        return verdicts[0], 0

    def end(self, at: int = 0, outcome: str = "matched") -> None:
        ended, verdicts = self.under_way.pop(at)
        verdicts.append(Verdict(cast("Any", outcome), 7))
        ended.set()


class FakeBroker:
    """Answers questions about leases when the test lets it; at once unless ``slow``."""

    def __init__(self) -> None:
        self.slow = False
        self.asked: list[Ref] = []
        self.remaining: int | None = 10_000
        self._go_on = trio.Event()

    async def check(self, ref: Ref) -> int:
        self.asked.append(ref)
        if self.slow:
            await self._go_on.wait()
        if self.remaining is None:
            raise _refused()
        return self.remaining

    def answer(self) -> None:
        """All questions that wait."""
        waiting, self._go_on = self._go_on, trio.Event()
        waiting.set()


def _refused() -> BusError:
    return NotConnected()


@dataclass
class DeskRig:
    """See the module. Pane N has generation N."""

    world: FakeWorld = field(default_factory=FakeWorld)
    ledger: Ledger[Sealed] = field(default_factory=Ledger)
    leases: LeaseCache = field(default_factory=LeaseCache)
    audit: Audit = field(default_factory=Audit)
    watches: FakeWatches = field(default_factory=FakeWatches)
    broker: FakeBroker = field(default_factory=FakeBroker)
    performed: list[Go] = field(default_factory=list)
    settled: list[str] = field(default_factory=list)
    accepted: list[tuple[int, int]] = field(default_factory=list)
    """Panes, and the operations that their shells took as commands."""
    forwards: Forwards = field(default_factory=Forwards)
    ended: dict[int, Ended] = field(default_factory=dict)
    """How the programs of panes have ended."""
    shells: FakeShells = field(default_factory=FakeShells)
    perform: Callable[[State, Go], Done | Unfinished] | None = None
    """What a mutation does; nothing but being counted unless set."""
    queued: deque[Work] = field(default_factory=deque)
    now: float = NOW
    now_ms: int = NOW_MS
    queue: int = 64
    waits: int = 64
    checks_at_once: int = 64

    def __post_init__(self) -> None:
        placed = SimpleNamespace(pane=lambda pane: SimpleNamespace(id=pane, generation=1))
        state = SimpleNamespace(
            inputs=Inputs(),
            find_live=lambda _pane: None,
            live=lambda _pane: SimpleNamespace(exit_body=lambda: {"code": 0}),
            workspace=placed,
            watches=self.watches,
        )
        self.state = cast("State", state)
        native = Native(self.state, self.world, self.ledger, self.leases, forwards=self.forwards)
        gate: Gate[Sealed] = Gate(self.world, self.ledger, self.leases, self.forwards)
        self.lane = NativeLane(gate, self.ledger, self.audit, lambda: 1_000)
        self.checks = LeaseChecks(
            self.leases, self.broker.check, lambda: self.now_ms, self.checks_at_once
        )
        desk = Desk(self.lane, self.checks, lambda: self.now, lambda: self.now_ms)
        places = queue_places(self.queue)
        self.forwarding = Forwarding(
            self.world,
            self.ledger,
            self.forwards,
            desk,
            Ways(
                self.queued.append,
                places,
                self.shells.find,
                lambda go, sealed: self.settled.append(f"{go.spec.name} {sealed.outcome}"),
                lambda: self.now,
                self.ended.get,
                lambda go, operation: self.accepted.append((go.target.pane_id, operation)),
                lambda go: gate.stands(go, frozenset({go.target.pane_id}), self.now_ms),
            ),
        )
        self.turns = turns = Turns(
            self.state,
            desk,
            add=self.queued.append,
            perform=dict.fromkeys(NATIVE, self._perform),
            on_settled=lambda go, sealed: self.settled.append(f"{go.spec.name} {sealed.outcome}"),
            places=places,
        )
        self.dispatcher = NativeDispatcher(
            native,
            desk,
            turns,
            waits=wait_places(self.waits),
            subscribe=lambda go: {"target": go.target.to_json(), "seq": 1},
            clock=lambda: self.now,
            forward=self.forwarding.begin,
        )

    def _perform(self, state: State, go: Go) -> Done | Unfinished:
        done: Done | Unfinished = Done({"done": True})
        if self.perform is not None:
            done = self.perform(state, go)
        self.performed.append(go)
        return done

    def take(self, verb: str, principal: Who = AMBIENT, **changed: Any) -> FakeRequest:  # noqa: ANN401
        """A request as it comes from the bus; fields as for `body_for`."""
        return self.take_raw(verb, encoded(body_for(verb, **changed)), principal)

    def take_raw(self, verb: str, raw: bytes, principal: Who = AMBIENT) -> FakeRequest:
        request = FakeRequest(principal, verb, raw)
        self.dispatcher.take(cast("Request", request))
        return request

    async def turn(self) -> None:
        """The first mutation that waits has its turn."""
        await self.queued.popleft()()

    async def all_turns(self) -> None:
        """All of them, those too that queue meanwhile."""
        while self.queued:
            await self.turn()

    def entries(self) -> list[dict[str, object]]:
        """The audit without what no test is about."""
        left_out = {"seq", "time", "duration_ms"}
        return [
            {key: value for key, value in entry.items() if key not in left_out}
            for entry in self.audit.tail()
        ]


@asynccontextmanager
async def desk_rig(**how: Any) -> AsyncIterator[DeskRig]:  # noqa: ANN401 - fields of the rig
    """A rig whose waits and checks can run."""
    rig = DeskRig(**how)
    with trio.fail_after(20):
        async with trio.open_nursery() as nursery:
            await nursery.start(rig.checks.run)
            await nursery.start(rig.dispatcher.run)
            await nursery.start(rig.forwarding.run, rig.shells)
            yield rig
            nursery.cancel_scope.cancel()


def in_desk_rig(test: Callable[[DeskRig], Awaitable[None]], **how: Any) -> None:  # noqa: ANN401
    """Run an async test with a rig of its own."""

    async def run() -> None:
        async with desk_rig(**how) as rig:
            await test(rig)

    trio.run(run)


async def until(true: Callable[[], object]) -> None:
    """Let everybody else run until it is so; the rig's deadline ends it."""
    while not true():
        await trio.lowlevel.checkpoint()
