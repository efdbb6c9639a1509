"""Keeps one session connected: a socket per broker, for as long as the context lives."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import trio
import zmq

from brokerd.client.errors import BusError, NotConnected
from brokerd.client.pump import Pump
from brokerd.client.room import check_room
from brokerd.client.session import Phase, Session
from brokerd.client.slots import Slot
from brokerd.client.target import Target
from brokerd.client.waiting import outcome_of
from brokerd.client.watch import while_alive
from brokerd.limits import Limits
from brokerd.rundir import RuntimeDirError

_FIRST_PAUSE = 0.02
_LONGEST_PAUSE = 1.0
"""Seconds between attempts to reach a new broker; doubled from one to the other."""

_HELLO_SECONDS = 5.0
"""Most that one attempt may take."""

_BYE_SECONDS = 0.2

log = logging.getLogger("brokerd.client")


class Link:
    """The transport of one session to one target. One task at a time works in it."""

    def __init__(self, target: Target, session: Session, limits: Limits) -> None:
        self._target = target
        self._session = session
        self._limits = limits
        self._context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        self._pump: Pump | None = None

    async def open(self, timeout: float, *, wait: bool) -> None:
        """Connect within ``timeout`` seconds. Raises NotConnected or ForeignBroker.

        Unless ``wait``, a broker that is not there fails at once.
        """
        with trio.move_on_after(timeout):
            await (self._reconnect() if wait else self._attempt())
            return
        raise NotConnected(f"no answer at {self._target.endpoint} within {timeout:g} s")

    async def run(self, _nursery: object = None) -> None:
        """Serve the connection, and each that follows it, until cancelled; then say bye."""
        try:
            while True:
                await self._live()
                self._end()
                await self._reconnect()
        finally:
            with trio.move_on_after(_BYE_SECONDS, shield=True):
                await self._bye()

    def close(self) -> None:
        """Close the socket and fail what is still pending."""
        self._end()
        self._context.destroy(linger=0)

    async def _attempt(self) -> None:
        """One try: on success the session is open. The caller bounds the time."""
        check_room()
        listener = self._target.look()
        self._pump = Pump(self._context, self._target, self._session, self._limits)
        try:
            self._pump.open()
            # A broker that ends now is never heard of again: nothing was connected that could drop.
            await while_alive(listener, self._pump.run_until_open)
            if self._session.phase is not Phase.OPEN:
                raise NotConnected("the broker ended before it answered")
        except BaseException:
            self._end()
            raise

    async def _live(self) -> None:
        """Move messages until the broker has ended or has dropped the connection."""
        pump = self._pump
        assert pump is not None
        await while_alive(pump.broker_pid, pump.run)
        pump.drain()

    async def _reconnect(self) -> None:
        """Try until it works, ever more slowly."""
        pause = _FIRST_PAUSE
        while True:
            with trio.move_on_after(_HELLO_SECONDS):
                try:
                    await self._attempt()
                    return
                except (BusError, RuntimeDirError) as error:
                    log.debug("no broker yet: %s", error)
            await trio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    async def _bye(self) -> None:
        """Leave well, so that the broker frees the names at once."""
        pump = self._pump
        if pump is None or self._session.phase is not Phase.OPEN:
            return
        done = Slot()
        self._session.tell("broker.bye", {}, done.complete)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(pump.run)
            await outcome_of(done, None)
            nursery.cancel_scope.cancel()

    def _end(self) -> None:
        pump, self._pump = self._pump, None
        if pump is not None:
            pump.close()
            self._session.lost()


@asynccontextmanager
async def linked(
    target: Target, session: Session, limits: Limits, *, timeout: float, wait: bool
) -> AsyncIterator[Link]:
    """An open link that is closed in every case."""
    link = Link(target, session, limits)
    try:
        await link.open(timeout, wait=wait)
        yield link
    finally:
        link.close()
