"""Trees that arrange panes by a rule, whatever stood where before."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from termnode.workspace.tree import Direction, Leaf, Node, Split


def arrange(layout: str, panes: Sequence[int], main: int) -> Node:
    """The panes, in this order, laid out as ``layout`` says; ``main``, one of them, takes half.

    Raises KeyError for a layout that is none of `LAYOUTS`.
    """
    return LAYOUTS[layout](panes, main)


def _even_horizontal(panes: Sequence[int], _main: int) -> Node:
    return _run(Direction.HORIZONTAL, [Leaf(pane) for pane in panes])


def _even_vertical(panes: Sequence[int], _main: int) -> Node:
    return _run(Direction.VERTICAL, [Leaf(pane) for pane in panes])


def _main_horizontal(panes: Sequence[int], main: int) -> Node:
    """Main at the top, the others side by side below it."""
    return _halved(Direction.VERTICAL, panes, main, _even_horizontal)


def _main_vertical(panes: Sequence[int], main: int) -> Node:
    """Main at the left, the others one below the other beside it."""
    return _halved(Direction.HORIZONTAL, panes, main, _even_vertical)


def _tiled(panes: Sequence[int], _main: int) -> Node:
    """Rows of equally many panes, as nearly square as may be; the last row's are wider."""
    rows = columns = 1
    while rows * columns < len(panes):
        rows += 1
        columns += rows * columns < len(panes)
    starts = range(0, len(panes), columns)
    return _run(
        Direction.VERTICAL,
        [_even_horizontal(panes[start : start + columns], 0) for start in starts],
    )


def _halved(
    direction: Direction,
    panes: Sequence[int],
    main: int,
    arrange_rest: Callable[[Sequence[int], int], Node],
) -> Node:
    rest = [pane for pane in panes if pane != main]
    return Split(direction, Leaf(main), arrange_rest(rest, main)) if rest else Leaf(main)


def _run(direction: Direction, nodes: Sequence[Node]) -> Node:
    """The nodes in a row, all of one size."""
    root = nodes[-1]
    for after, node in enumerate(reversed(nodes[:-1]), start=1):
        root = Split(direction, node, root, (1, after))
    return root


LAYOUTS: Final[Mapping[str, Callable[[Sequence[int], int], Node]]] = MappingProxyType(
    {
        "even-horizontal": _even_horizontal,
        "even-vertical": _even_vertical,
        "main-horizontal": _main_horizontal,
        "main-vertical": _main_vertical,
        "tiled": _tiled,
    }
)
"""By the names that term.tab.layout takes."""
