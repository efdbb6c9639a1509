"""Why an operation on the workspace is refused; each says what to do about it."""

from __future__ import annotations

from brokerd.client import ErrorCode, Refusal, invalid, limit_reached
from termnode.workspace import tree
from termnode.workspace.tree import Direction


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


def in_another_tab(tab: int) -> Refusal:
    """NOT_FOUND for a pane that is there, but not in the active tab."""
    return Refusal(
        ErrorCode.NOT_FOUND,
        f"the pane is in tab {tab}, which is not the active one: term.tab.select it first",
        reason="in_another_tab",
        tab=tab,
    )


def same_pane(field: str) -> Refusal:
    """INVALID_ARGUMENT for a second pane that is the first one."""
    return invalid(field, f"{field} names the pane itself: name another one", reason="same_pane")


def too_many(what: str, limit: int, remedy: str) -> Refusal:
    """RESOURCE_LIMIT at the cap on tabs or panes."""
    return limit_reached(what, limit, f"there are {limit} {what}, which is the most: {remedy}")


def too_small(direction: Direction) -> Refusal:
    """RESOURCE_LIMIT for a pane that cannot be halved."""
    need = tree.halvable(direction)
    axis = "columns" if direction is Direction.HORIZONTAL else "rows"
    return limit_reached(
        "too_small",
        need,
        f"the pane has fewer than {need} {axis}: close a neighbour, "
        "or split in the other direction",
    )


def layout_too_small(cols: int, rows: int) -> Refusal:
    """RESOURCE_LIMIT for an arrangement that needs ``cols`` by ``rows``."""
    return limit_reached(
        "too_small",
        cols,
        f"the panes would need {cols} columns and {rows} rows: take another layout, "
        "close a pane, or make the terminal larger with term.resize",
        rows=rows,
    )
