"""How the service's identity stands, as the rest of the service and its replies say it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Protocol

from brokerd.client import RecordView, Ref


class Native(StrEnum):
    """``off``: it will not be had. ``starting``: not yet. ``lost``: not any more, for now."""

    OFF = "off"
    STARTING = "starting"
    READY = "ready"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class IdentityState:
    """``problem`` says in words why it is not ready; ``policy`` is None when it is off."""

    native: Native
    policy: str | None = None
    problem: str = ""
    record: RecordView | None = None

    @property
    def trouble(self) -> str:
        """A word or two for a status line; empty while there is nothing to be said."""
        if self.native is Native.LOST:
            return "identity lost"
        return "no identity" if self.problem and self.native is not Native.READY else ""

    def body(self) -> dict[str, object]:
        """As INFO says it; what is unknown is left out."""
        said = {
            "state": str(self.native),
            "policy": self.policy,
            "name": None if self.record is None else self.record.name,
            "problem": self.problem or None,
        }
        return {key: value for key, value in said.items() if value is not None}


@dataclass(frozen=True, slots=True)
class PaneBinding:
    """How a pane stands. ``generation`` is that of its last grant; 0 before the first.

    ``state`` is waiting (for its pane shell to be started), enrolling, attached, suspended, lost,
    unbound (there will be no more), over (its program has ended) or off; ``reason`` is for people.
    """

    generation: int
    state: str
    reason: str
    record_id: str | None


@dataclass(frozen=True, slots=True)
class BoundShell:
    """A pane's shell that is attached: its record as granted, and the attachment known last."""

    record: RecordView
    ref: Ref


OFF: Final = PaneBinding(0, "off", "", None)


class Identity(Protocol):
    """What the rest of the service asks; the answers are as of now."""

    @property
    def state(self) -> IdentityState:
        """How the Term's own record stands."""

    def binding_of(self, pane: int) -> PaneBinding:
        """How a pane stands."""

    def control_ready(self, pane: int) -> bool:
        """Whether the pane may be controlled through its verified session."""

    def shell_of(self, pane: int) -> BoundShell | None:
        """The pane's shell, while the pane may be controlled through it."""


class NoIdentity:
    """Where there is none to be had."""

    @property
    def state(self) -> IdentityState:
        """It is off."""
        return IdentityState(Native.OFF)

    def binding_of(self, _pane: int) -> PaneBinding:
        """No pane has one."""
        return OFF

    def control_ready(self, _pane: int) -> bool:
        """Never."""
        return False

    def shell_of(self, _pane: int) -> BoundShell | None:
        """None has one."""
        return None
