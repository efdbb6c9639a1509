"""Signals to a program that has borrowed a terminal: it is given back before they do what they do.

Handlers of Python run between two steps of the main thread, in whatever it does. So what must not
be done in part is done `undisturbed`: what comes meanwhile is dealt with right after.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Final

ENDING: Final = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM)


class Signals:
    """From `install` to `remove`, in the main thread. Of ENDING, what is ignored stays ignored.

    All three are called from handlers, and may be called needlessly. ``take_again`` is called until
    it returns True.
    """

    def __init__(
        self,
        give_back: Callable[[], None],
        take_again: Callable[[], bool],
        resized: Callable[[], None],
    ) -> None:
        self._give_back, self._take_again, self._resized = give_back, take_again, resized
        self._before: dict[int, Any] = {}
        self._held = 0
        self._pending: list[int] = []

    def install(self) -> None:
        """Begin. Signals that come before this returns are seen to."""
        wanted = (*ENDING, signal.SIGTSTP, signal.SIGCONT, signal.SIGWINCH)
        for number in wanted:
            before = signal.getsignal(number)
            if before == signal.SIG_IGN and number != signal.SIGWINCH:
                continue
            self._before.setdefault(number, before)
            signal.signal(number, self._arrived)

    def remove(self) -> None:
        """What was before."""
        while self._before:
            number, before = self._before.popitem()
            signal.signal(number, signal.SIG_DFL if before is None else before)

    @contextmanager
    def undisturbed(self) -> Iterator[None]:
        """Nothing of ours is called inside; what came is called at the end. May be nested."""
        self._held += 1
        try:
            yield
        finally:
            self._held -= 1
            self._catch_up()

    def insist(self, attempt: Callable[[], bool]) -> None:
        """Call ``attempt`` until it returns True, or something came that is to end us."""
        while not any(number in ENDING for number in self._pending):
            if attempt():
                return

    def _catch_up(self) -> None:
        while self._pending and not self._held:
            self._arrived(self._pending.pop(0), None)

    def _arrived(self, number: int, _frame: FrameType | None) -> None:
        if self._held:
            self._pending += [] if number in self._pending else [number]
        elif number not in self._before:
            signal.raise_signal(number)  # it came while we removed ourselves
        else:
            with self.undisturbed():
                self._act(number)

    def _act(self, number: int) -> None:
        if number == signal.SIGWINCH:
            self._resized()
        elif number == signal.SIGCONT:
            self.insist(self._take_again)
        else:
            self._give_back()
            self._as_by_default(number)

    def _as_by_default(self, number: int) -> None:
        """End or stop as if nobody had looked, so that who started us sees by what.

        It returns once we go on after a stop, or at once when we may not be stopped for there is
        nobody who would let us go on.
        """
        signal.signal(number, signal.SIG_DFL)
        signal.raise_signal(number)
        signal.signal(number, self._arrived)
        self.insist(self._take_again)
