"""A reference model of verified sessions: slow, plain, and written from the promise alone.

It keeps lists and looks through all of them. What it predicts of each verb is "ok" or the reason
of the refusal; signatures are true or false.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from brokerd.limits import SessionLimits

INTEREST, DEPENDENCY, CHALLENGE, GRANT, LEASE, WINDOW = range(6)
ENDS = {"pending": GRANT, "attached": LEASE, "suspended": WINDOW}


@dataclass(eq=False)
class Rec:
    id: str
    uid: int
    key: int
    parent: Rec | None = None
    pane: int = 0
    pane_generation: int = 0
    state: str = "pending"
    generation: int = 0
    holder: str = ""
    former: str = ""
    end: int = 0
    turn: int = 0
    enrolled: bool = False
    top: dict[int, int] = field(default_factory=dict)


@dataclass(eq=False)
class Given:
    id: str
    rec: Rec
    enrol: bool
    selector: tuple[object, ...]
    generation: int
    end: int


@dataclass
class Conn:
    uid: int
    bound: bool = False
    given: Given | None = None
    lapsed: str = ""
    used: list[str] = field(default_factory=list)
    wants: tuple[int, int] | None = None
    """A key, and until when."""
    heard: dict[tuple[Rec, int], int] = field(default_factory=dict)
    queue: list[tuple[str, int, str]] = field(default_factory=list)
    gap: bool = False
    retired: set[tuple[str, int]] = field(default_factory=set)


class Model:
    def __init__(self, limits: SessionLimits) -> None:
        self.limits = limits
        self.now = 0
        self.turn = 0
        self.broken = False
        self.conns: dict[str, Conn] = {}
        self.recs: list[Rec] = []
        self.names = 0
        self.retired: set[tuple[str, str, int]] = set()

    # Who is who

    def held(self, conn: str) -> Rec | None:
        return next((rec for rec in self.recs if conn and rec.holder == conn), None)

    def named(self, conn: str, rec: Rec, generation: int) -> bool:
        return rec in self.recs and rec.holder == conn and rec.generation == generation

    def by_key(self, key: int) -> Rec | None:
        return next((rec for rec in self.recs if rec.key == key), None)

    def left(self, rec: Rec) -> int:
        line = [rec, rec.parent] if rec.parent else [rec]
        return min(each.end - self.now if each.state == "attached" else 0 for each in line)

    # Time

    def pass_to(self, now: int) -> None:
        self.now = now
        while not self.broken:
            ends = [(rec.end, ENDS[rec.state], rec.turn, rec) for rec in self.recs]
            if not ends or (first := min(ends, key=lambda end: end[:3]))[0] > now:
                break
            at, kind, _, rec = first
            self.forget_before(at)
            if kind == LEASE:
                self.suspend(rec, at)
            else:
                self.revoke(rec)
        self.forget_before(now)

    def forget_before(self, at: int) -> None:
        for conn in self.conns.values():
            if conn.wants and conn.wants[1] <= at:
                conn.wants = None
            conn.heard = {key: end for key, end in conn.heard.items() if end > at}
            if conn.given and conn.given.end <= at:
                conn.lapsed, conn.given = conn.given.id, None

    # Changes

    def enter(self, rec: Rec, state: str, end: int) -> None:
        if rec.state != state:
            self.turn += 1
            rec.turn = self.turn
        rec.state, rec.end = state, end

    def attach(self, rec: Rec, conn: str) -> None:
        old = rec.holder
        self.enter(rec, "attached", self.now + self.limits.lease_ms)
        rec.generation += 1
        rec.holder, rec.former, rec.enrolled = conn, "", True
        self.conns[conn].bound = True
        self.conns[conn].wants = None
        self.tell(rec, old)
        for child in [each for each in self.recs if each.parent is rec]:
            self.tell(child)

    def suspend(self, rec: Rec, at: int) -> None:
        self.enter(rec, "suspended", at + self.limits.window_ms)
        rec.holder, rec.former = "", rec.holder
        self.tell(rec)
        for child in [each for each in self.recs if each.parent is rec]:
            if child.state == "attached":
                self.suspend(child, at)

    def revoke(self, rec: Rec) -> None:
        last = rec.holder or rec.former
        rec.state, rec.holder, rec.former = "revoked", "", last
        self.recs.remove(rec)
        self.tell(rec)
        if last:
            self.conns[last].retired = {(rec.id, rec.generation)}
        if rec.parent:
            self.retired.add((rec.parent.id, rec.id, rec.generation))
        for conn in self.conns.values():
            if conn.given and conn.given.rec is rec:
                conn.lapsed, conn.given = conn.given.id, None
            conn.heard = {key: end for key, end in conn.heard.items() if key[0] is not rec}
        for child in [each for each in self.recs if each.parent is rec]:
            self.revoke(child)

    def tell(self, rec: Rec, old: str = "") -> None:
        parent = rec.parent.holder if rec.parent else ""
        for name, conn in self.conns.items():
            hears = any(heard[0] is rec for heard in conn.heard)
            waits = conn.wants is not None and (conn.uid, conn.wants[0]) == (rec.uid, rec.key)
            if name in {old, rec.holder, rec.former, parent} or hears or waits:
                if len(conn.queue) >= self.limits.notices_per_connection:
                    conn.gap = True
                else:
                    conn.queue.append((rec.id, rec.generation, rec.state))

    def lose(self, name: str) -> None:
        rec = self.held(name)
        self.conns[name] = Conn(self.conns[name].uid)
        if rec:
            self.suspend(rec, self.now)
        del self.conns[name]
        for each in self.recs:
            each.former = "" if each.former == name else each.former

    def fail_clock(self) -> None:
        for rec in [each for each in self.recs if not each.parent]:
            self.revoke(rec)
        for conn in self.conns.values():
            conn.wants, conn.heard = None, {}
        self.broken = True

    # Verbs: what must come of them

    def allocate(self, name: str, key: int, signed: bool) -> str:
        uid = self.conns[name].uid
        terms = [rec for rec in self.recs if rec.uid == uid and not rec.parent]
        if self.conns[name].bound:
            return "already_bound"
        if not signed:
            return "FORBIDDEN"
        if self.by_key(key):
            return "key_in_use"
        if len(terms) >= self.limits.terms_per_uid:
            return "term_limit"
        return self.name()

    def allocated(self, name: str, key: int, record_id: str) -> None:
        rec = Rec(record_id, self.conns[name].uid, key)
        self.recs.append(rec)
        self.attach(rec, name)

    def grant(
        self, name: str, parent: Rec, generation: int, pane: tuple[int, int], key: int
    ) -> str:
        pending = [rec for rec in self.recs if rec.state == "pending"]
        if not self.named(name, parent, generation) or parent.parent:
            return "FORBIDDEN"
        if self.by_key(key):
            return "key_in_use"
        if pane[1] <= parent.top.get(pane[0], 0):
            return "STALE_GENERATION"
        if len([rec for rec in pending if rec.parent is parent]) >= self.limits.grants_per_parent:
            return "grant_limit"
        return "grant_limit" if len(pending) >= self.limits.grants else self.name()

    def granted(self, parent: Rec, pane: tuple[int, int], key: int, record_id: str) -> None:
        rec = Rec(record_id, parent.uid, key, parent, *pane)
        parent.top[pane[0]] = pane[1]
        self.turn += 1
        rec.turn, rec.end = self.turn, self.now + self.limits.grant_ms
        self.recs.append(rec)
        self.tell(rec)

    def name(self) -> str:
        if self.names >= self.limits.issued_names:
            return "issued_name_limit"
        self.names += 1
        return "ok"

    def challenge(self, name: str, rec: Rec, purpose: str, granted: bool) -> str:
        uid = self.conns[name].uid
        if rec not in self.recs or rec.uid != uid:
            return "FORBIDDEN"
        if purpose == "resume":
            if granted:
                return "INVALID_ARGUMENT"
            if rec.state == "pending":
                return "FORBIDDEN"
        elif not granted or not rec.parent:
            return "INVALID_ARGUMENT"
        elif rec.enrolled:
            return "grant_consumed"
        return self.room(name, (rec.id, purpose, granted), uid)

    def challenge_key(self, name: str, key: int) -> tuple[str, str]:
        conn, rec = self.conns[name], self.by_key(key)
        if not rec or rec.uid != conn.uid:
            self.want(name, key)
            return "FORBIDDEN", "ok"
        result = self.room(name, (key,), conn.uid)
        return result, self.want(name, key) if result in {"ok", "same"} else "ok"

    def room(self, name: str, selector: tuple[object, ...], uid: int) -> str:
        given = self.conns[name].given
        if given:
            return "same" if given.selector == selector else "challenge_outstanding"
        open_ = [conn for conn in self.conns.values() if conn.given and conn.uid == uid]
        return "challenge_limit" if len(open_) >= self.limits.challenges_per_uid else "ok"

    def want(self, name: str, key: int) -> str:
        conn = self.conns[name]
        waiting = [each for each in self.conns.values() if each.wants and each.uid == conn.uid]
        if not conn.wants and len(waiting) >= self.limits.interests_per_uid:
            return "interest_limit"
        conn.wants = (key, self.now + self.limits.interest_ms)
        return "ok"

    def give(self, name: str, rec: Rec, selector: tuple[object, ...], challenge_id: str) -> Given:
        last = rec.end + (self.limits.window_ms if rec.state == "attached" else 0)
        end = min(self.now + self.limits.challenge_ms, last)
        enrol = rec.state == "pending"
        given = Given(challenge_id, rec, enrol, selector, rec.generation + 1, end)
        self.conns[name].given, self.conns[name].lapsed = given, ""
        return given

    def prove(self, name: str, challenge_id: str, signed: bool) -> str:
        conn = self.conns[name]
        used, given, lapsed = challenge_id in conn.used, conn.given, conn.lapsed
        taken = given.id if given else lapsed
        conn.given, conn.lapsed = None, ""
        conn.used = [*conn.used, *([taken] if taken else [])][
            -self.limits.consumed_per_connection :
        ]
        if used:
            return "challenge_consumed"
        if not given or given.id != challenge_id:
            return "EXPIRED" if challenge_id == lapsed else "FORBIDDEN"
        problem = self.unproved(name, given, signed)
        if not problem:
            self.attach(given.rec, name)
        return problem or "ok"

    def unproved(self, name: str, given: Given, signed: bool) -> str:
        rec = given.rec
        if rec.parent and rec.parent.state != "attached":
            return "EXPIRED"
        if self.held(name) not in {None, rec}:
            return "already_bound"
        if given.generation != rec.generation + 1:
            return "binding_pending"
        return "" if signed else "FORBIDDEN"

    def renew(self, name: str, rec: Rec, generation: int) -> str:
        if not self.named(name, rec, generation):
            return "FORBIDDEN"
        rec.end = self.now + self.limits.lease_ms
        return "ok"

    def revoking(self, name: str, rec: Rec, generation: int) -> str:
        held = self.held(name)
        if (rec.id, generation) in self.conns[name].retired:
            return "already"
        if held and (held.id, rec.id, generation) in self.retired:
            return "already"
        mine = held is not None and (held is rec or held is rec.parent)
        if not mine or rec not in self.recs or rec.generation != generation:
            return "FORBIDDEN"
        self.revoke(rec)
        return "ok"

    def deliver(self, rec: Rec, name: str) -> str:
        heard = self.conns[name].heard
        if (rec, rec.generation) not in heard:
            if len(heard) >= self.limits.dependencies_per_recipient:
                return "recipient_dependency_limit"
            if sum(len(each.heard) for each in self.conns.values()) >= self.limits.dependencies:
                return "dependency_limit"
        heard[rec, rec.generation] = self.now + self.limits.dependency_ms
        return "ok"

    def check(self, name: str, rec: Rec, generation: int) -> str:
        heard = self.conns[name].heard
        live = rec.state == "attached" and rec.generation == generation
        if (rec, generation) not in heard or not live:
            return "dependency_missing"
        heard[rec, generation] = self.now + self.limits.dependency_ms
        return "ok"
