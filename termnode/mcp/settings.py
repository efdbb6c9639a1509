"""What one server may do and where it looks. No I/O."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final


class Tier(StrEnum):
    """What a tool needs to be allowed."""

    LOOK = "look"
    """Always: it changes nothing."""
    INPUT = "input"
    EXECUTE = "execute"
    LAYOUT = "layout"
    TERMINAL = "terminal"
    """The experimental terminal must be on."""


ALLOWABLE: Final = (Tier.INPUT, Tier.EXECUTE, Tier.LAYOUT)


class UnknownTierError(ValueError):
    """A word that allows nothing: it is never read as more than was meant."""


@dataclass(frozen=True, slots=True)
class Options:
    """One server's settings; ``environment`` is the one that it was started with.

    ``unasked``: opening a terminal needs no answer of a person. ``runtime_dir`` is None for the
    user's own. ``root`` is where the terminals' programs start.
    ``text_only``: no client gets structured content.
    """

    root: Path
    environment: Mapping[str, str]
    runtime_dir: Path | None = None
    name: str = "term"
    allow: frozenset[Tier] = frozenset()
    terminal: bool = False
    unasked: bool = False
    call_log: Path | None = None
    text_only: bool = False

    def allows(self, tier: Tier) -> bool:
        """Whether tools of that tier are offered."""
        if tier is Tier.TERMINAL:
            return self.terminal
        return tier is Tier.LOOK or tier in self.allow


def tiers(words: Iterable[str]) -> frozenset[Tier]:
    """What a list of words allows. Raises UnknownTierError: an unknown word allows nothing."""
    found = set()
    for word in words:
        if word not in ALLOWABLE:
            raise UnknownTierError(f"what can be allowed is {', '.join(ALLOWABLE)}")
        found.add(Tier(word))
    return frozenset(found)
