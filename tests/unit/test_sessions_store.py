"""The store of sessions: each verb's order of checks, and what each change brings with it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import pytest

from brokerd.core.sessions import GAP, Bound, Gap, RecordState, Ref, Unbound, views
from brokerd.core.sessions.bindings import RETIRED
from brokerd.encodings import CAPABILITIES, MAX_U64, Proof, allocation_transcript, key_hash
from brokerd.errors import Refusal
from tests.support.session_store_lab import EPOCH, KEYS, UID, Lab, conn, reason

OTHER = 8
RECORD_FIELDS = {
    "name",
    "record_assurance",
    "owner_node",
    "owner_uid",
    "broker_epoch",
    "record_id",
    "instance_id",
    "incarnation",
    "role",
    "parent_instance",
    "parent_incarnation",
    "pane_id",
    "pane_generation",
    "binding_generation",
    "state",
    "capabilities",
    "policy",
    "lease_remaining_ms",
}


def test_a_term_is_attached_at_once_and_named_after_its_user() -> None:
    lab = Lab()
    record = lab.term()
    assert (record.state, record.binding_generation) == (RecordState.ATTACHED, 1)
    assert record.name.startswith("t7-")
    assert record.capabilities == CAPABILITIES
    assert lab.sessions.effects() == [Bound(conn(0), record.name)]
    assert lab.sessions.binding(conn(0)) is record
    assert lab.sessions.lease_remaining(record) == 15_000
    assert lab.told(0) == ["attached"]


def test_allocate_refuses_in_the_order_of_the_promise() -> None:
    lab = Lab(terms_per_uid=1, issued_names=1)
    sessions, key = lab.sessions, KEYS[0].public_key

    def unsigned(n: int) -> str:
        return reason(sessions.allocate, conn(n), UID, key, b"\0" * 64, "default-open")

    assert unsigned(0) == "FORBIDDEN"
    bad = reason(lambda: sessions.allocate(conn(0), UID, key, b"", "open"))
    assert bad == "INVALID_ARGUMENT"
    lab.term()
    assert unsigned(0) == "already_bound"
    assert unsigned(1) == "FORBIDDEN"
    assert reason(lambda: lab.term(1, key=0)) == "key_in_use"
    assert reason(lambda: lab.term(1)) == "term_limit"
    assert reason(lambda: lab.term(1, uid=OTHER)) == "issued_name_limit"
    sessions.verify()
    assert sessions.statistics()["records"] == 1


def test_a_signature_is_good_for_one_connection_key_and_policy() -> None:
    lab = Lab()
    key = KEYS[0]
    message = allocation_transcript(EPOCH, conn(0), key.public_key, "restricted")
    signature = key.sign(message)
    tries = [(1, key.public_key, "restricted"), (0, KEYS[1].public_key, "restricted")]
    for n, public, policy in [*tries, (0, key.public_key, "default-open")]:
        again = reason(lab.sessions.allocate, conn(n), UID, public, signature, policy)
        assert again == "FORBIDDEN"
    lab.sessions.allocate(conn(0), UID, key.public_key, signature, "restricted")


def test_a_name_is_never_given_twice() -> None:
    raw: Iterator[bytes] = iter([bytes(14)] * 20)
    lab = Lab(new_bytes=lambda _: next(raw))
    name = lab.term().name
    assert name == "t7-" + "a" * 22
    lab.sessions.revoke(conn(0), UID, lab.sessions.list(UID)[0].ref)
    assert reason(lambda: lab.term(1)) == "name_collision"
    assert len(list(raw)) == 20 - 1 - 9


def test_create_grant_refuses_in_the_order_of_the_promise() -> None:
    lab = Lab(grants_per_parent=1, grants=2)
    parent, other = lab.term(0), lab.term(1)
    sessions = lab.sessions

    def grant(**changes: object) -> str:
        args: dict[str, object] = {
            "connection_id": conn(0),
            "uid": UID,
            "parent": parent.ref,
            "pane_id": 1,
            "pane_generation": 1,
            "public_key": KEYS[2].public_key,
            "capabilities": CAPABILITIES,
        }
        return reason(sessions.create_grant, **{**args, **changes})

    stale = parent.ref._replace(binding_generation=2)
    for changes in (
        {"connection_id": conn(1)},
        {"connection_id": conn(9)},
        {"uid": OTHER},
        {"parent": stale},
        {"parent": parent.ref._replace(incarnation="0" * 32)},
        {"parent": Ref("0" * 32, "0" * 32, 1)},
    ):
        assert grant(**changes, capabilities=()) == "FORBIDDEN"
    for bad in ((), ("input", "input"), ("fly",)):
        assert grant(capabilities=bad, public_key=b"") == "INVALID_ARGUMENT"
    assert grant(pane_id=0) == grant(pane_generation=0) == "INVALID_ARGUMENT"
    assert grant(public_key=b"\1" + bytes(31)) == "INVALID_ARGUMENT"
    assert grant(public_key=KEYS[1].public_key) == "key_in_use"
    assert grant(capabilities=("terminate", "execute")) == "ok"
    record = sessions.list(UID)[-3]
    assert record.capabilities == ("execute", "terminate")
    assert grant() == "key_in_use"
    assert grant(public_key=KEYS[3].public_key) == "STALE_GENERATION"
    assert grant(public_key=KEYS[3].public_key, pane_id=2) == "grant_limit"
    lab.grant(other, 3, by=1)
    sessions.verify()


def test_a_pane_shell_grants_nothing() -> None:
    lab = Lab()
    child = lab.child(lab.term(), 1, on=1)
    assert reason(lambda: lab.grant(child, 2, by=1)) == "FORBIDDEN"


def test_a_grant_is_fetched_by_its_term_alone() -> None:
    lab = Lab()
    parent = lab.term()
    lab.term(5)
    grant = lab.grant(parent, 1)
    public = KEYS[1].public_key
    assert lab.sessions.fetch_grant(conn(0), UID, public) is grant
    for n, uid in ((5, UID), (1, UID), (0, OTHER)):
        refused = reason(lab.sessions.fetch_grant, conn(n), uid, public)
        assert refused == "FORBIDDEN"
    lab.prove(1, 1)
    assert str(lab.sessions.fetch_grant(conn(0), UID, public).state) == "consumed"


def test_a_grant_ends_at_its_time_with_its_record() -> None:
    lab = Lab()
    parent = lab.term()
    grant = lab.grant(parent, 1)
    for _ in range(2):
        lab.later(10_000)
        lab.renew(0, parent.ref)
    lab.later(9_999)
    assert str(grant.state) == "pending"
    lab.later(1)
    assert (str(grant.state), grant.record.state) == ("expired", RecordState.REVOKED)
    assert reason(lambda: lab.prove(1, 1)) == "FORBIDDEN"
    assert lab.sessions.statistics()["interests"] == 1
    # Its pane asks for the next generation, its key may be used again.
    assert reason(lambda: lab.grant(parent, 1)) == "STALE_GENERATION"
    lab.grant(parent, 1, generation=2)
    assert lab.told(1) == ["pending"]


def test_challenge_by_record_says_what_it_takes() -> None:
    lab = Lab(challenges_per_uid=2)
    parent = lab.term()
    grant = lab.grant(parent, 1)
    child = grant.record

    def ask(n: int = 1, uid: int = UID, **changes: object) -> str:
        fields: dict[str, object] = {
            "record_id": child.record_id,
            "incarnation": child.incarnation,
            "purpose": "enrol",
            "grant_id": grant.grant_id,
        }
        return reason(lab.sessions.challenge_record, conn(n), uid, **{**fields, **changes})

    assert ask(purpose="renew") == "INVALID_ARGUMENT"
    assert ask(uid=OTHER) == ask(record_id="0" * 32) == ask(incarnation="0" * 32) == "FORBIDDEN"
    assert ask(grant_id=None) == ask(grant_id="0" * 32) == "INVALID_ARGUMENT"
    assert ask(purpose="resume") == "INVALID_ARGUMENT"
    assert ask(purpose="resume", grant_id=None) == "FORBIDDEN"
    term: dict[str, Any] = {"record_id": parent.record_id, "incarnation": parent.incarnation}
    assert ask(**term) == "INVALID_ARGUMENT"
    assert ask(2) == ask(2) == ask(3) == "ok"
    assert ask(2, **term, purpose="resume", grant_id=None) == "challenge_outstanding"
    assert ask(4) == "challenge_limit"
    lab.later(5_000)
    lab.prove(1, 1)
    assert ask(4) == "grant_consumed"
    assert ask(4, purpose="resume", grant_id=None) == "ok"


def test_an_outstanding_challenge_says_when_to_come_back() -> None:
    lab = Lab()
    lab.term()
    lab.sessions.challenge_key(conn(1), UID, KEYS[0].public_key)
    lab.later(1_000)
    lab.term(2)
    with pytest.raises(Refusal) as refused:
        lab.sessions.challenge_key(conn(1), UID, KEYS[2].public_key)
    assert refused.value.details["retry_after_ms"] == "4000"


def test_a_challenge_never_outlives_what_it_is_for() -> None:
    lab = Lab()
    parent = lab.term()
    lab.grant(parent, 1)
    lab.later(10_000)
    lab.renew(0, parent.ref)
    lab.later(10_000)
    lab.renew(0, parent.ref)
    lab.later(9_000)
    challenge, _ = lab.sessions.challenge_key(conn(1), UID, KEYS[1].public_key)
    assert challenge.expires_ms == lab.now + 1_000
    lab.later(1_000)
    signed = KEYS[1].sign(challenge.proof(EPOCH).transcript())
    assert reason(lab.sessions.prove, conn(1), UID, challenge.id, signed) == "EXPIRED"
    assert (
        reason(lambda: lab.sessions.prove(conn(1), UID, challenge.id, signed))
        == "challenge_consumed"
    )


def signed(lab: Lab, n: int, key: int) -> tuple[str, bytes]:
    """A challenge for that connection and key, and its signature."""
    challenge, _ = lab.sessions.challenge_key(conn(n), UID, KEYS[key].public_key)
    return challenge.id, KEYS[key].sign(challenge.proof(EPOCH).transcript())


def test_any_attempt_takes_the_challenge() -> None:
    lab = Lab()
    lab.term()
    for wrong_id, wrong in ((None, b""), ("0" * 32, b""), ("right", b"\0" * 64)):
        right, signature = signed(lab, 1, 0)
        asked = right if wrong_id == "right" else wrong_id
        refused = reason(lab.sessions.prove, conn(1), UID, asked, wrong)
        assert refused == "FORBIDDEN"
        again = reason(lab.sessions.prove, conn(1), UID, right, signature)
        assert again == "challenge_consumed"
        lab.sessions.verify()


def test_a_challenge_is_of_no_use_to_another_connection_or_user() -> None:
    lab = Lab()
    lab.term()
    right, signature = signed(lab, 1, 0)
    signed(lab, 2, 0)
    assert reason(lab.sessions.prove, conn(2), UID, right, signature) == "FORBIDDEN"
    assert reason(lab.sessions.prove, conn(1), OTHER, right, signature) == "FORBIDDEN"


def test_used_challenges_are_remembered_up_to_a_cap() -> None:
    lab = Lab(consumed_per_connection=2)
    lab.term()
    used = []
    for _ in range(3):
        used.append(signed(lab, 1, 0)[0])
        reason(lambda: lab.sessions.prove(conn(1), UID, None, b""))
    answers = [reason(lab.sessions.prove, conn(1), UID, i, b"") for i in used]
    assert answers == ["FORBIDDEN", "challenge_consumed", "challenge_consumed"]


def _other(value: object) -> object:
    if isinstance(value, str):
        return value[:-1] + ("0" if value[-1] != "0" else "1")
    if isinstance(value, bytes):
        return bytes([value[0] ^ 1]) + value[1:]
    return value ^ 1 if isinstance(value, int) else 0


def test_every_field_of_the_transcript_counts() -> None:
    lab = Lab()
    parent = lab.term()
    lab.grant(parent, 1)
    challenge, _ = lab.sessions.challenge_key(conn(1), UID, KEYS[1].public_key)
    proof = challenge.proof(EPOCH)
    assert proof.parent_key_hash == key_hash(parent.public_key)
    for field in dataclasses.fields(Proof):
        value = getattr(proof, field.name)
        if isinstance(value, str) and len(value) != 32:
            continue
        changes: dict[str, Any] = {field.name: _other(value)}
        assert dataclasses.replace(proof, **changes).transcript() != proof.transcript(), field.name
    wrong = dataclasses.replace(proof, pane_generation=2)
    signature = KEYS[1].sign(wrong.transcript())
    assert reason(lab.sessions.prove, conn(1), UID, challenge.id, signature) == "FORBIDDEN"


def test_a_second_proof_takes_the_record_from_who_held_it() -> None:
    lab = Lab()
    record = lab.term()
    lab.sessions.effects()
    late, signature = signed(lab, 2, 0)
    lab.prove(1, 0)
    assert record.binding_generation == 2
    assert lab.sessions.effects() == [
        Unbound(conn(0), record.name),
        Bound(conn(1), record.name),
    ]
    assert lab.sessions.lost_binding(conn(0))
    assert not lab.sessions.lost_binding(conn(1))
    assert lab.told(0) == ["attached", "attached"]
    # The one that was asked for before proposes a generation that is not the next any more.
    assert reason(lab.sessions.prove, conn(2), UID, late, signature) == "binding_pending"
    old = record.ref._replace(binding_generation=1)
    assert reason(lambda: lab.renew(0, old)) == reason(lambda: lab.renew(1, old)) == "FORBIDDEN"
    assert reason(lambda: lab.renew(0, record.ref)) == "FORBIDDEN"
    # A stale cleanup does not end the successor.
    assert reason(lambda: lab.sessions.revoke(conn(0), UID, old)) == "FORBIDDEN"
    assert reason(lambda: lab.sessions.revoke(conn(1), UID, old)) == "FORBIDDEN"
    assert record.attached


def test_proving_again_where_it_is_held_moves_no_route() -> None:
    lab = Lab()
    record = lab.term()
    lab.sessions.effects()
    lab.prove(0, 0)
    assert record.binding_generation == 2
    assert lab.sessions.effects() == []


def test_a_bound_connection_takes_no_second_record() -> None:
    lab = Lab()
    lab.term(0)
    lab.term(1)
    right, signature = signed(lab, 1, 0)
    assert reason(lab.sessions.prove, conn(1), UID, right, signature) == "already_bound"


def test_the_last_generation_is_the_last() -> None:
    lab = Lab()
    record = lab.term()
    right, signature = signed(lab, 1, 0)
    record.binding_generation = MAX_U64
    assert reason(lab.sessions.prove, conn(1), UID, right, signature) == "generation_limit"
    assert reason(lambda: signed(lab, 1, 0)) == "generation_limit"
    record.binding_generation = MAX_U64 - 1
    assert lab.prove(1, 0).binding_generation == MAX_U64


def test_a_lease_ends_at_its_time_and_its_window_starts_there() -> None:
    lab = Lab()
    record = lab.term()
    lab.later(14_999)
    assert lab.sessions.lease_remaining(record) == 1
    lab.later(1)
    assert not record.attached
    assert lab.sessions.lost_binding(conn(0))
    assert reason(lambda: lab.renew(0, record.ref)) == "FORBIDDEN"
    lab.later(29_999)
    assert lab.told(0) == ["attached", "suspended"]
    assert lab.sessions.self_record(UID, record.record_id) is record
    lab.later(1)
    assert record.state is RecordState.REVOKED
    assert lab.told(0) == ["revoked"]
    assert reason(lambda: lab.sessions.self_record(UID, record.record_id)) == "FORBIDDEN"


def test_an_end_seen_late_counts_from_when_it_was() -> None:
    lab = Lab()
    record = lab.term()
    lab.later(44_999)
    assert record.state is RecordState.SUSPENDED
    assert record.ends_ms == lab.now + 1
    late = Lab()
    gone = late.term()
    late.later(50_000)
    assert gone.state is RecordState.REVOKED


def test_a_suspended_parent_takes_its_children_along_and_extends_no_window() -> None:
    lab = Lab()
    parent = lab.term()
    first, second = lab.child(parent, 1, on=1), lab.child(parent, 2, on=2, pane=2)
    lab.sessions.effects()
    lab.later(5_000)
    lab.sessions.lost(conn(1))
    lab.later(2_000)
    lab.sessions.lost(conn(0))
    lab.sessions.verify()
    assert lab.sessions.effects() == [
        Unbound(conn(1), first.name),
        Unbound(conn(0), parent.name),
        Unbound(conn(2), second.name),
    ]
    assert first.ends_ms == lab.now - 2_000 + 30_000
    assert second.ends_ms == parent.ends_ms == lab.now + 30_000
    assert reason(lambda: lab.prove(2, 2)) == "EXPIRED"
    lab.told(2)
    lab.prove(3, 0)
    # Its resumption resumes none of them, and tells them.
    assert second.state is RecordState.SUSPENDED
    assert lab.told(2) == ["suspended"]
    assert lab.prove(2, 2).binding_generation == 2
    assert lab.sessions.lease_remaining(second) == 15_000


def test_no_lease_is_longer_than_the_parents() -> None:
    lab = Lab()
    parent = lab.term()
    lab.later(10_000)
    child = lab.child(parent, 1, on=1)
    assert lab.sessions.lease_remaining(child) == 5_000
    lab.renew(1, child.ref)
    assert lab.sessions.lease_remaining(child) == 5_000
    lab.renew(0, parent.ref)
    assert lab.sessions.lease_remaining(child) == 15_000


def test_revocation_goes_down_and_gives_back_all_that_was_held() -> None:
    lab = Lab()
    parent = lab.term()
    child = lab.child(parent, 1, on=1)
    pending = lab.grant(parent, 2, pane=2)
    right, signature = signed(lab, 2, 2)
    assert lab.sessions.revoke(conn(0), UID, parent.ref)
    lab.sessions.verify()
    states = {parent.state, child.state, pending.record.state}
    assert states == {RecordState.REVOKED}
    assert str(pending.state) == "revoked"
    assert reason(lab.sessions.prove, conn(2), UID, right, signature) == "EXPIRED"
    counts = lab.sessions.statistics()
    assert not any(counts[each] for each in ("records", "terms", "grants", "challenges"))
    assert lab.sessions.list(UID) == []
    assert not lab.sessions.revoke(conn(0), UID, parent.ref)
    lab.term(3, key=0)


def test_a_record_is_revoked_by_its_holder_or_its_parents() -> None:
    lab = Lab()
    parent = lab.term()
    child = lab.child(parent, 1, on=1)
    sibling = lab.child(parent, 2, on=2, pane=2)
    lab.term(5)
    revoke = lab.sessions.revoke
    for n, uid, target in (
        (1, UID, parent.ref),
        (2, UID, child.ref),
        (5, UID, child.ref),
        (9, UID, child.ref),
        (0, OTHER, child.ref),
        (0, UID, Ref("0" * 32, "0" * 32, 1)),
        (0, UID, child.ref._replace(incarnation="0" * 32)),
        (0, UID, child.ref._replace(binding_generation=0)),
    ):
        assert reason(revoke, conn(n), uid, target) == "FORBIDDEN"
    assert revoke(conn(0), UID, child.ref)
    assert revoke(conn(2), UID, sibling.ref)
    for n, target in ((0, child.ref), (1, child.ref), (0, sibling.ref), (2, sibling.ref)):
        assert not revoke(conn(n), UID, target)
    assert reason(lambda: revoke(conn(5), UID, child.ref)) == "FORBIDDEN"


def test_a_term_remembers_its_latest_revoked_children_alone() -> None:
    lab = Lab()
    parent = lab.term()
    refs = []
    for generation in range(1, RETIRED + 2):
        refs.append(lab.grant(parent, 1, generation=generation).record.ref)
        assert lab.sessions.revoke(conn(0), UID, refs[-1])
    assert reason(lambda: lab.sessions.revoke(conn(0), UID, refs[0])) == "FORBIDDEN"
    assert not lab.sessions.revoke(conn(0), UID, refs[1])
    assert len(parent.retired) == RETIRED


def test_a_lease_is_checked_by_who_heard_that_very_binding() -> None:
    lab = Lab()
    record = lab.term()

    def check() -> str:
        return reason(lab.sessions.lease_check, conn(5), OTHER, record.ref)

    assert check() == "dependency_missing"
    lab.sessions.delivering(record, conn(5))
    for _ in range(13):
        lab.later(5_000)
        lab.renew(0, record.ref)
    assert check() == "dependency_missing"
    lab.sessions.delivering(record, conn(5))
    for _ in range(13):
        lab.later(5_000)
        lab.renew(0, record.ref)
        assert lab.sessions.lease_check(conn(5), OTHER, record.ref) == 15_000
    lab.prove(1, 0)
    assert check() == "dependency_missing"
    lab.sessions.delivering(record, conn(5))
    assert check() == "ok"
    lab.sessions.lost(conn(1))
    assert check() == "dependency_missing"


def test_a_delivery_that_cannot_be_noted_leaves_no_trace() -> None:
    lab = Lab(dependencies_per_recipient=1, dependencies=2)
    first, second = lab.term(0), lab.term(1)
    deliver = lab.sessions.delivering
    deliver(first, conn(5))
    deliver(first, conn(5))
    assert reason(lambda: deliver(second, conn(5))) == "recipient_dependency_limit"
    deliver(second, conn(6))
    assert reason(lambda: deliver(second, conn(7))) == "dependency_limit"
    lab.sessions.verify()
    assert lab.sessions.statistics()["dependencies"] == 2
    lab.sessions.lost(conn(5))
    deliver(second, conn(7))


def test_those_concerned_are_told_once_each() -> None:
    lab = Lab()
    parent = lab.term()
    child = lab.child(parent, 1, on=1)
    # 2 heard it, 3 waits for its key and heard it, 4 waits as another user, 5 is nobody.
    lab.sessions.delivering(child, conn(2))
    lab.sessions.delivering(child, conn(3))
    lab.sessions.challenge_key(conn(3), UID, KEYS[1].public_key)
    reason(lambda: lab.sessions.challenge_key(conn(4), OTHER, KEYS[1].public_key))
    for n in range(6):
        lab.told(n)
    lab.sessions.revoke(conn(1), UID, child.ref)
    assert [lab.told(n) for n in range(6)] == [["revoked"]] * 4 + [[], []]


def test_a_connection_waits_for_one_key_for_a_while() -> None:
    lab = Lab(interests_per_uid=1)
    parent = lab.term()

    def wait(n: int, key: int) -> str:
        return reason(lab.sessions.challenge_key, conn(n), UID, KEYS[key].public_key)

    assert wait(1, 1) == wait(1, 2) == wait(2, 1) == "FORBIDDEN"
    assert lab.sessions.statistics()["interests"] == 1
    lab.grant(parent, 1)
    lab.grant(parent, 2, pane=2)
    assert (lab.told(1), lab.told(2)) == (["pending"], [])
    _, wake_error = lab.sessions.challenge_key(conn(2), UID, KEYS[1].public_key)
    assert wake_error is not None
    assert wake_error.details["retry_after_ms"] == "60000"
    for _ in range(12):
        lab.renew(0, parent.ref)
        lab.later(5_000)
    assert lab.sessions.statistics()["interests"] == 0


def test_a_full_queue_drops_the_new_and_says_so_first() -> None:
    lab = Lab(notices_per_connection=2)
    parent = lab.term()
    for pane in range(1, 4):
        lab.sessions.revoke(conn(0), UID, lab.grant(parent, 1, pane=pane).record.ref)
    assert lab.told(0) == [GAP, "attached", "pending"]
    assert list(lab.sessions.waiting()) == []


def test_what_could_not_be_sent_is_told_again() -> None:
    lab = Lab(notices_per_connection=1)
    parent = lab.term()
    told = lab.sessions.take_notice(conn(0))
    assert told is not None
    lab.sessions.restore(conn(0), told)
    assert lab.told(0) == ["attached"]
    lab.sessions.restore(conn(0), GAP)
    assert lab.told(0) == [GAP]
    # Another has taken its place meanwhile.
    lab.grant(parent, 1)
    lab.sessions.restore(conn(0), told)
    lab.sessions.verify()
    assert lab.told(0) == [GAP, "pending"]


def test_nothing_is_kept_for_a_connection_that_ended() -> None:
    lab = Lab()
    record = lab.term()
    lab.term(1)
    signed(lab, 0, 1)
    lab.sessions.delivering(record, conn(0))
    lab.sessions.lost(conn(0))
    lab.sessions.lost(conn(0))
    lab.sessions.lost(conn(9))
    lab.sessions.verify()
    assert not lab.sessions.lost_binding(conn(0))
    assert lab.told(0) == []
    counts = lab.sessions.statistics()
    assert (counts["challenges"], counts["interests"], counts["dependencies"]) == (0, 0, 0)
    lab.later(45_000)
    lab.sessions.lost(conn(1))
    assert not any(lab.sessions.statistics().values())
    assert lab.sessions.next_deadline() is None


def test_a_broken_clock_ends_everything_for_good() -> None:
    lab = Lab()
    parent = lab.term()
    lab.child(parent, 1, on=1)
    lab.sessions.delivering(parent, conn(2))
    lab.told(1)
    lab.sessions.effects()
    lab.sessions.fail_clock()
    lab.sessions.verify()
    assert len(lab.sessions.effects()) == 2
    assert lab.told(1) == ["revoked"]
    assert lab.sessions.next_deadline() is None
    lab.later(1)
    sessions, ref = lab.sessions, parent.ref
    key = KEYS[3].public_key
    for verb in (
        lambda: lab.term(4),
        lambda: sessions.create_grant(conn(0), UID, ref, 1, 1, key, CAPABILITIES),
        lambda: sessions.fetch_grant(conn(0), UID, key),
        lambda: sessions.challenge_record(conn(0), UID, *ref[:2], "resume", None),
        lambda: sessions.challenge_key(conn(0), UID, key),
        lambda: sessions.prove(conn(0), UID, None, b""),
        lambda: sessions.renew(conn(0), UID, ref),
        lambda: sessions.revoke(conn(0), UID, ref),
        lambda: sessions.list(UID),
        lambda: sessions.self_record(UID, ref.record_id),
        lambda: sessions.lease_check(conn(2), UID, ref),
    ):
        assert reason(verb) == "clock_unavailable"


def test_a_clock_that_goes_back_changes_nothing() -> None:
    lab = Lab()
    record = lab.term()
    lab.sessions.advance(0)
    assert lab.sessions.lease_remaining(record) == 15_000


def test_every_user_sees_its_own_records() -> None:
    lab = Lab()
    record = lab.term(0)
    lab.term(1, uid=OTHER)
    names = [each.name for each in lab.sessions.list(UID)]
    lab.grant(record, 2)
    assert names == [record.name]
    assert [each.name[0] for each in lab.sessions.list(UID)] == ["c", "t"]
    absent = reason(lambda: lab.sessions.self_record(UID, "0" * 32))
    foreign = reason(lambda: lab.sessions.self_record(OTHER, record.record_id))
    assert absent == foreign == "FORBIDDEN"


def test_the_views_say_what_the_contract_says() -> None:
    lab = Lab()
    parent = lab.term()
    grant = lab.grant(parent, 1)
    view = views.record_view(lab.sessions, grant.record)
    assert set(view) == RECORD_FIELDS
    assert (view["record_assurance"], view["lease_remaining_ms"]) == ("reserved", None)
    assert (view["pane_id"], view["binding_generation"]) == ("1", "0")
    bound = views.record_view(lab.sessions, parent)
    assert (bound["record_assurance"], bound["lease_remaining_ms"]) == ("session-bound", "15000")
    assert views.grant_view(grant)["expires_ms"] == str(lab.now + 30_000)
    challenge, _ = lab.sessions.challenge_key(conn(1), UID, KEYS[1].public_key)
    said = views.challenge_view(lab.sessions, challenge)
    assert said.pop("wake_error") is None
    assert Proof.from_json(said) == challenge.proof(EPOCH)
    notice = lab.sessions.take_notice(conn(0))
    assert notice is not None
    assert not isinstance(notice, Gap)
    assert views.notice_body(lab.sessions, notice) == {
        "target": views.ref_view(parent.ref),
        "state": "attached",
        "broker_epoch": EPOCH,
    }
    assert views.gap_body(lab.sessions) == {"broker_epoch": EPOCH}


def test_the_audit_finds_what_is_wrong() -> None:
    def damaged(change: object) -> None:
        lab = Lab()
        parent = lab.term()
        lab.child(parent, 1, on=1)
        lab.grant(parent, 2, pane=2)
        lab.sessions.challenge_key(conn(3), UID, KEYS[1].public_key)
        lab.sessions.delivering(parent, conn(3))
        lab.sessions.verify()
        assert callable(change)
        change(lab.sessions, parent)
        with pytest.raises(AssertionError):
            lab.sessions.verify()

    for change in (
        lambda s, p: setattr(p, "state", RecordState.SUSPENDED),
        lambda s, p: setattr(p, "connection_id", None),
        lambda s, p: setattr(p, "ends_ms", p.ends_ms + 1),
        lambda s, p: setattr(p, "binding_generation", 0),
        lambda s, p: p.panes.clear(),
        lambda s, p: p.children.clear(),
        lambda s, p: s._tables.records.remove(p),
        lambda s, p: s._tables.records.terms.add(UID),
        lambda s, p: s._tables.grants.total.remove("all"),
        lambda s, p: s._tables.schedule.clear(),
        lambda s, p: s._tables.interests.per_uid.add(UID),
        lambda s, p: s._tables.bindings._held.clear(),
        lambda s, p: s._tables.dependencies.per_recipient.add(conn(3)),
        lambda s, p: s._tables.challenges.per_uid.add(UID),
        lambda s, p: s._tables.notices._queues.clear(),
    ):
        damaged(change)
