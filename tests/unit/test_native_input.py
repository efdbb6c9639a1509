"""The decisions behind native input: the foreground, leases, permits, and notices that wait."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from termnode.control.native.actors import Actor
from termnode.control.native.callers import caller_ref
from termnode.control.native.decisions import Go, Need
from termnode.control.native.leases import LeaseCache
from termnode.control.native.limits import LEASE_FRESH_MS, PERMIT_MS, REVOKED_NOTICES
from termnode.control.native.world import PaneFacts
from termnode.control.posture import Posture
from termnode.service.native.foreground import Foreground
from termnode.service.native.permit import Permit
from termnode.service.native.revoked import Notice, Revoked
from termnode.service.native.writers import WRITTEN, Lease, Sent, Writer
from termnode.terminal.master import Master
from termnode.terminal.pieces import Piece
from termnode.terminal.pty_writer import PtyWriter
from tests.support.native_gate import AMBIENT, MINE, OWN, FakeWorld, Rig, body_for, child

# -- the foreground --------------------------------------------------------------------------------


def test_the_generation_rises_with_each_cause_and_with_another_group() -> None:
    seen: list[str] = []
    foreground = Foreground(7)
    foreground.on_rise = lambda: seen.append("rise")
    foreground.on_raise = lambda: seen.append("raise")
    assert foreground.observe(7) == 1
    assert seen == []
    foreground.raise_("person")
    assert foreground.observe(7) == 2
    assert seen == ["rise", "raise"]
    assert foreground.observe(8) == 3
    assert seen == ["rise", "raise", "rise"]  # one that is only seen touches no queue
    assert foreground.observe(8) == 3
    assert foreground.observe(None) is None
    assert foreground.generation == 4
    assert foreground.observe(8) == 5


def test_a_program_that_takes_anothers_place_goes_on_above_it() -> None:
    before, after = Foreground(1), Foreground(2)
    before.raise_("x")
    after.follow(before)
    assert after.generation == before.generation + 1 == 3


# -- leases ----------------------------------------------------------------------------------------


def actor(number: int) -> Actor:
    return "ambient", 1, "e" * 32, f"{number:032x}"


class Rights:
    """A writer, its clock, and what every lease was told."""

    def __init__(self) -> None:
        self.now = 100.0
        self.writer = Writer(lambda: self.now)
        self.settled: list[Sent] = []
        self.told: list[Sent] = []
        self.right = True

    def lease(self, who: int = 1, right: Callable[[], bool] | None = None) -> Lease:
        lease = Lease(
            actor(who),
            self.now + 2,
            right or (lambda: self.right),
            on_settled=self.settled.append,
            on_ended=self.told.append,
        )
        self.writer.claim(lease)
        return lease

    def settle(self, lease: Lease, written: int = 3, total: int = 3) -> Piece:
        piece = Piece(b"x" * total, 0.0, None)
        piece.written = written
        piece.settle("written" if written == total else "revoked")
        self.writer.settled(lease, piece)
        return piece


def test_what_is_all_written_in_time_is_told_to_nobody() -> None:
    rights = Rights()
    piece = rights.settle(rights.lease())
    assert rights.settled == [piece]
    rights.now += 2
    rights.writer.end()
    assert rights.told == []


def test_a_lease_that_ends_before_its_time_is_told_once_with_its_count() -> None:
    rights = Rights()
    written = rights.settle(rights.lease())
    waiting = rights.lease()
    rights.writer.end()
    assert rights.told == [written]  # of the other one it is not known yet
    cut = rights.settle(waiting, 1)
    assert rights.told == [written, cut]
    rights.writer.end()
    rights.writer.recheck()
    assert rights.told == [written, cut]


def test_what_is_not_all_written_is_told_however_it_ended() -> None:
    rights = Rights()
    lease = rights.lease()
    rights.now += 2
    cut = rights.settle(lease, 2)
    assert rights.told == rights.settled == [cut]


def test_others_are_kept_out_for_as_long_as_the_right_holds() -> None:
    rights = Rights()
    rights.settle(rights.lease(1))
    assert rights.writer.is_busy(actor(2))
    assert not rights.writer.is_busy(actor(1))
    rights.now += 1.999
    assert rights.writer.is_busy(actor(2))
    rights.now += 0.001
    assert not rights.writer.is_busy(actor(2))
    rights.lease(1)
    rights.right = False
    assert not rights.writer.is_busy(actor(2))
    rights.right = True
    assert not rights.writer.is_busy(actor(2)), "what has ended does not come back"


def test_every_lease_of_another_is_asked_not_the_first_alone() -> None:
    rights = Rights()
    first = rights.settle(rights.lease(1))
    second = rights.settle(rights.lease(2, lambda: False))
    assert rights.writer.is_busy(actor(3))
    assert rights.told == [second]
    rights.right = False
    rights.writer.recheck()
    assert rights.told == [second, first]


def test_leases_of_written_input_and_actors_are_bounded() -> None:
    rights = Rights()
    for number in range(3 * WRITTEN):
        rights.settle(rights.lease(number))
    assert len(rights.writer._written) == len(rights.writer._latest) == WRITTEN
    rights.writer.end()
    assert len(rights.told) == WRITTEN
    rights.now += 2
    rights.lease()
    assert len(rights.writer._latest) == 1


# -- permits ---------------------------------------------------------------------------------------


@dataclass
class Asked:
    """A permit, and all that it asks."""

    rig: Rig
    go: Go
    permit: Permit

    def strict(self) -> None:
        self.rig.world.stance = Posture.STRICT


def asked(stance: Posture = Posture.OPEN, **how: Any) -> Asked:  # noqa: ANN401 - of `child`
    rig = Rig()
    rig.world.stance = stance
    principal = child(**how) if how else AMBIENT
    decision = rig.evaluate(principal, "term.type", body_for("term.type"))
    if isinstance(decision, Need):
        assert rig.leases.put(rig.leases.begin(decision.ref, rig.now_ms), 10_000)
        decision = rig.evaluate(principal, "term.type", body_for("term.type"))
    assert isinstance(decision, Go)
    permit = Permit(decision, rig.world, rig.leases, lambda: rig.now_ms)
    assert permit.holds()
    return Asked(rig, decision, permit)


def test_a_permit_ends_after_two_seconds_or_with_the_own_lease() -> None:
    case = asked()
    case.rig.now_ms += PERMIT_MS - 1
    assert case.permit.holds()
    case.rig.now_ms += 1
    assert not case.permit.holds()


CHANGES: Mapping[str, Callable[[FakeWorld], object]] = {
    "connection": lambda world: vars(world).update(up=False),
    "no record": lambda world: vars(world).update(mine=None),
    "lease over": lambda world: vars(world).update(mine=replace(OWN, remaining_ms=0)),
    "another connection": lambda world: vars(world).update(
        mine=replace(OWN, connection_id="1" * 32)
    ),
    "another broker": lambda world: vars(world).update(mine=replace(OWN, broker_epoch="1" * 32)),
    "another record": lambda world: vars(world).update(
        mine=replace(OWN, record=replace(OWN.record, record_id="1" * 32))
    ),
    "another incarnation": lambda world: vars(world).update(
        mine=replace(OWN, record=replace(OWN.record, incarnation="1" * 32))
    ),
    "no pane": lambda world: world.facts.clear(),
    "not ready": lambda world: world.facts.update({1: PaneFacts(1, ready=False, tab=1)}),
    "another generation": lambda world: world.facts.update({1: PaneFacts(2, ready=True, tab=1)}),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_permit_ends_with_what_it_was_given_for(change: str) -> None:
    case = asked()
    CHANGES[change](case.rig.world)
    assert not case.permit.holds()


def test_strict_comes_and_an_ambient_caller_stays_under_default_open_alone() -> None:
    case = asked()
    case.strict()
    assert case.permit.holds()
    case.rig.world.mine = replace(OWN, record=replace(OWN.record, policy="restricted"))
    assert not case.permit.holds()
    case.rig.world.stance = Posture.OPEN
    assert case.permit.holds()


@pytest.mark.parametrize(
    "how",
    [{"pane": 2}, {"generation": 2}, {"capabilities": ("read_state",)}, {"instance": "f" * 32}],
)
def test_strict_comes_and_a_bound_caller_needs_its_own_right(how: dict[str, Any]) -> None:
    case = asked(**{"pane": 1, "generation": 1, **how})
    session = case.go.principal.session
    assert session is not None
    check = case.rig.leases.begin(caller_ref(session), case.rig.now_ms)
    assert case.rig.leases.put(check, 10_000)
    case.strict()
    assert not case.permit.holds()


def test_in_strict_a_bound_caller_needs_a_lease_that_nobody_has_ended() -> None:
    case = asked(Posture.STRICT, pane=1)
    session = case.go.principal.session
    assert session is not None
    case.rig.leases.drop(session.record_id, session.binding_generation - 1)
    assert case.permit.holds(), "an earlier attachment is not this one"
    case.rig.leases.drop(session.record_id, session.binding_generation)
    assert not case.permit.holds()
    unchecked = asked(pane=1)
    unchecked.strict()
    assert not unchecked.permit.holds()
    gap = asked(Posture.STRICT, pane=1)
    gap.rig.leases.clear()
    assert not gap.permit.holds()


def test_a_lease_is_trusted_beyond_its_freshness_and_not_beyond_its_end() -> None:
    leases, shell = LeaseCache(), child()
    assert shell.session is not None
    ref = caller_ref(shell.session)
    assert not leases.is_trusted(ref, 0)
    leases.put(leases.begin(ref, 0), LEASE_FRESH_MS + 100)
    assert leases.get(ref, LEASE_FRESH_MS) is None
    assert leases.is_trusted(ref, LEASE_FRESH_MS)
    assert not leases.is_trusted(ref, LEASE_FRESH_MS + 100)


# -- notices ---------------------------------------------------------------------------------------

EPOCH = "e" * 32


def notice(number: int, epoch: str = EPOCH) -> Notice:
    return Notice(epoch, MINE, {"request_id": str(number)})


def test_notices_go_in_order_sixteen_at_a_time_and_to_their_epoch_alone() -> None:
    revoked, sent = Revoked(), list[int]()

    def send(connection: str, body: Mapping[str, object]) -> bool:
        assert connection == MINE
        sent.append(int(str(body["request_id"])))
        return True

    for number in range(20):
        revoked.put(notice(number, EPOCH if number else "1" * 32))
    assert revoked.flush(EPOCH, send)
    assert sent == list(range(1, 16))
    assert revoked.flush(EPOCH, send)
    assert sent == list(range(1, 20))
    assert len(revoked) == 0


def test_one_that_cannot_be_sent_is_put_back() -> None:
    revoked = Revoked()
    for number in range(3):
        revoked.put(notice(number))
    left = [True, False, True, True]
    taken: list[str] = []

    def send(_: str, body: Mapping[str, object]) -> bool:
        ok = left.pop(0)
        if ok:
            taken.append(str(body["request_id"]))
        return ok

    assert not revoked.flush(EPOCH, send)
    assert taken == ["0"]
    assert revoked.flush(EPOCH, send)
    assert taken == ["0", "1", "2"]


def test_too_many_notices_push_the_oldest_out() -> None:
    revoked = Revoked()
    for number in range(REVOKED_NOTICES + 5):
        revoked.put(notice(number))
    assert len(revoked) == REVOKED_NOTICES
    first: list[Mapping[str, object]] = []

    def send(_: str, body: Mapping[str, object]) -> bool:
        first.append(body)
        return True

    revoked.flush(EPOCH, send, most=1)
    assert first == [{"request_id": "5"}]


# -- a permit that comes to recheck while it is asked ----------------------------------------------


class FullMaster(Master):
    """Takes nothing."""

    def __init__(self) -> None:
        """No descriptor."""

    def write(self, data: bytes | memoryview) -> int | None:
        return None


def test_a_recheck_from_inside_a_permit_leaves_the_queue_whole() -> None:
    """A permit reads the posture, which may be seen to have changed, and so have all rechecked."""

    async def body() -> None:
        writer = PtyWriter(FullMaster(), lambda: 0.0)
        allowed = [True]

        def permit() -> bool:
            writer.recheck_permits()
            return allowed[0]

        tickets = [writer.write(b"abc", 2.0, permit) for _ in range(3)]
        other = writer.write(b"other", 2.0, None)
        allowed[0] = False
        writer.recheck_permits()
        assert [each.outcome for each in tickets] == ["revoked"] * 3
        assert other.outcome is None
        assert writer._queue.queued == len(b"other")

    trio.run(body)


@given(st.lists(st.sampled_from(["claim", "settle", "cut", "end", "recheck", "pass", "lose"])))
def test_every_lease_is_settled_and_told_at_most_once_and_truly(steps: list[str]) -> None:
    rights, waiting, rises = Rights(), list[Lease](), dict[Piece, bool]()
    for step in steps:
        if step == "claim":
            rights.right = True
            waiting.append(rights.lease(len(waiting) % 2))
        elif step in {"settle", "cut"} and waiting:
            lease = waiting.pop(0)
            piece = rights.settle(lease, 3 if step == "settle" else 1)
            rises[piece] = lease.ended
        elif step == "end":
            rights.writer.end()
        elif step == "recheck":
            rights.writer.recheck()
        elif step == "lose":
            rights.right = False
        elif step == "pass":
            rights.now += 1
        assert len(rights.settled) == len(set(map(id, rights.settled)))
        assert len(rights.told) == len(set(map(id, rights.told)))
        assert rights.writer.waiting == len(waiting)
    cut = [piece for piece, ended in rises.items() if ended or not piece.all_written]
    assert {id(each) for each in cut} <= {id(each) for each in rights.told}
