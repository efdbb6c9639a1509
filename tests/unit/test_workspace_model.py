"""Tabs and panes: what each operation changes, and what it refuses."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from brokerd.client import ErrorCode, Refusal
from termnode.workspace.affected import affected_set
from termnode.workspace.invariants import verify
from termnode.workspace.model import Workspace
from termnode.workspace.tree import Direction, Leaf

H, V = Direction.HORIZONTAL, Direction.VERTICAL


def two_tabs() -> Workspace:
    """Tab 1 with panes 1 and 2 side by side, tab 2 with pane 3; tab 1 is active."""
    workspace = Workspace(80, 24)
    workspace.add_tab()
    workspace.split(1, H)
    workspace.add_tab(select=False)
    verify(workspace)
    return workspace


def refused(operation: Callable[[], object]) -> Refusal:
    with pytest.raises(Refusal) as caught:
        operation()
    return caught.value


def test_a_workspace_starts_empty() -> None:
    workspace = Workspace(80, 24)
    verify(workspace)
    assert (workspace.active_tab, workspace.active_pane) == (None, None)
    assert refused(workspace.pane).code is ErrorCode.NOT_FOUND
    assert refused(workspace.tab).code is ErrorCode.NOT_FOUND
    assert workspace.resize(10, 10).sizes == {}


def test_a_tab_opens_with_a_pane_of_the_whole_size() -> None:
    change = Workspace(80, 24).add_tab(title="logs")
    assert (change.tab, change.opened, change.sizes) == (1, 1, {1: (80, 24)})
    assert (change.active_tab, change.active_pane, change.closed) == (1, 1, ())


def test_a_split_says_which_sizes_to_apply() -> None:
    workspace = two_tabs()
    change = workspace.split(2, V)
    assert (change.opened, change.active_pane) == (4, 4)
    assert change.sizes == {2: (40, 11), 4: (40, 12)}
    verify(workspace)


def test_a_new_pane_can_stay_in_the_background() -> None:
    workspace = two_tabs()
    assert workspace.split(1, V, select=False).active_pane == 2
    assert workspace.add_tab(select=False).active_tab == 1
    assert Workspace(80, 24).add_tab(select=False).active_tab == 1


def test_closing_a_pane_gives_its_room_and_focus_to_its_sibling() -> None:
    workspace = two_tabs()
    change = workspace.close_pane(2)
    assert (change.closed, change.sizes, change.active_pane) == ((2,), {1: (80, 24)}, 1)
    assert not change.tab_closed
    verify(workspace)


def test_closing_an_inactive_pane_keeps_the_focus() -> None:
    workspace = two_tabs()
    workspace.split(1, V, select=False)
    assert workspace.close_pane(1).active_pane == 2


def test_the_last_pane_takes_its_tab_with_it() -> None:
    workspace = two_tabs()
    change = workspace.close_pane(3)
    assert (change.tab, change.closed, change.tab_closed, change.active_tab) == (2, (3,), True, 1)
    verify(workspace)


def test_the_next_tab_replaces_a_closed_one_else_the_previous() -> None:
    workspace = two_tabs()
    workspace.add_tab(select=False)
    assert workspace.neighbour(1) == 2
    assert workspace.neighbour(3) == 2
    workspace.select_tab(2)
    assert workspace.close_tab(2).active_tab == 3
    assert workspace.close_tab(3).active_tab == 1
    last = workspace.close_tab(1)
    assert (last.closed, last.active_tab, last.active_pane) == ((1, 2), None, None)
    verify(workspace)


def test_ids_never_come_back() -> None:
    workspace = two_tabs()
    workspace.close_pane(3)
    workspace.close_tab(1)
    change = workspace.add_tab()
    assert (change.tab, change.opened) == (3, 4)
    for old in (1, 2, 3):
        assert refused(lambda pane=old: workspace.pane(pane)).code is ErrorCode.NOT_FOUND  # type: ignore[misc]


def test_a_restart_raises_the_generation_and_keeps_the_id() -> None:
    workspace = two_tabs()
    assert workspace.pane(1).generation == 1
    assert workspace.restart(1) == 2
    assert workspace.pane(1).generation == 2


def test_a_pane_of_another_tab_is_selected_only_when_asked_across_tabs() -> None:
    workspace = two_tabs()
    assert refused(lambda: workspace.select_pane(3)).code is ErrorCode.NOT_FOUND
    assert workspace.select_pane(1).active_pane == 1
    change = workspace.select_pane(3, across_tabs=True)
    assert (change.active_tab, change.active_pane) == (2, 3)


@pytest.mark.parametrize("operation", ["close_pane", "select_pane", "restart", "pane"])
def test_a_pane_that_is_not_there_is_not_found(operation: str) -> None:
    for missing in (0, 99, 2**64 - 1):
        refusal = refused(lambda pane=missing: getattr(two_tabs(), operation)(pane))  # type: ignore[misc]
        assert (refusal.code, refusal.details) == (
            ErrorCode.NOT_FOUND,
            {"reason": "no_such_pane"},
        )


@pytest.mark.parametrize("operation", ["close_tab", "select_tab", "tab", "geometry"])
def test_a_tab_that_is_not_there_is_not_found(operation: str) -> None:
    refusal = refused(lambda: getattr(two_tabs(), operation)(0))
    assert (refusal.code, refusal.details["reason"]) == (ErrorCode.NOT_FOUND, "no_such_tab")


def test_a_split_without_room_is_refused_and_changes_nothing() -> None:
    workspace = Workspace(4, 3)
    workspace.add_tab()
    refusal = refused(lambda: workspace.split(1, H))
    assert refusal.code is ErrorCode.RESOURCE_LIMIT
    assert refusal.details == {"reason": "too_small", "limit": 5}
    assert (workspace.last_pane_id, workspace.tab().root) == (1, Leaf(1))
    workspace.split(1, V)
    verify(workspace)


def test_caps_on_tabs_and_panes() -> None:
    workspace = Workspace(80, 24, max_tabs=2, max_panes=2)
    workspace.add_tab()
    workspace.add_tab()
    assert refused(workspace.add_tab).details == {"reason": "tabs", "limit": 2}
    assert refused(lambda: workspace.split(1, H)).details == {"reason": "panes", "limit": 2}
    workspace.close_tab(2)
    workspace.split(1, H)
    assert refused(workspace.add_tab).details == {"reason": "panes", "limit": 2}
    verify(workspace)


def test_a_full_workspace_of_the_default_size_can_be_built() -> None:
    workspace = Workspace(1000, 500)
    for _ in range(64):
        tab = workspace.add_tab()
        workspace.split(tab.opened or 0, V)
    verify(workspace)
    assert refused(workspace.add_tab).details["reason"] == "tabs"
    assert refused(lambda: workspace.split(1, H)).details["reason"] == "panes"


def test_a_small_window_is_no_error_and_a_large_one_restores_the_layout() -> None:
    workspace = two_tabs()
    before = workspace.geometry(1)
    change = workspace.resize(1, 1)
    assert (workspace.cols, workspace.rows) == (2, 1)
    assert change.sizes == {1: (2, 1), 2: (2, 1), 3: (2, 1)}
    assert workspace.area(1) == (5, 1)
    verify(workspace)
    workspace.resize(80, 24)
    assert workspace.geometry(1) == before
    workspace.resize(10**6, 10**6)
    assert (workspace.cols, workspace.rows) == (1000, 500)


def test_resizing_to_the_same_size_changes_nothing() -> None:
    assert two_tabs().resize(80, 24).sizes == {}


@pytest.mark.parametrize(
    ("verb", "pane", "active", "expected"),
    [
        ("term.pane.split", 1, 1, {1, 2}),
        ("term.pane.split", 1, 2, {1, 2, 3}),
        ("term.tab.close", 1, 1, {1, 2, 3}),  # tab 2 comes in its place
        ("term.tab.close", 1, 2, {1, 2}),
        ("term.tab.close", 3, 2, {3, 4}),
        ("term.pane.close", 3, 2, {3, 4}),
        ("term.pane.close", 4, 3, {3, 4}),
        ("term.pane.close", 1, 3, {1, 2, 4}),
        ("term.tab.select", 3, 1, {1, 2, 3}),
    ],
)
def test_the_affected_set(verb: str, pane: int, active: int, expected: set[int]) -> None:
    workspace = two_tabs()
    workspace.add_tab(select=False)
    workspace.select_tab(active)
    assert affected_set(workspace, verb, pane) == expected


def test_the_only_tab_has_nothing_in_its_place() -> None:
    workspace = Workspace(80, 24)
    workspace.add_tab()
    assert affected_set(workspace, "term.tab.close", 1) == {1}


def shown_twice(workspace: Workspace) -> None:
    workspace.tabs[2].root = Leaf(1)


def foreign_focus(workspace: Workspace) -> None:
    workspace.tabs[1].active = 3


def lost_pane(workspace: Workspace) -> None:
    del workspace.panes[1]


def uncounted(workspace: Workspace) -> None:
    workspace.last_pane_id = 1


def no_generation(workspace: Workspace) -> None:
    workspace.panes[1].generation = 0


def no_active_tab(workspace: Workspace) -> None:
    workspace.active_tab = None


def over_the_cap(workspace: Workspace) -> None:
    workspace.max_panes = 2


@pytest.mark.parametrize(
    "breakage",
    [
        shown_twice,
        foreign_focus,
        lost_pane,
        uncounted,
        no_generation,
        no_active_tab,
        over_the_cap,
    ],
)
def test_verify_finds_a_broken_workspace(breakage: Callable[[Workspace], None]) -> None:
    workspace = two_tabs()
    breakage(workspace)
    with pytest.raises(AssertionError):
        verify(workspace)


def test_a_tab_with_a_size_of_its_own_keeps_it() -> None:
    workspace = Workspace(80, 24)
    workspace.add_tab()
    change = workspace.add_tab(select=False, size=(100, 30))
    assert change.sizes == {2: (100, 30)}
    assert workspace.resize(60, 20).sizes == {1: (60, 20)}
    assert (workspace.area(1), workspace.area(2)) == ((60, 20), (100, 30))
    assert workspace.resize_pane(2, rows=40).sizes == {2: (100, 40)}
    assert workspace.resize_pane(1, rows=40).sizes == {}
    assert workspace.add_tab(size=(1, 10**6)).sizes == {3: (2, 500)}
    verify(workspace)


def test_panes_share_the_size_of_their_tab_and_leave_without_it() -> None:
    workspace = Workspace(80, 24)
    workspace.add_tab(size=(100, 30))
    workspace.split(1, Direction.HORIZONTAL)
    assert workspace.area(1) == (100, 30)
    assert workspace.resize_pane(1, 60).sizes == {1: (60, 30), 2: (39, 30)}
    workspace.zoom(2)
    assert workspace.sizes(1)[2] == (100, 30)
    verify(workspace)
    assert workspace.break_out(2).sizes == {1: (100, 30), 2: (80, 24)}
    verify(workspace)
