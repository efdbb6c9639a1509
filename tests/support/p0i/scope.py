"""p0i_03: what a record does not allow."""

from __future__ import annotations

import msgpack

from tests.support.p0i.lab import Bus, Start, bus, denied, stamp_at
from tests.support.session_peer import Key, SessionPeer, ref


def p0i_03_wrong_scope(start: Start) -> None:
    """A record allows what was granted for it, and nothing beside or above it."""
    with bus(start) as lab:
        target, term, other = lab.service("target"), lab.peer(), lab.peer()
        record, foreign = term.allocate(Key()), other.allocate(Key())
        child, bound, _ = lab.child(term, record, (1, 1), ("read_state",))
        sibling, beside, _ = lab.child(term, record, (2, 1))
        assert stamp_at(target, child)["session"]["capabilities"] == ["read_state"]
        for peer, parent in ((child, record), (child, bound), (other, record), (target, record)):
            denied(peer.try_grant(parent, Key(), (9, 1)))
        denied(term.try_grant({**record, "binding_generation": "2"}, Key(), (9, 1)))
        waiting = Key()
        term.grant(record, waiting, (3, 1))
        fetch = {"public_key": waiting.public.hex()}
        for peer in (child, other, target):
            denied(peer.session("grant.fetch", fetch))
        assert term.ok("grant.fetch", fetch)["grant"]["state"] == "pending"
        for verb in ("renew", "revoke"):
            for peer, aim in ((child, record), (child, beside), (other, bound), (target, foreign)):
                denied(peer.session(verb, {"target": ref(aim)}))
        for peer, aim in ((term, bound), (child, {**bound, "binding_generation": "2"})):
            denied(peer.session("renew", {"target": ref(aim)}))
        missing = child.try_lease_check(beside)
        assert missing.why == ("NOT_FOUND", "dependency_missing")
        stale = term.try_grant(record, Key(), (1, 1))
        assert stale.why[0] == "STALE_GENERATION"
        _private_events(lab, term, child)
        assert term.revoke(bound)
        assert child.notice_of(bound, "revoked") == 1
        assert not term.revoke(bound)
        assert sibling.renew(beside)["state"] == "attached"


def _private_events(lab: Bus, term: SessionPeer, child: SessionPeer) -> None:
    """Only a Term may tell a connection that did not ask for it."""
    reader, nobody = lab.peer(), lab.peer()
    before = reader.counts()["unroutable_event"]
    for peer in (child, nobody):
        peer.tell(reader.connection_id, b'"from nobody"')
        peer.verb("broker.ping")
    reader.until(lambda counts: counts["unroutable_event"] == before + 2)
    term.tell(reader.connection_id, b'"from a Term"')
    _, body, stamp = reader.next_of(lambda header: header.type == "event")
    assert body == b'"from a Term"'
    assert msgpack.unpackb(stamp)["session"]["role"] == "term"
