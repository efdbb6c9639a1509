"""What the table of children asks to be done, one thing at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from brokerd.client import Ref, SessionKey
from termnode.service.identity.child import Child


@dataclass(frozen=True, slots=True)
class Mint:
    """Have the broker grant ``key`` to a pane; ``child`` is None for a bundle made ahead."""

    child: Child | None
    parent: Ref
    pane: int
    generation: int
    key: SessionKey


@dataclass(frozen=True, slots=True)
class Revoke:
    """End a child's record."""

    target: Ref


@dataclass(frozen=True, slots=True)
class Reconcile:
    """Ask for all records; ``heard`` is how many notices about children had come."""

    heard: int


@dataclass(frozen=True, slots=True)
class Start:
    """Start the pane shell of a child that has a grant."""

    child: Child


@dataclass(frozen=True, slots=True)
class End:
    """End the pane shell of a child."""

    child: Child


Call: TypeAlias = Mint | Revoke | Reconcile
"""For the broker."""

Process: TypeAlias = Start | End
"""For the processes of pane shells."""
