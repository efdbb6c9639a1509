"""Which process serves a session's name: the session belongs to the one that did when it began."""

from __future__ import annotations

import os
import select
from contextlib import suppress


class Served:
    """What is known of it; one for all connections of a session.

    The kernel tells when that process has ended, so that nothing is sent to another one that took
    the name since. Where it cannot be watched, the replies alone say who answered.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.replaced = False
        """Another process has answered."""
        self.closed = False
        """The session is over."""
        self._pid: int | None = None
        self._descriptor: int | None = None
        self._end = select.poll()

    def ended(self) -> bool:
        """Whether it is doubtful that it lives: ask who answers. Costs a system call."""
        return self._descriptor is not None and bool(self._end.poll(0))

    def heard(self, pid: int | None, *, in_doubt: bool = False) -> None:
        """A process answered; ``in_doubt``: to what was asked after it seemed to have ended."""
        if self._pid is None and pid is not None:
            self._pid = pid
            self._watch(pid)
        self.replaced = self.replaced or self._pid != pid
        if in_doubt and not self.replaced:
            self._unwatch()  # the number is another process's here: it serves from another world

    def close(self) -> None:
        """The session is over: nothing is to be asked any more."""
        self.closed = True
        self._unwatch()

    def _watch(self, pid: int) -> None:
        with suppress(OSError):
            self._descriptor = os.pidfd_open(pid)
            self._end.register(self._descriptor, select.POLLIN)

    def _unwatch(self) -> None:
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            self._end.unregister(descriptor)
            os.close(descriptor)
