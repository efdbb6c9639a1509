"""What callers iterate over: bounded, one reader each, filled synchronously by the session."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import replace
from typing import Generic, NoReturn, TypeVar

import trio

from brokerd.client.errors import BusError
from brokerd.client.failures import request_failed
from brokerd.client.messages import DirectedEvent, Event, Request

T = TypeVar("T")


class Mailbox(Generic[T]):
    """A bounded queue whose writer never waits and whose reader does; ends with an error, or never.

    ``async for`` on it gives the items in order. Each step is a Trio checkpoint.
    """

    def __init__(self, capacity: int) -> None:
        if capacity < 1:
            raise ValueError("capacity must be at least 1")
        self.capacity = capacity
        self._items: deque[T] = deque()
        self._error: BusError | None = None
        self._reader = trio.lowlevel.ParkingLot()

    def __len__(self) -> int:
        return len(self._items)

    def offer(self, item: T) -> bool:
        """Add an item at the end; False when full."""
        if len(self._items) >= self.capacity:
            return False
        self._items.append(item)
        self._reader.unpark()
        return True

    def clear(self) -> None:
        """Forget what nobody has taken yet."""
        self._items.clear()

    def fail(self, error: BusError) -> None:
        """Forget everything; the reader gets ``error`` from now on."""
        self.clear()
        self._error = error
        self._reader.unpark_all()

    def __aiter__(self) -> Mailbox[T]:
        return self

    async def __anext__(self) -> T:
        if self._items:
            # A reader that is always behind must still let others run and be cancellable.
            await trio.lowlevel.checkpoint()
        while not self._items:
            if self._error is not None:
                raise self._error
            await self._reader.park()
        return self._items.popleft()


class Requests(Mailbox[Request]):
    """The requests to one served name, in order of arrival. Ends with NameTaken at the worst.

    When full, the next request is answered RESOURCE_LIMIT. When the broker goes, what waits here
    is forgotten: nobody could be told the outcome.
    """

    def deliver(self, request: Request) -> bool:
        """For the session: one request has arrived."""
        return self.offer(request)

    def lost(self) -> None:
        """For the session: the broker is gone."""
        self.clear()


class Attendance:
    """Calls ``take`` for each request to one served name, in order, as it arrives.

    The quickest way to answer: no task is woken in between. What ``take`` raises is logged by type
    and place, and the request is answered UNAVAILABLE (``handler_failed``).
    """

    capacity = 0
    """Nothing waits here: each request is taken at once."""

    def __init__(self, take: Callable[[Request], None]) -> None:
        self._take = take
        self._error: BusError | None = None
        self._ended = trio.Event()

    async def wait_lost(self) -> NoReturn:
        """Wait until the name is lost for good; raises the error that says why."""
        await self._ended.wait()
        assert self._error is not None
        raise self._error

    def deliver(self, request: Request) -> bool:
        """For the session: one request has arrived."""
        try:
            self._take(request)
        except Exception as error:  # noqa: BLE001  # one request's failure is not the connection's
            request_failed(request, error)
        return True

    def lost(self) -> None:
        """For the session: the broker is gone. What was taken goes on, unheard."""

    def fail(self, error: BusError) -> None:
        """For the session: the name is lost."""
        self._error = error
        self._ended.set()


class Events(Mailbox[Event]):
    """The latest value of one topic, as often as it changes: a slow reader misses old values."""

    def __init__(self) -> None:
        super().__init__(1)
        self._last_seq = 0
        self._gap = False

    @property
    def latest_seq(self) -> int:
        """The sequence number of the newest value that has arrived; 0 before the first."""
        return self._last_seq

    def put(self, event: Event) -> None:
        """For the session: a publication replaces what waits."""
        self._last_seq = event.seq
        self.clear()
        self.offer(event)

    def put_retained(self, event: Event) -> None:
        """For the session: the value as of the subscription, unless it has been seen."""
        if event.seq > self._last_seq:
            self.put(event)

    def mark_gap(self) -> None:
        """For the session: the next event says that something may be missing."""
        self._gap = True
        self._last_seq = 0

    async def __anext__(self) -> Event:
        event = await super().__anext__()
        if self._gap:
            self._gap = False
            return replace(event, gap=True)
        return event


class DirectedEvents(Mailbox[DirectedEvent]):
    """Events sent to this connection alone, in order; a full stream drops and marks the gap."""

    def __init__(self, capacity: int) -> None:
        super().__init__(capacity)
        self._gap = False

    def put(self, event: DirectedEvent) -> None:
        """For the session: one event has arrived."""
        if not self._gap:
            self._gap = not self.offer(event)
        elif self.offer(event.with_gap()):
            self._gap = False

    def mark_gap(self) -> None:
        """For the session: the next event says that something may be missing."""
        self._gap = True
