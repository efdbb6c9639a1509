"""Verified sessions at the client, without I/O: strict answers, proofs, notices, authority."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from brokerd import wire
from brokerd.bodies import Json, encode
from brokerd.client import (
    ATTACHED,
    REVOKED,
    SUSPENDED,
    Authority,
    Challenge,
    ChallengeMismatch,
    GrantView,
    Hello,
    LifecycleNotice,
    LifecycleNotices,
    MalformedReply,
    RecordView,
    Ref,
    SessionKey,
    key_hash,
)
from brokerd.client.session import Session
from brokerd.client.sessions import proofs
from brokerd.client.sessions.lifecycle import Lifecycle
from brokerd.client.sessions.pacing import Backoff, next_due
from brokerd.encodings import Proof, capabilities_hash
from tests.support.session_values import (
    CHILD_RECORD,
    CONNECTION,
    EPOCH,
    GRANT,
    KEY,
    PARENT_KEY,
    TERM_RECORD,
    identity,
    proof_of,
)

HELLO = {"broker_epoch": EPOCH, "connection_id": CONNECTION, "node": "here", "uid": 0}
CHALLENGE: dict[str, object] = proof_of(TERM_RECORD).to_json()

WHOLE: Mapping[str, tuple[Callable[[object], object], dict[str, object]]] = {
    "term": (RecordView.from_json, TERM_RECORD.to_json()),
    "child": (RecordView.from_json, CHILD_RECORD.to_json()),
    "grant": (GrantView.from_json, GRANT.to_json()),
    "ref": (Ref.from_json, TERM_RECORD.ref.to_json()),
    "hello": (Hello.from_json, HELLO),
    "challenge": (Challenge.from_json, CHALLENGE),
}
EACH_FIELD = [(kind, field) for kind, (_, whole) in WHOLE.items() for field in whole]
NONSENSE: list[Json] = [1.5, True, -1, "", "01", "-x", " 1", str(2**64), [], {}, "A" * 32, "a" * 31]


def nonsense(field: str) -> list[Json]:
    """What no field may be; of a node's name, nearly every text is one."""
    return [1, "", "-x", "A"] if field.endswith("node") else NONSENSE


@pytest.mark.parametrize("kind", WHOLE)
def test_a_whole_answer_is_read_and_written_alike(kind: str) -> None:
    read, whole = WHOLE[kind]
    value = read(whole)
    if isinstance(value, Challenge):
        assert value.proof.to_json() == whole
    elif not isinstance(value, Hello):
        assert value.to_json() == whole  # type: ignore[attr-defined]  # one of three that have it


@pytest.mark.parametrize("kind", WHOLE)
@pytest.mark.parametrize("raw", [None, [], "x", 1, {}])
def test_what_is_no_object_with_fields_is_refused(kind: str, raw: object) -> None:
    with pytest.raises(MalformedReply):
        WHOLE[kind][0](raw)


@pytest.mark.parametrize(("kind", "field"), EACH_FIELD)
def test_each_field_must_be_there_and_of_its_kind(kind: str, field: str) -> None:
    read, whole = WHOLE[kind]
    for broken in (
        {key: value for key, value in whole.items() if key != field},
        {**whole, "more": None},
        *({**whole, field: value} for value in nonsense(field) if value != whole[field]),
    ):
        with pytest.raises(MalformedReply):
            read(broken)


@pytest.mark.parametrize(
    "broken",
    [
        {**TERM_RECORD.to_json(), "pane_id": "1"},
        {**TERM_RECORD.to_json(), "parent_instance": identity(1)},
        {**CHILD_RECORD.to_json(), "pane_id": None},
        {**CHILD_RECORD.to_json(), "lease_remaining_ms": "1"},
        {**TERM_RECORD.to_json(), "lease_remaining_ms": None},
        {**TERM_RECORD.to_json(), "capabilities": ["read_state", "execute"]},
        {**TERM_RECORD.to_json(), "capabilities": ["execute", "execute"]},
    ],
)
def test_a_record_must_agree_with_itself(broken: dict[str, object]) -> None:
    with pytest.raises(MalformedReply):
        RecordView.from_json(broken)


def test_a_challenge_may_tell_that_no_notice_will_come() -> None:
    error = {"error_code": "RESOURCE_LIMIT", "message": "m", "details": {"reason": "r"}}
    told = Challenge.from_json({**CHALLENGE, "wake_error": error}).wake_error
    assert told is not None
    assert (told.code, told.details) == ("RESOURCE_LIMIT", {"reason": "r"})
    assert Challenge.from_json({**CHALLENGE, "wake_error": None}).wake_error is None
    for broken in ("x", {}, {**error, "more": 1}, {**error, "details": None}):
        with pytest.raises(MalformedReply):
            Challenge.from_json({**CHALLENGE, "wake_error": broken})


# Proofs

TERM_PROOF = proof_of(TERM_RECORD)
ENROLMENT = proof_of(CHILD_RECORD, GRANT)
BOUND_CHILD = replace(CHILD_RECORD, binding_generation=1)
RESUMPTION = proof_of(BOUND_CHILD)
SUCCESSOR = replace(
    ENROLMENT,
    record_id=identity(21),
    instance_id=identity(22),
    incarnation=identity(23),
    parent_instance=identity(24),
    parent_incarnation=identity(25),
    pane_generation=9,
    grant_id=identity(26),
    grant_expires_ms=99,
)
OTHER: Mapping[str, object] = {
    "purpose": "enrol",
    "role": "pane-shell",
    "owner_uid": TERM_RECORD.owner_uid + 1,
    "pane_id": 8,
    "pane_generation": 2,
    "binding_generation": 0,
    "grant_expires_ms": 1,
    "nonce": b"o" * 32,
    "challenge_expires_ms": 1,
    "capabilities_hash": capabilities_hash(["input"]),
    "parent_key_hash": key_hash(KEY.public_key),
    "public_key_hash": key_hash(PARENT_KEY.public_key),
}
FREE = {"nonce", "challenge_id", "challenge_expires_ms"}
"""The broker's own to choose: nothing is known of them."""


def here() -> proofs.Facts:
    return proofs.of_connection(EPOCH, CONNECTION, TERM_RECORD.owner_uid, KEY.public_key)


def parent_key_hash() -> bytes:
    return key_hash(PARENT_KEY.public_key)


def check_term(proof: Proof) -> None:
    proofs.check(proof, here(), proofs.of_term(TERM_RECORD))


def check_enrolment(proof: Proof) -> None:
    proofs.check(proof, here(), proofs.of_record(CHILD_RECORD), proofs.of_grant(GRANT))


def check_child(proof: Proof) -> None:
    proofs.check(proof, here(), proofs.of_child(proof, BOUND_CHILD, parent_key_hash()))


CHECKS: Mapping[str, tuple[Callable[[Proof], None], Proof, set[str]]] = {
    "term": (check_term, TERM_PROOF, FREE),
    "enrolment": (check_enrolment, ENROLMENT, FREE),
    # A resumption of another record is a successor's, whose own instance and parent are new.
    "child": (check_child, RESUMPTION, FREE | {"record_id"}),
    "successor": (
        check_child,
        SUCCESSOR,
        FREE
        | {"record_id", "instance_id", "incarnation", "parent_instance", "parent_incarnation"}
        | {"pane_generation", "grant_id", "grant_expires_ms"},
    ),
}


def changed(proof: Proof, field: str) -> Proof:
    """The same proof with another value in one field."""
    value = getattr(proof, field)
    other = identity(99) if isinstance(value, str) and len(value) == 32 else OTHER.get(field)
    if other is None or other == value:
        other = {"purpose": "resume", "role": "term"}.get(field, identity(98))
    return replace(proof, **{field: other})  # type: ignore[arg-type]  # any field


@pytest.mark.parametrize(
    ("kind", "field"), [(kind, field) for kind in CHECKS for field in Proof.__slots__]
)
def test_nothing_known_may_differ(kind: str, field: str) -> None:
    check, proof, free = CHECKS[kind]
    check(proof)
    if field in free:
        check(changed(proof, field))
    else:
        with pytest.raises(ChallengeMismatch):
            check(changed(proof, field))


def test_a_term_that_knows_nothing_yet_still_signs_only_as_itself() -> None:
    proofs.check(TERM_PROOF, here(), proofs.of_term(None))
    proofs.check(replace(TERM_PROOF, record_id=identity(9)), here(), proofs.of_term(None))
    for proof in (ENROLMENT, RESUMPTION):
        with pytest.raises(ChallengeMismatch):
            proofs.check(proof, here(), proofs.of_term(None))


@pytest.mark.parametrize("record", [TERM_RECORD, BOUND_CHILD])
def test_what_was_proved_is_what_is_attached(record: RecordView) -> None:
    proved = replace(record, binding_generation=2, state=ATTACHED, lease_remaining_ms=1)
    proof = proof_of(record)
    proofs.check_proved(proof, proved)
    for wrong in (
        replace(proved, binding_generation=3),
        replace(proved, record_id=identity(9)),
        replace(proved, broker_epoch=identity(9)),
        replace(proved, capabilities=("input",)),
        replace(proved, state=SUSPENDED, lease_remaining_ms=None),
    ):
        with pytest.raises(MalformedReply):
            proofs.check_proved(proof, wrong)


# Authority


def test_authority_ends_at_its_deadline_and_never_comes_back() -> None:
    now = [100]
    authority = Authority(TERM_RECORD, CONNECTION, 110, lambda: now[0])
    assert (authority.live, authority.remaining_ms()) == (True, 10)
    assert authority.extend(120)
    now[0] = 119
    assert authority.live
    now[0] = 120
    assert (authority.live, authority.remaining_ms()) == (False, 0)
    assert not authority.extend(200)
    now[0] = 100
    assert not authority.live, "a clock that goes back revives nothing"


def test_an_end_that_nobody_saw_counts_too() -> None:
    now = [100]
    authority = Authority(TERM_RECORD, CONNECTION, 110, lambda: now[0])
    now[0] = 115
    assert not authority.extend(200)
    assert not authority.live


def test_dropped_authority_stays_dropped() -> None:
    authority = Authority(TERM_RECORD, CONNECTION, 110, lambda: 100)
    authority.drop()
    assert (authority.live, authority.extend(200), authority.remaining_ms()) == (False, False, 0)


def test_authority_shows_whose_it_is_and_no_key() -> None:
    authority = Authority(TERM_RECORD, CONNECTION, 110, lambda: 100)
    assert repr(authority) == f"<Authority {TERM_RECORD.name}, 10 ms left>"
    assert (authority.ref, authority.name) == (TERM_RECORD.ref, TERM_RECORD.name)
    assert (authority.broker_epoch, authority.connection_id) == (EPOCH, CONNECTION)


# Notices


@pytest.mark.parametrize(
    ("generation", "state", "ends"),
    [
        (3, ATTACHED, True),
        (2, ATTACHED, False),
        (1, ATTACHED, False),
        (2, SUSPENDED, True),
        (3, REVOKED, True),
        (1, SUSPENDED, False),
        (1, REVOKED, False),
    ],
)
def test_which_notices_end_an_attachment(generation: int, state: str, ends: bool) -> None:
    held = Ref(identity(1), identity(3), 2)
    assert LifecycleNotice(replace(held, binding_generation=generation), state).ends(held) is ends
    for other in (Ref(identity(2), identity(3), 9), Ref(identity(1), identity(4), 9)):
        assert not LifecycleNotice(other, REVOKED).ends(held)


class Watcher:
    def __init__(self) -> None:
        self.told: list[object] = []

    def notice(self, notice: LifecycleNotice) -> None:
        self.told.append(notice)

    def gap(self) -> None:
        self.told.append("gap")

    def lost(self) -> None:
        self.told.append("lost")


def event(command: str, body: object, sender: str = wire.BROKER, **more: object) -> list[bytes]:
    fields = {"v": 1, "type": "event", "command": command, "from": sender, **more}
    return [wire.encode_header(fields), encode(body), b""]


def watched() -> tuple[Session, Watcher]:
    session, watcher = Session(), Watcher()
    session.epoch = EPOCH
    session.lifecycle.add(watcher)
    return session, watcher


NOTICE = {"target": TERM_RECORD.ref.to_json(), "state": SUSPENDED, "broker_epoch": EPOCH}


def test_the_brokers_notices_reach_whoever_watches() -> None:
    session, watcher = watched()
    session.receive(event("session.lifecycle", NOTICE))
    session.receive(event("session.lifecycle.gap", {"broker_epoch": EPOCH}))
    session.receive(event("broker.topic", 1, topic="weather", seq=1, gap=True))
    session.lost()
    notice = LifecycleNotice(TERM_RECORD.ref, SUSPENDED)
    assert watcher.told == [notice, "gap", "gap", "lost"]
    session.lifecycle.remove(watcher)
    session.lost()
    assert len(watcher.told) == 4


def test_a_peer_cannot_speak_for_the_broker() -> None:
    session, watcher = watched()
    session.receive(event("session.lifecycle", NOTICE, sender=CONNECTION))
    session.receive(event("session.lifecycle.gap", {"broker_epoch": EPOCH}, sender=CONNECTION))
    assert watcher.told == []
    assert session.counters["forged"] == 2


@pytest.mark.parametrize(
    "body",
    [
        {**NOTICE, "broker_epoch": "f" * 32},
        {**NOTICE, "state": "gone"},
        {**NOTICE, "more": 1},
        {**NOTICE, "target": {}},
        [],
    ],
)
def test_a_notice_that_cannot_be_read_may_have_been_ours(body: object) -> None:
    session, watcher = watched()
    session.receive(event("session.lifecycle", body))
    assert watcher.told == ["gap"]
    assert session.counters["malformed"] == 1


def test_a_watcher_that_fails_does_not_keep_it_from_the_others(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Broken(Watcher):
        def lost(self) -> None:
            raise RuntimeError("private words")

    lifecycle, watcher = Lifecycle(), Watcher()
    lifecycle.add(Broken())
    lifecycle.add(watcher)
    lifecycle.lost()
    assert watcher.told == ["lost"]
    assert "RuntimeError" in caplog.text
    assert "private" not in caplog.text


def test_a_stream_of_notices_needs_room() -> None:
    with pytest.raises(ValueError, match="capacity"):
        LifecycleNotices(0)


# Pacing


def test_pauses_double_up_to_five_seconds() -> None:
    backoff = Backoff()
    assert [backoff.pause() for _ in range(8)] == [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0]
    backoff.reset()
    assert backoff.pause() == 0.1


@pytest.mark.parametrize(("now", "due"), [(3, 5), (5, 10), (6, 10), (14.9, 15), (15, 20)])
def test_missed_renewals_are_skipped(now: float, due: float) -> None:
    assert next_due(5, now, 5) == due


def test_a_key_does_not_show_its_seed() -> None:
    key = SessionKey.generate()
    assert key.seed.hex() not in repr(key)
