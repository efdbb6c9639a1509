"""p0i_04: what was signed before, or elsewhere."""

from __future__ import annotations

import json

from tests.support.p0i.impostor import allocate_as
from tests.support.p0i.lab import Bus, Start, answered, asked, bus, denied, stamp_at
from tests.support.session_peer import Fields, Key, SessionPeer, allocation_bytes, proof_bytes, ref


def p0i_04_replay_and_resumption(start: Start) -> None:
    """A signature counts once, here, now; a record has one holder, the last who proved it."""
    with bus(start) as lab:
        target, term, key = lab.service("target"), lab.peer(), Key()
        record = term.allocate(key)
        _proofs_count_once(lab, term, record)
        _allocations_count_once(lab, term, key)
        target.ask(record["name"], id="unanswered")
        question = asked(term)[0]
        successor = lab.peer()
        again = successor.attach(key)
        rc, body = answered(target, "unanswered")
        assert (rc, body["details"]["reason"]) == (20, "deregistered")
        term.answer(target.connection_id, question.id, b'"too late"')
        assert again["binding_generation"] == "2"
        for field in ("record_id", "instance_id", "incarnation", "name"):
            assert again[field] == record[field], field
        assert [term.notice_of(record, "attached") for _ in range(2)] == [1, 2]
        term.ask("target", id="lost")
        term.verb("broker.ping")
        _heard_nothing_of(term, target)
        rc, body = answered(term, "lost")
        assert (rc, body["error_code"], body["details"]["reason"]) == (
            10,
            "EXPIRED",
            "binding_lost",
        )
        for one in (record, again):
            denied(term.session("renew", {"target": ref(one)}))
        denied(successor.session("renew", {"target": ref(record)}))
        target.ask(record["name"], b'"to the successor"')
        assert asked(successor)[1] == b'"to the successor"'
        assert stamp_at(target, successor)["session"]["binding_generation"] == "2"
        _is_nobody(lab, target, term)


def _is_nobody(lab: Bus, target: SessionPeer, lost: SessionPeer) -> None:
    """Neither asks, nor answers, nor tells: a connection that lost its record."""
    reader = lab.peer()
    reader.verb("broker.subscribe", b'{"service":"target"}')
    lost.ask("target", id="lost-again")
    lost.tell(reader.connection_id)
    reader.until(lambda counts: counts["binding_lost"] == 2)
    for verb, body in (
        ("broker.register", {"name": "again"}),
        ("broker.publish", {"topic": "again", "value": 1}),
    ):
        assert lost.verb(verb, json.dumps(body).encode())["error_code"] == "EXPIRED"
    _heard_nothing_of(lost, target, reader)


def _heard_nothing_of(lost: SessionPeer, *peers: SessionPeer) -> None:
    """What the broker has from the lost one went to none of these."""
    for peer in peers:
        peer.verb("broker.ping")
        assert lost.connection_id not in [header.from_ for header, _, _ in peer.passed]


def _proofs_count_once(lab: Bus, term: SessionPeer, record: Fields) -> None:
    key, child, other = Key(), lab.peer(), lab.peer()
    grant, pending = term.grant(record, key)
    bad = child.challenge(pending, grant["grant_id"])
    assert child.challenge(pending, grant["grant_id"]) == bad
    held = child.try_challenge_key(key)
    assert held.why == ("CONFLICT", "challenge_outstanding")
    assert 0 < int(held.body["details"]["retry_after_ms"]) <= 5_000
    denied(child.try_prove(Key(), bad))
    assert child.try_prove(key, bad).why == ("CONFLICT", "challenge_consumed")
    challenge = child.challenge(pending, grant["grant_id"])
    assert challenge["challenge_id"] != bad["challenge_id"]
    assert challenge["nonce"] != bad["nonce"]
    denied(other.try_prove(key, challenge))  # one of another connection
    wrong = lab.peer()
    theirs = wrong.challenge(pending, grant["grant_id"])
    body = {"challenge_id": theirs["challenge_id"], "signature": key.sign(proof_bytes(challenge))}
    denied(wrong.session("prove", body))
    bound = child.prove(key, challenge)
    assert bound["state"] == "attached"
    assert child.try_prove(key, challenge).why == ("CONFLICT", "challenge_consumed")
    used = other.try_challenge(bound, grant["grant_id"])
    assert used.why == ("CONFLICT", "grant_consumed")


def _allocations_count_once(lab: Bus, term: SessionPeer, key: Key) -> None:
    other, fresh = lab.peer(), Key()
    elsewhere = allocation_bytes(term.epoch, term.connection_id, fresh.public, "default-open")
    denied(allocate_as(other, fresh.public, fresh.sign(elsewhere)))
    restricted = allocation_bytes(other.epoch, other.connection_id, fresh.public, "restricted")
    denied(allocate_as(other, fresh.public, fresh.sign(restricted)))
    assert other.try_allocate(key).why == ("CONFLICT", "key_in_use")
    first = other.allocate(fresh)
    mine = other.last_id
    signed = allocation_bytes(other.epoch, other.connection_id, fresh.public, "default-open")
    same = {"public_key": fresh.public.hex(), "signature": fresh.sign(signed)}
    kept = other.session("allocate", same, id=str(mine))
    assert kept.body["record"]["record_id"] == first["record_id"]
    changed = other.session("allocate", {**same, "policy": "restricted"}, id=str(mine))
    assert changed.why == ("CONFLICT", "request_mismatch")
    spent = other.session("revoke", {"target": ref(first)}, id=str(mine - 1))
    assert spent.why == ("CONFLICT", "unknown_outcome")
    assert other.try_allocate(Key()).why == ("CONFLICT", "already_bound")
