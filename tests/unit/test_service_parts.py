"""Small parts of the service that need no other process."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from brokerd.client import Lock, LockHeld, lock_holder
from termnode.service.keeping.instance import AlreadyRunning, InstanceFiles
from termnode.service.program import default_shell, pane_environment


def test_a_pane_gets_the_persons_environment_and_knows_where_it_is(tmp_path: Path) -> None:
    base = {
        "PATH": "/bin",
        "TERM": "dumb",
        "TMUX": "/x",
        "COLUMNS": "300",
        "COSMIX_SESSION_FD": "7",
        "EDITOR": "vi",
    }
    made = pane_environment(base, {"EDITOR": "nano"}, "term", tmp_path, 4)
    assert made["PATH"] == "/bin"
    assert made["EDITOR"] == "nano"
    assert made["TERM"] == "xterm-256color"
    assert made["TERMNODE_PANE"] == "4"
    assert made["COSMIX_RUNTIME_DIR"] == str(tmp_path)
    assert not {"TMUX", "COLUMNS", "COSMIX_SESSION_FD"} & made.keys()


@pytest.mark.parametrize("given", ["", "bash", "/no/such/shell", "/etc/passwd"])
def test_a_shell_that_cannot_be_run_is_not_the_default(given: str) -> None:
    shell = default_shell({"SHELL": given})
    assert shell != given
    assert os.access(shell, os.X_OK)


def test_one_service_per_name_and_directory(tmp_path: Path) -> None:
    files = InstanceFiles(tmp_path, "term")
    assert files.running() is None
    lock = files.acquire()
    assert files.running() == os.getpid()
    with pytest.raises(AlreadyRunning) as refused:
        files.acquire()
    assert refused.value.pid == os.getpid()
    assert "--name" in str(refused.value)
    other = InstanceFiles(tmp_path, "other").acquire()
    other.release()
    lock.release()
    assert files.running() is None
    assert list(tmp_path.iterdir()) == []


def test_a_lock_file_that_nobody_holds_is_taken_over(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    path.write_text("1\n")
    assert lock_holder(path) is None
    lock = Lock(path)
    assert lock_holder(path) == os.getpid()
    with pytest.raises(LockHeld):
        Lock(path)
    lock.release()
    lock.release()
    assert not path.exists()


def test_a_lock_whose_file_was_replaced_leaves_the_new_file(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    lock = Lock(path)
    path.unlink()
    successor = Lock(path)
    lock.release()
    assert lock_holder(path) == os.getpid()
    successor.release()


def test_a_lock_is_never_a_symbolic_link(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("")
    (tmp_path / "lock").symlink_to(tmp_path / "target")
    with pytest.raises(OSError, match="symbolic"):
        Lock(tmp_path / "lock")
    assert lock_holder(tmp_path / "lock") is None
