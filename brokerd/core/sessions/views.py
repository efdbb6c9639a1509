"""What goes on the wire of records, grants, challenges and notices: text, uids as numbers, null."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brokerd.core.sessions.model import Challenge, Grant, Notice, Record, Ref
from brokerd.encodings import key_hash
from brokerd.errors import Refusal

if TYPE_CHECKING:
    from brokerd.core.sessions.store import Sessions


def ref_view(ref: Ref) -> dict[str, object]:
    """A reference."""
    return {**ref._asdict(), "binding_generation": str(ref.binding_generation)}


def record_view(sessions: Sessions, record: Record) -> dict[str, object]:
    """A record as of now; also a revoked one that somebody still holds."""
    parent = record.parent
    remaining = str(sessions.lease_remaining(record)) if record.attached else None
    return {
        "name": record.name,
        "record_assurance": "session-bound" if record.binding_generation else "reserved",
        "owner_node": sessions.node,
        "owner_uid": record.uid,
        "broker_epoch": sessions.epoch,
        "record_id": record.record_id,
        "instance_id": record.instance_id,
        "incarnation": record.incarnation,
        "role": record.role,
        "parent_instance": parent.instance_id if parent else None,
        "parent_incarnation": parent.incarnation if parent else None,
        "pane_id": _number(record.pane_id),
        "pane_generation": _number(record.pane_generation),
        "binding_generation": str(record.binding_generation),
        "state": str(record.state),
        "capabilities": list(record.capabilities),
        "policy": record.policy,
        "lease_remaining_ms": remaining,
    }


def grant_view(grant: Grant) -> dict[str, object]:
    """A grant."""
    return {
        "grant_id": grant.grant_id,
        "record_id": grant.record.record_id,
        "incarnation": grant.record.incarnation,
        "public_key": grant.record.public_key.hex(),
        "parent_key_hash": key_hash(grant.parent.public_key).hex(),
        "expires_ms": str(grant.expires_ms),
        "state": str(grant.state),
    }


def challenge_view(
    sessions: Sessions, challenge: Challenge, wake_error: Refusal | None = None
) -> dict[str, object]:
    """A challenge: what to sign, and why a wait for a grant could not be noted, if so."""
    proof = challenge.proof(sessions.epoch)
    return {**proof.to_json(), "wake_error": wake_error.body() if wake_error else None}


def notice_body(sessions: Sessions, notice: Notice) -> dict[str, object]:
    """The body of session.lifecycle."""
    return {
        "target": ref_view(notice.ref),
        "state": str(notice.state),
        "broker_epoch": sessions.epoch,
    }


def gap_body(sessions: Sessions) -> dict[str, object]:
    """The body of session.lifecycle.gap."""
    return {"broker_epoch": sessions.epoch}


def _number(value: int | None) -> str | None:
    return None if value is None else str(value)
