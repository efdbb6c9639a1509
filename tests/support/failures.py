"""A pytest plugin: writes the ids of what failed into the file that TERMNODE_FAILED names.

`scripts/test` runs those once more, alone: `python -m pytest @FILE`.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

FILE = "TERMNODE_FAILED"


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Add the test, once, whether it failed in its set-up, in itself or in its end."""
    _add(report)


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """Add the module that cannot be read."""
    _add(report)


def _add(report: pytest.TestReport | pytest.CollectReport) -> None:
    path = Path(os.environ[FILE])
    known = path.read_text("utf-8").splitlines() if path.exists() else []
    if report.failed and report.nodeid not in known:
        path.write_text("\n".join([*known, report.nodeid, ""]), "utf-8")
