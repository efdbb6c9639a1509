"""What callers wait on: bounded, cancellable, and ended by errors that come out as they are."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
import trio
from trio.testing import MockClock, assert_checkpoints, wait_all_tasks_blocked

from brokerd.client import DirectedEvent, Event, NameTaken, Reply, RequestTimeout
from brokerd.client.bus import Bus
from brokerd.client.session import Phase, Session
from brokerd.client.slots import Slot
from brokerd.client.streams import DirectedEvents, Events, Mailbox
from brokerd.client.waiting import background, outcome_of


def run(test: Callable[[], Awaitable[None]]) -> None:
    trio.run(test, clock=MockClock(autojump_threshold=0))


def test_a_mailbox_is_bounded_and_in_order() -> None:
    async def main() -> None:
        box: Mailbox[int] = Mailbox(3)
        assert [box.offer(number) for number in range(4)] == [True, True, True, False]
        with assert_checkpoints():
            assert await box.__anext__() == 0
        assert [await box.__anext__(), await box.__anext__(), len(box)] == [1, 2, 0]

    run(main)


def test_a_cancelled_reader_loses_nothing() -> None:
    async def main() -> None:
        box: Mailbox[int] = Mailbox(3)
        with trio.move_on_after(1) as scope:
            await box.__anext__()
        assert scope.cancelled_caught
        box.offer(7)
        with trio.CancelScope() as scope:
            scope.cancel()
            await box.__anext__()
        assert scope.cancelled_caught
        assert await box.__anext__() == 7

    run(main)


def test_an_error_ends_a_waiting_reader() -> None:
    async def main() -> None:
        box: Mailbox[int] = Mailbox(3)
        box.offer(1)
        async with trio.open_nursery() as nursery:

            async def read() -> None:
                assert await box.__anext__() == 1
                with pytest.raises(NameTaken):
                    await box.__anext__()

            nursery.start_soon(read)
            await wait_all_tasks_blocked()
            box.fail(NameTaken("svc"))
        with pytest.raises(NameTaken):
            await box.__anext__()

    run(main)


def test_topic_events_keep_only_the_latest() -> None:
    async def main() -> None:
        events = Events()
        for seq in (1, 2, 3):
            events.put(Event("t", seq, seq))
        events.put_retained(Event("t", 3, "old news"))
        assert await events.__anext__() == Event("t", 3, 3)
        assert len(events) == 0
        events.mark_gap()
        events.put_retained(Event("t", 1, "a new broker counts anew"))
        assert await events.__anext__() == Event("t", 1, "a new broker counts anew", gap=True)
        events.put(Event("t", 2, 2))
        assert await events.__anext__() == Event("t", 2, 2)

    run(main)


def test_directed_events_mark_what_they_dropped() -> None:
    async def main() -> None:
        events = DirectedEvents(2)
        for number in range(4):
            events.put(DirectedEvent("svc.x", b"%d" % number))
        assert [(await events.__anext__()).gap for _ in range(2)] == [False, False]
        events.put(DirectedEvent("svc.x", b"4"))
        events.put(DirectedEvent("svc.x", b"5"))
        after = [await events.__anext__() for _ in range(2)]
        assert [(event.raw, event.gap) for event in after] == [(b"4", True), (b"5", False)]

    run(main)


def test_an_outcome_may_come_before_during_or_never() -> None:
    async def main() -> None:
        reply = Reply(0, b"")
        early = Slot()
        early.complete(reply)
        with assert_checkpoints():
            assert await outcome_of(early, None) is reply
        assert await outcome_of(Slot(), 5) is None
        slot = Slot()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(outcome_of, slot, None)
            await wait_all_tasks_blocked()
            slot.complete(reply)
            slot.complete(Reply(10, b""))
        assert slot.outcome is reply

    run(main)


def test_a_cancelled_request_is_abandoned() -> None:
    async def main() -> None:
        session = Session()
        session.phase = Phase.OPEN
        bus = Bus(session)
        with trio.move_on_after(1) as scope:
            await bus.request("svc", "svc.x", timeout=None)
        assert scope.cancelled_caught
        assert session.pending == 0
        with pytest.raises(RequestTimeout):
            await bus.request("svc", "svc.x", timeout=2)
        assert session.pending == 0

    run(main)


def test_the_block_of_a_background_task_raises_its_own_error() -> None:
    async def sleep(_nursery: trio.Nursery) -> None:
        await trio.sleep_forever()

    async def fail(_nursery: trio.Nursery) -> None:
        raise NameTaken("svc")

    async def main() -> None:
        with pytest.raises(KeyError):
            async with background(sleep):
                raise KeyError
        with pytest.raises(NameTaken):
            async with background(fail):
                await trio.sleep_forever()
        with trio.move_on_after(1) as scope:
            async with background(sleep):
                await trio.sleep_forever()
        assert scope.cancelled_caught

    run(main)
