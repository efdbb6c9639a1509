"""What happens in a session, as it happens."""

from __future__ import annotations

import weakref
from typing import Self

from termnode.client.asking import Asking
from termnode.client.calls import Call
from termnode.client.errors import SessionClosed, WaitTimeout
from termnode.client.following import Taking
from termnode.client.link import Link
from termnode.client.seen import Event, Subscribed
from termnode.client.stream import Stream


class Events:
    """Events in order, none twice; what was lost on the way is asked for again by itself.

    The subscription begins with the ``with`` block, or with the first event that is asked for::

        async with session.events(kinds=["exit"]) as events:
            await pane.send_keys("exit")
            event = await events.next(timeout=10)

    Made by `Session.events`; for one reader. Iterating raises WaitTimeout when no event comes for
    ``timeout`` seconds.
    """

    def __init__(self, asking: Asking, call: Call[Subscribed], timeout: float | None) -> None:
        self._asking = asking
        self._call = call
        self._timeout = timeout
        self._stream: Stream | None = None
        self._forget: weakref.finalize[..., Events] | None = None
        self._closed = False

    async def next(self, *, timeout: float | None = None) -> Event:
        """The next event. Raises WaitTimeout after ``timeout`` seconds (0: take what is there),
        SessionClosed, NotFound when its pane is gone, and ServiceUnavailable when the service went
        away. One that is cancelled or interrupted loses no event."""
        stream, taking = await self._opened(), Taking()
        try:
            event = await self._asking.runner.run(Link.next_event, stream, timeout, taking)
        except BaseException:  # interrupted, maybe after it was given one
            taking.given_up = True
            raise
        taking.arrived = True
        if event is None:
            raise WaitTimeout("no event came in time")
        return event

    async def close(self) -> None:
        """Be told no more."""
        self._closed = True
        if self._forget is not None:
            self._forget()

    async def __aenter__(self) -> Self:
        await self._opened()
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.close()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Event:
        try:
            return await self.next(timeout=self._timeout)
        except SessionClosed:
            if not self._closed:
                raise
            raise StopAsyncIteration from None

    async def _opened(self) -> Stream:
        if self._closed:
            raise SessionClosed("these events were closed: ask for them again")
        if self._stream is None:
            stream = Stream(self._call)
            # Also when nobody closes them: a loop that was left holds on to nothing.
            forget = weakref.finalize(self, self._asking.runner.soon, stream.close)
            try:
                await self._asking.runner.run(Link.open_stream, stream)
            except BaseException:  # interrupted, maybe after it was opened
                forget()
                raise
            self._stream, self._forget = stream, forget
        return self._stream
