"""The events of a service, and what of them is due to whom (specs/looking.md). No I/O.

`publish` only notes an event; `deliver` sends what is due, a few messages at a time. So whoever
publishes never waits, and a slow subscription loses the oldest events, never anybody's time. What
is lost shows: each event names the one sent before it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from enum import Enum, auto
from typing import Any

from termnode.service.events.ring import KNOWN, Happened, Ring
from termnode.service.events.subscriptions import (
    SUBSCRIPTIONS,
    Subscriber,
    Subscription,
    Subscriptions,
)

Send = Callable[[str, Mapping[str, object]], bool]
"""Sends one event to a connection; False when it cannot go now."""


class Left(Enum):
    """What `Events.deliver` left to do."""

    NOTHING = auto()
    MORE = auto()
    STUCK = auto()
    """Something is due and cannot go now."""


class Events:
    """The events of one service and its subscriptions.

    Numbers begin after ``begin``: it should be beyond those of an earlier service, whose numbers
    then stand for none of these. ``wall_ms`` gives Unix milliseconds. ``is_open`` says whether the
    posture is open; it is asked in the same step as each sending. ``on_news`` is called when there
    may be something to send or the subscriptions changed. ``beside`` tells others of the same
    events, by other rules: it is asked what it wants, and told when there is something new.
    """

    def __init__(
        self,
        *,
        wall_ms: Callable[[], int],
        is_open: Callable[[], bool],
        subscriptions: int = SUBSCRIPTIONS,
        known: int = KNOWN,
        begin: int = 0,
        ring: Ring | None = None,
    ) -> None:
        self._wall_ms = wall_ms
        self._is_open = is_open
        self._ring = Ring(known, begin) if ring is None else ring
        self._subscriptions = Subscriptions(subscriptions)
        self._sent = 0
        self._failed = 0
        self._overtaken = 0
        self.changes = 0
        """How often the subscriptions have changed."""
        self.on_news: Callable[[], object] = _nobody
        self.beside: Events | None = None

    def publish(
        self,
        kind: str,
        pane: int | None = None,
        *,
        panes: frozenset[int] = frozenset(),
        actor: Hashable = None,
        **fields: object,
    ) -> None:
        """Note an event about ``pane``, or ``panes``, or both. Fields of None stay out.

        It is for ``actor`` alone, unless that is None. Takes microseconds whoever listens.
        """
        about = panes if pane is None else panes | {pane}
        body = {"kind": kind, "pane": pane, "panes": sorted(panes) or None, **fields}
        known = {name: value for name, value in body.items() if value is not None}
        self._ring.add(kind, about, {"time": self._wall_ms(), **known}, actor)
        self._published()

    def subscribe(self, who: Subscriber, args: Mapping[str, Any]) -> dict[str, object]:
        """term.events with checked arguments: begin, change or stop; the fields of the reply.

        The connection's earlier subscription is replaced. Raises Refusal RESOURCE_LIMIT when there
        are as many as there may be.
        """
        if args["stop"]:
            self._subscriptions.remove(who)
            self._changed()
            return {"seq": self._ring.last, "active": False}
        start = self._start(args.get("after"))
        self._subscriptions.add(self._subscription(who, args, start))
        self._changed()
        missed = {"missed": self._missed(start)} if "after" in args else {}
        return {"seq": self._ring.last, "active": True, **missed}

    @property
    def ring(self) -> Ring:
        """The events themselves."""
        return self._ring

    def wanted(self, kind: str, pane: int) -> bool:
        """Whether anybody would be told of an event of this kind in this pane."""
        others = self.beside
        return self._subscriptions.wanted(kind, pane) or (
            others is not None and others.wanted(kind, pane)
        )

    def wanted_by(self, kind: str, actor: Hashable, pane: int) -> bool:
        """Whether that actor would be told here of an event in this pane that is for it alone."""
        return self._subscriptions.wanted(kind, pane, actor)

    def pids(self) -> frozenset[int]:
        """The processes whose end ends a subscription."""
        return self._subscriptions.pids()

    def end_process(self, pid: int) -> None:
        """That process has ended: so have its subscriptions."""
        self._keep(lambda who: who.pid != pid)

    def keep_epoch(self, epoch: str) -> None:
        """There is a new broker: connections of the old one are no more."""
        self._keep(lambda who: who.epoch == epoch)

    def recheck(self) -> None:
        """End all subscriptions if the posture is strict."""
        if self._subscriptions and not self._is_open():
            self._keep(lambda _who: False)

    def deliver(self, send: Send, limit: int, share: int) -> Left:
        """Send what is due, those first that are furthest behind.

        At most ``limit`` messages, and at most ``share`` of them to one subscription.
        """
        self.recheck()
        left = Left.NOTHING
        for each in self._subscriptions.furthest_behind_first():
            sent, its = self._serve(each, send, min(limit, share))
            self._sent += sent
            limit -= sent
            if its is Left.STUCK:
                return its
            left = Left.MORE if its is Left.MORE else left
        return left

    def statistics(self) -> dict[str, int]:
        """How many events and subscriptions there are, and what became of the events.

        ``overtaken`` counts how often a subscription was so slow that events went unsent.
        """
        return {
            "seq": self._ring.last,
            "subscriptions": len(self._subscriptions),
            "sent": self._sent,
            "failed": self._failed,
            "overtaken": self._overtaken,
        }

    # -- inside --------------------------------------------------------------------------------

    def _published(self) -> None:
        if self._subscriptions:
            self.on_news()
        if self.beside is not None:
            self.beside._published()

    def _start(self, after: int | None) -> int:
        """The number after which to begin; 0 for one that was never given: numbers began anew."""
        if after is None:
            return self._ring.last
        return after if after <= self._ring.last else 0

    def _missed(self, start: int) -> int:
        """Events that are no longer known; what was before the first one is not counted."""
        return max(0, self._ring.oldest - 1 - max(start, self._ring.begin))

    def _subscription(self, who: Subscriber, args: Mapping[str, Any], start: int) -> Subscription:
        kinds = args.get("kinds")
        return Subscription(
            who,
            args.get("pane"),
            None if kinds is None else frozenset(kinds),
            cursor=max(start, self._ring.oldest - 1),
            previous=start,
        )

    def _serve(self, each: Subscription, send: Send, limit: int) -> tuple[int, Left]:
        """Send to one subscription: how many were sent, and whether that is all."""
        self._catch_up(each)
        sent = 0
        for happened in self._ring.after(each.cursor):
            if each.takes(happened):
                if sent == limit:
                    return sent, Left.MORE
                if not send(each.who.connection, self._told(each, happened)):
                    self._failed += 1
                    return sent, Left.STUCK
                sent += 1
                each.previous = happened.seq
            each.cursor = happened.seq
        return sent, Left.NOTHING

    def _told(self, each: Subscription, happened: Happened) -> Mapping[str, object]:
        return {**happened.body, "previous": each.previous}

    def _catch_up(self, each: Subscription) -> None:
        """Events that are known no longer are lost to it; the next one says so."""
        lost = self._ring.oldest - 1
        if each.cursor < lost:
            each.cursor = each.previous = lost
            self._overtaken += 1

    def _keep(self, true: Callable[[Subscriber], bool]) -> None:
        if self._subscriptions.keep(true):
            self._changed()

    def _changed(self) -> None:
        self.changes += 1
        self.on_news()


def _nobody() -> None:
    """Nobody sends yet."""
