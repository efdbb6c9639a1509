"""How one connection is reached, whatever transport it came in on."""

from __future__ import annotations

from enum import Enum
from typing import Protocol


class Sent(Enum):
    """What became of a message."""

    YES = "sent"
    FULL = "the peer takes no more for now"
    GONE = "the connection is no more"


class Channel(Protocol):
    """The way to one peer."""

    def send(self, *parts: bytes) -> Sent:
        """Hand a message over, or learn why not. Nothing of it is sent unless all is."""

    def close(self) -> None:
        """The broker has forgotten the connection: end it, as far as the transport can."""
