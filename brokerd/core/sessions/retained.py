"""Results that are kept, so that a mutation whose answer got lost can be asked for again.

The id of a retained mutation is a number that rises on its connection. What it gave is kept for a
while and told again, word for word; a number that is spent and no longer known is UNKNOWN_OUTCOME's
cousin: a CONFLICT that says so, never a second mutation.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from brokerd.core.deadlines import Alarm, Deadlines
from brokerd.encodings import parse_u64
from brokerd.errors import ErrorCode, Refusal, invalid
from brokerd.limits import SessionLimits

Key: TypeAlias = "tuple[str, int]"
"""Connection id, and the number of the mutation on it."""

_EXPIRE_AT_MOST: Final = 256


@dataclass(frozen=True, slots=True)
class Mutation:
    """What is asked: the command, its number, and a digest of its arguments."""

    command: str
    number: int
    digest: bytes


@dataclass(frozen=True, slots=True)
class _Kept:
    mutation: Mutation
    result: bytes


def mutation(command: str, request_id: str, args: Mapping[str, object]) -> Mutation:
    """The mutation that a request asks for; ``args`` are parsed, so that equal ones are equal.

    Raises Refusal (INVALID_ARGUMENT) for an id that is not a canonical positive u64.
    """
    number = parse_u64(request_id)
    if not number:
        raise _bad_id("the id must be a positive number below 2^64, without sign or leading zero")
    told = repr(sorted(args.items())).encode()
    return Mutation(command, number, hashlib.sha256(told).digest())


class Retained:
    """Kept results of all connections: each bounded, and all together; the oldest give way.

    Over the bounds of all, those of a connection with the most: nobody crowds out the others.
    """

    def __init__(self, limits: SessionLimits, alarm: Alarm) -> None:
        self._per_connection = limits.retained_per_connection
        self._all = limits.retained
        self._max_bytes = limits.retained_bytes
        self._kept: dict[Key, _Kept] = {}
        self._numbers: dict[str, dict[int, None]] = {}
        self._highest: dict[str, int] = {}
        self.deadlines: Deadlines[Key] = Deadlines(limits.retained_ms, alarm)
        self.bytes = 0

    def recall(self, connection_id: str, asked: Mutation, now_ms: int) -> bytes | None:
        """The result that ``asked`` already gave; None when it is a new one, to carry out.

        Raises Refusal: CONFLICT ``request_mismatch`` (the number was given with other arguments),
        CONFLICT ``unknown_outcome`` (it is spent, its result no longer kept), INVALID_ARGUMENT
        (it was the number of another command).
        """
        self.expire(now_ms, len(self._kept))
        kept = self._kept.get((connection_id, asked.number))
        if kept is not None:
            _require_same(kept.mutation, asked)
            return kept.result
        if asked.number <= self._highest.get(connection_id, 0):
            words = "that id is spent and its result no longer kept; look, then use a higher id"
            raise Refusal(ErrorCode.CONFLICT, words, reason="unknown_outcome")
        return None

    def keep(self, connection_id: str, done: Mutation, result: bytes, now_ms: int) -> None:
        """Keep what a new mutation gave; its number is spent, and so is every lower one."""
        key = connection_id, done.number
        self._kept[key] = _Kept(done, result)
        numbers = self._numbers.setdefault(connection_id, {})
        numbers[done.number] = None
        self._highest[connection_id] = done.number
        self.deadlines.add(key, now_ms)
        self.bytes += len(result)
        if len(numbers) > self._per_connection:
            self._drop((connection_id, next(iter(numbers))))
        while len(self._kept) > self._all or self.bytes > self._max_bytes:
            most = max(self._numbers, key=lambda each: len(self._numbers[each]))
            self._drop((most, next(iter(self._numbers[most]))))

    def expire(self, now_ms: int, at_most: int = _EXPIRE_AT_MOST) -> None:
        """Drop results that were kept for long enough."""
        for key in self.deadlines.expired(now_ms, at_most):
            self._drop(key)

    def forget(self, connection_id: str) -> None:
        """The connection is gone: its ids do not come back."""
        for number in tuple(self._numbers.get(connection_id, ())):
            self._drop((connection_id, number))
        self._highest.pop(connection_id, None)

    def verify(self) -> None:
        """Raise AssertionError when an index or a bound is broken; for tests."""
        keys = {(each, number) for each, held in self._numbers.items() for number in held}
        within = len(self._kept) <= self._all and self.bytes <= self._max_bytes
        sizes = sum(len(each.result) for each in self._kept.values())
        if not (keys == set(self._kept) == set(self.deadlines) and within and sizes == self.bytes):
            raise AssertionError("retained results differ from their indexes or bounds")

    def __len__(self) -> int:
        return len(self._kept)

    def _drop(self, key: Key) -> None:
        self.bytes -= len(self._kept.pop(key).result)
        self.deadlines.discard(key)
        connection_id, number = key
        numbers = self._numbers[connection_id]
        del numbers[number]
        if not numbers:
            del self._numbers[connection_id]


def _require_same(kept: Mutation, asked: Mutation) -> None:
    if kept.command != asked.command:
        raise _bad_id("that id was given to another command; use a higher one")
    if kept.digest != asked.digest:
        words = "that id was given with other arguments; use a higher id for something new"
        raise Refusal(ErrorCode.CONFLICT, words, reason="request_mismatch")


def _bad_id(message: str) -> Refusal:
    return invalid("id", message)
