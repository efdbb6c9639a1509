"""p0i_09: what others see of it."""

from __future__ import annotations

import json
from typing import Final

from tests.support.p0i.lab import DENIED, Start, answered, asked, bus
from tests.support.session_peer import Fields, Key, SessionPeer

CANARY: Final = "canary-6f1d"


def p0i_09_observation_confidentiality(start: Start) -> None:
    """What is said under a record is seen by nobody but its recipient."""
    with bus(start, "--observe", "target") as lab:
        target, term, watcher, plain = lab.service("target"), lab.peer(), lab.peer(), lab.peer()
        body = json.dumps({"service": "target"}).encode()
        watching = watcher.verb("broker.observe.start", body)
        refused = json.dumps({"service": "unlisted"}).encode()
        assert watcher.verb("broker.observe.start", refused)["error_code"] == "FORBIDDEN"
        said = json.dumps({"text": CANARY}).encode()
        key = Key()
        record = term.allocate(key)
        for command in ("hello", "allocate", "prove", "renew"):
            answer = term.session(command, said)
            assert answer.rc == 10
            assert CANARY not in json.dumps(answer.body)
        named = json.dumps({"service": record["name"]}).encode()
        assert watcher.verb("broker.observe.start", named) == DENIED
        for peer in (term, plain):
            peer.ask("target", said, id="seen")
            header = asked(target)[0]
            target.answer(peer.connection_id, header.id, said)
            assert answered(peer, "seen")[0] == 0
        plain.ask(record["name"], said, id="named")
        term.answer(plain.connection_id, asked(term)[0].id, said)
        assert answered(plain, "named")[0] == 0
        told = json.dumps({"observe_id": watching["observe_id"]}).encode()
        seen = watcher.verb("broker.observe.read", told)
        _only_metadata(seen, term, plain)
        everything = json.dumps([seen, watcher.verb("broker.info"), watcher.verb("broker.list")])
        assert CANARY not in everything
        assert key.seed.hex() not in everything
        log = lab.broker.log.read_text()
        assert CANARY not in log
        assert record["name"] not in log


def _only_metadata(seen: Fields, term: SessionPeer, plain: SessionPeer) -> None:
    events = seen["events"]
    assert len(events) >= 4
    assert all(event["payload"] is None for event in events)
    why = {
        event["from"]: event["payload_omitted"] for event in events if event["type"] == "request"
    }
    assert why[term.connection_id] == "native_session_protected"
    assert why[plain.connection_id] == "metadata_only"
