"""The retry record of the global lane: what makes a mutation safe to send again.

A key is who asks (`Scope`) and the request id. It is free, pending (its verb is running) or done
(its reply is kept). A repeat of the same request never runs the verb a second time while its key is
pending or done. Pending keys are never dropped; the last `DONE` replies are kept, first in first
out, and an id that has fallen out counts as new: ids are for retries, not for history.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Generic, Literal, TypeAlias, TypeVar

from brokerd.client import ErrorCode, Refusal, limit_reached

DONE: Final = 128
"""Replies kept (seed: "last 128 remembered")."""

PENDING: Final = 128
"""Requests under way at once."""

Scope: TypeAlias = tuple[Literal["uid"], int] | tuple[Literal["node"], str]
"""Whose ids these are: a user of this machine, or another machine."""

Key: TypeAlias = tuple[Scope, str]

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class New:
    """Nothing is known of the id: the request may run."""


@dataclass(frozen=True, slots=True)
class Replay(Generic[R]):
    """It has run: this is its reply."""

    reply: R


@dataclass(frozen=True, slots=True)
class UnderWay(Generic[T]):
    """It is running: ``owner`` is who will have the reply."""

    owner: T


@dataclass(frozen=True, slots=True)
class Conflict:
    """The id was used for another request."""


Lookup: TypeAlias = New | Replay[R] | UnderWay[T] | Conflict


class RetryTable(Generic[T, R]):
    """Keys with what became of them. ``T`` is whoever runs a request, ``R`` its reply."""

    def __init__(self, *, done: int = DONE, pending: int = PENDING) -> None:
        self.max_done = done
        self.max_pending = pending
        self._pending: dict[Key, tuple[bytes, T]] = {}
        self._done: dict[Key, tuple[bytes, R]] = {}

    def lookup(self, key: Key, digest: bytes) -> Lookup[R, T]:
        """What is known of a request whose content has this digest. Changes nothing."""
        running = self._pending.get(key)
        if running is not None:
            return UnderWay(running[1]) if running[0] == digest else Conflict()
        done = self._done.get(key)
        if done is not None:
            return Replay(done[1]) if done[0] == digest else Conflict()
        return New()

    def reserve(self, key: Key, digest: bytes, owner: T) -> None:
        """Mark a new key pending, immediately before its verb is let run.

        Raises Refusal RESOURCE_LIMIT when too many are pending; ValueError when it is not new.
        """
        if key in self._pending or key in self._done:
            raise ValueError("the key is not new")
        if len(self._pending) >= self.max_pending:
            raise limit_reached(
                "pending_requests",
                self.max_pending,
                f"{self.max_pending} requests are under way: wait for replies, then send it again",
            )
        self._pending[key] = digest, owner

    def record(self, key: Key, reply: R) -> None:
        """Keep the reply of a pending key, dropping the oldest one over the limit.

        Raises KeyError when the key is not pending.
        """
        digest, _ = self._pending.pop(key)
        self._done[key] = digest, reply
        if len(self._done) > self.max_done:
            del self._done[next(iter(self._done))]

    def release(self, key: Key) -> None:
        """Make a pending key new again: its verb did nothing. Raises KeyError when not pending."""
        del self._pending[key]

    def owners(self) -> Iterator[T]:
        """Whoever runs the pending requests, oldest first."""
        return (owner for _, owner in self._pending.values())

    def statistics(self) -> dict[str, int]:
        """How many keys are pending and done."""
        return {"pending": len(self._pending), "done": len(self._done)}


def conflict() -> Refusal:
    """The refusal for an id that was used for something else."""
    return Refusal(
        ErrorCode.CONFLICT,
        "request_id was used with another verb or other arguments: choose a fresh one",
        field="request_id",
        reason="request_mismatch",
        retry_requires="same_verb_and_arguments",
    )
