"""Request ids of one connection, and what becomes of one request on its way. No I/O.

The rules (specs/control.md "Retries"): ids of a connection only rise and count on it alone; a lost
answer is asked for with the very bytes, on the same connection; after another one has begun nobody
knows; a refusal that may come before anybody looked into the ledger says nothing of a first try.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import Any, Final

from brokerd.client import ErrorCode, Reply, parse_u64
from termnode.client.errors import (
    ResourceLimit,
    ServiceUnavailable,
    TermnodeError,
    UnknownOutcome,
)
from termnode.client.fates import SAYS_NOTHING, Fate, lost_reply
from termnode.client.native_calls import NativeCall
from termnode.control.spec import U64_MAX

MUTATION_SENDS: Final = 3
"""How often one mutation is sent, at most, when its answer is lost: it runs once."""

READ_SENDS: Final = 2

RETIRED: Final = "retired_request_id"
"""The reason of UNKNOWN_OUTCOME that tells where ids go on."""

_SAYS_NOTHING: Final = SAYS_NOTHING | {ErrorCode.DISCONNECTED}
"""Codes of refusals that may come before the retry record is looked up."""

_NOT_TOLD: Final = frozenset({"no_answer", "malformed_answer"})
"""Reasons of UNKNOWN_OUTCOME for what a Term passed on to a pane's shell, and heard nothing of: it
keeps no record of that, and the very same bytes reach the shell again, which knows."""


class Numbers:
    """The request ids of the connection ``epoch``, from 1 upward; each is given out once."""

    def __init__(self, epoch: str) -> None:
        self.epoch = epoch
        self._last = 0

    def take(self) -> int:
        """The next id. Raises ResourceLimit when the connection has none left."""
        if self._last >= U64_MAX:
            raise ResourceLimit(
                "this connection's request ids are spent: connect again",
                {"reason": "request_ids_spent"},
            )
        self._last += 1
        return self._last

    def told(self, reply: Reply) -> None:
        """Go on above the mark, when the reply is a refusal that tells it."""
        error = reply.error
        if error is not None and error.details.get("reason") == RETIRED:
            self.above(parse_u64(error.details.get("request_high_water")) or 0)

    def above(self, high_water: int) -> None:
        """Ids up to that one are spent."""
        self._last = max(self._last, high_water)


class Next(Enum):
    """What to do with the same bytes."""

    SEND = auto()
    PAUSE = auto()
    """Send them again after a while: it is running, or its recipient is away for a moment."""


class Attempt:
    """One request whose bytes never change, from its first sending to its reply or its end."""

    def __init__(self, call: NativeCall[Any]) -> None:
        self._call = call
        self._sends = MUTATION_SENDS if call.mutates else READ_SENDS
        self.lost = 0
        """Sendings after which it may have been carried out."""
        self._pending: Reply | None = None

    def came(self, what: Reply | Fate) -> Reply | Next:
        """Take in what one sending came to: its reply, or what to do next.

        Raises ServiceUnavailable when nothing was sent, UnknownOutcome for a mutation and
        ConnectionLost for what is none when nobody knows.
        """
        if isinstance(what, Reply):
            return self._replied(what)
        if what is Fate.LOST:
            self.lost += 1
            if self.lost >= self._sends:
                raise self.unknown()
            return Next.SEND
        if not self.lost:
            raise away()
        if what is Fate.UNSENT:  # the connection that it counts on is over
            raise self.unknown()
        return Next.PAUSE

    def _replied(self, reply: Reply) -> Reply | Next:
        if self._call.mutates and is_not_told(reply):
            self.lost += 1
            if self.lost >= self._sends:
                raise self.unknown()
            return Next.PAUSE
        if not self.lost or not self._call.mutates:
            return reply
        if is_pending(reply):
            self._pending = reply
            return Next.PAUSE
        error = reply.error
        if error is not None and error.code in _SAYS_NOTHING:
            raise self.unknown()
        return reply

    def unknown(self) -> TermnodeError:
        """For a request that may have been carried out and is not asked for any more."""
        if not self.lost:
            return away()
        if self._pending is not None and self._pending.body is not None:
            operation = self._pending.body.get("operation_id")
            return UnknownOutcome(
                "it is still running: ask operation() what becomes of it",
                {"reason": "pending", "operation_id": operation},
            )
        return lost_reply(self._call)


def is_pending(reply: Reply) -> bool:
    """Whether it says that the request is running."""
    return reply.ok and (reply.body or {}).get("status") == "pending"


def is_not_told(reply: Reply) -> bool:
    """Whether it says that nobody knows, and the same bytes may bring who does to answer."""
    error = reply.error
    if error is None or error.code != ErrorCode.UNKNOWN_OUTCOME:
        return False
    return error.details.get("reason") in _NOT_TOLD


def away() -> ServiceUnavailable:
    """Nothing was sent: the Term's own connection is not there now."""
    return ServiceUnavailable(
        "the terminal's verified session is away: try again, 'termnode doctor' says more",
        {"reason": "away"},
    )
