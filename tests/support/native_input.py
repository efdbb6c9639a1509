"""Input of the native lane at real panes: gate, ledger and performers, without a bus."""

from __future__ import annotations

import select
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import trio

from brokerd.client import Principal, boottime_ms
from termnode.control.native.decisions import Go, Need, Refuse
from termnode.control.native.gate import Gate
from termnode.control.native.leases import LeaseCache
from termnode.control.native.ledger import Ledger, Settled
from termnode.control.native.request import Ask
from termnode.control.native.targets import Target
from termnode.control.native.world import PaneFacts
from termnode.lanes.calls import Sealed
from termnode.service.input.authors import Author
from termnode.service.live_pane import LivePane
from termnode.service.native.input import NativeInput
from termnode.service.native.revoked import Notice, Revoked
from tests.support.native_gate import (
    AMBIENT,
    INCARNATION,
    INSTANCE,
    FakeWorld,
    encoded,
    target,
)
from tests.support.person_lab import PersonLab, in_person_lab

AGENT = Author("pane-shell 1234abcd uid 1", "term.type")
TEXT = "abcdefgh" * 900
"""7,200 bytes: some of them fill a terminal that nobody reads."""


@dataclass
class NativeLab:
    """One service's panes, and callers of the native lane. Pane N has generation N."""

    person: PersonLab
    world: FakeWorld = field(default_factory=FakeWorld)
    leases: LeaseCache = field(default_factory=LeaseCache)
    revoked: Revoked = field(default_factory=Revoked)
    ledger: Ledger[Sealed] = field(default_factory=Ledger)
    last_id: int = 0

    def __post_init__(self) -> None:
        self.gate = Gate(self.world, self.ledger, self.leases)
        self.input = NativeInput(self.world, self.leases, self.revoked)

    async def reader(self, setup: str = "", *, stopped: bool = False) -> tuple[LivePane, Any]:
        """As `PersonLab.reader`, control-ready."""
        live, path = await self.person.reader(setup, stopped=stopped)
        self.world.facts[live.id] = PaneFacts(live.id, ready=True, tab=1)
        return live, path

    def send(
        self,
        live: LivePane,
        verb: str = "term.type",
        *,
        principal: Principal = AMBIENT,
        foreground: int | None = None,
        **own: object,
    ) -> int:
        """A request that is accepted; its id. Raises Refusal, as it would be answered."""
        self.last_id += 1
        number = self.last_id
        seen = live.observe_foreground() if foreground is None else foreground
        body = {
            "target": target(live.id, pane_generation=str(live.id)),
            "request_id": str(number),
            "request_epoch": principal.connection_id,
            "foreground_generation": str(seen),
            **own,
        }
        go = self._decide(Ask(principal, verb, encoded(body)))
        self._perform(go)
        return number

    def _decide(self, ask: Ask) -> Go:
        decision = self.gate.evaluate(ask, time.monotonic(), boottime_ms())
        if isinstance(decision, Need):
            self.confirm(decision)
            decision = self.gate.evaluate(ask, time.monotonic(), boottime_ms())
        if isinstance(decision, Refuse):
            raise decision.refusal
        assert isinstance(decision, Go), decision
        return decision

    def confirm(self, need: Need, remaining_ms: int = 10_000) -> None:
        """The broker says that the caller's lease is live."""
        assert self.leases.put(self.leases.begin(need.ref, boottime_ms()), remaining_ms)

    def _perform(self, go: Go) -> None:
        request, now = go.request, time.monotonic()
        assert request.request_id is not None
        reservation = self.ledger.reserve(
            go.actor, request.request_id, request.digest, go.target, request.command, now=now
        )  # fmt: skip
        self.person.state.inputs.author = AGENT
        try:
            done = self.input.perform(self.person.state, go)
        except BaseException:
            reservation.cancel()
            raise
        assert done.body == {
            "status": "accepted",
            "outcome": "unknown",
            "request_id": str(request.request_id),
        }
        reservation.record(Sealed(0, encoded(done.body), "ok"), now, done.later)
        self.actor = go.actor

    def operation(self, live: LivePane, number: int) -> Mapping[str, object] | None:
        """What `term.operation` says; None while it is its first reply."""
        asked = Target(INSTANCE, INCARNATION, live.id, live.id)
        found = self.ledger.operation(self.actor, asked, number, time.monotonic())
        return found.outcome if isinstance(found, Settled) else None

    def fill(self, live: LivePane, **how: Any) -> list[int]:  # noqa: ANN401 - as `send`
        """Send until something of it cannot be written; the ids, the last of which waits."""
        ids = [self.send(live, text=TEXT, **how)]
        while self.operation(live, ids[-1]) is not None or _takes_more(live):
            if self.operation(live, ids[-1]) is not None:
                ids.append(self.send(live, text=TEXT, **how))
            assert len(ids) < 9, "a terminal that nobody reads takes less"
        return ids

    def notices(self) -> list[Notice]:
        """The events that wait to be sent, taken out."""
        sent: list[Notice] = []
        while len(self.revoked):
            waiting = self.revoked._waiting  # nobody is told in this lab
            sent.append(waiting.popleft())
        return sent

    def told(self) -> dict[int, Notice]:
        """The same by request id; each is told once."""
        notices = self.notices()
        found = {int(str(each.body["request_id"])): each for each in notices}
        assert len(found) == len(notices)
        return found


def in_native_lab(test: Callable[[NativeLab], Awaitable[None]]) -> None:
    """Run an async test with a lab of its own."""

    async def run(person: PersonLab) -> None:
        await test(NativeLab(person))

    in_person_lab(run)


async def settled(lab: NativeLab, live: LivePane, number: int) -> Mapping[str, Any]:
    """Wait for what an operation came to."""
    while (outcome := lab.operation(live, number)) is None:
        with trio.move_on_after(0.002):
            await trio.sleep_forever()
    return outcome


def _takes_more(live: LivePane) -> bool:
    """Whether the terminal takes more after all: the kernel moves what it holds in its own time."""
    before = live.terminal.bytes_in
    for _ in range(20):
        select.poll().poll(2)
        live.terminal.recheck_permits()
        if live.terminal.bytes_in != before:
            return True
    return False
