"""What is known before a signature is given, and the check of a challenge against it. No I/O.

A key signs a proof only when every fact that its holder knows is in it. What is known is a mapping
of fields of ``Proof`` to their values; what it does not name may be anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from brokerd.client.errors import ChallengeMismatch, MalformedReply
from brokerd.client.sessions.types import GrantView, RecordView
from brokerd.encodings import (
    CAPABILITIES,
    ENROL,
    PANE_SHELL,
    RESUME,
    TERM,
    Proof,
    capabilities_hash,
    key_hash,
)

Facts: TypeAlias = Mapping[str, Any]

_SAME_IN_RECORD: Final = (
    "record_id",
    "instance_id",
    "incarnation",
    "owner_uid",
    "role",
    "parent_instance",
    "parent_incarnation",
    "pane_id",
    "pane_generation",
)
_NO_PARENT: Final = dict.fromkeys(
    ("parent_instance", "parent_incarnation", "parent_key_hash", "pane_id", "pane_generation")
)
_NO_GRANT: Final = {"purpose": RESUME, "grant_id": None, "grant_expires_ms": None}


def of_connection(epoch: str, connection_id: str, uid: int, public_key: bytes) -> Facts:
    """True of every proof that this key may give on this connection."""
    return {
        "broker_epoch": epoch,
        "connection_id": connection_id,
        "owner_uid": uid,
        "public_key_hash": key_hash(public_key),
    }


def of_record(record: RecordView) -> Facts:
    """True of every proof for this record."""
    same = {key: getattr(record, key) for key in _SAME_IN_RECORD}
    return {**same, "capabilities_hash": capabilities_hash(record.capabilities)}


def of_grant(grant: GrantView) -> Facts:
    """True of the proof that uses this grant."""
    return {
        "purpose": ENROL,
        "grant_id": grant.grant_id,
        "record_id": grant.record_id,
        "incarnation": grant.incarnation,
        "parent_key_hash": bytes.fromhex(grant.parent_key_hash),
        "grant_expires_ms": grant.expires_ms,
    }


def of_term(record: RecordView | None) -> Facts:
    """True of a Term that resumes; ``record`` is its own as far as it is known."""
    own = {} if record is None else of_record(record)
    term = {"role": TERM, "capabilities_hash": capabilities_hash(CAPABILITIES)}
    return {**own, **term, **_NO_PARENT, **_NO_GRANT}


def of_child(proof: Proof, record: RecordView, parent_key_hash: bytes) -> Facts:
    """What a pane shell that keeps ``record`` lets itself be asked by its key.

    Another record is believed when it stands for the same pane of the same parent's key, with the
    same role, user and capabilities: the parent that the broker's successor knows is a new one.
    """
    kept = {**of_record(record), "parent_key_hash": parent_key_hash}
    if proof.record_id != record.record_id:
        fixed = ("role", "owner_uid", "pane_id", "capabilities_hash", "parent_key_hash")
        kept = {key: kept[key] for key in fixed}
    return {**kept, **({} if proof.purpose == ENROL else _NO_GRANT)}


def check(proof: Proof, *known: Facts) -> None:
    """Raise ChallengeMismatch unless every known fact is in the proof."""
    for facts in known:
        for field, value in facts.items():
            if getattr(proof, field) != value:
                raise ChallengeMismatch(field)
    _check_consistent(proof)


def check_proved(proof: Proof, record: RecordView) -> None:
    """Raise MalformedReply unless the record is the proved one, attached by this proof."""
    attached = {
        "binding_generation": record.binding_generation,
        "broker_epoch": record.broker_epoch,
    }
    try:
        check(proof, of_record(record), attached)
    except ChallengeMismatch:
        raise MalformedReply("record of this proof") from None
    if not record.attached:
        raise MalformedReply("attached record")


def check_allocated(record: RecordView, epoch: str, policy: str) -> None:
    """Raise MalformedReply unless the record is a new Term's, attached."""
    told = (record.broker_epoch, record.role, record.policy, record.capabilities)
    if told != (epoch, TERM, policy, CAPABILITIES) or not record.attached:
        raise MalformedReply("new record of a Term")


def _check_consistent(proof: Proof) -> None:
    """An enrolment is a pane shell's first, by a grant; everything proved is a generation on."""
    enrols = proof.purpose == ENROL
    if enrols != (proof.grant_id is not None) or enrols != (proof.grant_expires_ms is not None):
        raise ChallengeMismatch("grant_id")
    if enrols and proof.role != PANE_SHELL:
        raise ChallengeMismatch("role")
    if proof.binding_generation < 1 or enrols != (proof.binding_generation == 1):
        raise ChallengeMismatch("binding_generation")
