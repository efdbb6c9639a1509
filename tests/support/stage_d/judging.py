"""Sees that a fixture fails without a guard, where it should."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any

import pytest

from tests.support import raw_bus, termnode_process, zmtp
from tests.support.stage_d.lab import BASH, Fixture, PaneLab, pane_lab
from tests.support.zmtp import Dropped


def must_fail(fixture: Fixture, guard: str, sees: str, patch: pytest.MonkeyPatch) -> None:
    """Run it without that guard; ``sees`` is the function of its own in which it must fail."""

    def without_its_guard(
        shell: str = BASH,
        *,
        rc: str | None = None,
        settings: Mapping[str, Any] = {},
        **environment: str,
    ) -> AbstractContextManager[PaneLab]:
        return pane_lab(shell, rc=rc, settings=settings, off=guard, **environment)

    # What never comes without the guard is not waited for as long as what must come with it.
    for module in (zmtp, raw_bus):
        patch.setattr(module, "PATIENCE", 8.0)
    patch.setattr(termnode_process, "DEADLINE_S", 15.0)
    with pytest.raises((AssertionError, TimeoutError, Dropped)) as failed:
        fixture(without_its_guard)
    inside = [entry.name for entry in failed.traceback if "/tests/" in str(entry.path)]
    assert sees in inside, inside
