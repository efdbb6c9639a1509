"""What the input verbs of one service remember between requests."""

from __future__ import annotations

from dataclasses import dataclass, field

from termnode.service.input.authors import NOBODY, Author
from termnode.service.input.paste_table import PasteTable
from termnode.service.live_pane import LivePane


@dataclass(slots=True)
class Inputs:
    """``held`` are the programs that nothing else is typed to: a text waits for its Enter there.

    ``author`` is whose mutation runs now: they run one at a time. ``since`` is what `People.inputs`
    was when its request came; None: as now.
    """

    pastes: PasteTable = field(default_factory=PasteTable)
    held: set[LivePane] = field(default_factory=set)
    author: Author = NOBODY
    since: int | None = None
