"""A Term on a bus in memory, with the real gate and ledger, and a bad line between it and callers.

``plan`` says what becomes of the next requests on their way; nothing else of it is played.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Final

import trio

from brokerd.client import (
    CAPABILITIES,
    RC_OK,
    Bus,
    BusError,
    ErrorCode,
    RecordView,
    Refusal,
    Request,
    SessionKey,
    encode,
)
from brokerd.client.memory import MemoryBroker
from termnode.control.native.decisions import Go, Refuse, Told
from termnode.control.native.gate import Gate
from termnode.control.native.leases import LeaseCache
from termnode.control.native.ledger import Later, Ledger
from termnode.control.native.request import Ask
from termnode.control.native.targets import Target
from termnode.control.native.world import Own, PaneFacts
from termnode.control.posture import Posture
from termnode.lanes.calls import Sealed
from termnode.lanes.sealing import seal_refusal
from tests.support.session_lab import virtual_ms

SESSION: Final = frozenset({"term.session", "term.list", "term.tabs", "term.panes"})

DROP, MUTE, TWICE, LATE, BROKEN = "drop", "mute", "twice", "late", "broken"
"""What may become of a request: it is lost; its answer is; it comes twice, or after a while; the
broker ends before the answer is out."""


@dataclass
class NativeTerm:
    """See the module. Panes and the tab of each are ``tabs``; ``foreground`` is every pane's."""

    memory: MemoryBroker
    plan: deque[str] = field(default_factory=deque)
    tabs: dict[int, int] = field(default_factory=lambda: {1: 1, 2: 1, 3: 2})
    foreground: int = 1
    posture_now: Posture = Posture.OPEN
    refuses: Refusal | None = None
    slow_s: float = 0.0
    """How long a mutation runs."""
    seen: list[tuple[str, str, bytes]] = field(default_factory=list)
    """(connection, command, body) of each request that arrived."""
    effects: Counter[tuple[str, int]] = field(default_factory=Counter)
    """(connection, request id) of each mutation that was carried out."""
    ledger: Ledger[Sealed] = field(default_factory=Ledger)
    record: RecordView | None = None
    state: str = "ready"

    def __post_init__(self) -> None:
        self.gate: Gate[Sealed] = Gate(self, self.ledger, LeaseCache())
        self._nursery: trio.Nursery | None = None

    # -- what the gate asks -------------------------------------------------------------------

    def connected(self) -> bool:
        return True

    def own(self) -> Own | None:
        record = self.record
        return None if record is None else Own(record, record.broker_epoch, "0" * 32, 15_000)

    def posture(self) -> Posture:
        return self.posture_now

    def pane(self, pane_id: int) -> PaneFacts | None:
        tab = self.tabs.get(pane_id)
        return None if tab is None else PaneFacts(1, ready=True, tab=tab)

    def affected(self, verb: str, pane_id: int, other: int | None) -> frozenset[int]:
        touched = {self.tabs[pane_id], self.tabs.get(other or pane_id), max(self.tabs.values())}
        return frozenset(pane for pane, tab in self.tabs.items() if tab in touched)

    def removed(self, verb: str, pane_id: int) -> frozenset[int]:
        return frozenset({pane_id} if verb == "term.pane.close" else ())

    # -- its life -----------------------------------------------------------------------------

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Serve, with a record for itself and one for the shell of each pane."""
        async with AsyncExitStack() as stack:
            connect = self.memory.connect
            service, bus = [await stack.enter_async_context(connect()) for _ in range(2)]
            await stack.enter_async_context(service.serve("term", self._about))
            stack.enter_context(bus.attend_bound(self.take))
            self.record = await bus.sessions.allocate(SessionKey.generate())
            held = [(bus, self.record)]
            for pane in self.tabs:
                child = await stack.enter_async_context(connect())
                held.append((child, await self._enrol(bus, child, pane)))
            self._nursery = await stack.enter_async_context(trio.open_nursery())
            self._nursery.start_soon(_renew, held)
            yield
            self._nursery.cancel_scope.cancel()

    async def _enrol(self, bus: Bus, child: Bus, pane: int) -> RecordView:
        assert self.record is not None
        key = SessionKey.generate()
        granted, record = await bus.sessions.grant_create(
            self.record.ref,
            pane_id=pane,
            pane_generation=1,
            public_key=key.public_key,
            capabilities=CAPABILITIES,
        )
        return await child.sessions.enrol(key, granted, record)

    async def _about(self, _request: Request) -> tuple[int, dict[str, object]]:
        name = "" if self.record is None else self.record.name
        identity = {"state": self.state, "name": name}
        return RC_OK, {
            "service": "term", "version": "0", "posture": "open", "verbs": [], "limits": {},
            "identity": identity,
        }  # fmt: skip

    # -- requests -----------------------------------------------------------------------------

    def take(self, request: Request) -> None:
        """A request has come; what becomes of it is the plan's."""
        mutates = request.command not in {*SESSION, "term.operation", "term.snapshot"}
        what = self.plan.popleft() if self.plan and mutates else ""
        self.seen.append((request.from_connection, request.command, request.raw))
        assert self._nursery is not None
        self._nursery.start_soon(self._do, request, what)

    async def _do(self, request: Request, what: str) -> None:
        if what == DROP:
            return
        if what == LATE:
            await trio.sleep(1)
        if what == TWICE:
            await self.answer(request)
        sealed = await self.answer(request)
        if what == BROKEN:
            self.memory.kill()
            self.memory.restart()
        elif what != MUTE:
            request.respond(sealed.rc, sealed.raw)

    async def answer(self, request: Request) -> Sealed:
        """Evaluate, and carry it out in that step."""
        ask = Ask(request.principal, request.command, request.raw)
        decision = self.gate.evaluate(ask, trio.current_time(), virtual_ms())
        if isinstance(decision, Refuse):
            return seal_refusal(decision.refusal)
        if isinstance(decision, Told):
            return decision.reply or _good(decision.body or {})
        assert isinstance(decision, Go)
        if not decision.spec.mutates:
            return _good(self._read(request, decision))
        return await self._mutate(request, decision)

    async def _mutate(self, request: Request, go: Go) -> Sealed:
        now, number = trio.current_time(), go.request.request_id or 0
        if self.refuses is not None:
            return seal_refusal(self.refuses)
        if go.request.foreground not in {None, self.foreground}:
            return seal_refusal(Refusal(ErrorCode.STALE_GENERATION, "it is another"))
        reservation = self.ledger.reserve(
            go.actor, number, go.request.digest, go.target, go.request.command, now=now
        )
        self.effects[request.from_connection, number] += 1
        with reservation:
            await trio.sleep(self.slow_s)
            sealed, later = self._done(go, reservation.operation_id)
            reservation.record(sealed, trio.current_time(), later)
        return sealed

    def _done(self, go: Go, operation: int) -> tuple[Sealed, Later | None]:
        body: dict[str, object] = {"operation_id": str(operation)}
        if not go.spec.input:
            return _good({**body, "target": go.target.to_json(), "tab_id": "2"}), None
        later = Later()
        later.settle(
            {**body, "status": "completed", "boundary": "pty_write",
             "delivered_bytes_lower_bound": "3"}
        )  # fmt: skip
        return _good({**body, "status": "accepted", "outcome": "unknown"}), later

    def _read(self, request: Request, go: Go) -> dict[str, object]:
        target = go.target.to_json()
        if go.spec.name == "term.snapshot":
            if not go.args["contents"]:
                return {"target": target, "foreground_generation": str(self.foreground)}
            return {"target": target, "revision": 7, "text": "hello"}
        if go.spec.name == "term.wait":
            return {"target": target, "outcome": "deadline", "revision": len(self.seen)}
        return {**self._session(request, go), "target": target}

    def _session(self, request: Request, go: Go) -> dict[str, Any]:
        assert self.record is not None
        panes = [
            {"target": self.target(pane).to_json(), "tab_id": str(tab), "cols": 80, "rows": 24,
             "child_pid": 5, "title": "sh", "state": "running"}
            for pane, tab in self.tabs.items()
        ]  # fmt: skip
        tabs = [
            {"id": str(tab), "active": tab == max(self.tabs.values()), "title": "", "cols": 80,
             "rows": 24, "panes": [str(pane) for pane in self.tabs if self.tabs[pane] == tab]}
            for tab in sorted(set(self.tabs.values()))
        ]  # fmt: skip
        return {
            "instance_id": self.record.instance_id, "incarnation": self.record.incarnation,
            "policy": self.record.policy, "request_epoch": request.from_connection,
            "request_high_water": str(self.ledger.high_water(go.actor)), "panes": panes,
            "tabs": tabs, "binding": "attached", "foreground_generation": str(self.foreground),
            "retention_seconds": 900, "requests_per_actor": 1024, "instance_request_limit": 4096,
        }  # fmt: skip

    def target(self, pane: int) -> Target:
        assert self.record is not None
        return Target(self.record.instance_id, self.record.incarnation, pane, 1)


def _good(body: Any) -> Sealed:  # noqa: ANN401  # a JSON object
    return Sealed(RC_OK, encode(dict(body)), "ok", None)


async def _renew(held: list[tuple[Bus, RecordView]]) -> None:
    """Keep them as long as this broker lives."""
    with suppress(BusError):
        while True:
            await trio.sleep(5)
            for bus, record in held:
                await bus.sessions.renew(record.ref)
