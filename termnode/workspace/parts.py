"""What a workspace is made of, and what its operations return."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from brokerd.client import ErrorCode, Refusal
from termnode.workspace.tree import Node

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
    """One screenful of panes; ``active`` is the pane that keys and verbs go to."""

    id: int
    root: Node
    active: int


@dataclass(frozen=True, slots=True)
class Change:
    """What an operation did. ``sizes`` are to be applied to programs; ``closed`` are to be ended.

    ``sizes`` has only panes whose size is new, the opened one included. ``active_tab`` and
    ``active_pane`` are the ones afterwards, None when nothing is left.
    """

    tab: int | None
    opened: int | None
    closed: tuple[int, ...]
    sizes: dict[int, Size]
    tab_closed: bool
    active_tab: int | None
    active_pane: int | None


def not_found(what: str) -> Refusal:
    """NOT_FOUND for a tab or pane that the request names."""
    return Refusal(
        ErrorCode.NOT_FOUND,
        f"there is no such {what} here: term.{what}s lists those there are",
        reason=f"no_such_{what}",
    )


def none_open() -> Refusal:
    """NOT_FOUND for the active tab or pane when all are closed."""
    return Refusal(
        ErrorCode.NOT_FOUND,
        "no pane is open here: term.tab.new opens one",
        reason="none_open",
    )


def in_another_tab() -> Refusal:
    """NOT_FOUND for a pane that is there, but not in the active tab."""
    return Refusal(
        ErrorCode.NOT_FOUND,
        "the pane is in another tab: term.tab.select that one first",
        reason="in_another_tab",
    )
