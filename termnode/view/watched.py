"""What the service says to who follows a pane's output (`Attach.watch`)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Output:
    """To a connection with ``watch``: bytes that the program wrote.

    ``time_ms`` is CLOCK_MONOTONIC in milliseconds, here and in the others.
    """

    pane: int
    data: bytes
    time_ms: int


@dataclass(frozen=True, slots=True)
class Resized:
    """The watched pane has another size."""

    pane: int
    cols: int
    rows: int
    time_ms: int


@dataclass(frozen=True, slots=True)
class Keyframe:
    """The screen as it is now, as bytes that draw it: at the start, and where output was lost."""

    pane: int
    cols: int
    rows: int
    ansi: bytes
    title: str
    time_ms: int
    missed: int = 0
    """Bytes of output that were left out before this, for the connection did not take them."""


@dataclass(frozen=True, slots=True)
class Ended:
    """The watched program ended; ``state`` as in `PaneState`."""

    pane: int
    state: str
    time_ms: int
