"""A pane gets the size it asks for, as near as the others allow."""

from __future__ import annotations

import pytest

from termnode.workspace import tree
from termnode.workspace.sizing import resized
from termnode.workspace.tree import Direction, Leaf, Node, Split

H, V = Direction.HORIZONTAL, Direction.VERTICAL
ROW: Node = Split(H, Leaf(1), Split(H, Leaf(2), Split(H, Leaf(3), Leaf(4)), (1, 2)), (1, 3))
"""Four panes of 20 columns in 83."""

MIXED: Node = Split(H, Split(V, Leaf(1), Split(H, Leaf(2), Leaf(3))), Leaf(4))
"""1 above 2 and 3, at their right 4."""


def widths(node: Node, cols: int = 83, rows: int = 24) -> list[int]:
    return [rect.cols for rect in tree.geometry(node, cols, rows).values()]


def heights(node: Node, cols: int = 83, rows: int = 24) -> list[int]:
    return [rect.rows for rect in tree.geometry(node, cols, rows).values()]


def test_a_neighbour_gives_what_is_asked() -> None:
    assert widths(ROW) == [20, 20, 20, 20]
    assert widths(resized(ROW, 4, H, 30, 83)) == [20, 20, 10, 30]
    assert widths(resized(ROW, 4, H, 5, 83)) == [20, 20, 35, 5]


def test_those_beyond_a_neighbour_share_its_loss_in_proportion() -> None:
    assert widths(resized(ROW, 1, H, 50, 83)) == [50, 10, 10, 10]
    assert widths(resized(ROW, 1, H, 2, 83)) == [2, 26, 26, 26]


def test_the_next_neighbour_gives_when_the_nearest_has_its_minimum() -> None:
    assert widths(resized(ROW, 4, H, 45, 83)) == [20, 13, 2, 45]
    assert widths(resized(ROW, 4, H, 60, 83)) == [16, 2, 2, 60]


@pytest.mark.parametrize("want", [74, 75, 1000])
def test_more_than_there_is_leaves_the_others_their_minima(want: int) -> None:
    assert widths(resized(ROW, 4, H, want, 83)) == [2, 2, 2, 74]
    assert widths(resized(ROW, 2, H, want, 83)) == [2, 74, 2, 2]


@pytest.mark.parametrize("want", [-5, 0, 1, 2])
def test_less_than_the_minimum_is_the_minimum(want: int) -> None:
    assert widths(resized(ROW, 3, H, want, 83)) == [20, 20, 2, 38]


def test_a_pane_without_a_neighbour_in_that_direction_stays() -> None:
    assert heights(resized(ROW, 2, V, 10, 24)) == [24] * 4
    assert resized(Leaf(1), 1, H, 10, 80) == Leaf(1)


def test_what_is_above_and_below_goes_along() -> None:
    wide = resized(MIXED, 1, H, 60, 83)
    assert widths(wide) == [60, 29, 30, 22]
    assert heights(wide) == heights(MIXED)
    assert widths(resized(MIXED, 1, H, 3, 83))[0] == 5, "2 and 3 below it need five columns"


def test_a_nested_pane_takes_from_its_own_neighbour_first() -> None:
    assert widths(MIXED) == [41, 20, 20, 41]
    assert widths(resized(MIXED, 2, H, 38, 83)) == [41, 38, 2, 41]
    assert widths(resized(MIXED, 2, H, 39, 83)) == [42, 39, 2, 40]
    assert widths(resized(MIXED, 2, H, 5, 83)) == [41, 5, 35, 41]


def test_what_it_has_already_changes_no_size() -> None:
    for pane, width in enumerate(widths(MIXED), start=1):
        assert widths(resized(MIXED, pane, H, width, 83)) == widths(MIXED)


def test_a_pane_that_is_not_there_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        resized(ROW, 9, H, 10, 83)


@pytest.mark.parametrize("left", [True, False])
def test_a_deep_tree_is_resized_in_reasonable_steps(left: bool) -> None:
    node: Node = Leaf(1)
    for pane in range(2, 129):
        node = Split(H, node, Leaf(pane)) if left else Split(H, Leaf(pane), node)
    assert tree.geometry(resized(node, 1, H, 100, 1000), 1000, 1)[1].cols == 100
