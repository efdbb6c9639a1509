"""How a view ends, and what is told of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from termnode.view.messages import Reason


class How(Enum):
    """How a view ended."""

    DETACHED = auto()
    """The person left."""
    ENDED = auto()
    """The service did."""
    LOST = auto()
    """The connection did, and no other could be made."""
    REFUSED = auto()
    """The service gave no view."""


@dataclass(frozen=True, slots=True)
class End:
    """How, and why in words for the person."""

    how: How
    why: str = ""


SLOW: Final = End(How.LOST, "this view was stopped, or its terminal, for too long")
"""The service let go of the view: there may be another one."""

_BY_REASON: Final = {
    Reason.DETACHED: End(How.DETACHED),
    Reason.ENDED: End(How.ENDED),
    Reason.FORBIDDEN: End(How.REFUSED, "it takes the token from the process alone that asked"),
    Reason.STRICT: End(How.REFUSED, "the posture is strict now: attach with a ticket"),
    Reason.PROTOCOL: End(How.REFUSED, "it is of another version; end it and start it again"),
    Reason.FULL: End(How.REFUSED, "it has as many views as it may have; detach one"),
    Reason.SLOW: SLOW,
}


def end_of(reason: Reason) -> End:
    """What a service's last message means."""
    return _BY_REASON.get(reason, End(How.LOST, "it let go of this view"))
