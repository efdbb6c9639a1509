"""Who typed what into a pane, as far as others are told. Plain data, nothing of the text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Author:
    """Whose request something is: the principal in a few words, and the verb.

    ``pid`` is its process; None when it is none of this machine, or a person at a view.
    """

    who: str
    verb: str
    pid: int | None = None


NOBODY: Final = Author("unknown", "unknown")


@dataclass(frozen=True, slots=True)
class Typed:
    """Input that an agent or a person gave to a pane. ``at`` is in monotonic seconds."""

    pane: int
    author: Author
    at: float


@dataclass(frozen=True, slots=True)
class Outstanding:
    """Input of an agent that was admitted and is not all written.

    ``left`` says whether that is still so. ``undo`` is called once it was discarded: it puts right
    what was noted as if all of it had been written.
    """

    author: Author
    left: Callable[[], bool]
    undo: Callable[[], None]
