"""How a key proves its record: a fresh challenge, and one attempt at it."""

from __future__ import annotations

from typing import NamedTuple

from brokerd.core.sessions import life
from brokerd.core.sessions.model import Challenge, Grant, GrantState, Record, RecordState
from brokerd.core.sessions.refusals import because, expired
from brokerd.core.sessions.tables import Caller, Tables
from brokerd.encodings import ENROL, MAX_U64, NONCE_BYTES, PURPOSES, RESUME
from brokerd.errors import Refusal, forbidden, invalid
from brokerd.keys import verify

_RESUMABLE = (RecordState.ATTACHED, RecordState.SUSPENDED)


class Selector(NamedTuple):
    """A record, and what its key is to prove."""

    record_id: str
    incarnation: str
    purpose: str
    grant_id: str | None


def challenge_record(tables: Tables, caller: Caller, selector: Selector) -> Challenge:
    """The challenge for a record that the caller can name."""
    if selector.purpose not in PURPOSES:
        raise invalid("purpose", "purpose is one of: " + ", ".join(PURPOSES))
    record = tables.records.owned(caller.uid, selector.record_id)
    if record.incarnation != selector.incarnation:
        raise forbidden()
    grant = _grant_of(record, selector.purpose, selector.grant_id)
    return _given(tables, caller.connection_id, selector, record, grant)


def challenge_key(
    tables: Tables, caller: Caller, public_key: bytes
) -> tuple[Challenge, Refusal | None]:
    """The challenge for whatever record has this key; and why no wait for it was noted, if so."""
    connection_id, uid = caller
    record = tables.records.with_key(public_key)
    if record is None or record.uid != uid:
        tables.interests.note(connection_id, uid, public_key, tables.now_ms)
        raise forbidden()
    grant = record.grant if record.state is RecordState.PENDING else None
    challenge = _given(tables, connection_id, (public_key, ENROL), record, grant)
    return challenge, tables.interests.note(connection_id, uid, public_key, tables.now_ms)


def prove(tables: Tables, caller: Caller, challenge_id: str | None, signature: bytes) -> Record:
    """One attempt: the record is attached here when all is still so at this moment."""
    connection_id, uid = caller
    challenge = tables.challenges.redeem(connection_id, challenge_id)
    record = challenge.record
    if record.uid != uid:
        raise forbidden()
    if record.parent is not None and not record.parent.attached:
        raise expired()
    if tables.bindings.holds(connection_id) not in (None, record):
        raise because("already_bound")
    _require_next(challenge)
    transcript = challenge.proof(tables.epoch).transcript()
    if not verify(record.public_key, signature, transcript):
        raise forbidden()
    _require_pending(challenge.grant)
    life.attach(tables, record, connection_id)
    return record


def _grant_of(record: Record, purpose: str, grant_id: str | None) -> Grant | None:
    if purpose == RESUME:
        if grant_id is not None:
            raise invalid("grant_id", "resume takes grant_id null")
        if record.state not in _RESUMABLE:
            raise forbidden()
        return None
    grant = record.grant
    if grant is None or grant.grant_id != grant_id:
        raise invalid("grant_id", "enrol takes the id of the record's pending grant")
    _require_pending(grant)
    return grant


def _given(
    tables: Tables,
    connection_id: str,
    selector: tuple[object, ...],
    record: Record,
    grant: Grant | None,
) -> Challenge:
    """The outstanding challenge when the question is the same, else a new one."""
    same = tables.challenges.same(connection_id, selector, tables.now_ms)
    if same is not None:
        return same
    if record.binding_generation >= MAX_U64:
        raise because("generation_limit")
    tables.challenges.require_room(record.uid)
    challenge = Challenge(
        id=tables.new_id(),
        connection_id=connection_id,
        record=record,
        purpose=RESUME if grant is None else ENROL,
        grant=grant,
        nonce=tables.new_bytes(NONCE_BYTES),
        expires_ms=min(tables.now_ms + tables.limits.challenge_ms, _last_moment(tables, record)),
        binding_generation=record.binding_generation + 1,
        selector=selector,
    )
    tables.challenges.open(challenge)
    return challenge


def _last_moment(tables: Tables, record: Record) -> int:
    # The end of a lease only starts the window in which the record can be resumed.
    window = tables.limits.window_ms if record.attached else 0
    return record.ends_ms + window


def _require_next(challenge: Challenge) -> None:
    now = challenge.record.binding_generation
    if now >= MAX_U64:
        raise because("generation_limit")
    if challenge.binding_generation != now + 1:
        raise because("binding_pending")


def _require_pending(grant: Grant | None) -> None:
    if grant is None or grant.state is GrantState.PENDING:
        return
    raise because("grant_consumed") if grant.state is GrantState.CONSUMED else expired()
