"""How records come to be: a Term's by its own key, a pane shell's by a grant of its Term."""

from __future__ import annotations

from typing import NamedTuple

from brokerd.core.sessions import life
from brokerd.core.sessions.model import Grant, Record
from brokerd.core.sessions.refusals import because
from brokerd.core.sessions.tables import Caller, Tables
from brokerd.encodings import (
    CAPABILITIES,
    MAX_U64,
    PANE_SHELL,
    POLICIES,
    TERM,
    allocation_transcript,
    encode_capabilities,
)
from brokerd.errors import ErrorCode, Refusal, forbidden, invalid
from brokerd.keys import sound_key, verify


class Pane(NamedTuple):
    """A pane of a Term, in one of its generations."""

    id: int
    generation: int


def allocate(
    tables: Tables, caller: Caller, public_key: bytes, signature: bytes, policy: str
) -> Record:
    """A Term's record, attached to the caller."""
    connection_id, uid = caller
    if tables.bindings.ever(connection_id):
        raise because("already_bound")
    if policy not in POLICIES:
        raise invalid("policy", "policy is one of: " + ", ".join(POLICIES))
    transcript = allocation_transcript(tables.epoch, connection_id, public_key, policy)
    if not sound_key(public_key) or not verify(public_key, signature, transcript):
        raise forbidden()
    tables.records.require_unused(public_key)
    tables.records.terms.require_one(uid)
    record = Record(
        name=tables.names.issue(TERM, uid),
        record_id=tables.new_id(),
        instance_id=tables.new_id(),
        incarnation=tables.new_id(),
        uid=uid,
        role=TERM,
        public_key=public_key,
        capabilities=CAPABILITIES,
        policy=policy,
    )
    tables.records.add(record)
    life.attach(tables, record, connection_id)
    return record


def create_grant(
    tables: Tables,
    parent: Record,
    pane: Pane,
    public_key: bytes,
    capabilities: tuple[str, ...],
) -> Grant:
    """A pending record for the shell of a pane of ``parent``, and leave to enrol it once."""
    if parent.role != TERM:
        raise forbidden()
    _check_pane(pane)
    _check_capabilities(capabilities)
    if not sound_key(public_key):
        raise invalid("public_key", "public_key is not a sound Ed25519 key")
    tables.records.require_unused(public_key)
    if pane.generation <= parent.panes.get(pane.id, 0):
        raise Refusal(
            ErrorCode.STALE_GENERATION,
            "that pane had a grant of this generation or a later one; use the next",
        )
    tables.grants.require_room(parent)
    record = Record(
        name=tables.names.issue(PANE_SHELL, parent.uid),
        record_id=tables.new_id(),
        instance_id=tables.new_id(),
        incarnation=tables.new_id(),
        uid=parent.uid,
        role=PANE_SHELL,
        public_key=public_key,
        capabilities=tuple(sorted(capabilities)),
        policy=parent.policy,
        parent=parent,
        pane_id=pane.id,
        pane_generation=pane.generation,
    )
    parent.panes[pane.id] = pane.generation
    return _open(tables, record, parent)


def fetch_grant(tables: Tables, caller: Caller, public_key: bytes) -> Grant:
    """The grant of that key that the caller's Term made, whatever became of it."""
    holder = tables.bindings.holds(caller.connection_id)
    record = tables.records.with_key(public_key)
    if holder is None or record is None or record.grant is None:
        raise forbidden()
    if record.parent is not holder or record.uid != caller.uid:
        raise forbidden()
    return record.grant


def _open(tables: Tables, record: Record, parent: Record) -> Grant:
    grant = Grant(
        grant_id=tables.new_id(),
        record=record,
        parent=parent,
        expires_ms=tables.now_ms + tables.limits.grant_ms,
    )
    record.grant, record.ends_ms = grant, grant.expires_ms
    tables.records.add(record)
    tables.grants.open(grant)
    life.tell(tables, record)
    return grant


def _check_pane(pane: Pane) -> None:
    for field, value in (("pane_id", pane.id), ("pane_generation", pane.generation)):
        if not 1 <= value <= MAX_U64:
            raise invalid(field, f"{field} is at least 1")


def _check_capabilities(capabilities: tuple[str, ...]) -> None:
    try:
        encode_capabilities(capabilities)
    except ValueError:
        raise invalid(
            "capabilities", "capabilities are 1 to 6 different ones of: " + ", ".join(CAPABILITIES)
        ) from None
