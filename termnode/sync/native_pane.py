# Made from termnode/client/native_pane.py by python -m termnode.client.generate.
"""A pane that is controlled through its verified session."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TypeVar

from termnode.client import native_link
from termnode.client.errors import NotFound
from termnode.client.native_calls import affected_by, native_call
from termnode.client.native_replies import Done, Opened
from termnode.client.program import Program, argv_of, direction, directory_of
from termnode.control.native.targets import Target
from termnode.sync.native_exec import NativeExec

R = TypeVar("R")


class NativePane(NativeExec):
    """One pane by its target: should another one ever have its number, nothing reaches that.

    ``info`` is as of the look that found it. Methods that change the layout look first which panes
    they may touch, and name them; they raise Forbidden when that changed meanwhile: ask again.
    """

    @property
    def target(self) -> Target:
        """What every request names."""
        return self.info.target

    @property
    def id(self) -> int:
        """Its number."""
        return self.info.target.pane_id

    def split(
        self,
        program: Program = None,
        *,
        below: bool = False,
        cwd: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
        title: str | None = None,
        remain: int | None = None,
        background: bool = False,
        timeout: float = 10.0,
    ) -> NativePane:
        """A new pane in half of its room, as soon as it is control-ready.

        Arguments are those of `termnode.client.Session.new_tab`. Raises WaitTimeout when it is
        open and not ready within ``timeout`` seconds, Forbidden, InvalidArgument, ResourceLimit.
        """
        made = self._layout(
            "term.pane.split",
            Opened,
            dir=direction(below=below),
            argv=argv_of(program),
            cwd=directory_of(cwd),
            env=env,
            title=title,
            remain=remain,
            background=background or None,
        )
        return self._opened(made, timeout)

    def new_tab(
        self,
        program: Program = None,
        *,
        cwd: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
        title: str | None = None,
        remain: int | None = None,
        background: bool = False,
        timeout: float = 10.0,
    ) -> NativePane:
        """The pane of a new tab, as `split`; this one stays as it is."""
        made = self._layout(
            "term.tab.new",
            Opened,
            argv=argv_of(program),
            cwd=directory_of(cwd),
            env=env,
            title=title,
            remain=remain,
            background=background or None,
        )
        return self._opened(made, timeout)

    def select(self) -> None:
        """Make it, and its tab, the active one."""
        self._layout("term.pane.select", Done)

    def resize(self, *, cols: int | None = None, rows: int | None = None) -> None:
        """Give it more or less room."""
        self._layout("term.pane.resize", Done, cols=cols, rows=rows)

    def rename(self, title: str) -> None:
        """Name it; an empty name goes back to the title that the program sets."""
        self._layout("term.pane.rename", Done, title=title)

    def zoom(self, *, on: bool = True) -> None:
        """Let it fill its tab, or lay the panes out again."""
        self._layout("term.pane.zoom", Done, on=on)

    def swap(self, other: NativePane) -> None:
        """Change places with another pane."""
        self._layout("term.pane.swap", Done, other, **{"with": str(other.id)})

    def join(self, beside: NativePane, *, below: bool = False) -> None:
        """Move it beside another pane, to its right or ``below`` it."""
        self._layout(
            "term.pane.join", Done, beside, beside=str(beside.id), dir=direction(below=below)
        )

    def break_out(self) -> None:
        """Move it into a tab of its own."""
        self._layout("term.pane.break", Done)

    def close(self) -> None:
        """Close it and end its program."""
        self._layout("term.pane.close", Done)

    def close_tab(self) -> None:
        """Close its tab with all panes in it."""
        self._layout("term.tab.close", Done)

    def select_tab(self) -> None:
        """Make its tab the active one."""
        self._layout("term.tab.select", Done)

    def rename_tab(self, title: str) -> None:
        """Name its tab."""
        self._layout("term.tab.rename", Done, title=title)

    def arrange(self, layout: str) -> None:
        """Arrange the panes of its tab; as `termnode.client.Tab.layout`."""
        self._layout("term.tab.layout", Done, layout=layout)

    def restart(self) -> None:
        """Start its program again after it ended. The pane then has another target."""
        call = native_call("term.pane.restart", Done, self.target)
        self._runner.run(native_link.ask, self._term, call)

    def _layout(
        self, verb: str, result: type[R], other: NativePane | None = None, **fields: object
    ) -> R:
        """Ask for it with all panes named that it may touch."""
        session = self._runner.run(native_link.see, self._term)
        if session is None:
            raise NotFound("no pane has its verified session now: try again")
        named = affected_by(session, self.target, None if other is None else other.id)
        call = native_call(verb, result, self.target, fields, affected=named)
        return self._runner.run(native_link.ask, self._term, call)

    def _opened(self, made: Opened, timeout: float) -> NativePane:
        pane = made.pane_id if made.target is None else made.target.pane_id
        info = self._runner.run(native_link.appear, self._term, pane, made.tab_id, timeout)
        return NativePane(self._runner, self._term, info).refresh()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NativePane) and other.target == self.target

    def __hash__(self) -> int:
        return hash(self.target)

    def __repr__(self) -> str:
        return f"<NativePane {self.id} of generation {self.target.pane_generation}>"
