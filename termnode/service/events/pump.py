"""Sends events as they become due, and ends the subscriptions of who is gone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import trio

from brokerd.client import Bus, wait_process_end
from termnode.service.events.hub import Events, Left

COMMAND: Final = "term.event"

TURN: Final = 64
"""Messages at once: replies must find room in the send queue (256)."""

SHARE: Final = 4
"""Of them to one subscription: what it does not take in time waits with the broker, 256 messages at
most. At 400 a second all events that are known are sent again in three seconds."""

ROOM: Final = 128
"""While so many messages wait for the broker, no event is added to them."""

REST_S: Final = 0.01
"""Between turns, when there is more."""

RETRY_S: Final = 0.1
"""After a turn in which nothing could be sent: the broker is slow, or gone for a moment."""


class EventPump:
    """The tasks behind one `Events`. Use one pump per hub."""

    def __init__(self, events: Events) -> None:
        self._events = events
        self._news = trio.Event()
        self._lookout = trio.lowlevel.ParkingLot()
        self._watched: dict[int, trio.CancelScope] = {}
        self._changes = -1
        events.on_news = self._wake

    async def run(self, bus: Bus) -> None:
        """Send for ever, over ``bus``."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._follow_epochs, bus)
            while True:
                self._news = trio.Event()
                self._follow_subscriptions(nursery)
                left = self._turn(bus)
                if left is Left.NOTHING:
                    await self._news.wait()
                else:
                    await trio.sleep(REST_S if left is Left.MORE else RETRY_S)

    async def until_wanted(self, kind: str, pane: int) -> bool:
        """Wait until somebody wants to be told of this kind in this pane; whether it had to."""
        await trio.lowlevel.checkpoint()
        waited = False
        while not self._events.wanted(kind, pane):
            waited = True
            await self._lookout.park()
        return waited

    def _wake(self) -> None:
        self._news.set()

    def _turn(self, bus: Bus) -> Left:
        def send(connection: str, body: Mapping[str, object]) -> bool:
            return bus.send_event(connection, COMMAND, body)

        full = bus.statistics().queued_messages > ROOM
        return Left.STUCK if full else self._events.deliver(send, TURN, SHARE)

    async def _follow_epochs(self, bus: Bus) -> None:
        epoch = bus.broker_epoch
        while True:
            epoch = await bus.wait_epoch_change(epoch)
            self._events.keep_epoch(epoch)

    def _follow_subscriptions(self, nursery: trio.Nursery) -> None:
        if self._events.changes != self._changes:
            self._changes = self._events.changes
            self._lookout.unpark_all()
            self._watch_processes(nursery)

    def _watch_processes(self, nursery: trio.Nursery) -> None:
        """One task for each process with subscriptions, none for any other."""
        pids = self._events.pids()
        for pid in self._watched.keys() - pids:
            self._watched.pop(pid).cancel()
        for pid in pids - self._watched.keys():
            self._watched[pid] = trio.CancelScope()
            nursery.start_soon(self._until_gone, pid, self._watched[pid])

    async def _until_gone(self, pid: int, scope: trio.CancelScope) -> None:
        with scope:
            await wait_process_end(pid)
            # First: one that asks in this moment, whoever has the pid by now, is watched anew.
            self._watched.pop(pid, None)
            self._events.end_process(pid)
