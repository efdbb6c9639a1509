"""Questions that a client answers by asking again (protocol 2026-07-28). No I/O.

Such a client gets the question as the result of its call, and calls again with the answer and the
state that came with it. The state names the question, holds once, and for that very command alone.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass

from termnode.mcp.limits import ASK_S, QUESTIONS, TOKEN_BYTES


@dataclass(frozen=True, slots=True)
class _Open:
    about: bytes
    until: float


class Questions:
    """The questions that are open; ``clock`` is monotonic, in seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._open: dict[str, _Open] = {}

    def ask(self, client: str, about: str) -> str:
        """A new question of a client about something; the state that goes with it."""
        if len(self._open) >= QUESTIONS:
            del self._open[next(iter(self._open))]
        state = secrets.token_hex(TOKEN_BYTES)
        self._open[state] = _Open(_digest(client, about), self._clock() + ASK_S)
        return state

    def take(self, state: str, client: str, about: str) -> bool:
        """Whether that question was asked, about this, and in time; it is over with that."""
        found = self._open.pop(state, None)
        if found is None:
            return False
        same = secrets.compare_digest(found.about, _digest(client, about))
        return same and self._clock() < found.until


def _digest(client: str, about: str) -> bytes:
    return hashlib.sha256(f"{len(client)}:{client}:{about}".encode()).digest()
