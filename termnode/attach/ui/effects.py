"""What the controller wants done: carried out by whoever has the socket and the terminal."""

from __future__ import annotations

from dataclasses import dataclass

from termnode.view.messages import Message


@dataclass(frozen=True, slots=True)
class Send:
    """Send a message to the service."""

    message: Message


@dataclass(frozen=True, slots=True)
class Redraw:
    """Something of the `Ui` changed. ``full``: forget what the terminal shows, and draw it all."""

    full: bool = False


@dataclass(frozen=True, slots=True)
class Copy:
    """Put the text into the person's clipboard (OSC 52)."""

    text: str


@dataclass(frozen=True, slots=True)
class Ring:
    """Ring the person's bell."""


@dataclass(frozen=True, slots=True)
class Leave:
    """The person detaches: tell the service (`Detach`) and leave, all well."""


@dataclass(frozen=True, slots=True)
class Quit:
    """The service ended the view: leave and say why. ``reason`` is a word or short text."""

    reason: str


Effect = Send | Redraw | Copy | Ring | Leave | Quit
