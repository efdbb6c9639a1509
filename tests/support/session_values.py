"""Sound records, grants, challenges and references, as the broker would tell them."""

from __future__ import annotations

import os
from dataclasses import replace

from brokerd.client import (
    ATTACHED,
    CAPABILITIES,
    DEFAULT_OPEN,
    PANE_SHELL,
    PENDING,
    TERM,
    GrantView,
    RecordView,
    SessionKey,
    key_hash,
)
from brokerd.encodings import ENROL, RESUME, Proof, capabilities_hash

EPOCH, CONNECTION = "e" * 32, "c" * 32
KEY = SessionKey.from_seed(bytes(range(32)))
PARENT_KEY = SessionKey.from_seed(bytes(range(1, 33)))


def identity(number: int) -> str:
    """An id of 32 hex digits."""
    return f"{number:032x}"


TERM_RECORD = RecordView(
    name="t0-" + "a" * 22,
    record_assurance="session-bound",
    owner_node="here",
    owner_uid=os.geteuid(),
    broker_epoch=EPOCH,
    record_id=identity(1),
    instance_id=identity(2),
    incarnation=identity(3),
    role=TERM,
    parent_instance=None,
    parent_incarnation=None,
    pane_id=None,
    pane_generation=None,
    binding_generation=1,
    state=ATTACHED,
    capabilities=CAPABILITIES,
    policy=DEFAULT_OPEN,
    lease_remaining_ms=15_000,
)
CHILD_RECORD = replace(
    TERM_RECORD,
    name="c0-" + "b" * 22,
    record_assurance="reserved",
    record_id=identity(11),
    instance_id=identity(12),
    incarnation=identity(13),
    role=PANE_SHELL,
    parent_instance=TERM_RECORD.instance_id,
    parent_incarnation=TERM_RECORD.incarnation,
    pane_id=7,
    pane_generation=1,
    binding_generation=0,
    state=PENDING,
    capabilities=("execute", "read_state"),
    lease_remaining_ms=None,
)
GRANT = GrantView(
    grant_id=identity(14),
    record_id=CHILD_RECORD.record_id,
    incarnation=CHILD_RECORD.incarnation,
    public_key=KEY.public_key.hex(),
    parent_key_hash=key_hash(PARENT_KEY.public_key).hex(),
    expires_ms=30_000,
    state=PENDING,
)


def proof_of(record: RecordView, grant: GrantView | None = None) -> Proof:
    """What the broker asks the holder of KEY to sign next for this record."""
    child = record.role == PANE_SHELL
    return Proof(
        purpose=RESUME if grant is None else ENROL,
        broker_epoch=EPOCH,
        connection_id=CONNECTION,
        challenge_id=identity(15),
        nonce=b"n" * 32,
        grant_id=None if grant is None else grant.grant_id,
        record_id=record.record_id,
        instance_id=record.instance_id,
        incarnation=record.incarnation,
        owner_uid=record.owner_uid,
        parent_instance=record.parent_instance,
        parent_incarnation=record.parent_incarnation,
        parent_key_hash=key_hash(PARENT_KEY.public_key) if child else None,
        pane_id=record.pane_id,
        pane_generation=record.pane_generation,
        role=record.role,
        public_key_hash=key_hash(KEY.public_key),
        capabilities_hash=capabilities_hash(record.capabilities),
        binding_generation=record.binding_generation + 1,
        grant_expires_ms=None if grant is None else grant.expires_ms,
        challenge_expires_ms=5_000,
    )
