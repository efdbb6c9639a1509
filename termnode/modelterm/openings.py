"""Terminals of one set that are just being opened: none of them outlives the end of the set."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import trio

from brokerd.client import ErrorCode
from termnode.modelterm.results import TermError


class Openings:
    """What is opened in a block of `one` is undone by that block when it is cancelled."""

    def __init__(self) -> None:
        self._under_way: set[trio.CancelScope] = set()
        self._over = False
        self._none = trio.Event()

    @contextmanager
    def one(self) -> Iterator[None]:
        """Around one opening. Raises TermError CANCELLED when the set ends, or has ended."""
        if self._over:
            raise _ended()
        with trio.CancelScope() as scope:
            self._under_way.add(scope)
            try:
                yield
            finally:
                self._under_way.discard(scope)
                if not self._under_way:
                    self._none.set()
        if scope.cancelled_caught:
            raise _ended()

    async def end(self) -> None:
        """Cancel all, let nothing begin any more, and wait until all are undone."""
        self._over = True
        if not self._under_way:
            return
        self._none = trio.Event()
        for scope in self._under_way:
            scope.cancel()
        await self._none.wait()


def _ended() -> TermError:
    return TermError(ErrorCode.CANCELLED, "the set of terminals was closed: begin a new session")
