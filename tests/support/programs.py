"""Programs that tests drive: missing ones skip a test by name, or fail it under strict CI."""

from __future__ import annotations

import os
import shutil

import pytest


def need(*programs: str) -> None:
    """Skip the calling test when a program is missing; fail it when TERMNODE_TEST_STRICT is set."""
    missing = [program for program in programs if shutil.which(program) is None]
    if not missing:
        return
    message = f"not installed: {', '.join(missing)}"
    if os.environ.get("TERMNODE_TEST_STRICT"):
        pytest.fail(message)
    pytest.skip(message)
