"""The command line's own parts: options, tables, completion, exit codes."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

import pytest

from termnode.cli import commands, completion, output, parser, values
from termnode.version import VERSION
from tests.support.programs import need


def test_every_command_has_a_module_that_runs_and_help_that_says_why() -> None:
    import importlib

    for command in commands.COMMANDS:
        assert callable(importlib.import_module(f"termnode.cli.{command.module}").run)
        assert len(command.detail) > 20


@pytest.mark.parametrize("command", [None, *(command.name for command in commands.COMMANDS)])
def test_help_is_printed_and_ends_well(
    command: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        parser.build(VERSION).parse_args([*([command] if command else []), "--help"])
    assert end.value.code == 0
    text = capsys.readouterr().out
    assert "exit codes" in text
    assert "--ready-fd" not in text


@pytest.mark.parametrize("text", ["80x24", "2x1", "1000x500"])
def test_sizes_that_are_taken(text: str) -> None:
    assert "x".join(map(str, values.size(text))) == text


@pytest.mark.parametrize(
    "text",
    ["", "80", "80x", "x24", "0x24", "1x1", "1001x24", "80x501", "8\u0660x24", "-80x24", "80X24"],
)
def test_sizes_that_are_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError):
        values.size(text)


@pytest.mark.parametrize("text", ["x", "brokerd", "1two", "Term", "a_b", "a" * 32, "térm", ""])
def test_names_that_are_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError):
        values.service_name(text)


@pytest.mark.parametrize("text", ["0", "-1", "nan", "inf", "86401", "x", ""])
def test_times_that_are_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError):
        values.seconds(text)


@pytest.mark.parametrize("text", ["-1", "+1", "1.0", "\u0661", "x", "", "9" * 20])
def test_pane_numbers_that_are_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError):
        values.pane_id(text)


@pytest.mark.parametrize("text", ["0", "1001", "-1", "abc", ""])
def test_numbers_of_log_entries_that_are_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError):
        values.log_limit(text)


def test_wide_characters_do_not_push_the_next_column() -> None:
    lines = output.table(("DIRECTORY", "T"), [["/日本", "x"], ["/ascii", "y"]]).split("\n")
    assert lines[1].index("x") == lines[2].index("y") - 2


def test_a_table_aligns_and_never_shows_a_control_character() -> None:
    text = output.table(("A", "B"), [["x\x1b[31m", "1"], ["longer", "2"]])
    lines = text.split("\n")
    assert "\x1b" not in text
    assert lines[1].index("1", 8) == lines[2].index("2")


@pytest.mark.parametrize(
    ("milliseconds", "words"),
    [(None, "-"), (0, "0s"), (59_999, "59s"), (60_000, "1m"), (3_600_000, "1h"), (2e8, "2d")],
)
def test_spans_are_said_shortly(milliseconds: float | None, words: str) -> None:
    assert output.span(milliseconds) == words


def _script(shell: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert completion.run(argparse.Namespace(shell=shell)) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["scr"], "screen"),
        (["posture", "str"], "strict"),
        (["screen", "--pa"], "--pane"),
        (["new", "--cwd", "/us"], "/usr"),
        (["new", "--", "/us"], "/usr"),
        (["call", "--to", ""], ""),
        (["screen", "--format", "sty"], "styled"),
        (["events", "--kind", "pro"], "prompt"),
        (["keys", "PageU"], "PageUp"),
        (["layout", "til"], "tiled"),
    ],
)
def test_bash_completes(
    words: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    need("bash")
    line = " ".join(["termnode", *words])
    script = (
        f"set -u\n{_script('bash', capsys)}\nCOMP_WORDS=({line}); COMP_CWORD={len(words)}\n"
        '_termnode; echo "${COMPREPLY[*]-}"'
    )
    done = subprocess.run(
        ["bash", "--norc", "-c", script], capture_output=True, text=True, timeout=30, check=True
    )
    assert done.stdout.strip() == expected
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["paste", "my"], ["my file"]),
        (["paste", "--pa"], ["--pane"]),
        (["new", "--cwd", "my"], ["my file"]),
        (["keys", "KP"], [f"KP{key}" for key in (*"0123456789/*-+.", "Enter")]),
        (["keys", "my"], []),
    ],
)
def test_bash_completes_names_as_they_are(
    words: list[str], expected: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Files with blanks, and words that would stand for files."""
    need("bash")
    for name in ("my file", "KPfile"):
        (tmp_path / name).touch()
    script = (
        f"{_script('bash', capsys)}\nCOMP_WORDS=(termnode {' '.join(words)}); "
        f"COMP_CWORD={len(words)}\n_termnode; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    )
    done = subprocess.run(
        ["bash", "--norc", "-c", script],
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
        cwd=tmp_path,
    )
    assert sorted(done.stdout.split("\n")[:-1]) == sorted(expected or [""])


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_the_other_shells_take_the_script(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    script = _script(shell, capsys)
    assert all(command.name in script for command in commands.COMMANDS)
    need(shell)
    subprocess.run([shell, "-n", "/dev/stdin"], input=script, text=True, timeout=30, check=True)


def test_the_version_is_the_distributions() -> None:
    from importlib.metadata import version

    assert version("termnode") == VERSION


def test_the_program_says_its_version_without_loading_the_service() -> None:
    probe = (
        "import sys\nfrom termnode.cli.main import main\n"
        "try: main(['--version'])\nexcept SystemExit: pass\n"
        "assert not {'trio', 'zmq', 'termnode.service'} & set(sys.modules), 'start-up grew'"
    )
    subprocess.run([sys.executable, "-c", probe], timeout=60, check=True, capture_output=True)
