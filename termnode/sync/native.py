# Made from termnode/client/native.py by python -m termnode.client.generate.
"""Control that is bound to panes: each request names the very pane it is for, and no other is hit.

The Term's verified identity answers it (specs/control.md), not the name of the service.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from termnode.client import native_link
from termnode.client.errors import NotFound
from termnode.client.native_calls import native_call
from termnode.client.native_replies import Done, NativeSession
from termnode.client.native_term import Term
from termnode.sync.native_pane import NativePane
from termnode.sync.runner import Runner


class Native:
    """The panes of one Term. Get one from `Session.native`::

        native = session.native()
        pane = native.pane(3)
        pane.refresh()
        accepted = pane.type("make test", enter=True)

    It belongs to one Term under one broker: when either is started anew it raises
    ServiceRestarted or UnknownOutcome, and nothing is sent to another. A mutation whose answer was
    lost is asked for with the very same bytes on the same connection, and never runs twice.
    """

    def __init__(self, runner: Runner, term: Term) -> None:
        self._runner = runner
        self.term = term

    def info(self) -> NativeSession:
        """The Term as this user may see it. Raises NotFound while no pane is control-ready."""
        found = self._runner.run(native_link.see, self.term)
        if found is None:
            raise NotFound("no pane has its verified session yet: try again")
        return found

    def panes(self) -> list[NativePane]:
        """All panes that may be read; empty while no pane is control-ready."""
        found = self._runner.run(native_link.see, self.term)
        infos = () if found is None else found.panes
        return [NativePane(self._runner, self.term, info) for info in infos]

    def pane(self, pane: int) -> NativePane:
        """The pane of that number; if it is ready, with the generation that input into it must
        name. Raises NotFound when there is none, or none whose shell ever had a session."""
        for found in self.panes():
            if found.id == pane:
                return found.refresh() if found.info.ready else found
        raise NotFound(f"there is no pane {pane}, or its shell has no verified session yet")

    def wait_pane(self, pane: int, *, timeout: float = 10.0) -> NativePane:
        """The pane of that number as soon as it is control-ready. Raises WaitTimeout."""
        info = self._runner.run(native_link.appear, self.term, pane, None, timeout)
        return NativePane(self._runner, self.term, info).refresh()

    def call(self, verb: str, pane: NativePane, **fields: object) -> Mapping[str, Any]:
        """Any verb of the native lane by its name, for a pane: the body of its good reply.

        Fields are sent as they are; target, request id and epoch are filled in. Raises
        TermnodeError.
        """
        asked = native_call(verb, Done, pane.target, fields)
        return self._runner.run(native_link.ask_anything, self.term, asked)

    def __repr__(self) -> str:
        return f"<Native {self.term.name}>"
