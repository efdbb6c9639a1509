"""Who may act on this Term through a verified session, as its environment says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from brokerd.client import DEFAULT_OPEN, POLICIES

VARIABLE: Final = "COSMIX_TERM_POLICY"


def term_policy(environment: Mapping[str, str]) -> str | None:
    """The policy to allocate with; None for a value that is none: then nothing is allocated.

    A wrong word must not open what somebody meant to close. Unset means `default-open`.
    """
    chosen = environment.get(VARIABLE, DEFAULT_OPEN)
    return chosen if chosen in POLICIES else None
