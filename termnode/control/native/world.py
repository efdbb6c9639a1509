"""What the gate must know of the world at the moment of its decision; all of it synchronous."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

from brokerd.client import RecordView
from termnode.control.posture import Posture


@dataclass(frozen=True, slots=True)
class Own:
    """The Term's own record, where it was proved, and what is left of its lease (0: over)."""

    record: RecordView
    broker_epoch: str
    connection_id: str
    remaining_ms: int


class PaneFacts(NamedTuple):
    """A pane that there is.

    ``generation`` is that of its verified session (0 before the first); ``ready`` says whether it
    may be controlled through it; ``ended`` that its program has ended, so that it can be restarted.
    """

    generation: int
    ready: bool
    tab: int
    ended: bool = False


class World(Protocol):
    """The live service. Nothing here waits, changes anything, or raises."""

    def connected(self) -> bool:
        """Whether the Term's own connection stands."""

    def own(self) -> Own | None:
        """The Term's own record; None while it has none."""

    def posture(self) -> Posture:
        """As it is at this request."""

    def pane(self, pane_id: int) -> PaneFacts | None:
        """What is known of a pane; None when there is none."""

    def affected(self, verb: str, pane_id: int, other: int | None) -> frozenset[int]:
        """All panes that the verb would touch now; both panes exist."""

    def removed(self, verb: str, pane_id: int) -> frozenset[int]:
        """Those of them that it would close; the pane exists."""
