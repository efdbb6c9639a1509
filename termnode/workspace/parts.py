"""What a workspace is made of, and what its operations return."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from termnode.workspace.tree import Node, Split

Size: TypeAlias = tuple[int, int]
"""Columns and rows."""


@dataclass(slots=True)
class Pane:
    """One place for a program. ``title`` is what the person or agent named it, if anything."""

    id: int
    tab: int
    title: str | None = None
    generation: int = 1


@dataclass(slots=True)
class Tab:
    """One screenful of panes; ``active`` is the pane that keys and verbs go to.

    While ``zoomed``, the active pane has the whole room and the others, of which there is at least
    one, are behind it. ``title`` is what the tab was named, if anything. ``size`` is its own,
    which it keeps; None: the workspace's.
    """

    id: int
    root: Node
    active: int
    title: str | None = None
    zoomed: bool = False
    size: Size | None = None

    def activate(self, pane: int) -> None:
        """Make one of its panes the active one; another that was zoomed no longer is."""
        self.zoomed = self.zoomed and self.active == pane
        self.active = pane

    def give_up(self, pane: int, rest: Node, heir: int) -> None:
        """``pane`` leaves; ``heir`` takes its room in ``rest``."""
        self.root = rest
        if self.active == pane:
            self.activate(heir)
        self.zoomed = self.zoomed and isinstance(rest, Split)


@dataclass(frozen=True, slots=True)
class Change:
    """What an operation did. ``sizes`` are to be applied to programs; ``closed`` are to be ended.

    ``tab`` is the tab it was about, or in which a moved pane is now; ``tab_closed`` is whether a
    tab went. ``sizes`` has only panes whose size is new, the opened one included. ``active_tab``
    and ``active_pane`` are the ones afterwards, None when nothing is left.
    """

    tab: int | None
    opened: int | None
    closed: tuple[int, ...]
    sizes: dict[int, Size]
    tab_closed: bool
    active_tab: int | None
    active_pane: int | None
