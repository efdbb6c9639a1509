"""p0i_01: who proves its key is stamped with its record."""

from __future__ import annotations

import os
import re

import msgpack

from tests.support.p0i.lab import Start, answered_by_nobody, asked, bus, stamp_at
from tests.support.session_peer import ALL, SESSION, Fields, Key, SessionPeer, capability_hash


def p0i_01_legitimate_binding(start: Start) -> None:
    """Who proves its key is stamped with exactly its record, and is reached by its name."""
    with bus(start) as lab:
        target, term, key = lab.service("target"), lab.peer(), Key()
        term.serve("other-name")
        before = stamp_at(target, term)
        assert (before["assurance"], before["session"]) == ("local-unix", None)
        record = term.allocate(key)
        assert re.fullmatch("t[0-9a-z]{1,7}-[a-z2-7]{22}", record["name"])
        _is_a_new_term(record)
        assert answered_by_nobody(target, "other-name")

        child_key = Key()
        grant, pending = term.grant(record, child_key, (7, 3), ("read_state", "input"))
        assert (pending["state"], pending["binding_generation"]) == ("pending", "0")
        assert pending["record_assurance"] == "reserved"
        assert grant["public_key"] == child_key.public.hex()
        child = lab.peer()
        challenge = child.challenge_key(child_key)
        assert challenge["capabilities_hash"] == capability_hash(["input", "read_state"])
        assert challenge["parent_key_hash"] == grant["parent_key_hash"]
        assert challenge["grant_id"] == grant["grant_id"]
        attached = child.prove(child_key, challenge)
        assert (attached["state"], attached["binding_generation"]) == ("attached", "1")
        assert term.notice_of(attached, "attached") == 1

        _stamp_says(stamp_at(target, term), record, term)
        said = stamp_at(target, child)
        _stamp_says(said, attached, child)
        assert said["session"]["pane_id"] == "7"
        assert said["session"]["pane_generation"] == "3"
        assert said["session"]["capabilities"] == ["input", "read_state"]
        assert said["session"]["parent_instance"] == record["instance_id"]

        child.ask(record["name"], b'"to the Term"')
        header, body, stamp = asked(term)
        assert (header.from_, body) == (child.connection_id, b'"to the Term"')
        session = msgpack.unpackb(stamp)["session"]
        left = int(term.try_lease_check(session).body["lease_remaining_ms"])
        assert 0 < left <= 15_000
        term.answer(child.connection_id, header.id, b'"back"')
        header, body, stamp = child.next_of(lambda header: header.type == "response")
        assert body == b'"back"'
        assert msgpack.unpackb(stamp)["session"]["record_id"] == record["record_id"]


def _is_a_new_term(record: Fields) -> None:
    assert (record["state"], record["role"]) == ("attached", "term")
    assert (record["binding_generation"], record["owner_uid"]) == ("1", os.geteuid())
    assert (record["record_assurance"], record["policy"]) == ("session-bound", "default-open")
    assert record["capabilities"] == list(ALL)
    assert record["pane_id"] is record["parent_instance"] is None
    assert 0 < int(record["lease_remaining_ms"]) <= 15_000


def _stamp_says(stamp: Fields, record: Fields, peer: SessionPeer) -> None:
    assert stamp["assurance"] == "session-bound"
    assert (stamp["connection_id"], stamp["broker_epoch"]) == (peer.connection_id, peer.epoch)
    assert (stamp["unix_uid"], stamp["peer_pid"]) == (os.geteuid(), os.getpid())
    assert stamp["session"].keys() == SESSION
    for field in SESSION - {"lease_remaining_ms"}:
        assert stamp["session"][field] == record[field], field
    assert 0 < int(stamp["session"]["lease_remaining_ms"]) <= 15_000
