"""Authority that moves while somebody acts on it: who is late, or someone else, gets nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Final

import msgpack
import pytest

from tests.support.broken_broker import logged_broker
from tests.support.p0i.lab import answered, asked, bus, denied, stamp_at
from tests.support.session_peer import Fields, Key, proof_bytes, ref


def test_of_two_who_prove_at_once_the_second_is_too_late() -> None:
    with bus(logged_broker) as lab:
        key, first, second = Key(), lab.peer(), lab.peer()
        record = lab.peer().allocate(key)
        one, other = first.challenge(record), second.challenge(record)
        assert one["binding_generation"] == other["binding_generation"] == "2"
        assert first.prove(key, one)["binding_generation"] == "2"
        assert second.try_prove(key, other).why == ("CONFLICT", "binding_pending")
        assert second.attach(key)["binding_generation"] == "3"
        denied(first.session("renew", {"target": ref(first.self_record(record))}))


def test_who_lost_its_record_is_somebody_again_once_it_proves_it() -> None:
    with bus(logged_broker) as lab:
        target, term, key = lab.service("target"), lab.peer(), Key()
        record = term.allocate(key)
        lab.peer().attach(key)
        term.ask("target", id="lost")
        assert answered(term, "lost")[1]["details"]["reason"] == "binding_lost"
        assert term.attach(key)["binding_generation"] == "3"
        assert stamp_at(target, term)["session"]["record_id"] == record["record_id"]
        target.ask(record["name"], b'"back"')
        assert asked(term)[1] == b'"back"'


def test_a_connection_holds_one_record_and_was_never_another() -> None:
    with bus(logged_broker) as lab:
        target, term, key, other_key = lab.service("target"), lab.peer(), Key(), Key()
        record = term.allocate(key)
        other = lab.peer().allocate(other_key)
        assert term.try_prove(other_key, term.challenge(other)).why == ("CONFLICT", "already_bound")
        assert stamp_at(target, term)["session"]["record_id"] == record["record_id"]
        assert term.revoke(record)
        assert term.try_allocate(Key()).why == ("CONFLICT", "already_bound")
        assert term.prove(other_key, term.challenge(other))["binding_generation"] == "2"
        assert stamp_at(target, term)["session"]["record_id"] == other["record_id"]


def test_a_bound_connection_has_its_name_and_no_other() -> None:
    with bus(logged_broker) as lab:
        term = lab.peer()
        term.serve("before")
        term.ask("before", id="self")
        record = term.allocate(Key())
        _, body = answered(term, "self")
        assert body["details"]["reason"] == "deregistered"
        for name, code in (("after", "CONFLICT"), (record["name"], "FORBIDDEN")):
            answer = term.verb("broker.register", json.dumps({"name": name}).encode())
            assert answer["error_code"] == code
        names = lab.peer().verb("broker.list")["names"]
        assert isinstance(names, list)
        held = [each["name"] for each in names if each["connection_id"] == term.connection_id]
        assert held == [record["name"]]


def test_a_proof_for_a_parent_that_has_gone_is_too_late() -> None:
    with bus(logged_broker) as lab:
        key, child_key, child, term = Key(), Key(), lab.peer(), lab.peer()
        record = term.allocate(key)
        _, pending = term.grant(record, child_key)
        challenge = child.challenge_key(child_key)
        assert term.verb("broker.bye") == {}
        assert child.try_prove(child_key, challenge).why[0] == "EXPIRED"
        assert child.try_prove(child_key, challenge).why == ("CONFLICT", "challenge_consumed")
        assert lab.peer().attach(key)["binding_generation"] == "2"
        bound = child.attach(child_key)
        assert (bound["record_id"], bound["binding_generation"]) == (pending["record_id"], "1")


def test_a_revoked_parent_takes_what_is_under_way_along() -> None:
    with bus(logged_broker) as lab:
        term, waiting, again = lab.peer(), lab.peer(), lab.peer()
        record = term.allocate(Key())
        child, bound, child_key = lab.child(term, record)
        new_key = Key()
        term.grant(record, new_key, (2, 1))
        enrol, resume = waiting.challenge_key(new_key), again.challenge(bound)
        assert term.revoke(record)
        assert waiting.try_prove(new_key, enrol).why[0] == "EXPIRED"
        assert again.try_prove(child_key, resume).why[0] == "EXPIRED"
        child.ask("target", id="lost")
        assert answered(child, "lost")[1]["details"]["reason"] == "binding_lost"
        assert again.records() == []


def test_a_stamp_is_of_the_moment_it_was_queued() -> None:
    """Who held the record when it asked is told so, even when the recipient reads it later."""
    with bus(logged_broker) as lab:
        target, term, key = lab.service("target"), lab.peer(), Key()
        record = term.allocate(key)
        term.ask("target", id="early")
        term.verb("broker.ping")
        lab.peer().attach(key)
        session = msgpack.unpackb(asked(target)[2])["session"]
        assert session["binding_generation"] == "1"
        assert target.try_lease_check(session).why == ("NOT_FOUND", "dependency_missing")
        assert target.notice_of(record, "attached") == 2


_FIELDS: Final = [
    "broker_epoch",
    "connection_id",
    "challenge_id",
    "nonce",
    "record_id",
    "instance_id",
    "incarnation",
    "parent_instance",
    "parent_incarnation",
    "parent_key_hash",
    "public_key_hash",
    "capabilities_hash",
    "grant_id",
]


@pytest.mark.parametrize("field", _FIELDS)
def test_a_signature_of_any_other_fact_is_no_proof(field: str) -> None:
    def other(value: str) -> str:
        return ("1" if value[0] == "0" else "0") + value[1:]

    _refused_when(lambda challenge: {**challenge, field: other(challenge[field])})


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("purpose", "resume"),
        ("role", "term"),
        ("owner_uid", 4_242),
        ("pane_id", "2"),
        ("pane_generation", "2"),
        ("binding_generation", "2"),
        ("grant_expires_ms", None),
        ("challenge_expires_ms", "1"),
        ("grant_id", None),
    ],
)
def test_a_signature_of_another_number_is_no_proof(field: str, value: object) -> None:
    _refused_when(lambda challenge: {**challenge, field: value})


def test_the_changed_ones_are_refused_for_the_change() -> None:
    with pytest.raises(AssertionError):
        _refused_when(lambda challenge: challenge)


def _refused_when(change: Callable[[Fields], Fields]) -> None:
    with bus(logged_broker) as lab:
        term, child, key = lab.peer(), lab.peer(), Key()
        term.grant(term.allocate(Key()), key)
        challenge = child.challenge_key(key)
        signature = key.sign(proof_bytes(change(challenge)))
        body = {"challenge_id": challenge["challenge_id"], "signature": signature}
        denied(child.session("prove", body))
