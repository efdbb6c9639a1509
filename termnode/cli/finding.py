"""What a check of ``termnode doctor`` found."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found: ``state`` is ok, warn or fail; ``remedy`` says what to do about it."""

    check: str
    state: str
    found: str
    remedy: str = ""
