"""The recipient of the random histories: the real gate and ledger, used as the service does.

It evaluates a request when it comes, lets a mutation wait for its turn, evaluates it again, and
reserves and performs in that step.
"""

from __future__ import annotations

import json
from collections import Counter, deque
from dataclasses import dataclass
from typing import Final

from brokerd.client import ErrorCode, Refusal
from termnode.control.native.decisions import Decision, Go, Need, Refuse, Told
from termnode.control.native.gate import Gate
from termnode.control.native.leases import Check, LeaseCache
from termnode.control.native.ledger import Later, Ledger, Reservation
from termnode.control.native.request import Ask
from termnode.control.posture import Posture
from termnode.lanes.calls import Sealed
from termnode.lanes.sealing import seal_refusal
from tests.support.ledger_model import Deed, Model
from tests.support.ledger_traffic import Traffic
from tests.support.ledger_values import Message, World

BOUNDS: Final = {"per_actor": 3, "entries": 8, "actors": 3}
REPLY_BYTES: Final = (100_000, 320)
"""Room for all of eight replies, and for half of them."""
RETENTION: Final = 8.0
QUEUE: Final = 4
PAUSES: Final = (0.5, 1.0, 1.0, 2.0, 3.0, 7.0, 8.0)
TOO_LARGE: Final = Refusal(ErrorCode.UNKNOWN_OUTCOME, "too large", reason="response_too_large")


@dataclass(eq=False)
class Running:
    """A verb that takes its time."""

    message: Message
    reservation: Reservation[Sealed]


class Recipient(Traffic):
    """Does what it decides to the model too. What it answers is for `Lab` to judge."""

    def __init__(
        self, *, marks: int = 4_096, reply_bytes: int = REPLY_BYTES[0], blind: bool = False
    ) -> None:
        super().__init__()
        bounds = {**BOUNDS, "reply_bytes": reply_bytes}
        self.ledger: Ledger[Sealed] = Ledger(retention=RETENTION, marks=marks, **bounds)
        self.blind = blind
        self.model = Model(retention=RETENTION, **bounds)
        self.world = World()
        self.leases = LeaseCache()
        self.gate: Gate[Sealed] = Gate(self.world, self.ledger, self.leases)
        self.now = 0.0
        self.gone: dict[str, float] = {}
        self.queue: deque[Message] = deque()
        self.checking: list[tuple[Message, Check]] = []
        self.running: list[Running] = []
        self.unsettled: list[tuple[Message, Later]] = []
        self.effects: Counter[tuple[object, int]] = Counter()
        self.retired: set[tuple[object, int]] = set()

    def expect_go(self, message: Message) -> None:
        """It is about to be let through."""
        raise NotImplementedError

    def answer(self, message: Message, decision: Refuse | Told[Sealed]) -> None:
        """It is answered at once."""
        raise NotImplementedError

    def acknowledge(self, message: Message, raw: bytes) -> None:
        """Its caller may have this for the outcome."""
        raise NotImplementedError

    def ended(self, key: str) -> None:
        self.gone[key] = self.now
        self.ledger.ended(key, self.now)

    def do(self, pick: int) -> None:
        """A new mutation that goes through without any trouble on its way."""
        if self.clients:
            self.send(pick)
            if len(self.queue) < QUEUE:
                self.take(self.wire.pop())
            for _ in range(len(self.queue)):
                self.turn(pick)

    def arrive(self, pick: int) -> None:
        """One of the messages, in any order, reaches the recipient."""
        if self.wire:
            self.take(self.wire.pop(pick % len(self.wire)))

    def tick(self, pick: int) -> None:
        """Time passes; what a connection sent before its end is through by then, or lost."""
        self.now += PAUSES[pick % len(PAUSES)]
        through = {key for key, ended in self.gone.items() if self.now - ended >= RETENTION}
        self.wire = [each for each in self.wire if each.who not in through]
        self.queue = deque(each for each in self.queue if each.who not in through)
        self.checking = [each for each in self.checking if each[0].who not in through]

    def sweep(self, pick: int) -> None:
        """The broker is asked who is gone; all that they sent has arrived, and has its turn."""
        gone = [each for each in self.ledger.connections() if each in self.gone]
        self.let_through(gone, pick)
        self.ledger.gone(gone)
        self.seen["swept"] += len(gone)

    def let_through(self, gone: list[str], pick: int) -> None:
        for message in [each for each in self.wire if each.who in gone]:
            self.wire.remove(message)
            self.take(message)
        while any(each.who in gone for each in self.queue):
            self.turn(pick)

    def take(self, message: Message) -> None:
        """A request has come: answered, or let wait for its turn or for a lease."""
        decision = self.evaluate(message)
        if isinstance(decision, Need):
            check = self.leases.begin(decision.ref, self.now_ms)
            self.checking.append((message, check))
        elif isinstance(decision, Go):
            self.expect_go(message)
            if len(self.queue) < QUEUE:
                self.queue.append(message)
        else:
            self.answer(message, decision)

    def checked(self, pick: int) -> None:
        """The broker has told of a lease: the evaluation begins anew."""
        if self.checking:
            message, check = self.checking.pop(pick % len(self.checking))
            self.leases.put(check, 15_000)
            self.take(message)

    def turn(self, pick: int) -> None:
        """The turn of the first that waits: evaluated again, reserved and performed in one step."""
        if not self.queue:
            return
        message = self.queue.popleft()
        decision = self.evaluate(message)
        if isinstance(decision, Go):
            self.expect_go(message)
            self.perform(message, decision, pick)
        elif not isinstance(decision, Need):
            self.answer(message, decision)

    def perform(self, message: Message, go: Go, pick: int) -> None:
        if go.spec.name == "term.type" and pick % 5 == 0:
            self.seen["busy"] += 1  # before the reserve: nothing is spent
            return
        number = go.request.request_id
        assert number == message.number
        limit = self.model.fits(message.who, self.now)
        reason: object = None
        try:
            reservation = self.ledger.reserve(
                go.actor, number, go.request.digest, go.target, go.request.command, now=self.now,
                live=message.who not in self.gone,
            )  # fmt: skip
        except Refusal as refusal:
            reason = refusal.details["reason"]
        assert self.blind or reason == limit
        if reason is not None:
            self.seen[str(reason)] += 1
            return
        if go.spec.name == "term.type" and pick % 3 == 0:
            reservation.cancel()
            self.seen["cancelled"] += 1
            return
        self.begin(message)
        self.model.begin(message.who, number, Deed(message.digest, message.pane), self.now)
        if go.spec.name == "term.tab.new":
            self.running.append(Running(message, reservation))
        else:
            self.complete(message, reservation, pick)

    def begin(self, message: Message) -> None:
        """The effect, the only place where there is one."""
        key = message.who, message.number
        assert key not in self.retired, "it ran after it had been called retired"
        self.effects[key] += 1
        assert self.effects[key] == 1, "it ran twice"
        if message.verb == "term.pane.close":
            assert self.world.panes.pop(message.pane, None), "it closed what was gone"

    def complete(self, message: Message, reservation: Reservation[Sealed], pick: int) -> None:
        words = {"done": self.fresh(), "said": "x" * (pick % 4 * 30)}
        done = Sealed(0, json.dumps(words).encode(), "ok")
        sealed = seal_refusal(TOO_LARGE) if pick % 9 == 0 else done
        raw = sealed.raw
        later = Later() if message.verb == "term.type" else None
        if later is not None:
            self.unsettled.append((message, later))
        reservation.record(sealed, self.now, later)
        self.model.end(message.who, message.number, raw, self.now)
        self.acknowledge(message, raw)

    def finish(self, pick: int) -> None:
        """A verb that took its time ends: well, refused, for want of room, or in a crash."""
        if not self.running:
            return
        running = self.running.pop(pick % len(self.running))
        how = pick // 5 % 4
        if how <= 1:
            self.complete(running.message, running.reservation, pick)
            return
        if how == 2:
            load = Refusal(ErrorCode.RESOURCE_LIMIT, "no room")
            running.reservation.record(seal_refusal(load), self.now)
        else:
            running.reservation.drop()
        self.model.end(running.message.who, running.message.number, None, self.now)
        self.seen["load" if how == 2 else "crash"] += 1

    def settle(self, pick: int) -> None:
        """What an input came to is known."""
        if self.unsettled:
            message, later = self.unsettled.pop(pick % len(self.unsettled))
            later.settle({"status": "completed", "bytes": pick})
            body = json.dumps({"status": "completed", "bytes": pick}).encode()
            self.model.life(message.who).deeds[message.number].later = body

    def open_pane(self, pick: int) -> None:
        """A pane with an id that was there before has another generation."""
        pane = 1 + pick % 3
        if pane not in self.world.panes:
            self.world.panes[pane] = 1 + pick % 2

    def flip(self, pick: int) -> None:
        self.world.posture_now = Posture.STRICT if pick % 2 else Posture.OPEN

    @property
    def now_ms(self) -> int:
        return int(self.now * 1000)

    def evaluate(self, message: Message) -> Decision[Sealed]:
        ask = Ask(message.principal, message.verb, message.raw)
        return self.gate.evaluate(ask, self.now, self.now_ms)
