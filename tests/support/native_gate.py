"""A gate of the native lane in a small world of panes, with hands on everything that goes in."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from brokerd.client import (
    CAPABILITIES,
    DEFAULT_OPEN,
    PANE_SHELL,
    TERM,
    Json,
    NodePrincipal,
    Principal,
    RecordView,
    Refusal,
    SessionBinding,
)
from termnode.control.native.decisions import Decision, Go, Need, Refuse, Told
from termnode.control.native.fields import (
    FOREGROUND,
    OPERATION_ID,
    REQUEST_EPOCH,
    REQUEST_ID,
)
from termnode.control.native.gate import Gate
from termnode.control.native.leases import LeaseCache
from termnode.control.native.ledger import Ledger
from termnode.control.native.request import Ask
from termnode.control.native.table import NATIVE
from termnode.control.native.world import Own, PaneFacts
from termnode.control.posture import Posture
from termnode.lanes.calls import Sealed

INSTANCE = "0" * 31 + "1"
INCARNATION = "0" * 31 + "2"
OTHER = "f" * 32
EPOCH = "e" * 32
MINE = "c" * 32
"""The caller's connection."""

Who: TypeAlias = Principal | NodePrincipal | None

NOW = 100.0
NOW_MS = 1_000_000

OWN_RECORD = RecordView(
    name="t0-" + "a" * 22,
    record_assurance="session-bound",
    owner_node="here",
    owner_uid=1000,
    broker_epoch=EPOCH,
    record_id="a" * 32,
    instance_id=INSTANCE,
    incarnation=INCARNATION,
    role=TERM,
    parent_instance=None,
    parent_incarnation=None,
    pane_id=None,
    pane_generation=None,
    binding_generation=3,
    state="attached",
    capabilities=CAPABILITIES,
    policy=DEFAULT_OPEN,
    lease_remaining_ms=15_000,
)
OWN = Own(OWN_RECORD, EPOCH, "d" * 32, 14_000)

AMBIENT = Principal(
    owner_node="here",
    unix_uid=1000,
    unix_gid=1000,
    peer_pid=4242,
    broker_epoch=EPOCH,
    connection_id=MINE,
)
NODE = NodePrincipal(owner_node="there", broker_epoch=EPOCH, connection_id=MINE)


def child(
    pane: int = 1,
    generation: int = 1,
    *,
    capabilities: tuple[str, ...] = CAPABILITIES,
    instance: str = INSTANCE,
    incarnation: str = INCARNATION,
    binding: int = 1,
) -> Principal:
    """The shell of a pane."""
    session = SessionBinding(
        record_id="b" * 32,
        instance_id="9" * 32,
        incarnation="8" * 32,
        role=PANE_SHELL,
        parent_instance=instance,
        parent_incarnation=incarnation,
        pane_id=pane,
        pane_generation=generation,
        binding_generation=binding,
        capabilities=capabilities,
        lease_remaining_ms=15_000,
    )
    return replace(AMBIENT, session=session)


def term(
    record_id: str = OWN_RECORD.record_id,
    incarnation: str = INCARNATION,
    capabilities: tuple[str, ...] = CAPABILITIES,
) -> Principal:
    """A Term; this one unless told otherwise."""
    session = SessionBinding(
        record_id=record_id,
        instance_id=INSTANCE,
        incarnation=incarnation,
        role=TERM,
        parent_instance=None,
        parent_incarnation=None,
        pane_id=None,
        pane_generation=None,
        binding_generation=3,
        capabilities=capabilities,
        lease_remaining_ms=15_000,
    )
    return replace(AMBIENT, session=session)


@dataclass
class FakeWorld:
    """Panes by tab; the first tab is the active one."""

    up: bool = True
    mine: Own | None = OWN
    stance: Posture = Posture.OPEN
    tabs: list[list[int]] = field(default_factory=lambda: [[1, 2], [3]])
    facts: dict[int, PaneFacts] = field(
        default_factory=lambda: {each: PaneFacts(each, ready=True, tab=1) for each in (1, 2, 3)}
    )

    def connected(self) -> bool:
        return self.up

    def own(self) -> Own | None:
        return self.mine

    def posture(self) -> Posture:
        return self.stance

    def pane(self, pane_id: int) -> PaneFacts | None:
        return self.facts.get(pane_id)

    def affected(self, verb: str, pane_id: int, other: int | None) -> frozenset[int]:
        tabs = [*self._tabs(pane_id), *([] if other is None else self._tabs(other))]
        return frozenset(each for tab in (*tabs, self.tabs[0]) for each in tab)

    def removed(self, verb: str, pane_id: int) -> frozenset[int]:
        if verb == "term.tab.close":
            return frozenset(self._tabs(pane_id)[0])
        return frozenset({pane_id} if verb == "term.pane.close" else ())

    def _tabs(self, pane_id: int) -> list[list[int]]:
        found = [tab for tab in self.tabs if pane_id in tab]
        assert found, "asked about a pane that there is not"
        return found


@dataclass
class Rig:
    """A gate and its surroundings. Pane N has generation N."""

    world: FakeWorld = field(default_factory=FakeWorld)
    ledger: Ledger[Sealed] = field(default_factory=Ledger)
    leases: LeaseCache = field(default_factory=LeaseCache)
    now: float = NOW
    now_ms: int = NOW_MS

    def __post_init__(self) -> None:
        self.gate = Gate(self.world, self.ledger, self.leases)

    def evaluate(self, principal: Who, verb: str, body: object) -> Decision[Sealed]:
        raw = body if isinstance(body, bytes) else encoded(body)
        return self.again(Ask(principal, verb, raw))

    def again(self, ask: Ask) -> Decision[Sealed]:
        return self.gate.evaluate(ask, self.now, self.now_ms)

    def lease(self, need: Need, remaining_ms: int = 10_000) -> None:
        """The broker confirms it."""
        assert self.leases.put(self.leases.begin(need.ref, self.now_ms), remaining_ms)

    def perform(self, go: Go, reply: Sealed | None = None) -> None:
        """Reserve, run, record."""
        request = go.request
        assert request.request_id is not None
        reservation = self.ledger.reserve(
            go.actor, request.request_id, request.digest, go.target, request.command, now=self.now
        )  # fmt: skip
        reservation.record(reply or Sealed(0, b"{}", "ok"), self.now)


def encoded(body: object) -> bytes:
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


def target(pane: int = 1, **changed: Json) -> dict[str, Json]:
    """Of pane N, which has generation N."""
    made: dict[str, Json] = {
        "instance_id": INSTANCE,
        "incarnation": INCARNATION,
        "pane_id": str(pane),
        "pane_generation": str(pane),
    }
    return {**made, **changed}


REQUIRED: Mapping[str, dict[str, Json]] = {
    "term.snapshot": {},
    "term.wait": {"quiet_ms": 50},
    "term.tab.new": {},
    "term.pane.split": {"dir": "h"},
    "term.pane.swap": {"with": "2"},
    "term.pane.join": {"beside": "2", "dir": "v"},
}
"""Own fields where those of the example are more than needed, or of another pane."""


def body_for(verb: str, *, affected: tuple[int, ...] = (2,), **changed: Json) -> dict[str, Any]:
    """A good body on pane 1; a field that is changed to None goes."""
    spec = NATIVE[verb]
    around: dict[str, Json] = {
        "target": target(),
        "affected": [target(pane) for pane in affected],
        REQUEST_ID: "1",
        REQUEST_EPOCH: MINE,
        FOREGROUND: "1",
        OPERATION_ID: "1",
    }
    own = REQUIRED.get(verb, dict(spec.example))
    body: dict[str, Any] = {key: value for key, value in around.items() if key in spec.known}
    if verb == "term.props.set" and own.get("property") != "input":
        del body[FOREGROUND]
    return {key: value for key, value in {**body, **own, **changed}.items() if value is not None}


def said(decision: object) -> str:
    """In a word: go, need, told, or the error code with its reason or field."""
    match decision:
        case Refuse(refusal=refusal):
            return words(refusal)
        case Go():
            return "go"
        case Need():
            return "need"
        case Told():
            return "told"
    raise AssertionError("not a decision")


def words(refusal: Refusal) -> str:
    why = refusal.details.get("reason", refusal.details.get("field", ""))
    return f"{refusal.code} {why}".strip()
