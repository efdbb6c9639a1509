"""The children of this Term: one per pane whose program runs. No I/O, no clock of its own.

What happens to panes and pane shells is put in; what is to be done with processes is asked for
(`next_process`), one thing at a time. What is asked of the broker is in `Asking`. Times are seconds
of the clock of the broker's deadlines.
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from typing import Final

from termnode.service.identity.asking import Asking
from termnode.service.identity.child import QUIET_S, Child, Shell, Stage
from termnode.service.identity.effects import End, Process, Start
from termnode.service.identity.roster import Roster
from termnode.service.identity.words import BoundShell, PaneBinding


class Children:
    """The table. ``pane`` is always a pane's id."""

    def __init__(self, now: float) -> None:
        self._roster: Final = Roster(now)
        self.asking: Final = Asking(self._roster, now)
        self._ends: deque[Child] = deque()

    # -- panes -------------------------------------------------------------------------------------

    def pane_started(self, pane: int, now: float) -> None:
        """A program runs in the pane now, perhaps in the place of one that ended."""
        self._drop(self._roster.get(pane))
        child = Child(pane, now)
        self._roster.put(child)
        self._roster.quiet_at = now + QUIET_S
        self.asking.provision.active(now)
        bundle = self.asking.provision.take(pane, now)
        if bundle is not None:
            child.granted(bundle, now)

    def pane_shown(self, pane: int, now: float) -> None:
        """The program showed something."""
        child = self._roster.get(pane)
        if child is not None and child.shown is None:
            child.shown = now

    def program_ended(self, pane: int) -> None:
        """The program has ended; the pane is still there to be read, or started anew."""
        child = self._roster.get(pane)
        if child is not None:
            self._drop(child)
            child.shell = Shell.OVER

    def pane_gone(self, pane: int) -> None:
        """The pane was closed."""
        self._drop(self._roster.pop(pane))
        self.asking.forget(pane)

    def _drop(self, child: Child | None) -> None:
        """Be done with a child: its pane shell ends, its record is revoked."""
        if child is None or child.shell is Shell.OVER:
            return
        if child.launched:
            self._ends.append(child)
        self.asking.revoke(child)

    # -- processes ---------------------------------------------------------------------------------

    def launching(self, *, possible: bool) -> None:
        """Whether pane shells can be started now."""
        self._roster.launching = possible

    def next_process(self, now: float) -> Process | None:
        """Which pane shell to end or start; None for none now. A start's outcome must be put in."""
        if self._ends:
            return End(self._ends.popleft())
        if self.asking.parent is None or not self._roster.launching:
            return None
        for child in self._roster:
            due = self._due(child, now)
            if due is not None and due <= now:
                child.shell = Shell.STARTING
                return Start(child)
        return None

    def _due(self, child: Child, now: float) -> float | None:
        """When to start its pane shell; None when it is not to be, or has no grant yet."""
        if child.shell is not Shell.WAITING or not child.startable(now):
            return None
        return max(child.ready_at(self._roster.quiet_at), child.start_at or 0.0)

    def started(self, child: Child) -> None:
        """The outcome of a `Start`: its pane shell runs."""
        if self._roster.has(child):
            child.shell = Shell.RUNNING
        else:
            self._ends.append(child)

    def start_failed(self, child: Child, reason: str, now: float) -> None:
        """The outcome of a `Start`: there is no pane shell."""
        if self._roster.has(child):
            child.shell, child.reason = Shell.WAITING, reason
            child.start_at = now + child.pauses.next()

    def shell_said(self, child: Child, reason: str, *, unbound: bool) -> None:
        """What a pane shell says of itself is shown, no more."""
        child.unbound = unbound
        if unbound or child.stage is not Stage.ATTACHED:
            child.reason = reason

    def shell_ended(self, child: Child, now: float) -> None:
        """A pane shell's process has ended. While its pane lives there will be another one."""
        if not self._roster.has(child):
            return
        self.asking.revoke(child)
        again = child.restarts.after_end(now)
        if again is None:
            child.shell, child.stage = Shell.GIVEN_UP, Stage.LOST
            child.reason = "its pane shell ended again and again"
            return
        successor = Child(child.pane, now, not_before=again, restarts=child.restarts)
        successor.generation, successor.reason = child.generation, "its pane shell is started again"
        self._roster.put(successor)

    # -- looking -----------------------------------------------------------------------------------

    def wait(self, next_pane: int, now: float) -> float:
        """Seconds after which to ask again what is to be done, though nothing happens."""
        times = [*self.asking.due(next_pane, now), *(self._due(each, now) for each in self._roster)]
        due = [each for each in times if each is not None and each > now]
        return min(due) - now if due else float("inf")

    def control_ready(self, pane: int) -> bool:
        """Whether the broker said that the pane's child is attached under its last grant.

        Not while it is to be asked because notices were missed.
        """
        child = self._roster.get(pane)
        return (
            not self.asking.doubted
            and child is not None
            and child.launched
            and child.stage is Stage.ATTACHED
            and child.record is not None
            and child.record.pane_generation == child.generation
        )

    def bound(self, pane: int) -> BoundShell | None:
        """The pane's shell, while `control_ready`."""
        child = self._roster.get(pane)
        if child is None or child.record is None or child.ref is None:
            return None
        return BoundShell(child.record, child.ref) if self.control_ready(pane) else None

    def binding(self, pane: int) -> PaneBinding | None:
        """How a pane stands; None for one without a child."""
        child = self._roster.get(pane)
        if child is None:
            return None
        found = child.binding()
        if found.reason or child.shell is not Shell.WAITING:
            return found
        return replace(found, reason=self._why_waiting())

    def _why_waiting(self) -> str:
        """What no pane shell can be started without; empty when nothing is missing."""
        if self.asking.parent is None:
            return "the service has no record on the bus now"
        return "" if self._roster.launching else "pane shells cannot be started now"
