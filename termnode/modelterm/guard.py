"""When a turn of a model goes in circles. Sans-IO (specs/modelterm.md, "Guard")."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Final

from termnode.modelterm.limits import DEFAULTS, Limits

TERMINAL_TOOLS: Final = frozenset(
    {"open", "type", "keys", "screen", "wait", "close", "resize", "click"}
)
"""The primitives, behind ``term_`` or ``term-``."""


class ProgressGuard:
    """Counts the calls of one turn. Keeps a digest of the last call, and none of its arguments.

    A terminal call that went well is no repeat of the one before it: Down four times is how one
    moves in a file. Refused and failed ones count as any tool's.
    """

    def __init__(self, limits: Limits = DEFAULTS) -> None:
        self._limits = limits
        self._last = b""
        self._same = 0
        self._screens = 0

    def new_turn(self) -> None:
        """Begin anew."""
        self._last, self._same, self._screens = b"", 0, 0

    def call(self, tool: str, arguments: Mapping[str, object], ok: bool) -> str | None:
        """Take in a call that was made; why the turn ends, or None when it goes on."""
        terminal = is_terminal(tool)
        if terminal and ok:
            self._last, self._same = b"", 0
            self._screens += 1
            return self._too_many() if self._screens >= self._limits.terminal_calls else None
        if not terminal:
            self._screens = 0
        digest = _digest(tool, arguments)
        self._same = self._same + 1 if digest == self._last else 1
        self._last = digest
        return self._loop(tool) if self._same >= self._limits.same_calls else None

    def _loop(self, tool: str) -> str:
        return (
            f"{_known(tool)} was called {self._same} times in a row with the same arguments: this "
            "is a loop, so the turn ends; say what is in the way instead"
        )

    def _too_many(self) -> str:
        return (
            f"{self._screens} terminal calls with no other tool between: the turn ends; say how "
            "far it came and what is left"
        )


def is_terminal(tool: str) -> bool:
    """Whether it is one of the primitives, written ``term_open`` or ``term-open``."""
    return tool[:5] in {"term_", "term-"} and tool[5:] in TERMINAL_TOOLS


def _digest(tool: str, arguments: Mapping[str, object]) -> bytes:
    said = json.dumps([tool, arguments], sort_keys=True, default=repr)
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).digest()


def _known(tool: str) -> str:
    """A tool's name, when it looks like one: it is told to a person."""
    return tool if tool.replace("_", "").replace("-", "").isalnum() and len(tool) <= 64 else "it"
