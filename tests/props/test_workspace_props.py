"""Any sequence of operations leaves a workspace whole: a state machine, checked at every step."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from functools import partial

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from brokerd.client import ErrorCode, Refusal
from termnode.workspace import tree
from termnode.workspace.affected import affected_set
from termnode.workspace.arrangements import LAYOUTS
from termnode.workspace.invariants import verify
from termnode.workspace.model import Workspace
from termnode.workspace.parts import Change, Size
from termnode.workspace.tree import Direction, Rect
from tests.support.refusals import outcome

SIZES = st.tuples(st.integers(-1, 90), st.integers(-1, 40))
DIRECTIONS = st.sampled_from(Direction)
WANTED = st.none() | st.integers(-1, 100)
MAX_TABS, MAX_PANES = 5, 12

Homes = list[tuple[int, set[int]]]
"""The naive model: tabs in order, and which panes are in each."""


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


def extent(rect: Rect, axis: int) -> int:
    return (rect.cols, rect.rows)[axis]


def room_for(workspace: Workspace, tab: int, pane: int) -> list[tuple[int, int] | None]:
    """The least and most columns and rows that the pane can have; None: it has no choice."""
    root = workspace.tabs[tab].root
    return [bounds(root, pane, axis, workspace.room(workspace.tabs[tab])[axis]) for axis in (0, 1)]


def bounds(node: tree.Node, pane: int, axis: int, length: int) -> tuple[int, int] | None:
    """As `room_for`, found from the outside in: at each split the others may have their minimum."""
    low, free = (tree.MIN_COLS, tree.MIN_ROWS)[axis], False
    while isinstance(node, tree.Split):
        inside, outside = node.first, node.second
        if pane not in tree.panes(inside):
            inside, outside = outside, inside
        other = tree.minimum(outside)[axis]
        if node.direction.axis == axis:
            length, free, low = length - tree.BORDER - other, True, (2, 1)[axis]
        else:
            low = max(low, other)
        node = inside
    return (low, length) if free else None


def homes(workspace: Workspace) -> Homes:
    return [(tab.id, set(tree.panes(tab.root))) for tab in workspace.tabs_in_order()]


def without(model: Homes, pane: int) -> Homes:
    """The model after a pane has left; a tab goes with its last one."""
    left = [(tab, panes - {pane}) for tab, panes in model]
    return [(tab, panes) for tab, panes in left if panes]


class Workspaces(RuleBasedStateMachine):
    kind = Workspace

    def __init__(self) -> None:
        super().__init__()
        self.workspace = self.kind(80, 24, max_tabs=MAX_TABS, max_panes=MAX_PANES)
        self.seen: set[int] = set()
        self.seen_tabs: set[int] = set()
        self.applied: dict[int, Size] = {}
        """Sizes as a service would have given them to programs, from changes alone."""
        self.generations: dict[int, int] = {}
        self.model: Homes = []

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
        if change.opened is not None:
            self.generations[change.opened] = 1
            self.model = homes(self.workspace)
        for pane in change.closed:
            del self.generations[pane]
            self.model = without(self.model, pane)

    def arranged(
        self, verb: str, operation: Callable[[], Change], pane: int, other: int | None = None
    ) -> Change | Refusal:
        """An operation that neither opens nor closes a pane; it touches only what is named."""
        affected = affected_set(self.workspace, verb, pane, other)
        sizes, before = dict(self.applied), deepcopy(vars(self.workspace))
        change = outcome(operation)
        if isinstance(change, Refusal):
            assert vars(self.workspace) == before
            return change
        assert (change.opened, change.closed) == (None, ())
        self.took(change)
        assert {each for each, size in self.applied.items() if sizes[each] != size} <= affected
        return change

    def pick(self, number: int) -> int:
        live = list(self.workspace.panes)
        return live[number % len(live)]

    def pick_tab(self, number: int) -> int:
        live = list(self.workspace.tabs)
        return live[number % len(live)]

    @initialize(tabs=st.integers(0, MAX_TABS), splits=st.lists(DIRECTIONS, max_size=6))
    def begin(self, tabs: int, splits: list[Direction]) -> None:
        for _ in range(tabs):
            self.add_tab(True)
        for number, direction in enumerate(splits if tabs else []):
            self.split(number, direction, True)

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

    @precondition(lambda self: self.workspace.panes)
    @rule(number=st.integers(0, 50))
    def focus(self, number: int) -> None:
        pane, active = self.pick(number), self.workspace.active_tab
        self.took(self.workspace.focus(pane))
        assert self.workspace.tabs[self.workspace.pane(pane).tab].active == pane
        assert self.workspace.active_tab == active

    @precondition(lambda self: self.workspace.panes)
    @rule(number=st.integers(0, 50))
    def restart(self, number: int) -> None:
        pane = self.pick(number)
        self.generations[pane] = self.workspace.restart(pane)

    @precondition(lambda self: self.workspace.panes)
    @rule(number=st.integers(0, 50), title=st.sampled_from(["", "a", "b"]), whole=st.booleans())
    def rename(self, number: int, title: str, whole: bool) -> None:
        pane = self.pick(number)
        tab = self.workspace.pane(pane).tab

        def operation() -> Change:
            if whole:
                return self.workspace.rename_tab(tab, title)
            return self.workspace.rename_pane(pane, title)

        change = self.arranged("term.pane.rename", operation, pane)
        assert isinstance(change, Change)
        assert change.sizes == {}
        named = self.workspace.tabs[tab] if whole else self.workspace.panes[pane]
        assert named.title == (title or None)

    @precondition(lambda self: self.workspace.panes)
    @rule(number=st.integers(0, 50), cols=WANTED, rows=WANTED)
    def resize_pane(self, number: int, cols: int | None, rows: int | None) -> None:
        pane = self.pick(number)
        tab = self.workspace.pane(pane).tab
        operation = partial(self.workspace.resize_pane, pane, cols, rows)
        before = self.workspace.places(tab)
        possible = room_for(self.workspace, tab, pane)
        assert isinstance(self.arranged("term.pane.resize", operation, pane), Change)
        after = self.workspace.geometry(tab)
        for axis, (want, limits) in enumerate(zip((cols, rows), possible, strict=True)):
            now, old = (extent(each[pane], axis) for each in (after, before))
            if want is None or limits is None:
                assert now == old
            else:
                assert now == max(limits[0], min(want, limits[1]))
        assert isinstance(outcome(operation), Change)
        assert self.workspace.geometry(tab) == after, "asking again changes nothing"

    @precondition(lambda self: self.workspace.tabs)
    @rule(number=st.integers(0, 50), layout=st.sampled_from(sorted(LAYOUTS)))
    def arrange(self, number: int, layout: str) -> None:
        tab = self.pick_tab(number)
        panes = set(tree.panes(self.workspace.tabs[tab].root))
        operation = partial(self.workspace.arrange, tab, layout)
        change = self.arranged("term.tab.layout", operation, min(panes))
        if isinstance(change, Refusal):
            assert change.code is ErrorCode.RESOURCE_LIMIT
            assert len(panes) > 1
            return
        assert not self.workspace.tabs[tab].zoomed
        assert self.workspace.area(tab) == (self.workspace.cols, self.workspace.rows)

    @precondition(lambda self: self.workspace.panes)
    @rule(number=st.integers(0, 50), on=st.booleans())
    def zoom(self, number: int, on: bool) -> None:
        pane = self.pick(number)
        tab = self.workspace.tabs[self.workspace.pane(pane).tab]
        places = self.workspace.places(tab.id)
        assert isinstance(
            self.arranged("term.pane.zoom", lambda: self.workspace.zoom(pane, on), pane), Change
        )
        assert tab.zoomed == (on and len(places) > 1)
        assert self.workspace.places(tab.id) == places
        if tab.zoomed:
            assert tab.active == pane
            whole = Rect(0, 0, self.workspace.cols, self.workspace.rows)
            assert self.workspace.geometry(tab.id) == {**places, pane: whole}

    @precondition(lambda self: self.workspace.panes)
    @rule(number=st.integers(0, 50))
    def zoom_and_back(self, number: int) -> None:
        pane = self.pick(number)
        tab = self.workspace.pane(pane).tab
        self.took(self.workspace.zoom(pane, False))
        before = dict(self.applied)
        self.took(self.workspace.zoom(pane))
        self.took(self.workspace.zoom(pane, False))
        assert self.applied == before
        assert self.workspace.geometry(tab) == self.workspace.places(tab)

    @precondition(lambda self: self.workspace.panes)
    @rule(number=st.integers(0, 50), other=st.integers(0, 50), back=st.booleans())
    def swap(self, number: int, other: int, back: bool) -> None:
        pane, other = self.pick(number), self.pick(other)
        operation = partial(self.workspace.swap, pane, other)
        before = self.everything()
        places = {tab: list(self.workspace.places(tab).values()) for tab in self.workspace.tabs}
        change = self.arranged("term.pane.swap", operation, pane, other)
        assert isinstance(change, Refusal) == (pane == other)
        if isinstance(change, Refusal):
            assert change.code is ErrorCode.INVALID_ARGUMENT
            return
        names = {pane: other, other: pane}
        self.model = [(tab, {names.get(p, p) for p in panes}) for tab, panes in self.model]
        now = {tab: list(self.workspace.places(tab).values()) for tab in self.workspace.tabs}
        assert now == places, "the places stay; the panes in them change"
        if back:
            self.took(self.workspace.swap(other, pane))
            self.model = [(tab, {names.get(p, p) for p in panes}) for tab, panes in self.model]
            assert self.everything() == before

    @precondition(lambda self: self.workspace.panes)
    @rule(number=st.integers(0, 50))
    def break_out(self, number: int) -> None:
        pane = self.pick(number)
        old = self.workspace.pane(pane).tab
        alone = isinstance(self.workspace.tabs[old].root, tree.Leaf)
        full = len(self.workspace.tabs) == MAX_TABS
        change = self.arranged("term.pane.break", lambda: self.workspace.break_out(pane), pane)
        assert isinstance(change, Refusal) == (full and not alone)
        if isinstance(change, Refusal):
            assert change.code is ErrorCode.RESOURCE_LIMIT
            return
        assert (change.active_tab, change.active_pane) == (change.tab, pane)
        if alone:
            assert change.tab == old
            return
        assert change.tab not in self.seen_tabs
        assert change.tab is not None
        self.seen_tabs.add(change.tab)
        self.model = without(self.model, pane)
        at = [tab for tab, _panes in self.model].index(old)
        self.model.insert(at + 1, (change.tab, {pane}))

    @precondition(lambda self: self.workspace.panes)
    @rule(number=st.integers(0, 50), other=st.integers(0, 50), direction=DIRECTIONS)
    def join(self, number: int, other: int, direction: Direction) -> None:
        pane, beside = self.pick(number), self.pick(other)
        active = self.workspace.active_pane
        source = self.workspace.pane(pane).tab
        operation = partial(self.workspace.join, pane, beside, direction)
        change = self.arranged("term.pane.join", operation, pane, beside)
        if isinstance(change, Refusal):
            same = change.code is ErrorCode.INVALID_ARGUMENT
            assert same == (pane == beside)
            assert same or change.code is ErrorCode.RESOURCE_LIMIT
            return
        self.model = [
            (tab, panes | {pane} if beside in panes else panes)
            for tab, panes in without(self.model, pane)
        ]
        assert change.tab_closed == (source not in self.workspace.tabs)
        assert (self.workspace.active_pane == active) or active is None
        rects = self.workspace.geometry(change.tab or 0)
        at, new = rects[beside], rects[pane]
        if direction is Direction.HORIZONTAL:
            assert (new.x, new.y, new.rows) == (at.x + at.cols + 1, at.y, at.rows)
        else:
            assert (new.x, new.y, new.cols) == (at.x, at.y + at.rows + 1, at.cols)

    def everything(self) -> object:
        """What a swap and its undoing leave alone; it ends a zoom, so zoom is not in it."""
        tabs = [(tab.id, tab.root, tab.active, tab.title) for tab in self.workspace.tabs_in_order()]
        return tabs, deepcopy(self.workspace.panes), self.workspace.active_tab

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
            self.workspace.zoom,
            self.workspace.break_out,
            self.workspace.resize_pane,
            self.workspace.focus,
        )
        for operation in operations:
            refusal = outcome(partial(operation, pane))
            assert isinstance(refusal, Refusal)
            assert refusal.code is ErrorCode.NOT_FOUND

    @invariant()
    def whole(self) -> None:
        verify(self.workspace)
        sizes: dict[int, Size] = {}
        for tab in self.workspace.tabs.values():
            assert_tiled(self.workspace.places(tab.id), self.workspace.room(tab))
            sizes.update(self.workspace.sizes(tab.id))
        assert self.applied == sizes

    @invariant()
    def nothing_is_lost(self) -> None:
        assert homes(self.workspace) == self.model
        now = {pane.id: pane.generation for pane in self.workspace.panes.values()}
        assert now == self.generations


class SwapsTwice(Workspace):
    def swap(self, pane: int, other: int) -> Change:
        super().swap(pane, other)
        return super().swap(pane, other)


class ForgetsShares(Workspace):
    def zoom(self, pane: int, on: bool = True) -> Change:
        root = self.tabs[self.pane(pane).tab].root
        if isinstance(root, tree.Split):
            self.tabs[self.pane(pane).tab].root = replace(root, weights=(1, 1))
        return super().zoom(pane, on)


class BreaksToTheEnd(Workspace):
    def _insert_tab(self, pane: int, after: int) -> None:
        super()._insert_tab(pane, list(self.tabs)[-1])


class JoinsInFront(Workspace):
    def join(self, pane: int, beside: int, direction: Direction) -> Change:
        change = super().join(pane, beside, direction)
        self.active_tab = change.tab
        return replace(change, active_tab=self.active_tab, active_pane=self.active_pane)


class ResizesGenerously(Workspace):
    def resize_pane(self, pane: int, cols: int | None = None, rows: int | None = None) -> Change:
        return super().resize_pane(pane, cols and cols + 1, rows and rows + 1)


class SaysTooLittle(Workspace):
    def arrange(self, tab: int, layout: str) -> Change:
        change = super().arrange(tab, layout)
        return replace(change, sizes=dict(list(change.sizes.items())[1:]))


class RefusesTooLate(Workspace):
    def join(self, pane: int, beside: int, direction: Direction) -> Change:
        self.tabs[self.pane(pane).tab].title = "late"
        return super().join(pane, beside, direction)


@pytest.mark.parametrize(
    "broken",
    [
        SwapsTwice,
        ForgetsShares,
        BreaksToTheEnd,
        JoinsInFront,
        ResizesGenerously,
        SaysTooLittle,
        RefusesTooLate,
    ],
)
def test_the_machine_finds_a_broken_workspace(broken: type[Workspace]) -> None:
    machine = type("Broken", (Workspaces,), {"kind": broken})
    search = settings(
        max_examples=400,
        stateful_step_count=30,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        report_multiple_bugs=False,
        derandomize=True,
    )
    with pytest.raises(AssertionError):
        run_state_machine_as_test(machine, settings=search)


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
