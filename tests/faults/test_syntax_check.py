"""Sources put to the shells' own check: what is taken, what is refused, and a check that fails."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import trio

from brokerd.client import Refusal
from termnode.paneshell.prompt import syntax

KINDS = ["bash", "zsh", "fish"]


def reason(kind: str, source: str) -> object:
    """Why the source is refused; None when it is not."""
    try:
        trio.run(syntax.check, kind, 1, source)
    except Refusal as refusal:
        return (str(refusal.code), refusal.details["reason"])
    return None


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("source", ["-x a", "--help; true", "true; -n", "--", "echo $HOME | cat"])
def test_a_source_is_no_option_of_the_shell_that_checks_it(kind: str, source: str) -> None:
    assert reason(kind, source) is None


@pytest.mark.parametrize("kind", KINDS)
def test_a_source_that_looks_like_an_option_is_still_read(kind: str) -> None:
    assert reason(kind, "-c )") == ("INVALID_ARGUMENT", "syntax")


@pytest.mark.parametrize("kind", ["bash", "zsh"])
@pytest.mark.parametrize("source", [":; }; { :", "}\n{ :", ":\n}\n:\n{ :"])
def test_a_source_does_not_end_the_group_that_it_is_put_into(kind: str, source: str) -> None:
    assert reason(kind, source) == ("INVALID_ARGUMENT", "syntax")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "source",
    ["echo 'a", "echo a\necho 'b", "echo a\necho b |", "echo a |\n"],
)
def test_what_asks_for_more_is_unfinished(kind: str, source: str) -> None:
    assert reason(kind, source) == ("INVALID_ARGUMENT", "unfinished_source")


@pytest.mark.parametrize("kind", ["bash", "zsh"])
@pytest.mark.parametrize(
    "source",
    ["for a in b\ndo\necho $a\ndone", "cat <<E\n$a\nE\necho b", "f() {\n:\n}\nf", "\necho $a\n\n"],
)
def test_several_lines_are_taken(kind: str, source: str) -> None:
    assert reason(kind, source) is None


def test_a_plain_source_starts_no_shell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(syntax, "program", _never)
    assert reason("bash", "git status --short") is None
    with pytest.raises(AssertionError):
        reason("bash", "git status $a")


@pytest.mark.parametrize("kind", KINDS)
def test_a_shell_that_cannot_be_started_is_no_verdict(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(syntax, "program", lambda *_: str(tmp_path / "none"))
    assert reason(kind, "echo $a") == ("UNAVAILABLE", "syntax_check")


def test_no_program_is_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(syntax, "program", _raising(FileNotFoundError()))
    assert reason("bash", "echo $a") == ("UNAVAILABLE", "syntax_check")


def test_a_check_that_does_not_end_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stuck = tmp_path / "stuck"
    stuck.write_text(f"#!{sys.executable}\nimport signal\nsignal.pause()\n")
    stuck.chmod(0o700)
    monkeypatch.setattr(syntax, "program", lambda *_: str(stuck))
    monkeypatch.setattr(syntax, "CHECK_SECONDS", 0.05)
    assert reason("bash", "echo $a") == ("UNAVAILABLE", "syntax_check")


def _never(*_: object) -> str:
    raise AssertionError("a shell was asked")


def _raising(error: Exception) -> Callable[..., str]:
    def fail(*_: object) -> str:
        raise error

    return fail
