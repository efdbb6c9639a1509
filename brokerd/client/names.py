"""The names this client serves: who takes their requests, and how a name survives its broker."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from brokerd.client.errors import BrokerLost, BusError, NameTaken
from brokerd.client.messages import Request
from brokerd.client.slots import Answered, Outcome, Tell, refusal_of
from brokerd.errors import ErrorCode, Refusal, limit_reached
from brokerd.grammar import ALLOCATED_NAME


class NameSink(Protocol):
    """Whoever takes the requests to a served name, ``capacity`` of them at a time."""

    capacity: int

    def deliver(self, request: Request) -> bool:
        """Take one request; False when full."""

    def lost(self) -> None:
        """The broker is gone: forget what has not been begun."""

    def fail(self, error: BusError) -> None:
        """The name could not be taken again under a new broker: the end of this sink."""


class Names:
    """``tell`` sends one request to the broker and calls back with the outcome."""

    def __init__(self, tell: Tell) -> None:
        self._tell = tell
        self._sinks: dict[str, NameSink] = {}
        self._bound: NameSink | None = None

    def list(self) -> list[str]:
        """The names served now, sorted."""
        return sorted(self._sinks)

    def serve(self, name: str, sink: NameSink, answered: Answered) -> None:
        """Ask for a name, and again after each broker change, until ``stop``.

        Raises NameTaken when this client serves it already.
        """
        if name in self._sinks:
            raise NameTaken(name)
        self._sinks[name] = sink
        self._tell("broker.register", {"name": name}, answered)

    def stop(self, name: str, sink: NameSink) -> None:
        """Give a name back; the broker answers what is still under way. Never raises."""
        if self._sinks.get(name) is sink:
            del self._sinks[name]
            self._tell("broker.deregister", {"name": name}, None)

    def serve_bound(self, sink: NameSink) -> None:
        """Take the requests to the allocated name, whichever it is. Raises ValueError if taken."""
        if self._bound is not None:
            raise ValueError("the allocated name is attended already")
        self._bound = sink

    def stop_bound(self) -> None:
        """Take them no more."""
        self._bound = None

    def lost(self) -> None:
        """The broker is gone."""
        for sink in self._all():
            sink.lost()

    def renew(self) -> None:
        """Ask a new broker for every name again."""
        for name in self.list():
            self._ask_again(name)

    def deliver(self, request: Request) -> bool:
        """Hand a request to whoever serves its name; False when it was refused instead."""
        sink = self._sinks.get(request.name)
        if sink is None:
            sink = self._bound_sink(request.name)
        if sink is not None and sink.deliver(request):
            return True
        request.refuse(_not_served() if sink is None else _overloaded(sink.capacity))
        return False

    def _bound_sink(self, name: str) -> NameSink | None:
        return self._bound if ALLOCATED_NAME.fullmatch(name) else None

    def _all(self) -> Iterator[NameSink]:
        yield from self._sinks.values()
        if self._bound is not None:
            yield self._bound

    def _ask_again(self, name: str) -> None:
        def answered(outcome: Outcome) -> None:
            error = refusal_of(outcome, name)
            # When this broker went too, the next one is asked.
            if error is not None and not isinstance(error, BrokerLost) and name in self._sinks:
                self._sinks.pop(name).fail(error)

        self._tell("broker.register", {"name": name}, answered)


def _not_served() -> Refusal:
    return Refusal(ErrorCode.UNAVAILABLE, "nobody serves that name now", reason="deregistered")


def _overloaded(capacity: int) -> Refusal:
    return limit_reached(
        "service_queue_full", capacity, "the service has too many requests waiting; try again later"
    )
