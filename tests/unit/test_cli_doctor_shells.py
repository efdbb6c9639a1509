"""doctor's check of each shell: real shells with good and bad startup files, and what is said."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from termnode.cli.doctor_shells import judged
from termnode.cli.shell_trial import Tried, try_shell
from tests.support.integrated_shell import RC, environment, furnish
from tests.support.programs import need
from tests.support.termnode_process import eventually

SHELLS = ("bash", "zsh", "fish")


def tried(kind: str, home: Path, within: float = 20.0) -> Tried:
    need(kind)
    return try_shell(shutil.which(kind) or kind, environment(home), within)


@pytest.mark.parametrize("kind", SHELLS)
def test_a_shell_with_plain_files_passes_and_leaves_nothing(kind: str, tmp_path: Path) -> None:
    furnish(tmp_path, kind)
    descriptors = len(os.listdir("/proc/self/fd"))
    found = tried(kind, tmp_path)
    assert (found.word, found.ran) == ("ADMITTED", True)
    assert judged(kind, found).state == "ok"
    assert len(os.listdir("/proc/self/fd")) == descriptors
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


@pytest.mark.parametrize("kind", SHELLS)
def test_a_shell_that_its_files_replace_is_told_of_and_ended(kind: str, tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    furnish(tmp_path, kind, f"sh -c 'echo $$ >{pid}; exec sleep 600'\n")
    found = tried(kind, tmp_path, within=1.0)
    assert found == Tried()
    said = judged(kind, found)
    assert (said.state, kind in said.remedy) == ("warn", True)
    sleeper = int(pid.read_text())
    eventually(lambda: not Path(f"/proc/{sleeper}").exists(), "all of its session has ended")


def test_what_ends_at_once_is_not_waited_for(tmp_path: Path) -> None:
    furnish(tmp_path, "bash", "exit 3\n")
    assert tried("bash", tmp_path, within=600.0) == Tried()


def test_what_is_no_shell_or_is_not_there_is_said(tmp_path: Path) -> None:
    for program in ("/bin/cat", str(tmp_path / "bash")):
        with pytest.raises(OSError, match=r"."):
            try_shell(program, environment(tmp_path), 1.0)


@pytest.mark.parametrize(
    ("found", "state", "words"),
    [
        (Tried("5.2", 0.1, "ADMITTED", True), "ok", "5.2"),
        (Tried("5.2", 4.0, "ADMITTED", True), "warn", "4.0 s"),
        (Tried("5.2", 0.1, "ADMITTED", False), "warn", "end"),
        (Tried("5.2", 0.1, "HOOKS_LOST"), "warn", "HOOKS_LOST"),
        (Tried("5.2", 0.1), "warn", "not answer"),
        (Tried("5.2"), "warn", "no prompt"),
        (Tried(), "warn", "did not come up"),
    ],
)
def test_each_way_to_fail_has_its_words_and_a_remedy(found: Tried, state: str, words: str) -> None:
    said = judged("bash", found)
    assert said.state == state
    assert words in said.found
    assert bool(said.remedy) == (state == "warn")
    assert set(RC) == set(SHELLS)
