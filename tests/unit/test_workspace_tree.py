"""The split tree: where panes are and who takes whose room."""

from __future__ import annotations

import pytest

from termnode.workspace.tree import (
    Direction,
    Leaf,
    Node,
    Rect,
    Split,
    can_halve,
    exchange,
    geometry,
    lengths,
    minimum,
    panes,
    remove,
    split,
)

H, V = Direction.HORIZONTAL, Direction.VERTICAL
THREE: Node = Split(H, Leaf(1), Split(V, Leaf(2), Leaf(3)))


def test_one_pane_has_the_whole_area() -> None:
    assert geometry(Leaf(1), 80, 24) == {1: Rect(0, 0, 80, 24)}


def test_halves_share_what_the_border_leaves_and_the_second_gets_the_odd_cell() -> None:
    assert geometry(THREE, 80, 24) == {
        1: Rect(0, 0, 39, 24),
        2: Rect(40, 0, 40, 11),
        3: Rect(40, 12, 40, 12),
    }


def test_weights_share_the_room() -> None:
    assert geometry(Split(H, Leaf(1), Leaf(2), (1, 3)), 83, 1)[1].cols == 20


def test_a_share_below_the_minimum_is_raised_to_it() -> None:
    lopsided = Split(H, Leaf(1), Leaf(2), (1, 1000))
    assert geometry(lopsided, 10, 1)[1].cols == 2
    assert geometry(Split(H, Leaf(1), Leaf(2), (1000, 1)), 10, 1)[2].cols == 2


def test_the_minimum_fits_exactly_and_less_is_refused() -> None:
    assert minimum(THREE) == (5, 3)
    assert geometry(THREE, 5, 3)[3] == Rect(3, 2, 2, 1)
    for cols, rows in ((4, 3), (5, 2)):
        with pytest.raises(ValueError, match="below the minimum 5x3"):
            geometry(THREE, cols, rows)


@pytest.mark.parametrize(
    ("rect", "across", "down"),
    [((5, 3), True, True), ((4, 3), False, True), ((5, 2), True, False), ((2, 1), False, False)],
)
def test_only_a_pane_with_room_for_two_can_be_halved(
    rect: tuple[int, int], across: bool, down: bool
) -> None:
    assert can_halve(Rect(0, 0, *rect), H) is across
    assert can_halve(Rect(0, 0, *rect), V) is down


def test_split_puts_the_new_pane_second() -> None:
    assert split(Leaf(1), 1, 2, H) == Split(H, Leaf(1), Leaf(2))
    assert list(panes(split(THREE, 2, 4, H))) == [1, 2, 4, 3]


def test_a_split_moves_no_other_pane() -> None:
    before = geometry(THREE, 80, 24)
    after = geometry(split(THREE, 3, 4, H), 80, 24)
    assert (after[1], after[2]) == (before[1], before[2])


@pytest.mark.parametrize(
    ("pane", "rest", "heir"),
    [
        (1, Split(V, Leaf(2), Leaf(3)), 2),
        (2, Split(H, Leaf(1), Leaf(3)), 3),
        (3, Split(H, Leaf(1), Leaf(2)), 2),
    ],
)
def test_the_sibling_takes_the_room(pane: int, rest: Node, heir: int) -> None:
    assert remove(THREE, pane) == (rest, heir)


def test_weights_survive_changes_elsewhere() -> None:
    heavy = Split(H, Leaf(1), Leaf(2), (3, 1))
    split_twice = split(split(heavy, 1, 3, V), 2, 4, V)
    assert isinstance(split_twice, Split)
    assert split_twice.weights == (3, 1)
    left, _ = remove(split_twice, 3)
    right, _ = remove(left or Leaf(0), 4)
    assert right == heavy


def test_the_last_pane_leaves_nothing() -> None:
    assert remove(Leaf(1), 1) == (None, None)


def test_what_is_not_there_is_a_key_error() -> None:
    for missing in (lambda: remove(THREE, 9), lambda: split(THREE, 9, 10, H)):
        with pytest.raises(KeyError):
            missing()


def test_a_deep_tree_stays_within_the_stack() -> None:
    root: Node = Leaf(1)
    for pane in range(2, 129):
        root = split(root, pane - 1, pane, H)
    assert minimum(root) == (128 * 2 + 127, 1)
    assert len(geometry(root, 383, 1)) == 128
    rest, heir = remove(root, 128)
    assert (heir, rest is None) == (127, False)


def test_exchange_changes_places_and_nothing_else() -> None:
    weighted: Node = Split(H, Leaf(1), Split(V, Leaf(2), Leaf(3), (3, 1)), (2, 5))
    assert exchange(weighted, 1, 3) == Split(H, Leaf(3), Split(V, Leaf(2), Leaf(1), (3, 1)), (2, 5))
    assert exchange(exchange(weighted, 1, 3), 1, 3) == weighted
    assert exchange(Leaf(1), 1, 9) == Leaf(9)


@pytest.mark.parametrize("length", [5, 6, 7, 79, 80, 999])
@pytest.mark.parametrize("weights", [(1, 1), (1, 3), (3, 1), (1, 999), (999, 1)])
def test_lengths_and_the_border_fill_the_room(length: int, weights: tuple[int, int]) -> None:
    first, second = lengths(Split(H, Leaf(1), Leaf(2), weights), length)
    assert first + 1 + second == length
    assert min(first, second) >= 2
