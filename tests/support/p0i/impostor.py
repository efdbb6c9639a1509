"""p0i_02: who knows everything but a key."""

from __future__ import annotations

import json

from tests.support.p0i.lab import DENIED, Start, asked, bus, denied, stamp_at
from tests.support.session_peer import Answer, Key, SessionPeer, allocation_bytes, ref


def p0i_02_names_only_impostor(start: Start) -> None:
    """Who knows every name and id, but no key, is nobody."""
    with bus(start) as lab:
        target, victim, thief, key = lab.service("target"), lab.peer(), lab.peer(), Key()
        record = victim.allocate(key)
        for name in (record["name"], "t0-" + "a" * 22, "c1z141z3-" + "7" * 22):
            answer = thief.verb("broker.register", json.dumps({"name": name}).encode())
            assert answer == DENIED
        forged = Key()
        denied(_allocate_with(thief, key.public, forged))
        denied(_allocate_with(thief, bytes(31) + b"\x80", forged))
        identity = b"\1" + bytes(31)
        denied(allocate_as(thief, identity, (identity + bytes(32)).hex()))
        denied(thief.try_challenge_key(forged))
        unknown = {**record, "record_id": "0" * 32}
        denied(thief.try_challenge(unknown))
        denied(thief.try_challenge({**record, "incarnation": "0" * 32}))
        denied(thief.session("self", {"record_id": "0" * 32}))
        for verb in ("renew", "revoke"):
            for one in (record, unknown):
                denied(thief.session(verb, {"target": ref(one)}))
        denied(thief.try_prove(forged, thief.challenge(record)))
        said = stamp_at(target, thief)
        assert (said["assurance"], said["session"]) == ("local-unix", None)
        thief.ask(record["name"], b'"for the victim"')
        assert asked(victim)[1] == b'"for the victim"'
        assert victim.renew(record)["binding_generation"] == "1"


def _allocate_with(peer: SessionPeer, public: bytes, signer: Key) -> Answer:
    signed = allocation_bytes(peer.epoch, peer.connection_id, public, "default-open")
    return allocate_as(peer, public, signer.sign(signed))


def allocate_as(peer: SessionPeer, public: bytes, signature: str) -> Answer:
    """Ask for a record with a signature from anywhere."""
    return peer.session("allocate", {"public_key": public.hex(), "signature": signature})
