"""A short run of a person at random against agents at one prompt, and that such a run can fail."""

from __future__ import annotations

import shutil

import pytest

from tests.stress.prompt import SHELLS, stress

pytestmark = pytest.mark.gate

SECONDS = 2.0
TO_FAIL_SECONDS = 3.0


def _needs(shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")


@pytest.mark.parametrize("shell", SHELLS)
def test_nothing_is_merged_lost_or_run_twice(shell: str) -> None:
    _needs(shell)
    figures = stress(shell, SECONDS, seed=7)
    assert figures.well, f"{figures}\n{figures.wrong}"
    assert figures.admitted > 0, figures
    assert figures.refused, figures
    assert figures.lines > 0, figures


@pytest.mark.self_test
@pytest.mark.parametrize("shell", SHELLS)
def test_it_can_fail(shell: str) -> None:
    """Without Term's look at what was typed, and the shell's own, a line is merged or lost."""
    _needs(shell)
    assert not stress(shell, TO_FAIL_SECONDS, seed=7, without="human+draft").well
