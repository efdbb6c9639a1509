"""One terminal of a set: where it is, and what the model has seen of it. No I/O."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field

from termnode.client import Pane
from termnode.modelterm.screen import Look, Row, Since


@dataclass(slots=True, eq=False)
class Terminal:
    """``pane`` is None while it is being opened. ``state`` is as it was last seen.

    ``remembered`` are the newest screens that the model was shown, by revision; ``person_inputs``
    is how often persons had typed there at the last look that the model was told of.
    """

    id: str
    name: str
    pane: Pane | None = None
    state: str = "running"
    last: Look | None = None
    person_inputs: int = 0
    remembered: OrderedDict[int, tuple[Row, ...]] = field(default_factory=OrderedDict)

    def remember(self, look: Look, most: int) -> None:
        """The model is shown this screen."""
        self.told_of(look)
        self.last, self.state = look, look.state
        self.remembered[look.revision] = look.lines
        self.remembered.move_to_end(look.revision)
        while len(self.remembered) > most:
            self.remembered.popitem(last=False)

    def since(self, revision: int | None) -> Since | None:
        """What was shown at that revision."""
        return None if revision is None else Since(revision, self.remembered.get(revision))

    def person_typed(self, count: int) -> bool:
        """Whether a person has typed since the model was last told."""
        return count > self.person_inputs

    def told_of(self, look: Look) -> None:
        """The model is told whether a person typed until this look."""
        self.person_inputs = max(self.person_inputs, look.person_inputs)
