"""``termnode events``: what happened, and with ``--follow`` what happens, one line each."""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import trio

from brokerd.client import BusError
from termnode.cli.exits import OK, TRANSPORT, CommandError
from termnode.cli.output import DIM, YELLOW, clean, paint, span
from termnode.cli.reaching import own_files, reach
from termnode.cli.remote import asker, connected, json_line
from termnode.client.following import Lost, Order

if TYPE_CHECKING:
    import argparse

    from brokerd.client import Bus, DirectedEvents

Event = dict[str, Any]

ASK_AGAIN_S: Final = 20.0
"""After so long without an event the subscription is asked for again: the service may have been
replaced without a word."""

RETRY_S: Final = 0.5
LONGEST_S: Final = 15.0


def run(arguments: argparse.Namespace) -> int:
    """Print the events that are still known, and go on with ``--follow``."""

    async def talk(bus: Bus) -> None:
        async with bus.subscribe_service(arguments.name, capacity=1024) as stream:
            await _Follower(arguments, bus, stream).run()

    connected(arguments, talk, LONGEST_S)
    return OK


class _Follower:
    """Prints one subscription's events in order, asking again for what may have been missed."""

    def __init__(self, arguments: argparse.Namespace, bus: Bus, stream: DirectedEvents) -> None:
        self._arguments = arguments
        self._bus = bus
        self._stream = stream
        self._ask = asker(arguments, bus)
        past = None if arguments.follow else 0
        self._order = Order(past if arguments.after is None else arguments.after)
        self._stale = False
        self._gone = False
        self._turn = trio.CancelScope()

    async def run(self) -> None:
        """Until the last known event, or, with ``--follow``, for ever."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._watch_epochs)
            nursery.start_soon(self._watch_service)
            await self._follow()
            nursery.cancel_scope.cancel()

    async def _watch_epochs(self) -> None:
        """A new broker delivers nothing before it is asked to."""
        epoch = self._bus.broker_epoch
        while True:
            epoch = await self._bus.wait_epoch_change(epoch)
            self._ask_again()

    async def _watch_service(self) -> None:
        """A service that was started anew knows nobody."""
        files = own_files(reach(self._arguments), self._arguments.name)
        while files is not None:
            found = files.open_process()
            if found is None:
                await trio.sleep(RETRY_S)
                continue
            try:
                await trio.lowlevel.wait_readable(found[1])
            finally:
                os.close(found[1])
            self._ask_again()

    def _ask_again(self) -> None:
        self._stale = True
        self._turn.cancel()

    async def _follow(self) -> None:
        newest = await self._subscribe()
        while self._arguments.follow or (self._order.after or 0) < newest:
            if not await self._take_one(ASK_AGAIN_S if self._arguments.follow else RETRY_S):
                if not self._arguments.follow:
                    return  # the rest is not of the kinds or panes that were asked for
                await self._renew()

    async def _take_one(self, within: float) -> bool:
        """Print the next event; False when none came in time, or one may have been missed."""
        with trio.move_on_after(0 if self._stale else within) as self._turn, suppress(Lost):
            self._take(dict((await anext(self._stream)).body or {}))
            return True
        return False

    def _take(self, body: Event) -> None:
        """Print an event that was not seen before. Raises Lost when one before it is missing."""
        if self._order.takes(body["seq"], body["previous"]):
            print(json_line(body) if self._arguments.json else _words(body), flush=True)

    async def _renew(self) -> None:
        """Subscribe again; while nobody answers, try until somebody does."""
        while True:
            self._stale = False
            try:
                await self._subscribe()
            except (BusError, CommandError) as error:
                if isinstance(error, CommandError) and error.code != TRANSPORT:
                    raise
                self._say_gone()
                await trio.sleep(RETRY_S)
            else:
                self._gone = False
                return

    def _say_gone(self) -> None:
        """Once for each time that nobody answers."""
        if not self._gone:
            name = self._arguments.name
            print(f"termnode: '{name}' does not answer; waiting for it", file=sys.stderr)
        self._gone = True

    async def _subscribe(self) -> int:
        """Ask for what follows the last one seen, or from now on. Returns the newest number."""
        arguments = self._arguments
        given = {"pane": arguments.pane, "kinds": arguments.kind, "after": self._order.after}
        body = {name: value for name, value in given.items() if value is not None}
        answer: Event = await self._ask("term.events", body)
        newest, missed = int(answer["seq"]), int(answer.get("missed") or 0)
        if missed:
            self._say_missed(missed)
        self._order.subscribed(newest, missed)
        return newest

    def _say_missed(self, count: int) -> None:
        if self._arguments.json:
            print(json_line({"missed": count}), flush=True)
        else:
            print(paint(f"({count} events are no longer known)", YELLOW), flush=True)


def _words(body: Event) -> str:
    """One event for a person: when, where, what."""
    at = time.strftime("%H:%M:%S", time.localtime(body["time"] / 1000))
    where = f"pane {body['pane']}" if body.get("pane") is not None else "-"
    words = "  ".join(filter(None, (str(body["kind"]).ljust(8), _details(body))))
    return f"{paint(at, DIM)}  {where:<8}  {words}".rstrip()


def _details(body: Event) -> str:
    shown = {
        name: value
        for name, value in body.items()
        if name not in {"time", "pane", "kind", "seq", "previous", "generation", "revision"}
    }
    return "  ".join(
        f"{name.removesuffix('_ms')}={_value(name, value)}" for name, value in shown.items()
    )


def _value(name: str, value: object) -> str:
    if name.endswith("_ms") and isinstance(value, int):
        return span(value)
    return clean(value) if isinstance(value, str) else json_line(value)
