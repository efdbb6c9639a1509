"""What the verbs of the native lane answer with (specs/control.md); see `termnode.client.replies`.

Numbers that are decimal strings on the wire are numbers here.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from termnode.client.decode import Decimal
from termnode.client.replies import Details
from termnode.control.native.targets import Target


@dataclass(frozen=True, slots=True)
class NativePaneInfo:
    """A pane that the caller may read. ``target`` names it for good; the rest is as of the look.

    ``state`` is starting, running or exited; ``ready`` whether it may be controlled now.
    """

    target: Target
    tab_id: Decimal
    cols: int
    rows: int
    child_pid: int | None = None
    title: str = ""
    state: str = ""
    ready: bool = True


@dataclass(frozen=True, slots=True)
class NativeTabInfo:
    """A tab all of whose panes the caller may read."""

    id: Decimal
    active: bool
    title: str
    cols: int
    rows: int
    panes: tuple[Decimal, ...] = ()


@dataclass(frozen=True, slots=True)
class NativeSession:
    """term.session: the Term, and what the caller may read of it.

    ``request_epoch`` is the caller's connection, ``request_high_water`` its highest request id so
    far. ``foreground_generation`` is that of ``target``, through which it was asked.
    """

    instance_id: str
    incarnation: str
    target: Target
    policy: str
    request_epoch: str
    request_high_water: Decimal
    panes: tuple[NativePaneInfo, ...]
    tabs: tuple[NativeTabInfo, ...]
    foreground_generation: Decimal | None
    retention_seconds: int
    requests_per_actor: int
    instance_request_limit: int
    binding: object = None


@dataclass(frozen=True, slots=True)
class Looked:
    """term.snapshot without contents: the generation that input must name; None while no program
    is known to be in front."""

    target: Target
    foreground_generation: Decimal | None


@dataclass(frozen=True, slots=True)
class Accepted:
    """Input that is in the pane's queue. What becomes of it: `NativePane.settled`."""

    status: str
    operation_id: Decimal
    outcome: str = "unknown"
    request_id: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Operation:
    """term.operation: what became of a mutation.

    Of input: ``status`` is pending, accepted (not yet at its end), completed (every byte was given
    to the terminal) or unknown, and ``delivered_bytes_lower_bound`` how many bytes surely were; it
    never says that a program did anything with them. Of another verb, ``reply`` is its first one.
    """

    operation_id: Decimal | None = None
    status: str = ""
    boundary: str | None = None
    reason: str | None = None
    delivered_bytes_lower_bound: Decimal | None = None
    reply: Details = field(default_factory=dict)

    @property
    def under_way(self) -> bool:
        """Whether more is to come."""
        return self.status in {"pending", "accepted"}


@dataclass(frozen=True, slots=True)
class Opened:
    """term.tab.new and term.pane.split; ``target`` is None until the new pane is control-ready."""

    tab_id: Decimal | None = None
    pane_id: Decimal | None = None
    target: Target | None = None


@dataclass(frozen=True, slots=True)
class Done:
    """What has nothing to tell that the caller does not know."""
