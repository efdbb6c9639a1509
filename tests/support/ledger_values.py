"""Callers, requests and panes for the random histories of the retry rules."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Final

from brokerd.client import (
    CAPABILITIES,
    DEFAULT_OPEN,
    PANE_SHELL,
    TERM,
    Principal,
    RecordView,
    SessionBinding,
)
from termnode.control.native.world import Own, PaneFacts
from termnode.control.posture import Posture
from termnode.control.spec import U64_MAX

INSTANCE: Final = "a" * 32
INCARNATION: Final = "b" * 32
EPOCH: Final = "e" * 32
BAD_IDS: Final = ("-1", "01", "+1", "1_0", " 1", "1 ", "", "\u0661", "\uff11", str(U64_MAX + 1))
VERBS: Final = (
    "term.pane.rename",
    "term.tab.new",
    "term.type",
    "term.pane.rename",
    "term.pane.close",
)
NO_ID: Final = ("0", None)


def fresh_id(serial: int) -> str:
    return hashlib.md5(str(serial).encode(), usedforsecurity=False).hexdigest()


@dataclass(frozen=True, eq=False)
class Message:
    """A request on the wire, with what its sender meant by it."""

    client: Client
    principal: Principal
    verb: str
    raw: bytes
    request_id: str | None
    epoch: str | None
    pane: int

    @property
    def number(self) -> int:
        return 0 if self.request_id in BAD_IDS else int(self.request_id or 0)

    @property
    def digest(self) -> bytes:
        return hashlib.sha256(self.verb.encode() + b"\0" + self.raw).digest()

    @property
    def who(self) -> object:
        return self.client.who


@dataclass(eq=False)
class Client:
    """One caller, on one connection at a time."""

    principal: Principal
    last: int = 0
    sent: list[Message] = field(default_factory=list)
    old_epoch: str = "d" * 32

    @property
    def who(self) -> object:
        """Whose ids these are, said in the test's own way."""
        session = self.principal.session
        return self.principal.connection_id if session is None else session.record_id


@dataclass
class World:
    """Panes with a tab each; everything is live."""

    posture_now: Posture = Posture.OPEN
    panes: dict[int, int] = field(default_factory=lambda: {1: 1, 2: 1, 3: 1})

    def connected(self) -> bool:
        return True

    def own(self) -> Own:
        return OWN

    def posture(self) -> Posture:
        return self.posture_now

    def pane(self, pane_id: int) -> PaneFacts | None:
        generation = self.panes.get(pane_id)
        return None if generation is None else PaneFacts(generation, ready=True, tab=pane_id)

    def affected(self, verb: str, pane_id: int, other: int | None) -> frozenset[int]:
        return frozenset({pane_id})

    def removed(self, verb: str, pane_id: int) -> frozenset[int]:
        return frozenset({pane_id} if verb == "term.pane.close" else ())


OWN: Final = Own(
    RecordView(
        name="t0-" + "a" * 22, record_assurance="session-bound", owner_node="here", owner_uid=1000,
        broker_epoch=EPOCH, record_id="c" * 32, instance_id=INSTANCE, incarnation=INCARNATION,
        role=TERM, parent_instance=None, parent_incarnation=None, pane_id=None,
        pane_generation=None, binding_generation=1, state="attached", capabilities=CAPABILITIES,
        policy=DEFAULT_OPEN, lease_remaining_ms=15_000,
    ),
    EPOCH, "9" * 32, 15_000,
)  # fmt: skip


def target(pane: int) -> dict[str, str]:
    return {
        "instance_id": INSTANCE,
        "incarnation": INCARNATION,
        "pane_id": str(pane),
        "pane_generation": "1",
    }


def principal(serial: int, session: SessionBinding | None) -> Principal:
    """A process of the Term's own user, on a connection of its own."""
    return Principal(
        owner_node="here", unix_uid=1000, unix_gid=1000, peer_pid=7, broker_epoch=EPOCH,
        connection_id=fresh_id(serial), session=session,
    )  # fmt: skip


def pane_shell(serial: int) -> SessionBinding:
    """The record of the shell of pane 1, with every capability."""
    return SessionBinding(
        record_id=fresh_id(serial), instance_id="8" * 32, incarnation="7" * 32,
        role=PANE_SHELL, parent_instance=INSTANCE, parent_incarnation=INCARNATION, pane_id=1,
        pane_generation=1, binding_generation=1, capabilities=CAPABILITIES,
        lease_remaining_ms=15_000,
    )  # fmt: skip
