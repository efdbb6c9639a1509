"""What starts a shell with its integration, its directory, and what is asked of it there."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from termnode.paneshell.integration import (
    TRIGGER,
    Request,
    ShellDir,
    as_one_command,
    plan,
    take_claim,
    write_request,
)
from termnode.paneshell.integration.directory import PIPE_BYTES, open_control

HERE = Path("/run/x")
ENV = {"PATH": "/bin", "ENV": "/etc/mine", "ZDOTDIR": "/etc/z"}


@pytest.mark.parametrize(
    "argv",
    [
        (),
        ("sh",),
        ("dash", "-i"),
        ("bash", "-c", "x"),
        ("bash", "script"),
        ("bash", "--norc"),
        ("zsh", "-f"),
        ("fish", "-N"),
        ("/usr/bin/python3",),
    ],
)
def test_other_programs_are_left_alone(argv: tuple[str, ...]) -> None:
    assert plan(argv, ENV, HERE) is None


@pytest.mark.parametrize("argv", [("bash",), ("/bin/bash", "-i")])
def test_bash_reads_the_integration_in_place_of_its_rc(argv: tuple[str, ...]) -> None:
    planned = plan(argv, ENV, HERE)
    assert planned
    assert planned.kind == "bash"
    assert planned.argv[:2] == (argv[0], "--rcfile")
    assert Path(planned.argv[2]).is_file()
    assert planned.argv[3:] == argv[1:]
    assert planned.env == {**ENV, "TERMNODE_SHELL_DIR": "/run/x"}


def test_a_login_bash_stays_one_and_keeps_the_persons_env() -> None:
    planned = plan(("bash", "--login", "-i"), ENV, HERE)
    assert planned
    assert planned.argv == ("bash", "--posix", "-l", "-i")
    assert Path(planned.env["ENV"]).is_file()
    assert planned.env["TERMNODE_ENV"] == "/etc/mine"
    without = plan(("bash", "-l"), {}, HERE)
    assert without
    assert "TERMNODE_ENV" not in without.env


def test_zsh_gets_its_own_start_and_the_persons_place_back() -> None:
    planned = plan(("zsh", "-l"), ENV, HERE)
    assert planned
    assert planned.argv == ("zsh", "-l")
    assert (Path(planned.env["ZDOTDIR"]) / ".zshenv").is_file()
    assert (Path(planned.env["ZDOTDIR"]) / "__termnode_first").is_file()
    assert planned.env["TERMNODE_ZDOTDIR"] == "/etc/z"


def test_fish_runs_the_integration_after_its_configuration() -> None:
    planned = plan(("fish", "-l"), ENV, HERE)
    assert planned
    assert planned.argv[:3] == ("fish", "-l", "-C")
    assert planned.argv[3].startswith("source '")
    assert Path(planned.argv[3].removeprefix("source '").removesuffix("'")).is_file()


def test_the_callers_environment_is_not_changed() -> None:
    before = dict(ENV)
    plan(("zsh",), ENV, HERE)
    assert before == ENV


def test_a_directory_is_private_and_whole_and_goes(tmp_path: Path) -> None:
    made = ShellDir.make(tmp_path)
    assert stat.S_IMODE(made.path.stat().st_mode) == 0o700
    assert (made.path / "nonce").read_text() == made.nonce + "\0"
    assert stat.S_ISFIFO((made.path / "ctl").stat().st_mode)
    assert len(made.nonce) == 16
    again = open_control(made.path)
    os.write(again, b"x" * min(PIPE_BYTES, 60_000))  # and nobody reads
    assert os.read(made.control, 10) == b"x" * 10
    os.close(again)
    made.close()
    made.close()
    assert not made.path.exists()


def test_two_directories_share_nothing(tmp_path: Path) -> None:
    first, second = ShellDir.make(tmp_path), ShellDir.make(tmp_path)
    assert first.path != second.path
    assert first.nonce != second.nonce
    first.close()
    second.close()


def test_a_directory_that_cannot_be_filled_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError

    monkeypatch.setattr(os, "mkfifo", refuse)
    with pytest.raises(OSError):  # noqa: PT011 - the very error of the refusing call
        ShellDir.make(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_request_is_four_fields_and_replaces_the_one_before(tmp_path: Path) -> None:
    write_request(tmp_path, Request("op-1", 3, "# me", "echo é\necho"))
    write_request(tmp_path, Request("op-2", 4, "# you", "a\tb"))
    assert (tmp_path / "req").read_bytes() == b"op-2\x004\0# you\0a\tb\0"
    assert [entry.name for entry in tmp_path.iterdir()] == ["req"]


@pytest.mark.parametrize(
    ("name", "announcement", "source"),
    [
        ("", "", ""),
        ("../x", "", ""),
        ("a" * 65, "", ""),
        ("ü", "", ""),
        ("a", "two\nlines", ""),
        ("a", "\x1b[m", ""),
        ("a", "", "nul\0"),
    ],
)
def test_a_request_that_would_be_another_is_refused(
    name: str, announcement: str, source: str
) -> None:
    with pytest.raises(ValueError, match=r"request|announcement"):
        Request(name, 1, announcement, source)


def test_a_claim_is_taken_once(tmp_path: Path) -> None:
    assert take_claim(tmp_path, "op-1")
    assert not take_claim(tmp_path, "op-1")
    assert take_claim(tmp_path, "op-2")
    with pytest.raises(OSError, match="No such"):
        take_claim(tmp_path / "gone", "op-1")


def test_several_lines_are_one_command_of_the_shell() -> None:
    assert as_one_command("bash", "echo\n") == "echo"
    assert as_one_command("zsh", "a\nb\n") == "{\na\nb\n}"
    assert as_one_command("fish", "a\nb") == "begin\na\nb\nend"
    assert as_one_command("bash", "a \\", always=True) == "{\na \\\n}"


def test_the_trigger_is_one_control_byte() -> None:
    assert len(TRIGGER) == 1
    assert TRIGGER < b" "
