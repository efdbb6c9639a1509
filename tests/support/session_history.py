"""Random histories of verified sessions: each step done to the store and to the model, compared.

A step is an operation and three small numbers, which pick among what there is. So any list of
steps is a history, and a shorter list of a failing one may still fail.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from random import Random
from typing import Any, Final, TypeAlias

from brokerd.core.sessions import GAP, Bound, Gap, Notice, Ref, Sessions, Unbound
from brokerd.encodings import CAPABILITIES, allocation_transcript
from brokerd.errors import Refusal
from brokerd.keys import SessionKey
from brokerd.limits import SessionLimits
from tests.support.session_model import Conn, Model, Rec

EPOCH: Final = "e" * 32
LIMITS: Final = SessionLimits(
    terms_per_uid=2,
    grants_per_parent=2,
    grants=3,
    grant_ms=30,
    lease_ms=15,
    window_ms=30,
    challenge_ms=5,
    challenges_per_uid=2,
    consumed_per_connection=2,
    interests_per_uid=2,
    interest_ms=60,
    issued_names=7,
    notices_per_connection=3,
    dependencies_per_recipient=2,
    dependencies=3,
    dependency_ms=60,
)
KEYS: Final = [SessionKey.from_seed(bytes([n]) * 32) for n in range(1, 8)]
PAUSES: Final = (1, 1, 2, 3, 4, 5, 5, 9, 10, 14, 15, 20, 30, 46, 70)
NO_KEY: Final = b"\0" * 64
MAX_CONNECTIONS: Final = 6

Step: TypeAlias = tuple[int, int, int, int]


class History:
    """The two side by side. Raises AssertionError where they part."""

    def __init__(self, sessions: type[Sessions] = Sessions) -> None:
        self.serial = 0
        self.real = sessions(
            epoch=EPOCH, node="here", limits=LIMITS, new_id=self.fresh, new_bytes=self.bytes
        )
        self.model = Model(LIMITS)
        self.seen: list[Rec] = []
        self.old_ids: list[str] = []
        self.connected: list[str] = []
        self.grants: dict[str, str] = {}
        self.routes: dict[str, str] = {}
        self.outcomes: Counter[str] = Counter()

    def fresh(self) -> str:
        self.serial += 1
        return f"{self.serial:032x}"

    def bytes(self, size: int) -> bytes:
        self.serial += 1
        return self.serial.to_bytes(8, "big").rjust(12, b"\1").ljust(size, b"\2")[-size:]

    def step(self, step: Step) -> None:
        """Do one thing, and see that all is as it should be."""
        do, a, b, c = step
        operation = OPERATIONS[do % len(OPERATIONS)]
        if operation in ANYTIME or (self.connected and not self.model.broken):
            operation(self, a, b, c)
        self.compare()

    # What there is to pick

    def who(self, n: int) -> str:
        return self.connected[n % len(self.connected)]

    def rec(self, n: int) -> Rec | None:
        """One that there is, most of the time; else one that there was."""
        some = self.model.recs if n % 8 and self.model.recs else self.seen
        return some[n % len(some)] if some else None

    def holder(self, rec: Rec, n: int) -> str:
        """Who holds it, most of the time; else anybody."""
        return rec.holder if rec.holder and n % 8 else self.who(n)

    def uid(self, conn: str) -> int:
        return self.model.conns[conn].uid

    def ref(self, rec: Rec, c: int) -> tuple[int, Ref]:
        """The generation of now, most of the time; else one beside it."""
        generation = max(0, rec.generation + (0 if c % 8 else -1))
        return generation, Ref(rec.id, incarnation(rec), generation)

    def both(self, expected: str, real: Callable[[], Any]) -> Any:  # noqa: ANN401 - of any verb
        """The result of the store, None for a refusal; checked to be what the model expects."""
        self.outcomes[expected] += 1
        result, said = None, "ok"
        try:
            result = real()
        except Refusal as refusal:
            said = str(refusal.details.get("reason", refusal.code))
        wanted = {"same": "ok", "already": "ok"}.get(expected, expected)
        assert said == wanted, f"{said} is not {wanted}"
        return result

    # Operations

    def connect(self, a: int, *_: int) -> None:
        if len(self.connected) < MAX_CONNECTIONS:
            conn = self.fresh()
            self.connected.append(conn)
            self.model.conns[conn] = Conn(a % 4 // 3)

    def lose(self, a: int, *_: int) -> None:
        if self.connected:
            conn = self.who(a)
            self.connected.remove(conn)
            self.model.lose(conn)
            self.real.lost(conn)

    def pause(self, a: int, *_: int) -> None:
        now = self.model.now + PAUSES[a % len(PAUSES)]
        due = self.real.next_deadline()
        before = [(rec.state, rec.generation) for rec in self.seen]
        self.model.pass_to(now)
        changed = before != [(rec.state, rec.generation) for rec in self.seen]
        assert not changed or (due is not None and due <= now), "a deadline too late"
        self.real.advance(now)

    def fail(self, a: int, b: int, c: int) -> None:
        if a % 16 == b % 4 == 0:
            self.outcomes["clock failed"] += 1
            self.model.fail_clock()
            self.real.fail_clock()

    def allocate(self, a: int, b: int, c: int) -> None:
        conn, key, signed = self.who(a), KEYS[b % len(KEYS)], c % 8 != 0
        uid = self.uid(conn)
        message = allocation_transcript(EPOCH, conn, key.public_key, "default-open")
        signature = key.sign(message if signed else message + b"!")
        record = self.both(
            self.model.allocate(conn, b % len(KEYS), signed),
            lambda: self.real.allocate(conn, uid, key.public_key, signature, "default-open"),
        )
        if record:
            self.model.allocated(conn, b % len(KEYS), record.record_id)
            self.seen.append(self.model.recs[-1])

    def grant(self, a: int, b: int, c: int) -> None:
        parent = self.rec(a)
        if parent is None:
            return
        parent = parent.parent if parent.parent and a % 4 else parent
        conn, key, pane = self.holder(parent, b), b % len(KEYS), (1 + c % 2, 1 + c // 2)
        generation, ref = self.ref(parent, c)
        public = KEYS[key].public_key
        grant = self.both(
            self.model.grant(conn, parent, generation, pane, key),
            lambda: self.real.create_grant(
                conn, self.uid(conn), ref, *pane, public, CAPABILITIES[:2]
            ),
        )
        if grant:
            self.model.granted(parent, pane, key, grant.record.record_id)
            self.seen.append(self.model.recs[-1])
            self.grants[grant.record.record_id] = grant.grant_id
            assert self.real.fetch_grant(conn, self.uid(conn), public) is grant

    def fetch(self, a: int, b: int, c: int) -> None:
        conn, key = self.who(a), b % len(KEYS)
        rec = self.model.by_key(key)
        mine = rec is not None and rec.parent and rec.parent.holder == conn
        public = KEYS[key].public_key
        grant = self.both(
            "ok" if mine else "FORBIDDEN",
            lambda: self.real.fetch_grant(conn, self.uid(conn), public),
        )
        assert grant is None or (rec and grant.state == ("consumed" if rec.enrolled else "pending"))

    def challenge(self, a: int, b: int, c: int) -> None:
        rec, conn = self.rec(a), self.who(b)
        if rec is None:
            return
        purpose = ("enrol", "resume")[(rec.state != "pending") ^ (c % 8 == 0)]
        granted = (purpose == "enrol") ^ (c % 8 == 1)
        grant_id = self.grants.get(rec.id, EPOCH) if granted else None
        expected = self.model.challenge(conn, rec, purpose, granted)
        given = self.both(
            expected,
            lambda: self.real.challenge_record(
                conn, self.uid(conn), rec.id, incarnation(rec), purpose, grant_id
            ),
        )
        self.given(conn, expected, given, rec, (rec.id, purpose, granted))

    def challenge_key(self, a: int, b: int, c: int) -> None:
        conn, key = self.who(a), b % len(KEYS)
        expected, wake = self.model.challenge_key(conn, key)
        answer = self.both(
            expected,
            lambda: self.real.challenge_key(conn, self.uid(conn), KEYS[key].public_key),
        )
        if answer:
            reason = answer[1].details["reason"] if answer[1] else "ok"
            assert reason == wake, "another word on waiting"
            self.outcomes[f"wake {wake}"] += 1
            self.given(conn, expected, answer[0], self.model.by_key(key), (key,))

    def given(
        self,
        conn: str,
        expected: str,
        real: Any,  # noqa: ANN401 - a challenge or None
        rec: Rec | None,
        selector: tuple[object, ...],
    ) -> None:
        if real is None or rec is None:
            return
        model = self.model.conns[conn].given
        if expected == "ok":
            model = self.model.give(conn, rec, selector, real.id)
            self.old_ids = [*self.old_ids, real.id][-6:]
        assert model is not None
        assert real.id == model.id, "another challenge"
        assert (real.expires_ms, real.binding_generation) == (model.end, model.generation)
        assert (real.purpose == "enrol") == model.enrol

    def prove(self, a: int, b: int, c: int) -> None:
        """Well, with a bad signature, or with the id of any challenge that there ever was."""
        asked = [conn for conn in self.connected if self.model.conns[conn].given]
        conn = asked[a % len(asked)] if asked and a % 8 else self.who(a)
        uid, given = self.uid(conn), self.model.conns[conn].given
        slot = self.real._tables.challenges.slots().get(conn)
        challenge = slot.outstanding if slot else None
        message = challenge.proof(EPOCH).transcript() if challenge else b""
        known = given.id if given and c % 4 else ""
        challenge_id = known or (self.old_ids[c % len(self.old_ids)] if self.old_ids else EPOCH)
        signed = b % 8 != 0
        signature = KEYS[given.rec.key if given else 0].sign(message if signed else b"")
        expected = self.model.prove(conn, challenge_id, signed)
        self.both(expected, lambda: self.real.prove(conn, uid, challenge_id, signature))

    def renew(self, a: int, b: int, c: int) -> None:
        if (rec := self.rec(a)) is not None:
            conn = self.holder(rec, b)
            generation, ref = self.ref(rec, c)
            expected = self.model.renew(conn, rec, generation)
            self.both(expected, lambda: self.real.renew(conn, self.uid(conn), ref))

    def revoke(self, a: int, b: int, c: int) -> None:
        if (rec := self.rec(a)) is not None:
            holder = rec.parent if rec.parent and b % 2 else rec
            conn = self.holder(holder, b)
            generation, ref = self.ref(rec, c)
            expected = self.model.revoking(conn, rec, generation)
            revoked = self.both(expected, lambda: self.real.revoke(conn, self.uid(conn), ref))
            assert revoked in {None, expected == "ok"}, "revoked twice"

    def deliver(self, a: int, b: int, c: int) -> None:
        rec, conn = self.rec(a), self.who(b)
        if rec is not None and rec.state == "attached":
            record = self.real.self_record(rec.uid, rec.id)
            expected = self.model.deliver(rec, conn)
            self.both(expected, lambda: self.real.delivering(record, conn))

    def check(self, a: int, b: int, c: int) -> None:
        if (rec := self.rec(a)) is not None:
            hears = [each for each in self.connected if self.model.conns[each].heard]
            conn = hears[b % len(hears)] if hears else self.who(b)
            generation, ref = self.ref(rec, c)
            expected = self.model.check(conn, rec, generation)
            left = self.both(expected, lambda: self.real.lease_check(conn, self.uid(conn), ref))
            assert left is None or left == self.model.left(rec)

    def hear(self, a: int, b: int, c: int) -> None:
        """Take a few notices; put the last one back now and then, as after a failed send."""
        conn = self.who(a)
        for n in range(1 + b % 4):
            told = self.real.take_notice(conn)
            model = self.model.conns[conn]
            assert plain(told) == _next(model), "another notice"
            if told and n == b % 4 and c % 2:
                self.real.restore(conn, told)
                _back(model, told)

    # What must always hold

    def compare(self) -> None:
        self.real.verify()
        for effect in self.real.effects():
            self.follow(effect)
        if self.model.broken:
            assert not self.real.statistics()["records"]
            assert not self.routes
            return
        for rec in self.model.recs:
            record = self.real.self_record(rec.uid, rec.id)
            found = record.state, record.binding_generation, record.connection_id or ""
            self.outcomes[f"seen {rec.state}"] += 1
            assert found == (rec.state, rec.generation, rec.holder), "another state"
            assert record.ends_ms == rec.end, "another end"
            assert self.real.lease_remaining(record) == self.model.left(rec)
        for conn, model in self.model.conns.items():
            held = self.model.held(conn)
            binding = self.real.binding(conn)
            assert (binding.record_id if binding else None) == (held.id if held else None)
            assert self.real.lost_binding(conn) == (model.bound and not held)
        assert self.real.statistics() == self.counted()
        holders = {rec.holder for rec in self.model.recs if rec.holder}
        assert set(self.routes.values()) == holders, "routes differ from bindings"
        told = {conn for conn, model in self.model.conns.items() if model.queue or model.gap}
        assert set(self.real.waiting()) == told

    def follow(self, effect: Bound | Unbound) -> None:
        """A name is taken from who has it, and given to who has none."""
        conn, name = effect.connection_id, effect.name
        if isinstance(effect, Bound):
            assert name not in self.routes, "a name given twice"
            assert conn not in self.routes.values(), "a second name"
            self.routes[name] = conn
        else:
            assert self.routes.pop(name) == conn, "a name taken from another"

    def counted(self) -> dict[str, int]:
        conns, recs = self.model.conns.values(), self.model.recs
        return {
            "records": len(recs),
            "terms": sum(not rec.parent for rec in recs),
            "grants": sum(rec.state == "pending" for rec in recs),
            "challenges": sum(conn.given is not None for conn in conns),
            "dependencies": sum(len(conn.heard) for conn in conns),
            "notices": sum(len(conn.queue) for conn in conns),
            "gaps": sum(conn.gap for conn in conns),
            "interests": sum(conn.wants is not None for conn in conns),
            "bindings": sum(rec.state == "attached" for rec in recs),
        }

    def finish(self) -> None:
        """Everybody goes and time passes: nothing may remain."""
        while self.connected:
            self.lose(0)
            self.compare()
        self.pause(PAUSES.index(70))
        self.pause(PAUSES.index(70))
        self.compare()
        left = {name: count for name, count in self.real.statistics().items() if count}
        assert not left, "something remains"
        assert self.real.next_deadline() is None


def _next(model: Conn) -> object:
    if model.gap:
        model.gap = False
        return "gap"
    return model.queue.pop(0) if model.queue else None


def _back(model: Conn, told: Notice | Gap) -> None:
    if isinstance(told, Notice):
        ref = told.ref
        model.queue.insert(0, (ref.record_id, ref.binding_generation, str(told.state)))
    else:
        model.gap = True


def plain(told: Notice | Gap | None) -> object:
    """What was told, in the model's words."""
    if told is None or told is GAP:
        return told and "gap"
    assert isinstance(told, Notice)
    return told.ref.record_id, told.ref.binding_generation, str(told.state)


def incarnation(rec: Rec) -> str:
    """Ids count upwards, and a record takes three: its own, its instance's, this one."""
    return f"{int(rec.id, 16) + 2:032x}"


ANYTIME: Final = {History.connect, History.lose, History.pause}
OPERATIONS: Final = (
    History.connect,
    History.connect,
    History.lose,
    History.pause,
    History.pause,
    History.fail,
    History.allocate,
    History.allocate,
    History.grant,
    History.grant,
    History.fetch,
    History.challenge,
    History.challenge,
    History.challenge_key,
    History.challenge_key,
    History.prove,
    History.prove,
    History.prove,
    History.prove,
    History.renew,
    History.renew,
    History.revoke,
    History.deliver,
    History.deliver,
    History.check,
    History.hear,
)


def random_steps(seed: int, most: int = 150) -> list[Step]:
    """The history of that seed. It starts with some connections, so that more comes of the rest."""
    random = Random(seed)
    pick = random.randrange
    start: list[Step] = [(0, n, 0, 0) for n in range(3)]
    rest = [(pick(len(OPERATIONS)), pick(64), pick(64), pick(64)) for _ in range(pick(10, most))]
    return start + rest


def replay(steps: Sequence[Step], sessions: type[Sessions] = Sessions) -> History:
    """Do all steps and the end. Raises AssertionError when the store does other than the model."""
    history = History(sessions)
    for step in steps:
        history.step(step)
    history.finish()
    return history
