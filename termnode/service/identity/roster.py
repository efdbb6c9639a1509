"""The children there are, and what holds for all of them. No I/O."""

from __future__ import annotations

from collections.abc import Iterator

from brokerd.client import Ref
from termnode.service.identity.child import Child, Shell


class Roster:
    """Children by pane. Times are as in `Child`."""

    def __init__(self, now: float) -> None:
        self.launching = False
        """Whether pane shells can be started now."""
        self.quiet_at = now
        """Until then a pane was just opened, and another may be about to be."""
        self._children: dict[int, Child] = {}

    def __iter__(self) -> Iterator[Child]:
        return iter(self._children.values())

    def __contains__(self, pane: int) -> bool:
        return pane in self._children

    def get(self, pane: int) -> Child | None:
        """The child of a pane."""
        return self._children.get(pane)

    def put(self, child: Child) -> None:
        """This is the child of its pane from now on."""
        self._children[child.pane] = child

    def pop(self, pane: int) -> Child | None:
        """The child of a pane, which is one no more."""
        return self._children.pop(pane, None)

    def has(self, child: Child) -> bool:
        """Whether it is still its pane's child, and the pane's program runs."""
        return self._children.get(child.pane) is child and child.shell is not Shell.OVER

    def of(self, target: Ref) -> Child | None:
        """The child whose record that is."""
        for child in self:
            record = child.record
            if record is not None and record.record_id == target.record_id:
                return child if record.incarnation == target.incarnation else None
        return None
