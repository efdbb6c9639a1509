"""Layouts by rule: where each of them puts how many panes."""

from __future__ import annotations

import pytest

from termnode.control.fields import LAYOUT
from termnode.workspace import tree
from termnode.workspace.arrangements import LAYOUTS, arrange
from termnode.workspace.tree import Node, Rect, Split


def places(layout: str, panes: int, main: int = 1, cols: int = 83, rows: int = 23) -> list[Rect]:
    node = arrange(layout, list(range(1, panes + 1)), main)
    rects = tree.geometry(node, cols, rows)
    return [rects[pane] for pane in sorted(rects)]


def test_the_verb_offers_exactly_these() -> None:
    assert set(LAYOUT.choices) == set(LAYOUTS)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_one_pane_fills_the_tab(layout: str) -> None:
    assert places(layout, 1) == [Rect(0, 0, 83, 23)]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("panes", range(1, 18))
def test_every_pane_is_there_once(layout: str, panes: int) -> None:
    node = arrange(layout, list(range(1, panes + 1)), panes)
    assert sorted(tree.panes(node)) == list(range(1, panes + 1))


def test_side_by_side() -> None:
    assert places("even-horizontal", 3, cols=80) == [
        Rect(0, 0, 26, 23),
        Rect(27, 0, 26, 23),
        Rect(54, 0, 26, 23),
    ]


def test_one_below_the_other() -> None:
    assert [(rect.y, rect.rows) for rect in places("even-vertical", 3)] == [(0, 7), (8, 7), (16, 7)]


def test_main_at_the_left_takes_half_and_the_others_share_the_rest() -> None:
    assert places("main-vertical", 3, main=2) == [
        Rect(42, 0, 41, 11),
        Rect(0, 0, 41, 23),
        Rect(42, 12, 41, 11),
    ]


def test_main_at_the_top_takes_half_and_the_others_share_the_rest() -> None:
    assert places("main-horizontal", 3, main=3) == [
        Rect(0, 12, 41, 11),
        Rect(42, 12, 41, 11),
        Rect(0, 0, 83, 11),
    ]


@pytest.mark.parametrize(
    ("panes", "rows_of"),
    [(2, [1, 1]), (3, [2, 1]), (4, [2, 2]), (5, [2, 2, 1]), (7, [3, 3, 1]), (12, [3, 3, 3, 3])],
)
def test_tiles_come_in_rows_and_the_last_row_fills_up(panes: int, rows_of: list[int]) -> None:
    rects = places("tiled", panes)
    tops = sorted({rect.y for rect in rects})
    assert [sum(rect.y == top for rect in rects) for top in tops] == rows_of
    for top in tops:
        row = [rect for rect in rects if rect.y == top]
        assert sum(rect.cols for rect in row) + len(row) - 1 == 83


@pytest.mark.parametrize("layout", ["even-horizontal", "even-vertical"])
@pytest.mark.parametrize("panes", [2, 3, 5, 7, 9])
@pytest.mark.parametrize("size", [(79, 24), (80, 25), (131, 47)])
def test_even_means_to_one_cell_at_any_size(layout: str, panes: int, size: tuple[int, int]) -> None:
    rects = places(layout, panes, cols=size[0], rows=size[1])
    lengths = {rect.cols if layout == "even-horizontal" else rect.rows for rect in rects}
    assert max(lengths) - min(lengths) <= 1


def test_the_evenness_check_finds_a_run_that_is_halved_again_and_again() -> None:
    node: Node = arrange("even-horizontal", [3, 4], 3)
    halved = Split(tree.Direction.HORIZONTAL, tree.Leaf(1), node)
    cols = [rect.cols for rect in tree.geometry(halved, 80, 24).values()]
    assert max(cols) - min(cols) > 1


def test_a_full_workspace_in_one_row_is_no_deeper_than_the_stack() -> None:
    assert len(places("even-horizontal", 128, cols=1000)) == 128
