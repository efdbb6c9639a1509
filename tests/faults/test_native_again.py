"""Parts of the native lane that go on after they were ended, or refused, many times."""

from __future__ import annotations

import pytest
import trio
import trio.testing

from brokerd.client import BusError, Ref, Refusal
from termnode.control.native.leases import LeaseCache
from termnode.service.native.checks import LeaseChecks
from termnode.service.native.jobs import queue_places, wait_places

REF = Ref("a" * 32, "b" * 32, 1)


class Broker:
    """Answers a check once it is let go; the first one never."""

    def __init__(self) -> None:
        self.asked = 0

    async def ask(self, _: Ref) -> int:
        self.asked += 1
        if self.asked == 1:
            await trio.sleep_forever()
        return 10_000


def test_who_needs_a_lease_after_a_lost_connection_is_not_left_waiting() -> None:
    """The question of before is asked no more; another one is."""
    trio.run(_lost_and_found)


async def _lost_and_found() -> None:
    broker, answers = Broker(), list[bool]()
    checks = LeaseChecks(LeaseCache(), broker.ask, lambda: 0, most=1)
    async with trio.open_nursery() as nursery:
        await nursery.start(checks.run)
        checks.want(REF, answers.append)
        await trio.testing.wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
    assert (broker.asked, len(checks)) == (1, 0)
    async with trio.open_nursery() as nursery:
        await nursery.start(checks.run)
        checks.want(REF, answers.append)
        await trio.testing.wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
    assert (broker.asked, answers) == (2, [True])


def test_a_check_that_fails_is_told_to_all_who_share_it() -> None:
    trio.run(_fails)


async def _fails() -> None:
    answers = list[bool]()

    async def ask(_: Ref) -> int:
        await trio.lowlevel.checkpoint()
        raise BusError("gone")

    checks = LeaseChecks(LeaseCache(), ask, lambda: 0)
    async with trio.open_nursery() as nursery:
        await nursery.start(checks.run)
        checks.want(REF, answers.append)
        checks.want(REF, answers.append)
        await trio.testing.wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
    assert (answers, len(checks)) == ([False, False], 0)


@pytest.mark.parametrize("make", [queue_places, wait_places])
def test_a_refusal_keeps_nothing_of_those_before_it(make: type) -> None:
    """One exception, raised again and again, would hold every frame that it ever passed."""
    places = make(0)
    who = 1000, 7
    for _ in range(3):
        with pytest.raises(Refusal) as refused:
            places.take(who)
        length, trace = 0, refused.value.__traceback__
        while trace is not None:
            length, trace = length + 1, trace.tb_next
        assert length == 2
