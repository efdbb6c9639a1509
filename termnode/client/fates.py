"""What may become of a request on its way, and what is said of it then. No I/O."""

from __future__ import annotations

from enum import Enum, auto
from typing import Any, Final

from brokerd.client import BusError, ErrorCode, MessageTooLarge, Overloaded, Reply
from termnode.client.calls import Call
from termnode.client.errors import (
    LEFT,
    UNREACHABLE,
    ConnectionLost,
    InvalidArgument,
    ResourceLimit,
    ServiceRestarted,
    ServiceUnavailable,
    TermnodeError,
    UnknownOutcome,
)
from termnode.client.native_calls import NativeCall
from termnode.control.spec import Kind


class Fate(Enum):
    """What became of an attempt that has no reply of the service."""

    UNSENT = auto()
    NOBODY = auto()
    """The broker knows nobody of that name."""
    LOST = auto()
    """It may have happened."""


AWAY: Final = "the broker or the service has been away for too long: 'termnode up' starts them"


def reason_of(reply: Reply) -> str:
    """Why the broker says that nobody answers; empty for any other reply."""
    if reply.sender is not None or reply.error is None:
        return ""
    reason = str(reply.error.details.get("reason", ""))
    return reason if reason in {UNREACHABLE, *LEFT} else ""


def unsent(error: BusError) -> TermnodeError:
    """For what this end of the connection refused: nothing was sent."""
    if isinstance(error, Overloaded):
        return ResourceLimit(str(error), {"reason": "client", "limit": error.limit})
    if isinstance(error, MessageTooLarge):
        return InvalidArgument(str(error), {"limit": error.limit})
    return ServiceUnavailable(str(error))


SAYS_NOTHING: Final = frozenset(
    {ErrorCode.FORBIDDEN, ErrorCode.RESOURCE_LIMIT, ErrorCode.UNAVAILABLE}
)
"""Codes of refusals that may come before anybody looked what became of a first attempt."""


def doubtful(call: Call[Any], reply: Reply) -> bool:
    """Whether a second attempt was refused before anybody looked what became of the first one."""
    error = reply.error
    return call.kind is Kind.MUTATION and error is not None and error.code in SAYS_NOTHING


def lost_reply(call: Call[Any] | NativeCall[Any]) -> TermnodeError:
    """For a request that may have been carried out."""
    if call.kind is Kind.MUTATION:
        return UnknownOutcome("the answer was lost", {"reason": "connection_lost"})
    return ConnectionLost("the answer was lost", {"reason": "connection_lost"})


def restarted(call: Call[Any], lost: int) -> TermnodeError:
    """For a service that is another one by now; ``lost`` of its answers are missing."""
    if lost and call.kind is Kind.MUTATION:
        return UnknownOutcome(
            "the service was started anew while the request was under way: connect again and look",
            {"reason": "service_restarted"},
        )
    return ServiceRestarted(
        "the service was started anew and its panes are other ones: connect again",
        {"reason": "service_restarted"},
    )
