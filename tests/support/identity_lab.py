"""A table of children against a small broker of its own, in a time that stands still."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import count

from brokerd.client import CAPABILITIES, GrantView, RecordView, Ref
from termnode.service.identity.child import Child
from termnode.service.identity.children import Children
from termnode.service.identity.effects import Call, End, Mint, Reconcile, Revoke, Start
from termnode.service.identity.schedule import MINT_FLOOR_S

GRANT_S = 30.0


class FakeBroker:
    """Records of one uid, by the rules that the table relies on. Notices wait until `deliver`."""

    def __init__(self) -> None:
        self._ids = count(1)
        self.records: dict[str, RecordView] = {}
        self.keys: dict[str, bytes] = {}
        self.expires: dict[str, float] = {}
        self.high: Counter[int] = Counter()
        self.notices: list[tuple[Ref, str]] = []
        self.ever: Counter[int] = Counter()
        """The highest generation of each pane, under all Terms."""
        self.granted: dict[bytes, float] = {}
        """When each key was granted last by the present Term."""
        self.refuse = ""
        self.minted: list[tuple[float, int, int, bytes]] = []
        """Time, pane, generation and key of each grant."""
        self.parent = self.allocate()

    def allocate(self) -> RecordView:
        """A new Term: all before it is gone."""
        self.records.clear()
        self.high.clear()
        self.granted.clear()
        self.notices.clear()
        self.parent = self._record(role="term", state="attached", binding=1)
        return self.parent

    def _id(self) -> str:
        return f"{next(self._ids):032x}"

    def _record(self, *, role: str, state: str, binding: int, pane: int = 0, gen: int = 0):  # type: ignore[no-untyped-def]  # noqa: ANN202
        child = role != "term"
        made = RecordView(
            name="t0-" + "a" * 22,
            record_assurance="reserved",
            owner_node="n",
            owner_uid=0,
            broker_epoch="e" * 32,
            record_id=self._id(),
            instance_id=self._id(),
            incarnation=self._id(),
            role=role,
            parent_instance=self.parent.instance_id if child else None,
            parent_incarnation=self.parent.incarnation if child else None,
            pane_id=pane if child else None,
            pane_generation=gen if child else None,
            binding_generation=binding,
            state=state,
            capabilities=CAPABILITIES,
            policy="default-open",
            lease_remaining_ms=15_000 if state == "attached" else None,
        )
        self.records[made.record_id] = made
        return made

    def grant(self, mint: Mint, now: float) -> tuple[GrantView, RecordView] | str:
        """What a `Mint` comes to; words when it is refused."""
        if self.refuse:
            return self.refuse
        used = {self.keys[each] for each in self.records if each in self.keys}
        if mint.key.public_key in used:
            return "key_in_use"
        assert mint.generation > self.high[mint.pane], "STALE_GENERATION"
        assert mint.parent == self.parent.ref
        assert mint.generation > self.ever[mint.pane], "a generation came twice"
        key = mint.key.public_key
        assert now - self.granted.get(key, now - MINT_FLOOR_S) >= MINT_FLOOR_S, "too soon"
        self.granted[key] = now
        self.high[mint.pane] = self.ever[mint.pane] = mint.generation
        record = self._record(
            role="pane-shell", state="pending", binding=0, pane=mint.pane, gen=mint.generation
        )
        self.keys[record.record_id] = mint.key.public_key
        self.expires[record.record_id] = now + GRANT_S
        self.minted.append((now, mint.pane, mint.generation, mint.key.public_key))
        grant = GrantView(
            grant_id=self._id(),
            record_id=record.record_id,
            incarnation=record.incarnation,
            public_key=mint.key.public_key.hex(),
            parent_key_hash="0" * 64,
            expires_ms=round((now + GRANT_S) * 1000),
            state="pending",
        )
        return grant, record

    def set(self, record_id: str, state: str) -> None:
        """A record comes into a state, and a notice tells of it."""
        before = self.records[record_id]
        binding = before.binding_generation + (state == "attached")
        after = replace(before, state=state, binding_generation=binding)
        self.records[record_id] = after
        self.notices.append((after.ref, state))
        if state == "revoked":
            del self.records[record_id]

    def revoke(self, target: Ref) -> None:
        if target.record_id in self.records:
            self.set(target.record_id, "revoked")

    def expire(self, now: float) -> None:
        for record_id, record in list(self.records.items()):
            if record.state == "pending" and now >= self.expires[record_id]:
                self.set(record_id, "revoked")

    def next_expiry(self) -> float:
        """When the next pending record expires."""
        pending = [each for each, record in self.records.items() if record.state == "pending"]
        return min((self.expires[each] for each in pending), default=float("inf"))

    def of_pane(self, pane: int) -> list[RecordView]:
        return [record for record in self.records.values() if record.pane_id == pane]


class Lab:
    """The table, the broker and the pane shells' processes."""

    def __init__(self) -> None:
        self.now = 1_000.0
        self.broker = FakeBroker()
        self.children = Children(self.now)
        self.asking = self.children.asking
        self.last_pane = 0
        self.running: list[Child] = []
        self.calls: list[Call] = []
        self.fork_fails = ""
        self.children.launching(possible=True)
        self.asking.authority(self.broker.parent, self.now)
        self.settle()

    def open(self) -> int:
        """A pane whose shell has shown its prompt."""
        self.last_pane += 1
        self.children.pane_started(self.last_pane, self.now)
        self.children.pane_shown(self.last_pane, self.now)
        self.settle()
        return self.last_pane

    def opened(self) -> int:
        """A pane whose pane shell is attached."""
        pane = self.open()
        self.advance(1.1)
        self.enrol(pane)
        assert self.children.control_ready(pane)
        return pane

    def settle(self) -> None:
        """Do all that is to be done now."""
        self.deliver()
        while self._step():
            self.deliver()

    def _step(self) -> bool:
        process = self.children.next_process(self.now)
        if isinstance(process, Start) and self.fork_fails:
            self.children.start_failed(process.child, self.fork_fails, self.now)
        elif isinstance(process, Start):
            self.running.append(process.child)
            self.children.started(process.child)
        elif isinstance(process, End):
            self.end(process.child)
        call = self.asking.next_call(self.last_pane + 1, self.now)
        if call is not None:
            self.calls.append(call)
            self._carry_out(call)
        return process is not None or call is not None

    def _carry_out(self, call: Call) -> None:
        if isinstance(call, Mint):
            made = self.broker.grant(call, self.now)
            if isinstance(made, str):
                self.asking.mint_failed(call, made, self.now)
            else:
                self.asking.minted(call, *made, self.now)
        elif isinstance(call, Revoke):
            self.broker.revoke(call.target)
            self.asking.revoked()
        else:
            assert isinstance(call, Reconcile)
            self.asking.reconciled(call, list(self.broker.records.values()), self.now)

    def deliver(self) -> None:
        """Hand over the notices that wait."""
        waiting, self.broker.notices = self.broker.notices, []
        for target, state in waiting:
            self.asking.notice(target, state, self.now)

    def advance(self, seconds: float) -> None:
        """Let time pass, and everything happen when it is due."""
        end = self.now + seconds
        while True:
            self.settle()
            step = self.children.wait(self.last_pane + 1, self.now)
            self.now = min(self.now + step, self.broker.next_expiry(), end)
            self.broker.expire(self.now)
            self.deliver()
            if self.now == end:
                self.settle()
                return

    def child(self, pane: int) -> Child:
        """The child whose pane shell runs there."""
        (found,) = [child for child in self.running if child.pane == pane]
        return found

    def enrol(self, pane: int) -> None:
        """Its pane shell proves its record, which is there."""
        record = self.child(pane).record
        assert record is not None
        self.broker.set(record.record_id, "attached")
        self.deliver()
        self.settle()

    def end(self, child: Child) -> None:
        """A pane shell ends, and its record is suspended."""
        if child in self.running:
            self.running.remove(child)
            self._suspend(child)
            self.children.shell_ended(child, self.now)

    def _suspend(self, child: Child) -> None:
        record = None if child.record is None else self.broker.records.get(child.record.record_id)
        if record is not None and record.state == "attached":
            self.broker.set(record.record_id, "suspended")

    def new_broker(self) -> None:
        """Another broker, where this Term has allocated again."""
        self.asking.authority(None, self.now)
        self.broker.allocate()
        self.asking.authority(self.broker.parent, self.now)
        self.settle()

    def mints(self, pane: int) -> list[int]:
        """The generations that were granted to a pane."""
        return [generation for _, at, generation, _ in self.broker.minted if at == pane]
