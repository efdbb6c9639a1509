"""p0i_09: what is said on the native lane is seen by nobody, and stands in no log."""

from __future__ import annotations

import json
from typing import Final

from tests.support.s4.caller import Caller
from tests.support.s4.lab import Lab, Start, first
from tests.support.session_peer import Fields, SessionPeer
from tests.support.termnode_process import eventually

CANARY: Final = "canary6f1d"


def p0i_09_real_payload_tap_observe_and_logs(start: Start) -> None:
    """A word that goes through every kind of request is found where it was sent, and only there."""
    with start("--observe", "term") as lab:
        one = first(lab)
        lab.strict()
        watcher, owner, child = lab.peer(), lab.owner(), lab.child(one)
        seen = _watched(watcher, "term")
        for name in (owner.name, child.record["name"] if child.record else ""):
            body = json.dumps({"service": name}).encode()
            assert watcher.verb("broker.observe.start", body)["error_code"] == "FORBIDDEN"
        _say(lab, child, one)
        _say(lab, owner, one)
        owner.peer.ask("term", json.dumps({"text": CANARY}).encode(), id="g", command="term.type")
        owner.peer.next_of(lambda header: header.id == "g")
        events = _events(watcher, seen)
        assert events
        _only_metadata(events)
        everything = json.dumps([events, watcher.verb("broker.info"), watcher.verb("broker.list")])
        assert CANARY not in everything
        lab.strict(on=False)
        audit = json.dumps(lab.term.good("term.log", {"limit": 1000}))
        assert '"term.type"' in audit
        assert child.record is not None
        assert f"pane-shell {child.record['record_id'][:8]} uid" in audit
        assert CANARY not in audit
        assert CANARY not in lab.broker.log.read_text()
        assert CANARY not in lab.term.log()
        for path in lab.term.directory.rglob("*"):
            if path.is_file():
                assert CANARY.encode() not in path.read_bytes(), path


def _watched(watcher: SessionPeer, service: str) -> str:
    started = watcher.verb("broker.observe.start", json.dumps({"service": service}).encode())
    return str(started["observe_id"])


def _events(watcher: SessionPeer, observe_id: str) -> list[Fields]:
    read = watcher.verb("broker.observe.read", json.dumps({"observe_id": observe_id}).encode())
    found = read["events"]
    assert isinstance(found, list)
    return found


def _only_metadata(events: list[Fields]) -> None:
    for event in events:
        assert event["payload"] is None
        assert event["payload_omitted"] in ("native_session_protected", "metadata_only")


def _say(lab: Lab, caller: Caller, pane: int) -> None:
    """Requests that are carried out, read back, and refused, all with the word in them."""
    target = lab.target(pane)
    eventually(lambda: caller.type(target, CANARY).rc == 0, "nobody else types there")
    eventually(
        lambda: CANARY in caller.good("term.snapshot", target, contents=True)["text"],
        "the word is shown",
    )
    assert CANARY in json.dumps(caller.good("term.props.get", target, property="contents"))
    caller.done("term.pane.rename", target, title=CANARY)
    assert caller.ask("term.session", target, unknown=CANARY).rc == 10
    assert caller.ask(f"term.{CANARY}", target).rc == 10
    assert caller.send("term.type", CANARY.encode()).rc == 10
    for answer in (
        caller.ask("term.snapshot", {**target, "pane_id": CANARY}),
        caller.do("term.type", target, text=CANARY + "\x1b", foreground_generation="1"),
        caller.do("term.props.set", target, property=CANARY, value=CANARY),
        caller.do("term.type", target, text=CANARY, foreground_generation="999"),
    ):
        assert answer.rc == 10
        assert CANARY not in json.dumps(answer.body)
