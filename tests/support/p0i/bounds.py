"""p0i_10: how large and of what form a request may be."""

from __future__ import annotations

from typing import Final

import msgpack

from tests.support.p0i.lab import Start, bus, denied, invalid
from tests.support.session_peer import ALL, Answer, Fields, Key, SessionPeer, allocation_bytes, ref

EXACT: Final = 16_384


def p0i_10_bootstrap_bounds(start: Start) -> None:
    """Every bound of a session request, at it and one beyond; what is refused leaves nothing."""
    with bus(start) as lab:
        peer, key = lab.peer(), Key()
        _sizes(peer)
        _shapes(peer)
        signed = allocation_bytes(peer.epoch, peer.connection_id, key.public, "default-open")
        sound: Fields = {"public_key": key.public.hex(), "signature": key.sign(signed)}
        for bad in ("0", "01", "+1", "abc", str(2**64), "-1", "1.0"):
            answer = peer.session("allocate", sound, id=bad)
            assert (answer.why[0], answer.body["details"]["field"]) == ("INVALID_ARGUMENT", "id")
        for change in (
            {"public_key": key.public.hex().upper()},
            {"public_key": key.public.hex()[:-2]},
            {"public_key": None},
            {"signature": sound["signature"] + "00"},
            {"policy": "open"},
            {"policy": 1},
            {"more": 1},
        ):
            invalid(peer.session("allocate", sound | change))
        assert peer.records() == []
        record = peer.allocate(key)
        _grants(peer, record)
        assert len(peer.records()) == 1


def _sizes(peer: SessionPeer) -> None:
    header = {"v": 1, "type": "request", "id": "9", "to": "brokerd", "command": "session.hello"}
    room = EXACT - len(msgpack.packb(header))
    assert peer.session("hello", b"{}".ljust(room), id="9").rc == 0
    over = peer.session("hello", b"{}".ljust(room + 1), id="9")
    assert over.rc == 10
    assert over.why[0] in ("INVALID_ARGUMENT", "RESOURCE_LIMIT")


def _shapes(peer: SessionPeer) -> None:
    def nested(depth: int) -> Answer:
        return peer.session("hello", b'{"x":' + b"[" * depth + b"]" * depth + b"}")

    within, beyond = nested(15), nested(16)
    invalid(within)
    invalid(beyond)
    assert within.body != beyond.body, "depth 16 is refused for its field, 17 for its depth"
    for body in (
        b"[]",
        b"null",
        b"",
        b"{}x",
        b'{"a":1,"a":1}',
        b'{"a":1,"\\u0061":1}',
        b'{"a":{"b":1,"b":1}}',
        b'{"a":NaN}',
        b"\xff",
        b'{"more":1}',
    ):
        if body:
            invalid(peer.session("hello", body))
    assert peer.session("hello", b" {} \n\t ").rc == 0
    for command in ("list", "hello"):
        invalid(peer.session(command, {"record_id": "0" * 32}))
    base = {"record_id": "0" * 32, "incarnation": "0" * 32, "purpose": "resume"}
    invalid(peer.session("challenge", base))  # a field that may be null must be there
    denied(peer.session("challenge", {**base, "grant_id": None}))
    both = {**base, "grant_id": None, "public_key": "0" * 64}
    invalid(peer.session("challenge", both))
    invalid(peer.session("challenge", {**base, "grant_id": None, "purpose": "take"}))
    for generation in (1, "01", "+1", "", " 1", "1.0", str(2**64), None):
        target = {"record_id": "0" * 32, "incarnation": "0" * 32, "binding_generation": generation}
        invalid(peer.session("renew", {"target": target}))


def _grants(peer: SessionPeer, record: Fields) -> None:
    key = Key()
    for capabilities in ([], ["input", "input"], ["all"], [*ALL, "more"], [*ALL, ALL[0]]):
        invalid(peer.try_grant(record, key, (1, 1), capabilities))
    body = {
        "parent": ref(record),
        "pane_id": "1",
        "pane_generation": "1",
        "public_key": key.public.hex(),
        "role": "pane-shell",
        "capabilities": ["input"],
    }
    for change in ({"role": "term"}, {"pane_id": 1}, {"pane_id": "01"}, {"capabilities": "input"}):
        invalid(peer.session("grant.create", {**body, **change}))
    for field in body:
        invalid(peer.session("grant.create", {k: v for k, v in body.items() if k != field}))
