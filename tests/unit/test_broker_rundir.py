"""The runtime directory: which one it is, and which are refused, each with a remedy."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from brokerd import rundir
from brokerd.rundir import RuntimeDirError


def test_the_order_of_places() -> None:
    environment = {"COSMIX_RUNTIME_DIR": "/a", "XDG_RUNTIME_DIR": "/b", "TMPDIR": "/c"}
    assert rundir.locate("/x", environment) == Path("/x")
    assert rundir.locate(None, environment) == Path("/a")
    del environment["COSMIX_RUNTIME_DIR"]
    assert rundir.locate(None, environment) == Path("/b/cosmix")
    environment["XDG_RUNTIME_DIR"] = "relative"
    assert rundir.locate(None, environment) == Path(f"/c/cosmix-{os.geteuid()}")
    assert rundir.locate(None, {}) == Path(f"/tmp/cosmix-{os.geteuid()}")


@pytest.mark.parametrize("value", ["", "relative/path"])
def test_a_mistake_in_the_variable_is_not_another_directory(value: str) -> None:
    with pytest.raises(RuntimeDirError, match="COSMIX_RUNTIME_DIR must be an absolute path"):
        rundir.locate(None, {"COSMIX_RUNTIME_DIR": value})


def test_a_missing_directory_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    made = rundir.resolve(tmp_path / "r")
    assert made.stat().st_mode & 0o777 == 0o700
    assert rundir.resolve(made) == made
    assert rundir.socket_path(made) == made / "bus.sock"


def test_a_symbolic_link_is_refused(tmp_path: Path) -> None:
    rundir.resolve(tmp_path / "real")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with pytest.raises(RuntimeDirError, match="is a symbolic link; replace it"):
        rundir.resolve(tmp_path / "link")


@pytest.mark.parametrize("mode", [0o701, 0o710, 0o755, 0o777])
def test_a_directory_open_to_others_is_refused(tmp_path: Path, mode: int) -> None:
    directory = rundir.resolve(tmp_path / "r")
    directory.chmod(mode)
    with pytest.raises(RuntimeDirError, match="run: chmod 700"):
        rundir.resolve(directory)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a directory away")
def test_a_directory_of_another_user_is_refused(tmp_path: Path) -> None:
    directory = rundir.resolve(tmp_path / "r")
    os.chown(directory, 12345, 12345)
    with pytest.raises(RuntimeDirError, match="belongs to another user"):
        rundir.resolve(directory)


def test_a_file_and_a_missing_parent_are_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RuntimeDirError, match="cannot be used as a directory"):
        rundir.resolve(tmp_path / "file")
    with pytest.raises(RuntimeDirError, match="make its parent directory"):
        rundir.resolve(tmp_path / "no" / "r")


def test_the_longest_socket_path_is_107_bytes(tmp_path: Path) -> None:
    room = 107 - len(os.fsencode(tmp_path)) - len("//bus.sock")
    assert rundir.resolve(tmp_path / ("x" * room))
    with pytest.raises(RuntimeDirError, match="over 107 bytes"):
        rundir.resolve(tmp_path / ("x" * (room + 1)))


def test_a_lock_excludes_another_and_names_its_holder(tmp_path: Path) -> None:
    lock = rundir.acquire(tmp_path)
    assert (tmp_path / "broker.lock").read_text() == f"{os.getpid()}\n"
    with pytest.raises(RuntimeDirError, match=rf"already runs on .* \(pid {os.getpid()}\)"):
        rundir.acquire(tmp_path)
    lock.release()
    lock.release()
    assert not (tmp_path / "broker.lock").exists()
    rundir.acquire(tmp_path).release()


def test_a_lock_that_is_no_longer_at_its_path_leaves_the_new_one(tmp_path: Path) -> None:
    old = rundir.acquire(tmp_path)
    (tmp_path / "broker.lock").unlink()
    new = rundir.acquire(tmp_path)
    old.release()
    assert (tmp_path / "broker.lock").exists()
    new.release()


def test_a_link_in_place_of_the_lock_is_refused(tmp_path: Path) -> None:
    (tmp_path / "broker.lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(RuntimeDirError, match="cannot be opened"):
        rundir.acquire(tmp_path)
    assert not (tmp_path / "elsewhere").exists()


def test_who_only_asks_makes_no_directory(tmp_path: Path) -> None:
    with pytest.raises(rundir.RuntimeDirMissing):
        rundir.resolve(tmp_path / "r", make=False)
    assert not (tmp_path / "r").exists()
    made = rundir.resolve(tmp_path / "r")
    assert rundir.resolve(tmp_path / "r", make=False) == made
