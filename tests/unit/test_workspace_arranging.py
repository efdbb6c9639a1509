"""Moving, zooming, naming and resizing panes: what each changes, and what it refuses."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy

import pytest

from brokerd.client import ErrorCode, Refusal
from termnode.workspace.affected import affected_set
from termnode.workspace.arrangements import LAYOUTS
from termnode.workspace.invariants import verify
from termnode.workspace.model import Workspace
from termnode.workspace.parts import Size
from termnode.workspace.tree import Direction, Leaf, Rect

H, V = Direction.HORIZONTAL, Direction.VERTICAL
WHOLE = Rect(0, 0, 80, 24)


def two_tabs() -> Workspace:
    """Tab 1 with 1 and 2 side by side, 2 active; tab 2 with 3 above 4, 3 active; tab 1 active."""
    workspace = Workspace(80, 24)
    workspace.add_tab()
    workspace.split(1, H)
    workspace.add_tab(select=False)
    workspace.split(3, V, select=False)
    verify(workspace)
    return workspace


def refused(workspace: Workspace, operation: Callable[[], object]) -> Refusal:
    """The refusal of an operation, which must change nothing."""
    before = deepcopy(vars(workspace))
    with pytest.raises(Refusal) as caught:
        operation()
    assert vars(workspace) == before
    return caught.value


def shape(workspace: Workspace) -> dict[int, list[int]]:
    """The panes of each tab, in order."""
    return {tab: list(workspace.geometry(tab)) for tab in workspace.tabs}


def test_the_check_for_unchanged_sees_a_change() -> None:
    workspace = two_tabs()

    def change_then_refuse() -> None:
        workspace.tabs[1].zoomed = True
        workspace.pane(99)

    with pytest.raises(AssertionError):
        refused(workspace, change_then_refuse)


@pytest.mark.parametrize(
    "operation",
    [
        lambda workspace: workspace.rename_pane(9, "x"),
        lambda workspace: workspace.resize_pane(9, 10),
        lambda workspace: workspace.zoom(9),
        lambda workspace: workspace.swap(9, 1),
        lambda workspace: workspace.swap(1, 9),
        lambda workspace: workspace.swap(9, 9),
        lambda workspace: workspace.break_out(9),
        lambda workspace: workspace.join(9, 1, H),
        lambda workspace: workspace.join(1, 9, H),
        lambda workspace: workspace.join(9, 9, H),
        lambda workspace: workspace.focus(9),
        lambda workspace: affected_set(workspace, "term.pane.swap", 1, 9),
    ],
)
def test_a_pane_that_is_not_there_is_not_found(operation: Callable[[Workspace], object]) -> None:
    workspace = two_tabs()
    refusal = refused(workspace, lambda: operation(workspace))
    assert (refusal.code, refusal.details["reason"]) == (ErrorCode.NOT_FOUND, "no_such_pane")


def test_a_tab_that_is_not_there_is_not_found() -> None:
    workspace = two_tabs()
    for operation in (
        lambda: workspace.rename_tab(9, "x"),
        lambda: workspace.arrange(9, "tiled"),
    ):
        assert refused(workspace, operation).details["reason"] == "no_such_tab"


# -- names -----------------------------------------------------------------------------------------


def test_an_empty_name_takes_the_name_away() -> None:
    workspace = two_tabs()
    assert workspace.rename_tab(2, "build").sizes == {}
    assert workspace.rename_pane(3, "logs").tab == 2
    assert (workspace.tabs[2].title, workspace.panes[3].title) == ("build", "logs")
    workspace.rename_tab(2, "")
    workspace.rename_pane(3, "")
    assert (workspace.tabs[2].title, workspace.panes[3].title) == (None, None)
    verify(workspace)


# -- sizes -----------------------------------------------------------------------------------------


def test_a_pane_gets_what_it_asks_for_in_both_directions() -> None:
    workspace = two_tabs()
    assert workspace.resize_pane(1, 60).sizes == {1: (60, 24), 2: (19, 24)}
    assert workspace.resize_pane(4, 10, 20).sizes == {3: (80, 3), 4: (80, 20)}
    verify(workspace)


def test_a_resize_outlives_a_small_window() -> None:
    workspace = two_tabs()
    workspace.resize_pane(1, 60)
    before = workspace.geometry(1)
    workspace.resize(7, 3)
    workspace.resize(80, 24)
    assert workspace.geometry(1) == before


def test_panes_keep_their_shares_in_a_larger_window() -> None:
    workspace = two_tabs()
    workspace.resize_pane(1, 26)
    workspace.resize(161, 24)
    assert workspace.sizes(1) == {1: (53, 24), 2: (107, 24)}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_layout_keeps_panes_and_focus(layout: str) -> None:
    workspace = two_tabs()
    workspace.split(1, V, select=False)
    change = workspace.arrange(1, layout)
    assert (change.tab, change.active_pane) == (1, 2)
    assert set(workspace.geometry(1)) == {1, 2, 5}
    assert set(change.sizes) <= {1, 2, 5}
    verify(workspace)


def test_the_main_pane_is_the_active_one() -> None:
    workspace = two_tabs()
    workspace.arrange(1, "main-horizontal")
    assert workspace.geometry(1) == {2: Rect(0, 0, 80, 11), 1: Rect(0, 12, 80, 12)}


def test_a_layout_without_room_is_refused() -> None:
    workspace = Workspace(10, 5)
    workspace.add_tab()
    workspace.split(1, V)
    workspace.split(1, H)
    workspace.split(2, H)
    refusal = refused(workspace, lambda: workspace.arrange(1, "even-horizontal"))
    assert refusal.code is ErrorCode.RESOURCE_LIMIT
    assert refusal.details == {"reason": "too_small", "limit": 11, "rows": 1}
    workspace.resize(11, 5)
    workspace.arrange(1, "even-horizontal")
    verify(workspace)


# -- zoom ------------------------------------------------------------------------------------------


def test_zoom_and_back_is_as_before() -> None:
    workspace = two_tabs()
    before = workspace.geometry(1)
    change = workspace.zoom(1)
    assert (change.sizes, change.active_pane) == ({1: (80, 24)}, 1)
    assert workspace.geometry(1) == {1: WHOLE, 2: before[2]}
    verify(workspace)
    assert workspace.zoom(1).sizes == {}
    assert workspace.zoom(2, on=False).sizes == {1: (39, 24)}
    assert workspace.geometry(1) == before
    assert workspace.active_pane == 1


def test_zooming_another_pane_puts_the_first_back() -> None:
    workspace = two_tabs()
    workspace.zoom(1)
    assert workspace.zoom(2).sizes == {1: (39, 24), 2: (80, 24)}
    verify(workspace)


def test_a_pane_alone_is_not_zoomed() -> None:
    workspace = Workspace(80, 24)
    workspace.add_tab()
    assert workspace.zoom(1).sizes == {}
    assert not workspace.tabs[1].zoomed


def test_a_zoomed_pane_has_the_window_even_when_its_tab_needs_more() -> None:
    workspace = two_tabs()
    workspace.zoom(1)
    assert workspace.resize(3, 24).sizes == {1: (3, 24), 2: (2, 24), 3: (3, 11), 4: (3, 12)}
    assert workspace.area(1) == (3, 24)
    verify(workspace)
    workspace.zoom(1, on=False)
    assert workspace.area(1) == (5, 24)


def test_a_larger_window_keeps_the_zoom() -> None:
    workspace = two_tabs()
    workspace.zoom(1)
    assert workspace.resize(100, 24).sizes[1] == (100, 24)
    assert workspace.tabs[1].zoomed


@pytest.mark.parametrize(
    ("operation", "zoomed"),
    [
        (lambda workspace: workspace.split(1, H), False),
        (lambda workspace: workspace.split(1, H, select=False), True),
        (lambda workspace: workspace.close_pane(1), False),
        (lambda workspace: workspace.close_pane(2), True),
        (lambda workspace: workspace.select_pane(2), False),
        (lambda workspace: workspace.select_pane(1), True),
        (lambda workspace: workspace.focus(2), False),
        (lambda workspace: workspace.select_tab(2), True),
        (lambda workspace: workspace.swap(1, 2), False),
        (lambda workspace: workspace.swap(2, 4), False),
        (lambda workspace: workspace.swap(3, 4), True),
        (lambda workspace: workspace.join(4, 2, H), False),
        (lambda workspace: workspace.join(2, 4, H), False),
        (lambda workspace: workspace.break_out(1), False),
        (lambda workspace: workspace.break_out(2), True),
        (lambda workspace: workspace.arrange(1, "tiled"), False),
        (lambda workspace: workspace.resize_pane(2, 10), False),
        (lambda workspace: workspace.rename_tab(1, "x"), True),
        (lambda workspace: workspace.restart(1), True),
    ],
)
def test_what_ends_a_zoom(operation: Callable[[Workspace], object], zoomed: bool) -> None:
    workspace = two_tabs()
    workspace.split(2, V, select=False)
    workspace.zoom(1)
    operation(workspace)
    assert workspace.tabs[1].zoomed is zoomed
    verify(workspace)


def test_the_last_hidden_pane_takes_the_zoom_along() -> None:
    workspace = two_tabs()
    workspace.zoom(1)
    assert workspace.close_pane(2).sizes == {}
    assert not workspace.tabs[1].zoomed
    verify(workspace)


def test_a_refused_operation_ends_no_zoom() -> None:
    workspace = Workspace(9, 1, max_tabs=1)
    workspace.add_tab()
    workspace.split(1, H)
    workspace.zoom(1)
    refused(workspace, lambda: workspace.split(2, V))
    refused(workspace, lambda: workspace.join(1, 2, V))
    refused(workspace, lambda: workspace.arrange(1, "even-vertical"))
    refused(workspace, lambda: workspace.break_out(2))
    refused(workspace, lambda: workspace.swap(1, 1))


def test_a_split_is_measured_without_the_zoom() -> None:
    workspace = Workspace(9, 9)
    workspace.add_tab()
    workspace.split(1, H)
    workspace.zoom(1)
    assert refused(workspace, lambda: workspace.split(1, H)).details["reason"] == "too_small"


# -- swap ------------------------------------------------------------------------------------------


def test_two_panes_of_a_tab_change_places_and_the_focus_stays_with_its_pane() -> None:
    workspace = two_tabs()
    change = workspace.swap(1, 2)
    assert list(workspace.geometry(1)) == [2, 1]
    assert (change.sizes, change.active_pane) == ({1: (40, 24), 2: (39, 24)}, 2)
    verify(workspace)


def test_panes_of_two_tabs_change_places_and_the_places_keep_the_focus() -> None:
    workspace = two_tabs()
    workspace.restart(4)
    change = workspace.swap(4, 2)
    assert shape(workspace) == {1: [1, 4], 2: [3, 2]}
    assert (change.tab, change.active_tab, change.active_pane) == (1, 1, 4)
    assert workspace.tabs[2].active == 3
    assert change.sizes == {4: (40, 24), 2: (80, 12)}
    assert (workspace.pane(4).tab, workspace.pane(4).generation) == (1, 2)
    verify(workspace)


def test_a_pane_does_not_swap_with_itself() -> None:
    workspace = two_tabs()
    refusal = refused(workspace, lambda: workspace.swap(1, 1))
    assert (refusal.code, refusal.details["field"]) == (ErrorCode.INVALID_ARGUMENT, "with")


# -- break -----------------------------------------------------------------------------------------


def test_a_pane_breaks_into_the_tab_after_its_own() -> None:
    workspace = two_tabs()
    change = workspace.break_out(1)
    assert shape(workspace) == {1: [2], 3: [1], 2: [3, 4]}
    assert [tab.id for tab in workspace.tabs_in_order()] == [1, 3, 2]
    assert (change.tab, change.active_tab, change.active_pane) == (3, 3, 1)
    assert (change.sizes, change.opened, change.closed) == ({1: (80, 24), 2: (80, 24)}, None, ())
    verify(workspace)
    assert workspace.neighbour(1) == 3


def test_a_pane_alone_stays_in_its_tab_which_becomes_active() -> None:
    workspace = Workspace(80, 24, max_tabs=2)
    workspace.add_tab()
    workspace.add_tab()
    change = workspace.break_out(1)
    assert (change.tab, change.active_tab, change.sizes) == (1, 1, {})
    assert (list(workspace.tabs), workspace.last_tab_id) == ([1, 2], 2)


def test_a_break_at_the_cap_is_refused() -> None:
    workspace = two_tabs()
    workspace.max_tabs = 2
    refusal = refused(workspace, lambda: workspace.break_out(1))
    assert refusal.details == {"reason": "tabs", "limit": 2}


# -- join ------------------------------------------------------------------------------------------


def test_a_pane_joins_another_tab_in_the_background() -> None:
    workspace = two_tabs()
    change = workspace.join(3, 1, V)
    assert shape(workspace) == {1: [1, 3, 2], 2: [4]}
    assert (change.tab, change.tab_closed) == (1, False)
    assert (change.active_tab, change.active_pane) == (1, 2)
    assert change.sizes == {1: (39, 11), 3: (39, 12), 4: (80, 24)}
    assert workspace.tabs[2].active == 4
    verify(workspace)


def test_the_active_pane_stays_active_where_it_goes() -> None:
    workspace = two_tabs()
    change = workspace.join(2, 4, H)
    assert (change.tab, change.active_tab, change.active_pane) == (2, 2, 2)
    assert workspace.tabs[1].active == 1
    verify(workspace)


def test_a_tab_goes_with_the_last_pane_that_leaves_it() -> None:
    workspace = two_tabs()
    workspace.close_pane(1)
    change = workspace.join(2, 3, H)
    assert (change.tab_closed, change.closed, change.active_tab) == (True, (), 2)
    assert shape(workspace) == {2: [3, 2, 4]}
    verify(workspace)


def test_a_join_in_one_tab_is_measured_after_the_pane_has_left() -> None:
    workspace = Workspace(5, 1)
    workspace.add_tab()
    workspace.split(1, H)
    change = workspace.join(1, 2, H)
    assert (shape(workspace), change.tab_closed) == ({1: [2, 1]}, False)
    verify(workspace)


def test_a_join_without_room_is_refused() -> None:
    workspace = Workspace(4, 3)
    workspace.add_tab()
    workspace.add_tab()
    refusal = refused(workspace, lambda: workspace.join(1, 2, H))
    assert refusal.details == {"reason": "too_small", "limit": 5}
    workspace.join(1, 2, V)
    verify(workspace)


def test_a_pane_does_not_join_itself() -> None:
    workspace = two_tabs()
    refusal = refused(workspace, lambda: workspace.join(1, 1, H))
    assert (refusal.code, refusal.details["field"]) == (ErrorCode.INVALID_ARGUMENT, "beside")


# -- the affected set ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("verb", "panes", "active", "expected"),
    [
        ("term.pane.resize", (3,), 2, {3, 4}),
        ("term.pane.rename", (3,), 1, {1, 2, 3, 4}),
        ("term.pane.zoom", (1,), 1, {1, 2}),
        ("term.tab.layout", (1,), 3, {1, 2, 5}),
        ("term.pane.break", (1,), 1, {1, 2}),
        ("term.pane.break", (1,), 3, {1, 2, 5}),
        ("term.pane.swap", (1, 3), 1, {1, 2, 3, 4}),
        ("term.pane.swap", (1, 5), 2, {1, 2, 3, 4, 5}),
        ("term.pane.join", (1, 3), 1, {1, 2, 3, 4}),
        ("term.pane.join", (5, 1), 1, {1, 2, 3, 4, 5}),  # tab 3 goes; tab 2 is beside it
        ("term.pane.join", (1, 2), 1, {1, 2}),
        ("term.resize", (1,), 1, {1, 2, 3, 4, 5}),
    ],
)
def test_the_affected_set(
    verb: str, panes: tuple[int, ...], active: int, expected: set[int]
) -> None:
    workspace = two_tabs()
    workspace.add_tab(select=False)
    workspace.select_tab(active)
    assert affected_set(workspace, verb, *panes) == expected


# -- verify ----------------------------------------------------------------------------------------


def zoomed_alone(workspace: Workspace) -> None:
    workspace.tabs[1].root, workspace.tabs[1].active = Leaf(1), 1
    del workspace.panes[2]
    workspace.tabs[1].zoomed = True


def empty_title(workspace: Workspace) -> None:
    workspace.tabs[1].title = ""


def empty_pane_title(workspace: Workspace) -> None:
    workspace.panes[1].title = ""


def misfiled(workspace: Workspace) -> None:
    workspace.tabs[1].id = 2


def lost_tab(workspace: Workspace) -> None:
    workspace.panes[1].tab = 2


def weightless(workspace: Workspace) -> None:
    object.__setattr__(workspace.tabs[1].root, "weights", (0, 1))


@pytest.mark.parametrize(
    "breakage", [zoomed_alone, empty_title, empty_pane_title, misfiled, lost_tab, weightless]
)
def test_verify_finds_a_broken_workspace(breakage: Callable[[Workspace], None]) -> None:
    workspace = two_tabs()
    breakage(workspace)
    with pytest.raises(AssertionError):
        verify(workspace)


def test_verify_finds_a_zoomed_pane_of_the_wrong_size() -> None:
    class Shrunken(Workspace):
        def geometry(self, tab: int) -> dict[int, Rect]:
            return self.places(tab)

    workspace = Shrunken(80, 24)
    workspace.add_tab()
    workspace.split(1, H)
    verify(workspace)
    workspace.zoom(1)
    with pytest.raises(AssertionError):
        verify(workspace)


def test_sizes_are_those_of_the_geometry() -> None:
    workspace = two_tabs()
    workspace.zoom(1)
    expected: dict[int, Size] = {1: (80, 24), 2: (40, 24), 3: (80, 11), 4: (80, 12)}
    assert workspace.sizes(1, 2) == expected
