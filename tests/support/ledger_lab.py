"""Random histories of the retry rules: callers, a bad network, the real gate and ledger, a model.

A history is a list of steps; a step is an action and a number that picks among what there is.
Every answer is compared with the model's, and three promises are checked without it: no id runs
twice; none runs after it was called retired; what was acknowledged is told again the same.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Final, TypeAlias

from brokerd.client import Refusal
from termnode.control.native.callers import actor_of
from termnode.control.native.decisions import Decision, Go, Need, Refuse, Told
from termnode.control.native.request import Ask
from termnode.control.posture import Posture
from termnode.control.spec import U64_MAX
from termnode.lanes.calls import Sealed
from tests.support.ledger_model import Deed
from tests.support.ledger_recipient import REPLY_BYTES, Recipient
from tests.support.ledger_traffic import MOST_CLIENTS
from tests.support.ledger_values import BAD_IDS, Message, target

Step: TypeAlias = tuple[int, int]


class Lab(Recipient):
    """Raises AssertionError where the recipient and the model part.

    A ``blind`` one does not look at the model: then only the three promises are left.
    """

    def __init__(
        self, *, marks: int = 4_096, reply_bytes: int = REPLY_BYTES[0], blind: bool = False
    ) -> None:
        super().__init__(marks=marks, reply_bytes=reply_bytes, blind=blind)
        self.forgetful = marks < MOST_CLIENTS
        self.replies: list[tuple[Message, bytes]] = []
        self.acknowledged: dict[tuple[object, int], bytes] = {}
        self.heard: dict[tuple[object, int], tuple[Message, bytes]] = {}

    def hear(self, pick: int) -> None:
        """A reply arrives at its caller, or is lost."""
        if self.replies:
            message, raw = self.replies.pop(pick % len(self.replies))
            if pick % 3:
                self.heard[message.who, message.number] = message, raw

    def expected(self, message: Message) -> str | Deed:
        """What the answer must be: the first of the gate's steps that has something to say."""
        strict = self.world.posture_now is Posture.STRICT
        bound = message.principal.session is not None
        told = self.model.expect(message.who, message.number, message.digest, self.now)
        missing = message.epoch is None and (strict or bound)
        stale = message.epoch not in {None, message.principal.connection_id}
        steps: list[tuple[bool, str | Deed]] = [
            (message.request_id in BAD_IDS, "INVALID_ARGUMENT"),
            (strict and bound and message.verb == "term.tab.new", "FORBIDDEN"),
            (message.number > 0 and told != "new", told),
            (self.world.panes.get(message.pane) != 1, "FORBIDDEN"),
            (stale, "stale_request_epoch"),
            (missing or message.number == 0, "INVALID_ARGUMENT"),
        ]
        return next((answer for applies, answer in steps if applies), "go")

    def expect_go(self, message: Message) -> None:
        expected = self.expected(message)
        assert self.blind or expected == "go", expected
        self.seen["go"] += 1

    def answer(self, message: Message, decision: Refuse | Told[Sealed]) -> None:
        expected = self.expected(message)
        if isinstance(decision, Told):
            self.told(message, decision, expected)
            return
        word = self.word(message, decision.refusal)
        self.seen[word] += 1
        if word == "retired":
            self.retired.add((message.who, message.number))
        assert self.blind or word == expected or self.lost(word, expected), (word, expected)

    def lost(self, word: str, expected: str | Deed) -> bool:
        """Whether a caller is refused because its mark, or a stranger's, could not be kept."""
        forgotten = self.ledger.statistics()["forgotten"]
        return self.forgetful and word == "retired" and forgotten > 0 and isinstance(expected, str)

    def word(self, message: Message, refusal: Refusal) -> str:
        details = refusal.details
        match details.get("reason"):
            case "request_ids_spent":
                assert self.forgetful or self.blind
                return "retired"
            case "retired_request_id":
                if not (self.forgetful or self.blind):
                    assert details["request_high_water"] == str(self.model.life(message.who).mark)
                return "retired"
            case "request_mismatch":
                assert details["retry_requires"] == "byte_identical_body"
                return "mismatch"
            case "stale_request_epoch":
                return "stale_request_epoch"
        return str(refusal.code)

    def told(self, message: Message, decision: Told[Sealed], expected: str | Deed) -> None:
        if decision.reply is not None:
            self.acknowledge(message, decision.reply.raw)
        if self.blind:
            return
        assert isinstance(expected, Deed), expected
        assert expected.digest == message.digest
        self.seen["pending" if expected.running else "replayed"] += 1
        first = replace(expected, later=None)
        assert outcome(decision) == first_or_later(message.number, first)

    def acknowledge(self, message: Message, raw: bytes) -> None:
        """A caller may have this for the outcome: then it ran, once, and that is all it hears."""
        key = message.who, message.number
        assert self.effects[key] == 1, "what never ran was acknowledged"
        assert self.acknowledged.setdefault(key, raw) == raw, "two outcomes of one request"
        self.replies.append((message, raw))

    def ask(self, pick: int) -> None:
        """`term.operation` tells the later outcome, else the first reply; to its target alone."""
        client = self.client(pick)
        numbered = [each for each in client.sent if each.number] if client else []
        if client is None or not numbered:
            return
        message = replace(numbered[pick // 5 % len(numbered)], principal=client.principal)
        pane = 1 if client.principal.session else 1 + pick // 7 % 3
        decision = self.operation(message, pane)
        deed = self.model.known(message.who, self.now).get(message.number)
        if self.blind or isinstance(decision, Need):
            return
        if isinstance(decision, Refuse):
            self.seen["not told"] += 1
            code = "UNKNOWN_OUTCOME" if deed is None else "FORBIDDEN"
            assert deed is None or deed.pane != pane
            assert decision.refusal.code == code
            return
        assert deed is not None
        assert deed.pane == pane
        self.seen["asked"] += 1
        assert isinstance(decision, Told)
        assert outcome(decision) == first_or_later(message.number, deed)

    def operation(self, message: Message, pane: int) -> Decision[Sealed]:
        body = {"target": target(pane), "operation_id": str(message.number)}
        ask = Ask(message.principal, "term.operation", json.dumps(body).encode())
        return self.gate.evaluate(ask, self.now, self.now_ms)

    def read(self, pick: int) -> None:
        """Reads are never told from the ledger, whatever ids there are."""
        client = self.client(pick)
        if client is not None:
            pane = 1 if client.principal.session else 1 + pick // 5 % 3
            raw = json.dumps({"target": target(pane)}).encode()
            decision = self.gate.evaluate(
                Ask(client.principal, "term.session", raw), self.now, self.now_ms
            )
            live = self.world.panes.get(pane) == 1
            assert isinstance(decision, Need | (Go if live else Refuse))

    def audit(self) -> None:
        """At the end: what callers heard and must still be known is told again; marks stand."""
        if self.blind:
            return
        self.ledger.verify()
        self.world.posture_now = Posture.OPEN
        for (who, number), (message, raw) in self.heard.items():
            deed = self.model.known(who, self.now).get(number)
            if deed is None:
                continue
            decision = self.evaluate(message)
            assert isinstance(decision, Told), "what was acknowledged is lost"
            assert outcome(decision) == json.loads(raw)
            told = self.operation(message, message.pane)
            assert isinstance(told, Told)
            assert outcome(told) == first_or_later(number, deed)
            self.seen["kept" if deed.later is None else "later"] += 1
        for client in self.clients:
            mark = self.ledger.high_water(actor_of(client.principal))
            assert mark == self.model.life(client.who).mark or (self.forgetful and mark == U64_MAX)


def outcome(decision: Told[Sealed]) -> object:
    """What is told, decoded."""
    return decision.body if decision.reply is None else json.loads(decision.reply.raw)


def first_or_later(number: int, deed: Deed) -> object:
    """What the model has to tell of a deed."""
    if deed.later is not None:
        return json.loads(deed.later)
    if deed.reply is None:
        return {"status": "pending", "operation_id": str(number)}
    return json.loads(deed.reply)


ACTIONS: Final[Mapping[Callable[[Lab, int], None], int]] = {
    Lab.do: 10,
    Lab.send: 4,
    Lab.send_again: 5,
    Lab.send_reworded: 2,
    Lab.send_lower: 2,
    Lab.send_odd: 1,
    Lab.arrive: 9,
    Lab.double: 3,
    Lab.lose: 1,
    Lab.turn: 6,
    Lab.finish: 2,
    Lab.settle: 2,
    Lab.ask: 3,
    Lab.read: 1,
    Lab.hear: 6,
    Lab.tick: 2,
    Lab.sweep: 2,
    Lab.checked: 2,
    Lab.connect: 3,
    Lab.reconnect: 1,
    Lab.end_record: 1,
    Lab.open_pane: 4,
    Lab.flip: 1,
}
"""What can happen, and how often."""

_WEIGHTED: Final = [action for action, weight in ACTIONS.items() for _ in range(weight)]


def play(lab: Lab, steps: Sequence[Step]) -> Counter[str]:
    """Do the steps and audit; what was seen, by name."""
    for pick in range(3):
        lab.connect(pick)
    for action, pick in steps:
        _WEIGHTED[action](lab, pick)
    lab.audit()
    return lab.seen


STEPS: Final = len(_WEIGHTED)


def random_steps(seed: int, most: int = 90) -> list[Step]:
    """A history of its own for each seed."""
    rng = Random(seed)
    length = rng.randint(most // 2, most)
    return [(rng.randrange(STEPS), rng.getrandbits(12)) for _ in range(length)]
