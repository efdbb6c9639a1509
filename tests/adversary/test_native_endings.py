"""The Term ends, or stands still: nobody takes its place, and what waited is not written later."""

from __future__ import annotations

import json
import os
import select
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import pytest

from termnode.view.messages import Text
from tests.support.native_broken import lab_without
from tests.support.s4.caller import Caller, body_of
from tests.support.s4.lab import Lab, ask_nobody, first, gone, lab_of
from tests.support.s4.programs import LAST, SlowReader
from tests.support.session_peer import Answer, Fields, Key
from tests.support.termnode_process import eventually
from tests.support.view_client import viewer

pytestmark = pytest.mark.slow

LEASE_MS: Final = 8_000
"""The shortest in which the Term, which renews every five seconds, never loses it by itself."""

CHUNK: Final = 7_000
LETTERS: Final = "abcd"
"""Of each a chunk: more than a terminal holds that nobody reads."""


def test_nobody_gets_the_name_of_a_term_that_has_died() -> None:
    with lab_of() as lab:
        pane = first(lab)
        owner, target, name = lab.owner(), lab.target(pane), lab.record()["name"]
        waiting = owner.post("term.wait", body_of({"target": target, "until": "never shown"}))
        os.kill(lab.term.ready["pid"], signal.SIGKILL)
        gone(lab.term.ready["pid"])
        lost = owner.answer(waiting)
        assert (lost.rc, lost.why[0]) == (20, "UNAVAILABLE"), lost
        thief = lab.peer()
        for wanted in (name, name.upper(), f"{name}.x"):
            refusal = thief.verb("broker.register", json.dumps({"name": wanted}).encode())
            assert refusal["error_code"] in ("FORBIDDEN", "INVALID_ARGUMENT"), refusal
        eventually(lambda: ask_nobody(owner.peer, name), "nobody answers for it")
        mine = thief.allocate(Key())
        assert mine["name"] != name
        # What the thief holds is a Term, so it may send private events; it is not that one.
        event = {"type": "event", "command": "term.input.revoked"}
        thief.send({**event, "recipient_connection": owner.peer.connection_id}, b'{"forged":1}')
        thief.verb("broker.ping")
        _is_known_as(owner, mine["record_id"])
        body = owner.next(target, text="secret", foreground_generation="1")
        answer = owner.send("term.type", body)
        assert (answer.rc, answer.why[0]) == (20, "UNAVAILABLE")
        assert not [each for each in thief.passed if each[0].type == "request"]


def _is_known_as(owner: Caller, record_id: str) -> None:
    """An event says who sent it by the broker's stamp, and that is the thief's own record."""
    _, body, stamp = owner.peer.next_of(lambda h: (h.type, h.command) == _REVOKED)
    assert body == b'{"forged":1}'
    assert record_id.encode() in stamp


_REVOKED: Final = ("event", "term.input.revoked")


@contextmanager
def _standing_still(lab: Lab) -> Iterator[None]:
    """The service does nothing until the broker has found that its lease is over."""
    pid = lab.term.ready["pid"]
    record = lab.record()
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
        eventually(lambda: _state(lab, record) != "attached", "the Term's lease is over")
    finally:
        os.kill(pid, signal.SIGCONT)


def _state(lab: Lab, record: Fields) -> str:
    found = [each for each in lab.records() if each["record_id"] == record["record_id"]]
    return str(found[0]["state"]) if found else "gone"


def test_a_service_that_stood_still_writes_nothing_of_before() -> None:
    """No notice tells it: it finds by the clock that every right is over."""
    with lab_of("--set", f"sessions.lease_ms={LEASE_MS}") as lab:
        assert _waited_and_written(lab) == 0


def test_without_the_right_to_write_that_would_be_seen() -> None:
    patient = {"write_deadline_s": 1e6}
    lease = ("--set", f"sessions.lease_ms={LEASE_MS}")
    with lab_without("standing", *lease, settings=patient) as lab:
        assert _waited_and_written(lab) == CHUNK


def _waited_and_written(lab: Lab) -> int:
    """How much is written of what waited while the service stood still, and its lease ended."""
    first(lab)
    program = SlowReader(lab)
    target, owner = lab.target(program.pane), lab.owner()
    foreground = owner.foreground(target)
    numbers = [owner.typed(target, each * CHUNK, foreground) for each in LETTERS]
    with _standing_still(lab):
        late = [_late(owner, target, foreground) for _ in range(3)]
        program.go()  # it reads all that the terminal holds, and there is room again
    for each in late:
        assert _answer(owner, each).rc != 0
    eventually(lambda: lab.binding(program.pane)["ready"], "the pane is ready again")
    again = lab.owner()
    outcomes = [_outcome(lab, owner, target, each) for each in numbers]
    # Not before: a view that reads nothing while all this happens is ended.
    with viewer(lab.term) as view:
        view.press(Text(LAST.decode()), pane=program.pane)
        got = program.got().decode()
    delivered = dict(zip(LETTERS, outcomes, strict=True))
    assert {each: got.count(each) for each in LETTERS} == delivered
    assert got.count("L") == 0
    assert again.good("term.session", lab.target(program.pane))
    return delivered["d"]


def _late(owner: Caller, target: Fields, foreground: str) -> str:
    """Ask a service that stands still."""
    body = owner.next(target, text="L" * 100, foreground_generation=foreground)
    return owner.post("term.type", body)


def _answer(owner: Caller, asked: str) -> Answer:
    return owner.answer(asked)


def _outcome(lab: Lab, owner: Caller, target: Fields, number: str) -> int:
    """How much of an operation was written, once the service can be asked for it."""

    def settled() -> Fields | None:
        said = owner.operation(target, number)
        return said.body if said.body.get("status") in ("completed", "unknown") else None

    found = eventually(settled, "the operation has its outcome")
    assert found is not None
    assert (found["status"] == "completed") == (int(found["delivered_bytes_lower_bound"]) == CHUNK)
    return int(found["delivered_bytes_lower_bound"])


def test_a_caller_that_ends_leaves_nothing_to_who_comes_after_it() -> None:
    """Its events and its outcomes go to no other connection, whatever that says it is."""
    with lab_of() as lab:
        first(lab)
        program = SlowReader(lab)
        target, before = lab.target(program.pane), lab.owner()
        with viewer(lab.term) as view:
            foreground = before.foreground(target)
            for each in LETTERS:
                before.typed(target, each * CHUNK, foreground)
            before.peer.close()
            after = lab.owner()
            view.press(Text("P"), pane=program.pane)
            program.go()
            view.press(Text(LAST.decode()), pane=program.pane)
            program.got()
            assert after.operation(target, "1").why[0] == "UNKNOWN_OUTCOME"
            assert after.typed(target, "x")
        assert not select.select([after.peer.socket], [], [], 0)[0]
        assert not [each for each in after.peer.passed if each[0].type == "event"]
