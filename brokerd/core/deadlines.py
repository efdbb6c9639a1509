"""Deadlines that all lie the same distance ahead, so that the oldest is always the next."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Iterator
from typing import Any, Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)


class Alarm:
    """When the first of several ``Deadlines`` may be due: never later than that, maybe earlier.

    Asking costs nothing; once it has rung, ``set`` it again from what is left.
    """

    __slots__ = ("at",)

    def __init__(self) -> None:
        self.at: int | None = None

    def not_after(self, due: int) -> None:
        """Something new is due at ``due``."""
        if self.at is None or due < self.at:
            self.at = due

    def set(self, *deadlines: Deadlines[Any]) -> None:
        """Be exact again."""
        due = [each.next() for each in deadlines]
        self.at = min((each for each in due if each is not None), default=None)


class Deadlines(Generic[Key]):
    """Keys that expire ``after_ms`` after they were added. All operations take constant time.

    Adding needs a clock that never goes back; the caller sees to it.
    """

    __slots__ = ("_after_ms", "_alarm", "_due")

    def __init__(self, after_ms: int, alarm: Alarm) -> None:
        self._after_ms = after_ms
        self._alarm = alarm
        self._due: OrderedDict[Key, int] = OrderedDict()

    def add(self, key: Key, now_ms: int) -> None:
        """Start (or start again) the time of ``key``."""
        due = now_ms + self._after_ms
        self._due[key] = due
        self._due.move_to_end(key)
        self._alarm.not_after(due)

    def discard(self, key: Key) -> None:
        """Forget ``key`` if it is there."""
        self._due.pop(key, None)

    def next(self) -> int | None:
        """When the oldest key expires; None when there is none."""
        return next(iter(self._due.values()), None)

    def expired(self, now_ms: int, at_most: int) -> Iterator[Key]:
        """Take out up to ``at_most`` keys whose time has come, oldest first."""
        for _ in range(at_most):
            due = self.next()
            if due is None or due > now_ms:
                return
            yield self._due.popitem(last=False)[0]

    def __contains__(self, key: object) -> bool:
        return key in self._due

    def __len__(self) -> int:
        return len(self._due)

    def __iter__(self) -> Iterator[Key]:
        return iter(self._due)
