"""The mutations of the native lane but for input: tabs and panes, bound to a target.

The gate has seen that the target and every pane affected are there, and what the caller may do to
them, in this very step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Final

from termnode.control.native.decisions import Go
from termnode.control.native.world import World
from termnode.service.arranging import ARRANGING
from termnode.service.mutations import pane_restart, restartable
from termnode.service.native.performing import Done, Perform, Unfinished
from termnode.service.native.targets import in_place, ready_target
from termnode.service.opening import apply, own_size, program_for, start_opened
from termnode.service.program import Program
from termnode.service.state import Args, Result, State
from termnode.workspace.parts import Change
from termnode.workspace.tree import Direction

TAB_NEW: Final = "term.tab.new"
SELECT: Final = "term.pane.select"


class Performers:
    """Those of one service.

    For what is done after a wait ``world`` is asked again, and ``stands``: whether its caller may
    still do what it was let do, and that to these panes (`Gate.stands`).
    """

    def __init__(self, world: World, stands: Callable[[Go, frozenset[int]], bool]) -> None:
        self._world = world
        self._stands = stands
        self.table: Final[Mapping[str, Perform]] = MappingProxyType(
            {
                TAB_NEW: self.tab_new,
                "term.tab.select": select,
                "term.tab.close": close_tab,
                "term.pane.split": self.split,
                SELECT: select,
                "term.pane.close": close_pane,
                "term.pane.restart": self.restart,
                **{name: partial(arrange, name) for name in ARRANGING if name != "term.resize"},
            }
        )
        """By the name of the verb."""

    def tab_new(self, state: State, go: Go) -> Unfinished:
        """term.tab.new: the new program starts where the target's is."""
        args: Args = go.args
        program = program_for(state, args, go.target.pane_id)
        change = state.workspace.add_tab(
            title=args.get("title"), select=False, size=own_size(state, args)
        )
        select_new = partial(state.workspace.select_pane, across_tabs=True)
        return partial(self._open, state, go, program, change, select_new)

    def split(self, state: State, go: Go) -> Unfinished:
        """term.pane.split"""
        args: Args = go.args
        program = program_for(state, args, go.target.pane_id)
        change = state.workspace.split(
            go.target.pane_id, Direction(args["dir"]), title=args.get("title"), select=False
        )
        return partial(self._open, state, go, program, change, state.workspace.focus)

    def restart(self, state: State, go: Go) -> Unfinished:
        """term.pane.restart: the generation ends with it, and the pane is to be found anew."""
        pane = go.target.pane_id
        restartable(state, pane)
        return partial(_restart, state, go, {"pane": pane})

    # -- what is waited for ---------------------------------------------------------------------

    async def _open(
        self,
        state: State,
        go: Go,
        program: Program,
        change: Change,
        activate: Callable[[int], Change],
    ) -> Result:
        started = await start_opened(state, change, program)
        pane = int(started["pane"])
        if not go.args.get("background") and self._may_activate(go, pane):
            apply(state, activate(pane))
        new: Result = {"target": ready_target(self._world, go.own, pane)}
        if go.spec.name == TAB_NEW:
            return {"tab_id": change.tab, **new}
        return {"pane_id": str(pane), **new}

    def _may_activate(self, go: Go, new: int) -> bool:
        """Whether that touches nothing but what was named, and its caller may do it now."""
        return self._stands(go, self._world.affected(SELECT, new, None) - {new})


async def _restart(state: State, go: Go, args: Args) -> Result:
    await pane_restart(state, args)
    return {"target": go.target.to_json()}


def select(state: State, go: Go) -> Done:
    """term.tab.select and term.pane.select: the target, and with it its tab, is the active one."""
    apply(state, state.workspace.select_pane(go.target.pane_id, across_tabs=True))
    return Done({"selected": go.target.to_json()})


def close_tab(state: State, go: Go) -> Done:
    """term.tab.close"""
    tab = state.workspace.pane(go.target.pane_id).tab
    apply(state, state.workspace.close_tab(tab))
    return Done({"closed": go.target.to_json()})


def close_pane(state: State, go: Go) -> Done:
    """term.pane.close"""
    apply(state, state.workspace.close_pane(go.target.pane_id))
    return Done({"closed": go.target.to_json()})


def arrange(name: str, state: State, go: Go) -> Done:
    """The verbs that move, resize and name: as on the global lane, with ids in strings."""
    spec, place = go.spec, state.workspace.pane(go.target.pane_id)
    where: Args = {"id": place.tab} if name.startswith("term.tab.") else {"pane": place.id}
    other: Args = {} if spec.other is None else {spec.other: go.request.other}
    found = ARRANGING[name](state, {**go.args, **other, **where})
    return Done(in_place(go.target, _in_strings(found)))


def _in_strings(found: Result) -> Result:
    """Pane ids are strings on this lane."""
    result = dict(found)
    if "with" in result:
        result["with"] = str(result["with"])
    panes = result.get("panes")
    if isinstance(panes, list):
        result["panes"] = [{**each, "id": str(each["id"])} for each in panes]
    return result
