"""What the gate asks of the running service. Every answer is of this very step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Protocol

from brokerd.client import Authority
from termnode.control.native.world import Own, PaneFacts
from termnode.control.posture import Posture
from termnode.service.identity.words import PaneBinding
from termnode.service.live_pane import LivePane
from termnode.workspace import tree
from termnode.workspace.affected import affected_set
from termnode.workspace.model import Workspace

TAB_CLOSE: Final = "term.tab.close"
PANE_CLOSE: Final = "term.pane.close"


class Prover(Protocol):
    """What is asked of the service's identity."""

    @property
    def connected(self) -> bool:
        """Whether its connection stands."""

    @property
    def authority(self) -> Authority | None:
        """What it holds now."""

    def binding_of(self, pane: int) -> PaneBinding:
        """How a pane stands."""

    def control_ready(self, pane: int) -> bool:
        """Whether the pane may be controlled through its verified session."""


class LiveWorld:
    """See the module and `termnode.control.native.world.World`."""

    def __init__(
        self,
        identity: Prover,
        workspace: Workspace,
        find_live: Callable[[int], LivePane | None],
        read_posture: Callable[[], Posture],
    ) -> None:
        self._identity = identity
        self._workspace = workspace
        self._find_live = find_live
        self._read_posture = read_posture

    def connected(self) -> bool:
        """Whether the Term's own connection stands."""
        return self._identity.connected

    def own(self) -> Own | None:
        """The Term's own record and what is left of its lease; None while it holds none."""
        held = self._identity.authority
        if held is None:
            return None
        return Own(held.record, held.broker_epoch, held.connection_id, held.remaining_ms())

    def posture(self) -> Posture:
        """As the file says it now."""
        return self._read_posture()

    def pane(self, pane_id: int) -> PaneFacts | None:
        """Its generation is that of its last grant, also while it waits for its pane shell."""
        placed = self._workspace.panes.get(pane_id)
        if placed is None:
            return None
        live = self._find_live(pane_id)
        return PaneFacts(
            self._identity.binding_of(pane_id).generation,
            live is not None and live.ended is None and self._identity.control_ready(pane_id),
            placed.tab,
            live is not None and live.ended is not None,
        )

    def affected(self, verb: str, pane_id: int, other: int | None) -> frozenset[int]:
        """All panes that the verb would touch now; both panes exist."""
        return affected_set(self._workspace, verb, pane_id, other)

    def removed(self, verb: str, pane_id: int) -> frozenset[int]:
        """Those that it would close."""
        if verb == TAB_CLOSE:
            tab = self._workspace.tabs[self._workspace.panes[pane_id].tab]
            return frozenset(tree.panes(tab.root))
        return frozenset({pane_id}) if verb == PANE_CLOSE else frozenset()
