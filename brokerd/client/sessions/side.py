"""What a bus offers to those who hold a record, or hear from those who do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from brokerd.client.messages import Request
from brokerd.client.session import Phase, Session
from brokerd.client.sessions.api import Sessions
from brokerd.client.sessions.calls import TIMEOUT
from brokerd.client.sessions.lifecycle import (
    NOTICE_CAPACITY,
    LifecycleNotices,
    LifecycleWatcher,
)
from brokerd.client.slots import Slot
from brokerd.client.streams import Attendance, DirectedEvents
from brokerd.client.waiting import outcome_of


class SessionSide:
    """Part of ``Bus``."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.sessions = Sessions(session)
        """The typed calls about sessions."""

    @contextmanager
    def lifecycle(self, capacity: int = NOTICE_CAPACITY) -> Iterator[LifecycleNotices]:
        """Follow the broker's notices about records, across brokers.

        At most ``capacity`` wait; when more come, or the connection was lost, or the broker says
        that it dropped something, the next item is a LifecycleGap.
        """
        stream = LifecycleNotices(capacity)
        with self.watch_lifecycle(stream):
            yield stream

    @contextmanager
    def watch_lifecycle(self, watcher: LifecycleWatcher) -> Iterator[None]:
        """Call ``watcher`` for each notice as it arrives, inside the connection's own task."""
        self._session.lifecycle.add(watcher)
        try:
            yield
        finally:
            self._session.lifecycle.remove(watcher)

    @contextmanager
    def private_events(self, capacity: int = 256) -> Iterator[DirectedEvents]:
        """Follow the events that holders of a record send to this connection, unsubscribed.

        Their ``sender`` is a Principal with a ``session``. An event of a service that is also
        subscribed to comes in both streams. A full stream drops, and marks the gap.
        """
        events = DirectedEvents(capacity)
        self._session.subscriptions.follow_bound(events)
        try:
            yield events
        finally:
            self._session.subscriptions.leave_bound(events)

    @contextmanager
    def attend_bound(self, take: Callable[[Request], None]) -> Iterator[Attendance]:
        """Take the requests to the allocated name that this connection holds, or will hold.

        ``take(request)`` as in ``attend``: quick, inside the connection's own task. Requests to an
        allocated name are answered UNAVAILABLE while nobody attends. Raises ValueError when
        somebody does already.
        """
        attendance = Attendance(take)
        self._session.names.serve_bound(attendance)
        try:
            yield attendance
        finally:
            self._session.names.stop_bound()

    async def reconnect(self, *, timeout: float = TIMEOUT) -> None:
        """Leave the broker and come back as another connection, as after a loss.

        For what a connection can be only once, such as the first to allocate a record. Gives the
        broker ``timeout`` seconds for its goodbye; whatever is under way fails with BrokerLost.
        """
        session, here, said = self._session, self._session.connection_id, Slot()
        session.tell("broker.bye", {}, said.complete)
        await outcome_of(said, timeout)
        if session.phase is Phase.OPEN and session.connection_id == here:
            session.on_drop()
