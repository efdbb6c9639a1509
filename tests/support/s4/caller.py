"""Who asks the native lane, by hand: bodies are made here and sent as they are."""

from __future__ import annotations

import json
from typing import Any, Final

from tests.support.p0i.lab import DENIED
from tests.support.session_peer import Answer, Fields, SessionPeer
from tests.support.termnode_process import eventually

WITHIN_S: Final = 6.0
"""Less than a caller's own lease has left, which nobody renews meanwhile."""


class Caller:
    """A connection that asks a Term under its allocated name. ``record`` is the one it holds."""

    def __init__(self, peer: SessionPeer, name: str, record: Fields | None = None) -> None:
        self.peer = peer
        self.name = name
        self.record = record
        self.last_id = 0
        """The highest request id of this caller."""
        self._asked = 0

    def send(self, verb: str, raw: bytes) -> Answer:
        """Ask with these very bytes."""
        return self.answer(self.post(verb, raw))

    def post(self, verb: str, raw: bytes) -> str:
        """Ask, and do not wait; the id to get the answer by."""
        self._asked += 1
        id = f"n-{self._asked}"  # noqa: A001 - the name on the wire
        self.peer.ask(self.name, raw, id=id, command=verb)
        return id

    def answer(self, id: str) -> Answer:  # noqa: A002 - the name on the wire
        """The answer to what was posted."""
        header, body, _ = self.peer.next_of(lambda h: (h.type, h.id) == ("response", id))
        return Answer(header.rc, json.loads(body))

    def ask(self, verb: str, target: Fields, **fields: Any) -> Answer:  # noqa: ANN401
        """Ask for something that changes nothing."""
        return self.send(verb, body_of({"target": target, **fields}))

    def good(self, verb: str, target: Fields, **fields: Any) -> Fields:  # noqa: ANN401
        """What is answered to a request that must be good."""
        answer = self.ask(verb, target, **fields)
        assert answer.rc == 0, (verb, answer.body)
        return answer.body

    def next(self, target: Fields, **fields: Any) -> bytes:  # noqa: ANN401
        """The body of a mutation with a new id."""
        self.last_id += 1
        envelope = {"request_id": str(self.last_id), "request_epoch": self.peer.connection_id}
        return body_of({"target": target, **envelope, **fields})

    def do(self, verb: str, target: Fields, **fields: Any) -> Answer:  # noqa: ANN401
        """Ask for a mutation."""
        return self.send(verb, self.next(target, **fields))

    def done(self, verb: str, target: Fields, **fields: Any) -> Fields:  # noqa: ANN401
        """What is answered to a mutation that must be carried out."""
        answer = self.do(verb, target, **fields)
        assert answer.rc == 0, (verb, answer.body)
        return answer.body

    def foreground(self, target: Fields) -> str:
        """The foreground generation of a pane."""
        found: str = self.good("term.session", target)["foreground_generation"]
        return found

    def type(self, target: Fields, text: str, foreground: str | None = None) -> Answer:
        """Type under the present foreground generation."""
        if foreground is None:
            foreground = self.foreground(target)
        return self.do("term.type", target, text=text, foreground_generation=foreground)

    def typed(self, target: Fields, text: str, foreground: str | None = None) -> str:
        """As `type`, which must be accepted; the operation's id."""
        answer = self.type(target, text, foreground)
        assert answer.rc == 0, answer.body
        assert answer.body["status"] == "accepted"
        found: str = answer.body["operation_id"]
        return found

    def keeps_out(self, other: Caller, target: Fields) -> str:
        """Type, and see that another caller must wait; the operation's id.

        In strict posture. A hold lasts two seconds: on a machine that stood still it is taken anew.
        """

        def held() -> str | None:
            foreground = self.foreground(target)
            answer = self.type(target, "x", foreground)
            late = answer.rc != 0 or other.type(target, "y", foreground).why[0] != "BUSY"
            return None if late else answer.body["operation_id"]

        return eventually(held, "who types keeps others out", WITHIN_S)

    def operation(self, target: Fields, number: str) -> Answer:
        """What became of an operation."""
        return self.ask("term.operation", target, operation_id=number)


def body_of(fields: Fields) -> bytes:
    return json.dumps(fields).encode()


def denied(answer: Answer) -> None:
    """The one denial, the same whatever it is for."""
    assert (answer.rc, answer.body) == (10, DENIED)


def refused(answer: Answer, code: str, reason: str | None = None) -> None:
    """This refusal."""
    assert answer.rc == 10, answer.body
    assert answer.why == (code, reason) or (reason is None and answer.why[0] == code), answer.body
