"""A task per request, started straight from the session: no queue between when there is room."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeAlias

import trio

from brokerd.client.errors import BusError, MessageTooLarge
from brokerd.client.failures import request_failed
from brokerd.client.messages import Request
from brokerd.errors import Refusal, limit_reached

Handler: TypeAlias = Callable[[Request], Awaitable[tuple[int, bytes | Mapping[str, object]]]]
"""Answers one request with ``(rc, body)``, or raises Refusal."""


class Dispatcher:
    """Runs ``handler`` for each request, ``concurrency`` at most; ``capacity`` more wait."""

    def __init__(self, handler: Handler, *, concurrency: int, capacity: int) -> None:
        if concurrency < 1:
            raise ValueError("concurrency must be at least 1")
        self.capacity = capacity
        self._handler = handler
        self._concurrency = concurrency
        self._running = 0
        self._waiting: deque[Request] = deque()
        self._nursery: trio.Nursery | None = None
        self._ended = trio.Event()
        self._error: BusError | None = None

    async def run(self, nursery: trio.Nursery) -> None:
        """Give the handlers a nursery; raises the error that ended the service, if one does."""
        self._nursery = nursery
        while self._waiting and self._running < self._concurrency:
            self._begin(nursery, self._waiting.popleft())
        await self._ended.wait()
        if self._error is not None:
            raise self._error

    def deliver(self, request: Request) -> bool:
        """For the session: one request has arrived."""
        if self._nursery is not None and self._running < self._concurrency:
            self._begin(self._nursery, request)
            return True
        if len(self._waiting) >= self.capacity:
            return False
        self._waiting.append(request)
        return True

    def lost(self) -> None:
        """For the session: the broker is gone; what has begun goes on, unheard."""
        self._waiting.clear()

    def fail(self, error: BusError) -> None:
        """For the session: the name is lost."""
        self._error = error
        self.close()

    def close(self) -> None:
        """Begin nothing more."""
        self._waiting.clear()
        self._nursery = None
        self._ended.set()

    def _begin(self, nursery: trio.Nursery, request: Request) -> None:
        self._running += 1
        nursery.start_soon(self._handle, request)

    async def _handle(self, request: Request) -> None:
        try:
            await self._answer(request)
        finally:
            self._running -= 1
            if self._waiting and self._nursery is not None:
                self._begin(self._nursery, self._waiting.popleft())

    async def _answer(self, request: Request) -> None:
        try:
            rc, body = await self._handler(request)
            request.respond(rc, body)
        except Refusal as refusal:
            request.refuse(refusal)
        except MessageTooLarge as error:
            request.refuse(
                limit_reached(
                    "reply_too_large", error.limit, "the reply is too large; ask for less"
                )
            )
        except Exception as error:  # noqa: BLE001  # one request's failure is not the service's
            request_failed(request, error)
