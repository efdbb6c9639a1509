"""What failed is written down, so that it can be run once more."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.support.failures import FILE

ROOT = Path(__file__).parents[2]

TESTS = """
import pytest

@pytest.fixture
def broken():
    yield
    raise OSError

def test_good(): pass
def test_bad(broken): assert False
@pytest.mark.parametrize("text", ["a b", "[c]"])
def test_some(text): assert text == "[c]"
def test_last(): assert False
"""


def run(tmp_path: Path, *told: str) -> list[str]:
    failed = tmp_path / "failed"
    failed.unlink(missing_ok=True)
    plain = ["-p", "no:cacheprovider", "-p", "tests.support.failures", "--rootdir", str(tmp_path)]
    subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-c", os.devnull, *plain, *told],
        env=os.environ | {FILE: str(failed), "PYTHONPATH": str(ROOT)},
        cwd=tmp_path,
        capture_output=True,
        check=False,
        timeout=60,
    )
    return failed.read_text("utf-8").splitlines() if failed.exists() else []


def test_each_failure_is_named_once_and_can_be_run_again(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(TESTS)
    names = ["test_it.py::test_bad", "test_it.py::test_some[a b]", "test_it.py::test_last"]
    assert run(tmp_path, "test_it.py") == names
    (tmp_path / "again").write_text("\n".join(names))
    (tmp_path / "test_it.py").write_text(
        TESTS.replace("test_last(): assert False", "test_last(): 1")
    )
    assert run(tmp_path, "@again") == names[:2]


def test_nothing_is_written_where_nothing_failed(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text("def test_good(): pass")
    assert run(tmp_path, "test_it.py") == []


def test_a_module_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text("import nothing_of_that_name")
    assert run(tmp_path, "test_it.py") == ["test_it.py"]
