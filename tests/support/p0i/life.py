"""p0i_08, the broker's part: what ends authority."""

from __future__ import annotations

import msgpack

from tests.support.p0i.lab import (
    HOUR,
    NEVER,
    Bus,
    Start,
    answered,
    answered_by_nobody,
    asked,
    bus,
    denied,
)
from tests.support.session_peer import Fields, Key, SessionPeer, ref


def p0i_08_broker_part(start: Start) -> None:
    """No authority outlives its connection, its parent or its lease."""
    _holders_that_die(start)
    _windows_that_end(start)
    _leases_that_end(start)


def _holders_that_die(start: Start) -> None:
    with bus(start, *NEVER) as lab:
        lab.service("target")
        term, key, child_key = lab.peer(), Key(), Key()
        record = term.allocate(key)
        assert int(term.renew(record)["lease_remaining_ms"]) == HOUR
        term.grant(record, child_key)
        process = lab.holder(child_key)
        assert term.notice_of(process.record, "attached") == 1
        process.kill()
        # With leases and probes of an hour, only the end of the process can be what is told.
        assert term.notice_of(process.record, "suspended") == 1
        child = lab.peer()
        resumed = child.attach(child_key)
        assert resumed["record_id"] == process.record["record_id"]
        assert resumed["binding_generation"] == "2"
        assert int(resumed["lease_remaining_ms"]) <= int(term.renew(record)["lease_remaining_ms"])
        _successors(lab, (term, record, key), child, resumed)


def _successors(
    lab: Bus, old: tuple[SessionPeer, Fields, Key], child: SessionPeer, bound: Fields
) -> None:
    """The Term moves to a process, which dies: its children are suspended and told."""
    term, record, key = old
    term.ask(bound["name"])
    session = msgpack.unpackb(asked(child)[2])["session"]
    assert child.try_lease_check(session).rc == 0
    process = lab.holder(key)
    assert process.record["binding_generation"] == "2"
    assert child.notice_of(record, "attached") == 2
    assert child.try_lease_check(process.record).why == ("NOT_FOUND", "dependency_missing")
    assert child.try_lease_check(session).rc != 0, "the lease of a binding that was replaced"
    assert term.notice_of(record, "attached") == 2
    process.kill()
    assert child.notice_of(bound, "suspended") == 2
    child.ask("target", id="lost")
    rc, body = answered(child, "lost")
    assert (rc, body["details"].get("reason")) == (10, "binding_lost")
    denied(child.session("renew", {"target": ref(bound)}))
    denied(child.session("renew", {"target": ref(record)}))
    successor = lab.peer()
    again = successor.attach(key)
    assert (again["record_id"], again["binding_generation"]) == (record["record_id"], "3")
    states = {each["record_id"]: each["state"] for each in successor.records()}
    assert states == {record["record_id"]: "attached", bound["record_id"]: "suspended"}


def _windows_that_end(start: Start) -> None:
    with bus(start, *NEVER, "--set", "sessions.window_ms=300") as lab:
        key, child_key, watcher = Key(), Key(), lab.peer()
        term = lab.peer()
        record = term.allocate(key)
        term.grant(record, child_key)
        child = lab.peer()
        bound = child.attach(child_key)
        assert term.verb("broker.bye") == {}
        assert child.notice_of(bound, "suspended") == 1
        assert child.notice_of(bound, "revoked") == 1
        assert watcher.records() == []
        for one in (key, child_key):
            denied(watcher.try_challenge_key(one))
        denied(child.session("renew", {"target": ref(bound)}))
        assert answered_by_nobody(watcher, record["name"])
        assert answered_by_nobody(watcher, bound["name"])


def _leases_that_end(start: Start) -> None:
    short = ("--set", "sessions.lease_ms=400", "--set", "sessions.window_ms=400")
    with bus(start, *short) as lab:
        term, watcher = lab.peer(), lab.peer()
        record = term.allocate(Key())
        assert 0 < int(record["lease_remaining_ms"]) <= 400
        assert term.notice_of(record, "suspended") == 1
        denied(term.session("renew", {"target": ref(record)}))
        assert term.notice_of(record, "revoked") == 1
        assert watcher.records() == []
