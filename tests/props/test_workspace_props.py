"""Any sequence of operations leaves a workspace whole: a state machine, checked at every step."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from brokerd.client import ErrorCode, Refusal
from termnode.workspace import tree
from termnode.workspace.affected import affected_set
from termnode.workspace.invariants import verify
from termnode.workspace.model import Workspace
from termnode.workspace.parts import Change, Size
from termnode.workspace.tree import Direction, Rect
from tests.support.refusals import outcome

SIZES = st.tuples(st.integers(-1, 90), st.integers(-1, 40))
DIRECTIONS = st.sampled_from(Direction)
MAX_TABS, MAX_PANES = 5, 12


def cells(rect: Rect) -> set[tuple[int, int]]:
    return {
        (x, y) for x in range(rect.x, rect.x + rect.cols) for y in range(rect.y, rect.y + rect.rows)
    }


def assert_tiled(rects: dict[int, Rect], area: Size) -> None:
    """No cell is in two panes; every pane is inside and has its minimum; the rest is borders."""
    covered: set[tuple[int, int]] = set()
    for rect in rects.values():
        assert rect.cols >= tree.MIN_COLS
        assert rect.rows >= tree.MIN_ROWS
        mine = cells(rect)
        assert not covered & mine
        covered |= mine
    whole = cells(Rect(0, 0, *area))
    assert covered <= whole
    # What is not covered is border: never two cells wide in both directions.
    border = whole - covered
    assert not any({(x + 1, y), (x, y + 1), (x + 1, y + 1)} <= border for x, y in border)


class Workspaces(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.workspace = Workspace(80, 24, max_tabs=MAX_TABS, max_panes=MAX_PANES)
        self.seen: set[int] = set()
        self.seen_tabs: set[int] = set()
        self.applied: dict[int, Size] = {}
        """Sizes as a service would have given them to programs, from changes alone."""

    def took(self, change: Change) -> None:
        if change.opened is not None:
            assert change.opened not in self.seen
            assert change.opened in change.sizes
            self.seen.add(change.opened)
        for pane in change.closed:
            del self.applied[pane]
        self.applied.update(change.sizes)
        assert change.active_tab == self.workspace.active_tab
        assert change.active_pane == self.workspace.active_pane

    def pick(self, number: int) -> int:
        live = list(self.workspace.panes)
        return live[number % len(live)]

    def pick_tab(self, number: int) -> int:
        live = list(self.workspace.tabs)
        return live[number % len(live)]

    @rule(select=st.booleans())
    def add_tab(self, select: bool) -> None:
        full = len(self.workspace.tabs) == MAX_TABS or len(self.workspace.panes) == MAX_PANES
        change = outcome(lambda: self.workspace.add_tab(select=select))
        assert isinstance(change, Refusal) == full
        if isinstance(change, Refusal):
            assert change.code is ErrorCode.RESOURCE_LIMIT
            return
        assert change.tab not in self.seen_tabs
        self.seen_tabs.add(change.tab or 0)
        self.took(change)

    @precondition(lambda self: self.workspace.panes)
    @rule(number=st.integers(0, 50), direction=DIRECTIONS, select=st.booleans())
    def split(self, number: int, direction: Direction, select: bool) -> None:
        pane = self.pick(number)
        tab = self.workspace.pane(pane).tab
        before = self.workspace.geometry(tab)
        root = self.workspace.tabs[tab].root
        full = len(self.workspace.panes) == MAX_PANES
        fits = tree.can_halve(before[pane], direction)
        change = outcome(lambda: self.workspace.split(pane, direction, select=select))
        assert isinstance(change, Refusal) == (full or not fits)
        if isinstance(change, Refusal):
            assert change.code is ErrorCode.RESOURCE_LIMIT
            assert self.workspace.tabs[tab].root == root
            return
        self.took(change)
        after = self.workspace.geometry(tab)
        # Nobody else moves.
        assert all(after[other] == rect for other, rect in before.items() if other != pane)

    @precondition(lambda self: self.workspace.panes)
    @rule(number=st.integers(0, 50))
    def close_pane(self, number: int) -> None:
        pane = self.pick(number)
        affected = affected_set(self.workspace, "term.pane.close", pane)
        sizes = dict(self.applied)
        self.took(self.workspace.close_pane(pane))
        changed = {each for each, size in self.applied.items() if sizes[each] != size} | {pane}
        assert changed <= affected

    @precondition(lambda self: self.workspace.tabs)
    @rule(number=st.integers(0, 50))
    def close_tab(self, number: int) -> None:
        self.took(self.workspace.close_tab(self.pick_tab(number)))

    @precondition(lambda self: self.workspace.panes)
    @rule(number=st.integers(0, 50), across=st.booleans())
    def select_pane(self, number: int, across: bool) -> None:
        pane = self.pick(number)
        here = self.workspace.pane(pane).tab == self.workspace.active_tab
        change = outcome(lambda: self.workspace.select_pane(pane, across_tabs=across))
        assert isinstance(change, Refusal) == (not here and not across)
        if isinstance(change, Refusal):
            return
        self.took(change)
        assert self.workspace.active_pane == pane

    @precondition(lambda self: self.workspace.tabs)
    @rule(number=st.integers(0, 50))
    def select_tab(self, number: int) -> None:
        tab = self.pick_tab(number)
        self.took(self.workspace.select_tab(tab))
        assert self.workspace.active_tab == tab

    @rule(size=SIZES)
    def resize(self, size: Size) -> None:
        self.took(self.workspace.resize(*size))

    @rule(size=SIZES)
    def resize_and_back(self, size: Size) -> None:
        before = {tab: self.workspace.geometry(tab) for tab in self.workspace.tabs}
        there = self.workspace.cols, self.workspace.rows
        self.took(self.workspace.resize(*size))
        self.took(self.workspace.resize(*there))
        assert {tab: self.workspace.geometry(tab) for tab in self.workspace.tabs} == before

    @rule(pane=st.integers(0, 40))
    def what_is_gone_stays_gone(self, pane: int) -> None:
        if pane in self.workspace.panes:
            return
        operations: tuple[Callable[[int], object], ...] = (
            self.workspace.close_pane,
            self.workspace.restart,
        )
        for operation in operations:
            refusal = outcome(partial(operation, pane))
            assert isinstance(refusal, Refusal)
            assert refusal.code is ErrorCode.NOT_FOUND

    @invariant()
    def whole(self) -> None:
        verify(self.workspace)
        sizes: dict[int, Size] = {}
        for tab in self.workspace.tabs:
            assert_tiled(self.workspace.geometry(tab), self.workspace.area(tab))
            sizes.update(self.workspace.sizes(tab))
        assert self.applied == sizes


TestWorkspaces = Workspaces.TestCase
TestWorkspaces.settings = settings(
    max_examples=60, stateful_step_count=30, deadline=None, database=None
)


def test_the_tiling_check_finds_an_overlap_and_a_hole() -> None:
    good = {1: Rect(0, 0, 2, 3), 2: Rect(3, 0, 2, 3)}
    assert_tiled(good, (5, 3))
    for bad in (
        {1: Rect(0, 0, 3, 3), 2: Rect(2, 0, 3, 3)},  # overlap
        {1: Rect(0, 0, 2, 3)},  # hole
        {1: Rect(0, 0, 2, 3), 2: Rect(3, 0, 3, 3)},  # over the edge
        {1: Rect(0, 0, 1, 3), 2: Rect(2, 0, 3, 3)},  # too small
    ):
        with pytest.raises(AssertionError):
            assert_tiled(bad, (5, 3))
