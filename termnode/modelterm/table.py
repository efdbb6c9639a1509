"""The terminals of one set: which there are, how many more there may be, how others ended.

No I/O: a place is taken in the step in which it is seen to be free.
"""

from __future__ import annotations

from collections import OrderedDict

from termnode.modelterm.limits import Limits
from termnode.modelterm.record import Terminal
from termnode.modelterm.refusals import gone, too_many, unknown


class Table:
    """Ids are t1, t2, ...; none is used twice."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._last = 0
        self._open: dict[str, Terminal] = {}
        self._closed: OrderedDict[str, str] = OrderedDict()

    def __len__(self) -> int:
        return len(self._open)

    def take(self, name: str) -> Terminal:
        """A place for a terminal that is to be opened. Raises TermError RESOURCE_LIMIT."""
        if len(self._open) >= self._limits.open:
            names = [f"{each.id} {each.name}" for each in self._open.values()]
            raise too_many(self._limits.open, names)
        self._last += 1
        terminal = Terminal(f"t{self._last}", name)
        self._open[terminal.id] = terminal
        return terminal

    def find(self, id_: str) -> Terminal:
        """An open one. Raises TermError NOT_FOUND: unknown, or gone with how it ended."""
        found = self._open.get(id_)
        if found is not None and found.pane is not None:
            return found
        if id_ in self._closed:
            raise gone(id_, self._closed[id_])
        raise unknown(id_, [each.id for each in self.all() if each.pane is not None])

    def all(self) -> list[Terminal]:
        """Those that are open, oldest first."""
        return list(self._open.values())

    def give_up(self, terminal: Terminal) -> None:
        """It could not be opened."""
        self._open.pop(terminal.id, None)

    def closed(self, terminal: Terminal, state: str) -> None:
        """It is no more; once more is no error, and the first word on how it ended stands."""
        if self._open.pop(terminal.id, None) is None:
            return
        terminal.state = state
        self._closed[terminal.id] = state
        while len(self._closed) > self._limits.closed:
            self._closed.popitem(last=False)
