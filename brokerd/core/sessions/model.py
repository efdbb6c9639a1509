"""What sessions are made of: records, grants, challenges, notices, and how states may change.

Times are milliseconds of the broker's clock; something has ended when the clock is at or past its
time. Ids are 32 hex digits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, StrEnum
from typing import Final, NamedTuple, TypeAlias, TypeVar

from brokerd.encodings import Proof, capabilities_hash, key_hash


class RecordState(StrEnum):
    """How far a record has been proved."""

    PENDING = "pending"
    ATTACHED = "attached"
    SUSPENDED = "suspended"
    REVOKED = "revoked"


class GrantState(StrEnum):
    """What has become of a grant."""

    PENDING = "pending"
    CONSUMED = "consumed"
    EXPIRED = "expired"
    REVOKED = "revoked"


RECORD_MOVES: Final[Mapping[RecordState, frozenset[RecordState]]] = {
    RecordState.PENDING: frozenset({RecordState.ATTACHED, RecordState.REVOKED}),
    # Attached again: its key proved it once more, here or on another connection.
    RecordState.ATTACHED: frozenset(
        {RecordState.ATTACHED, RecordState.SUSPENDED, RecordState.REVOKED}
    ),
    RecordState.SUSPENDED: frozenset({RecordState.ATTACHED, RecordState.REVOKED}),
    RecordState.REVOKED: frozenset(),
}
GRANT_MOVES: Final[Mapping[GrantState, frozenset[GrantState]]] = {
    GrantState.PENDING: frozenset({GrantState.CONSUMED, GrantState.EXPIRED, GrantState.REVOKED}),
    GrantState.CONSUMED: frozenset(),
    GrantState.EXPIRED: frozenset(),
    GrantState.REVOKED: frozenset(),
}

State = TypeVar("State", RecordState, GrantState)


def moved(table: Mapping[State, frozenset[State]], old: State, new: State) -> State:
    """``new``. Raises AssertionError for a change that the table does not have."""
    if new not in table[old]:
        raise AssertionError(f"no way from {old} to {new}")
    return new


class Ref(NamedTuple):
    """What names one binding of a record: with a later binding it names nothing."""

    record_id: str
    incarnation: str
    binding_generation: int


@dataclass(slots=True, eq=False, kw_only=True)
class Record:
    """One identity: of a Term, or of the pane shell of one of its panes.

    ``ends_ms`` is when its state ends by itself: the grant while pending, the lease while
    attached, the window while suspended. ``connection_id`` holds it now; ``former`` held it last
    and is still connected.
    """

    name: str
    record_id: str
    instance_id: str
    incarnation: str
    uid: int
    role: str
    public_key: bytes
    capabilities: tuple[str, ...]
    """Ascending, without duplicates."""
    policy: str
    parent: Record | None = None
    pane_id: int | None = None
    pane_generation: int | None = None
    grant: Grant | None = None
    """The one that made it; None for a Term."""
    binding_generation: int = 0
    state: RecordState = RecordState.PENDING
    connection_id: str | None = None
    former: str | None = None
    ends_ms: int = 0
    children: dict[str, Record] = field(default_factory=dict)
    """Those not revoked, by record id."""
    panes: dict[int, int] = field(default_factory=dict)
    """The highest generation granted for each pane. As many as names are left to issue."""
    retired: dict[Ref, None] = field(default_factory=dict)
    """The latest children that were revoked, so that revoking one again is no error."""

    @property
    def ref(self) -> Ref:
        """What names it now."""
        return Ref(self.record_id, self.incarnation, self.binding_generation)

    @property
    def attached(self) -> bool:
        """Whether a connection holds it."""
        return self.state is RecordState.ATTACHED

    def move(self, state: RecordState) -> None:
        """Change the state. Raises AssertionError for a change that RECORD_MOVES does not have."""
        self.state = moved(RECORD_MOVES, self.state, state)


@dataclass(slots=True, eq=False, kw_only=True)
class Grant:
    """Leave to enrol once, given by an attached Term for one key and one pane."""

    grant_id: str
    record: Record
    parent: Record
    expires_ms: int
    state: GrantState = GrantState.PENDING

    def move(self, state: GrantState) -> None:
        """Change the state. Raises AssertionError for a change that GRANT_MOVES does not have."""
        self.state = moved(GRANT_MOVES, self.state, state)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Challenge:
    """What one connection was given to sign. Good for one attempt."""

    id: str
    connection_id: str
    record: Record
    purpose: str
    grant: Grant | None
    """Of an enrolment; None when resuming."""
    nonce: bytes
    expires_ms: int
    binding_generation: int
    """The one that the proof would give the record."""
    selector: tuple[object, ...]
    """What was asked; the same question gets the same challenge."""

    def proof(self, epoch: str) -> Proof:
        """The facts to sign."""
        record, parent = self.record, self.record.parent
        return Proof(
            purpose=self.purpose,
            broker_epoch=epoch,
            connection_id=self.connection_id,
            challenge_id=self.id,
            nonce=self.nonce,
            grant_id=self.grant.grant_id if self.grant else None,
            record_id=record.record_id,
            instance_id=record.instance_id,
            incarnation=record.incarnation,
            owner_uid=record.uid,
            parent_instance=parent.instance_id if parent else None,
            parent_incarnation=parent.incarnation if parent else None,
            parent_key_hash=key_hash(parent.public_key) if parent else None,
            pane_id=record.pane_id,
            pane_generation=record.pane_generation,
            role=record.role,
            public_key_hash=key_hash(record.public_key),
            capabilities_hash=capabilities_hash(record.capabilities),
            binding_generation=self.binding_generation,
            grant_expires_ms=self.grant.expires_ms if self.grant else None,
            challenge_expires_ms=self.expires_ms,
        )


class Notice(NamedTuple):
    """That a record was in this state; the record itself may have moved on."""

    ref: Ref
    state: RecordState


class Gap(Enum):
    """That a connection was not told everything."""

    GAP = "gap"


GAP: Final = Gap.GAP
Told: TypeAlias = Notice | Gap


@dataclass(frozen=True, slots=True)
class Bound:
    """The name is now the route of this connection, and its only one."""

    connection_id: str
    name: str


@dataclass(frozen=True, slots=True)
class Unbound:
    """The connection no longer has that name. It may be gone itself."""

    connection_id: str
    name: str


Effect: TypeAlias = Bound | Unbound
