"""One call of a tool, as its handler sees it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from mcp_types import InputRequiredResult

from termnode.mcp.desk import Desk, Desks
from termnode.mcp.outcome import Outcome
from termnode.mcp.pane_memory import PaneMemory
from termnode.mcp.questions import Questions
from termnode.mcp.reach import Reach
from termnode.mcp.settings import Options
from termnode.modelterm.screen import Row

if TYPE_CHECKING:
    from mcp.server import ServerRequestContext
    from mcp_types import CallToolRequestParams


@dataclass(frozen=True, slots=True)
class House:
    """What all calls of a server share."""

    options: Options
    desks: Desks
    reach: Reach
    questions: Questions
    screens: PaneMemory[tuple[Row, ...]]


@dataclass(frozen=True, slots=True)
class Call:
    """One call: of which client, and with what it asked."""

    house: House
    client: str
    context: ServerRequestContext[Any, Any]
    params: CallToolRequestParams

    async def desk(self) -> Desk:
        """The client's own terminals. Raises ToolError, TermError."""
        return await self.house.desks.of(self.client)

    async def report(self, done: float, total: float, words: str) -> None:
        """Tell a client that asked for it how far the call has come."""
        await self.context.session.report_progress(done, total, words)


class Handler(Protocol):
    """Carries a tool out. Raises ToolError, TermError, TermnodeError."""

    async def __call__(self, call: Call, args: Any, /) -> Outcome | InputRequiredResult:  # noqa: ANN401, D102  # each has its own arguments' type
        ...
