"""Which local streams follow which topics and services, without I/O.

The broker knows one subscription per connection and topic; several local streams may share it. It
is asked again for each new stream, since its answer carries the latest value, and told to stop
when the last stream has gone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol, TypeVar

from brokerd.client.messages import DirectedEvent, Event, Reply, decode_value
from brokerd.client.slots import Answered, Outcome, Tell
from brokerd.errors import Refusal


class Stream(Protocol):
    """What both kinds of local stream can be told."""

    def mark_gap(self) -> None:
        """Something may have been missed: say so with the next event."""


class TopicSink(Stream, Protocol):
    """A local stream of one topic."""

    def put(self, event: Event) -> None:
        """A publication."""

    def put_retained(self, event: Event) -> None:
        """The latest value as of the subscription; not news when it has been seen."""


class EventSink(Stream, Protocol):
    """A local stream of directed events."""

    def put(self, event: DirectedEvent) -> None:
        """One event; dropped, with the gap marked, when the stream is full."""


Sink = TypeVar("Sink")


class Subscriptions:
    """``tell`` sends one request to the broker and calls back with the outcome."""

    def __init__(self, tell: Tell) -> None:
        self._tell = tell
        self._topics: dict[str, list[TopicSink]] = {}
        self._services: dict[str, list[EventSink]] = {}
        self._bound: list[EventSink] = []

    def __len__(self) -> int:
        return sum(1 for _ in self._streams())

    def follow_topic(self, topic: str, sink: TopicSink, answered: Answered) -> None:
        """Add a stream; the broker's answer goes to ``answered`` and its value to the stream."""
        self._topics.setdefault(topic, []).append(sink)
        self._ask_topic(topic, sink, answered)

    def leave_topic(self, topic: str, sink: TopicSink) -> None:
        """Remove a stream; the last one ends the broker's subscription."""
        if _remove(self._topics, topic, sink):
            self._tell("broker.unsubscribe", {"topic": topic}, None)

    def follow_service(self, service: str, sink: EventSink, answered: Answered) -> None:
        """Add a stream of the events that the holder of ``service`` sends to this connection."""
        self._services.setdefault(service, []).append(sink)
        self._tell("broker.subscribe", {"service": service}, answered)

    def leave_service(self, service: str, sink: EventSink) -> None:
        """Remove a stream; the last one ends the broker's subscription."""
        if _remove(self._services, service, sink):
            self._tell("broker.unsubscribe", {"service": service}, None)

    def follow_bound(self, sink: EventSink) -> None:
        """Add a stream of the events of holders of a record; the broker need not be asked."""
        self._bound.append(sink)

    def leave_bound(self, sink: EventSink) -> None:
        """Remove a stream."""
        self._bound = [other for other in self._bound if other is not sink]

    def renew(self) -> None:
        """Ask a new broker for everything again."""
        for topic, sinks in list(self._topics.items()):
            for sink in list(sinks):
                self._ask_topic(topic, sink, None)
        for service in list(self._services):
            self._tell("broker.subscribe", {"service": service}, None)

    def mark_gap(self) -> None:
        """Something may have been missed by every stream."""
        for stream in self._streams():
            stream.mark_gap()

    def published(self, topic: str, seq: int, raw: bytes) -> bool:
        """A topic event arrived; False when its body is not JSON."""
        try:
            event = Event(topic, seq, decode_value(raw))
        except Refusal:
            return False
        for sink in self._topics.get(topic, ()):
            sink.put(event)
        return True

    def directed(self, event: DirectedEvent) -> None:
        """A directed event arrived. It does not say for which service: all streams get it."""
        for sinks in self._services.values():
            for sink in sinks:
                sink.put(event)
        if self._bound and event.sender is not None and event.sender.session is not None:
            for sink in self._bound:
                sink.put(event)

    def _streams(self) -> Iterator[Stream]:
        for topic_sinks in self._topics.values():
            yield from topic_sinks
        for event_sinks in self._services.values():
            yield from event_sinks
        yield from self._bound

    def _ask_topic(self, topic: str, sink: TopicSink, answered: Answered | None) -> None:
        def arrived(outcome: Outcome) -> None:
            event = _retained(topic, outcome)
            if event is not None and sink in self._topics.get(topic, ()):
                sink.put_retained(event)
            if answered is not None:
                answered(outcome)

        self._tell("broker.subscribe", {"topic": topic}, arrived)


def _retained(topic: str, outcome: Outcome) -> Event | None:
    """The value in the answer to a subscription; None before the first publication."""
    body = outcome.body if isinstance(outcome, Reply) and outcome.ok else None
    seq = body.get("seq") if body is not None else None
    if body is None or not isinstance(seq, int) or seq == 0:
        return None
    return Event(topic, seq, body.get("value"), stale=body.get("stale") is True)


def _remove(table: dict[str, list[Sink]], key: str, sink: Sink) -> bool:
    """Take ``sink`` out; whether it was the last one of ``key``."""
    if key not in table:
        return False
    table[key] = [other for other in table[key] if other is not sink]
    if table[key]:
        return False
    del table[key]
    return True
