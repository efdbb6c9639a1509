"""What the broker says of sessions, as values: records, grants, challenges. No I/O.

``from_json`` is strict: a field too many, one missing or one of another kind is MalformedReply. The
fields are those of specs/sessions.md; generations, panes and milliseconds are numbers here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from brokerd import fields
from brokerd.client.errors import MalformedReply
from brokerd.client.messages import ReplyError
from brokerd.encodings import POLICIES, ROLES, TERM, Proof
from brokerd.fields import BadField, Reader, read_fields

PENDING: Final = "pending"
ATTACHED: Final = "attached"
SUSPENDED: Final = "suspended"
REVOKED: Final = "revoked"
RECORD_STATES: Final = (PENDING, ATTACHED, SUSPENDED, REVOKED)

_GRANT_STATES: Final = (PENDING, "consumed", "expired", REVOKED)
_ASSURANCES: Final = ("reserved", "session-bound")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Ref:
    """One attachment of one record; the next attachment has a higher ``binding_generation``."""

    record_id: str
    incarnation: str
    binding_generation: int

    def to_json(self) -> dict[str, object]:
        """As it is on the wire."""
        return {key: fields.plain(getattr(self, key)) for key in self.__slots__}

    @classmethod
    def from_json(cls, raw: object) -> Ref:
        """Raises MalformedReply for anything but a reference."""
        return parsed("target", lambda: cls(**read_fields(fields.REF, raw)))


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordView:
    """A record as the broker told it to its owner. It may have changed since.

    ``role`` is ``term``, or ``pane-shell`` with a parent and a pane. ``state`` is one of
    RECORD_STATES; ``lease_remaining_ms`` is None unless attached.
    """

    name: str
    record_assurance: str
    owner_node: str
    owner_uid: int
    broker_epoch: str
    record_id: str
    instance_id: str
    incarnation: str
    role: str
    parent_instance: str | None
    parent_incarnation: str | None
    pane_id: int | None
    pane_generation: int | None
    binding_generation: int
    state: str
    capabilities: tuple[str, ...]
    policy: str
    lease_remaining_ms: int | None

    @property
    def ref(self) -> Ref:
        """The attachment that this view shows."""
        return Ref(self.record_id, self.incarnation, self.binding_generation)

    @property
    def attached(self) -> bool:
        """Whether a connection held it."""
        return self.state == ATTACHED

    def to_json(self) -> dict[str, object]:
        """As it is on the wire."""
        view = {key: fields.plain(getattr(self, key)) for key in self.__slots__}
        return {**view, "owner_uid": self.owner_uid}

    @classmethod
    def from_json(cls, raw: object) -> RecordView:
        """Raises MalformedReply for anything but a record."""
        return parsed("record", lambda: cls._from_fields(read_fields(_RECORD, raw)))

    @classmethod
    def _from_fields(cls, values: Mapping[str, Any]) -> RecordView:
        view = cls(**values)
        place = (view.parent_instance, view.parent_incarnation, view.pane_id, view.pane_generation)
        if view.role == TERM and place != (None, None, None, None):
            raise BadField("a Term without a pane")
        if view.role != TERM and None in place:
            raise BadField("a pane shell with its pane")
        if view.attached != (view.lease_remaining_ms is not None):
            raise BadField("a lease while attached")
        return view


_RECORD: Final[Mapping[str, Reader]] = {
    "name": fields.allocated_name,
    "record_assurance": fields.one_of(_ASSURANCES),
    "owner_node": fields.node,
    "owner_uid": fields.uid,
    "broker_epoch": fields.identifier,
    "record_id": fields.identifier,
    "instance_id": fields.identifier,
    "incarnation": fields.identifier,
    "role": fields.one_of(ROLES),
    "parent_instance": fields.or_none(fields.identifier),
    "parent_incarnation": fields.or_none(fields.identifier),
    "pane_id": fields.or_none(fields.number),
    "pane_generation": fields.or_none(fields.number),
    "binding_generation": fields.number,
    "state": fields.one_of(RECORD_STATES),
    "capabilities": fields.capabilities,
    "policy": fields.one_of(POLICIES),
    "lease_remaining_ms": fields.or_none(fields.number),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantView:
    """Leave for one key to become one pane's shell, until ``expires_ms`` (the broker's clock).

    ``public_key`` and ``parent_key_hash`` are 64 hex digits.
    """

    grant_id: str
    record_id: str
    incarnation: str
    public_key: str
    parent_key_hash: str
    expires_ms: int
    state: str

    def to_json(self) -> dict[str, object]:
        """As it is on the wire."""
        return {key: fields.plain(getattr(self, key)) for key in self.__slots__}

    @classmethod
    def from_json(cls, raw: object) -> GrantView:
        """Raises MalformedReply for anything but a grant."""
        return parsed("grant", lambda: cls(**read_fields(_GRANT, raw)))


_GRANT: Final[Mapping[str, Reader]] = {
    "grant_id": fields.identifier,
    "record_id": fields.identifier,
    "incarnation": fields.identifier,
    "public_key": fields.digest,
    "parent_key_hash": fields.digest,
    "expires_ms": fields.number,
    "state": fields.one_of(_GRANT_STATES),
}


@dataclass(frozen=True, slots=True)
class Challenge:
    """What to sign; ``wake_error`` says why no notice will tell of a grant of the key."""

    proof: Proof
    wake_error: ReplyError | None = None

    @classmethod
    def from_json(cls, raw: object) -> Challenge:
        """Raises MalformedReply for anything but a challenge."""
        return parsed("challenge", lambda: cls._from_fields(raw))

    @classmethod
    def _from_fields(cls, raw: object) -> Challenge:
        if not isinstance(raw, Mapping):
            raise BadField("an object")
        proof = Proof.from_json({key: raw[key] for key in raw if key != "wake_error"})
        if proof is None:
            raise BadField("a proof")
        return cls(proof, _wake_error(raw.get("wake_error")))


@dataclass(frozen=True, slots=True)
class Hello:
    """Who this connection is. ``uid`` is None for another machine."""

    broker_epoch: str
    connection_id: str
    node: str
    uid: int | None

    @classmethod
    def from_json(cls, raw: object) -> Hello:
        """Raises MalformedReply for anything but the answer to session.hello."""
        return parsed("hello", lambda: cls(**read_fields(_HELLO, raw)))


_HELLO: Final[Mapping[str, Reader]] = {
    "broker_epoch": fields.identifier,
    "connection_id": fields.identifier,
    "node": fields.node,
    "uid": fields.or_none(fields.uid),
}


def _wake_error(raw: object) -> ReplyError | None:
    if raw is None:
        return None
    keys = {"error_code": str, "message": str, "details": dict}
    if not isinstance(raw, dict) or raw.keys() != keys.keys():
        raise BadField("an error")
    if not all(isinstance(raw[key], kind) for key, kind in keys.items()):
        raise BadField("an error")
    return ReplyError(raw["error_code"], raw["message"], raw["details"])


def parsed(what: str, parse: Callable[[], T]) -> T:
    """The value, or MalformedReply that names ``what`` was expected."""
    try:
        return parse()
    except BadField:
        raise MalformedReply(what) from None
