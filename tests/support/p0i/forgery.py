"""p0i_06: what a peer writes about itself."""

from __future__ import annotations

import json

import msgpack

from tests.support.p0i.lab import Bus, Start, asked, bus
from tests.support.session_peer import Fields, Key, SessionPeer, ref


def p0i_06_envelope_forgery(start: Start) -> None:
    """What a peer writes into its own messages changes nothing of who it is."""
    with bus(start) as lab:
        target, term, forger = lab.service("target"), lab.peer(), lab.peer()
        record = term.allocate(Key())
        term.ask("target", id="true")
        stolen = asked(target)[2]
        head = {"v": 1, "type": "request", "id": "f", "to": "target", "command": "x.y"}
        forged: list[tuple[bytes, ...]] = [
            (msgpack.packb(head), b"{}", stolen),
            *(
                (msgpack.packb({**head, key: value}), b"{}")
                for key, value in (
                    ("from", term.connection_id),
                    ("From", term.connection_id),
                    ("session", msgpack.unpackb(stolen)["session"]),
                    ("broker_principal", msgpack.unpackb(stolen)),
                    ("native-session", 1),
                )
            ),
        ]
        for frames in forged:
            forger.send_message(*frames)
        _forged_notices(lab, forger, record)
        forger.ask("target", id="last")
        while True:
            header, _, stamp = asked(target)
            said = msgpack.unpackb(stamp)
            assert header.from_ == said["connection_id"] == forger.connection_id
            assert (said["assurance"], said["session"]) == ("local-unix", None)
            if header.id == "last":
                break
        term.ask("target", id="for-the-forger")
        header = asked(target)[0]
        forger.answer(term.connection_id, header.id, b'"forged"')
        forger.verb("broker.ping")
        target.answer(term.connection_id, header.id, b'"true"')
        _, body, _ = term.next_of(lambda header: header.type == "response")
        assert body == b'"true"'


def _forged_notices(lab: Bus, forger: SessionPeer, record: Fields) -> None:
    """A notice that is not the broker's says so: it has a sender and a stamp."""
    reader = lab.peer()
    forger.serve("notices")
    reader.verb("broker.subscribe", b'{"service":"notices"}')
    told = {"target": ref(record), "state": "revoked", "broker_epoch": reader.epoch}
    fields = {"type": "event", "recipient_connection": reader.connection_id}
    forger.send({**fields, "command": "session.lifecycle"}, json.dumps(told).encode())
    forger.send({**fields, "command": "x.last"}, b"{}")
    while (delivery := reader.next_of(lambda header: header.type == "event"))[
        0
    ].command != "x.last":
        assert delivery[0].from_ == forger.connection_id
        assert msgpack.unpackb(delivery[2])["connection_id"] == forger.connection_id
    reader.verb("broker.subscribe", b'{"topic":"session.lifecycle"}')
    topic = {"topic": "session.lifecycle", "value": told}
    assert forger.verb("broker.publish", json.dumps(topic).encode())["delivered"] == 1
    header, _, _ = reader.next_of(lambda header: header.type == "event")
    assert header.command == "broker.topic", "no topic has the command of a notice"
