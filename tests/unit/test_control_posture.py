"""The posture file: whatever is odd about it means strict."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from termnode.control.posture import Posture, file_path, read, start_value, write


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, Posture.OPEN),
        ({"COSMIX_MESH_OPEN": "0"}, Posture.STRICT),
        ({"COSMIX_MESH_OPEN": ""}, Posture.OPEN),
        ({"COSMIX_MESH_OPEN": "1"}, Posture.OPEN),
        ({"COSMIX_MESH_OPEN": "00"}, Posture.OPEN),
        ({"COSMIX_MESH_OPEN": " 0"}, Posture.OPEN),
    ],
)
def test_the_environment_gives_the_start_value(environ: dict[str, str], expected: Posture) -> None:
    assert start_value(environ) is expected


@pytest.mark.parametrize("posture", list(Posture))
def test_what_is_written_is_read(tmp_path: Path, posture: Posture) -> None:
    path = file_path(tmp_path, "term")
    assert path.name == "term.posture"
    write(path, Posture.STRICT)
    write(path, posture)
    assert read(path) is posture
    assert path.stat().st_mode & 0o7777 == 0o600
    assert os.listdir(tmp_path) == ["term.posture"]


def test_the_mode_does_not_depend_on_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o277)
    try:
        write(tmp_path / "p", Posture.OPEN)
    finally:
        os.umask(before)
    assert read(tmp_path / "p") is Posture.OPEN


def missing(path: Path) -> None:
    path.unlink()


def symlink(path: Path) -> None:
    path.rename(path.with_suffix(".real"))
    path.symlink_to(path.with_suffix(".real"))


def second_link(path: Path) -> None:
    os.link(path, path.with_suffix(".twin"))


def group_readable(path: Path) -> None:
    path.chmod(0o640)


def executable(path: Path) -> None:
    path.chmod(0o700)


def setuid(path: Path) -> None:
    path.chmod(0o4600)


def directory(path: Path) -> None:
    path.unlink()
    path.mkdir(0o600)


def fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path, 0o600)


def unreadable(path: Path) -> None:
    path.chmod(0)


def empty(path: Path) -> None:
    path.write_bytes(b"")


def content(raw: bytes) -> Callable[[Path], None]:
    def other_content(path: Path) -> None:
        path.write_bytes(raw)

    return other_content


@pytest.mark.parametrize(
    "spoil",
    [
        missing,
        symlink,
        second_link,
        group_readable,
        executable,
        setuid,
        directory,
        fifo,
        unreadable,
        empty,
        *map(content, [b"OPEN\n", b"open \n", b"open\n\n", b" open", b"\xff", b"open\0", b"o" * 99,
                       b"open" + b"\n" * 20]),
    ],
)  # fmt: skip
def test_anything_odd_means_strict(tmp_path: Path, spoil: Callable[[Path], None]) -> None:
    path = tmp_path / "p"
    write(path, Posture.OPEN)
    assert read(path) is Posture.OPEN
    spoil(path)
    assert read(path) is Posture.STRICT


def test_another_owner_means_strict(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("changing a file's owner needs root")
    path = tmp_path / "p"
    write(path, Posture.OPEN)
    os.chown(path, 65_533, -1)
    assert read(path) is Posture.STRICT


def test_a_path_that_cannot_be_is_strict(tmp_path: Path) -> None:
    assert read(tmp_path / "a\0b") is Posture.STRICT
    assert read(tmp_path / "no" / "such" / "dir") is Posture.STRICT


def test_reading_leaves_no_descriptor_behind(tmp_path: Path) -> None:
    path = tmp_path / "p"
    write(path, Posture.OPEN)
    before = len(os.listdir("/proc/self/fd"))
    for spoil in (lambda _: None, empty, group_readable, missing):
        spoil(path)
        read(path)
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_failed_write_keeps_what_was_and_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "p"
    path.mkdir()
    with pytest.raises(OSError, match="directory"):
        write(path, Posture.OPEN)
    assert os.listdir(tmp_path) == ["p"]
