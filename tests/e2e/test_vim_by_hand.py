"""A file edited in vim with keys, text and a paste, as by hand."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.byte_programs import Reader, ended, paste
from tests.support.programs import need
from tests.support.termnode_process import Service
from tests.support.termnode_process import plain_service as service


@pytest.fixture(scope="module")
def term() -> Iterator[Service]:
    need("vim")
    with service("--size", "80x24") as running:
        yield running


def vim(term: Service, path: Path, *commands: str) -> int:
    """A pane with vim on the file, without anybody's configuration."""
    options = [word for command in commands for word in ("-c", command)]
    argv = ["vim", "-u", "NONE", "-N", "-n", *options, str(path)]
    pane: int = term.good("term.tab.new", {"argv": argv})["pane"]
    term.wait(f'"{path.name}|{path.name}"', pane)
    return pane


def keys(term: Service, pane: int, *names: str) -> None:
    assert term.good("term.keys", {"pane": pane, "keys": list(names)})["outcome"] == "written"


def insert(term: Service, pane: int) -> None:
    keys(term, pane, "i")
    term.wait("-- INSERT --", pane)


def save(term: Service, pane: int) -> None:
    """Leave insert mode, write the file, quit, and see the program end."""
    keys(term, pane, "Escape")
    term.good("term.type", {"pane": pane, "text": ":wq", "enter": True})
    ended(term, pane)


def indented(lines: int) -> str:
    """Lines that begin with tabs and blanks, as code does: what autoindent would add to."""
    chance = random.Random(7)
    return "\n".join(
        "\t" * chance.randrange(4) + " " * chance.randrange(3) + f"line {number}; {{ \t end"
        for number in range(lines)
    )


def test_200_indented_lines_are_pasted_as_they_are(term: Service, tmp_path: Path) -> None:
    text = indented(200)
    path = tmp_path / "pasted.txt"
    pane = vim(term, path, "set autoindent")
    insert(term, pane)
    rc, answer = paste(term, pane, text)
    assert (rc, answer["outcome"], answer["bracketed"]) == (0, "written", True)
    save(term, pane)
    assert path.read_bytes() == text.encode() + b"\n"


def test_the_same_lines_typed_are_indented_anew(term: Service, tmp_path: Path) -> None:
    """What the brackets are for: without them the test above fails."""
    text = indented(5)
    path = tmp_path / "typed.txt"
    pane = vim(term, path, "set autoindent")
    insert(term, pane)
    term.good("term.type", {"pane": pane, "text": text})
    save(term, pane)
    assert path.read_bytes() != text.encode() + b"\n"


def test_lines_are_moved_undone_and_written_with_keys(term: Service, tmp_path: Path) -> None:
    path = tmp_path / "moved.txt"
    path.write_text("one\ntwo\nthree\n")
    pane = vim(term, path, "set backspace=2")
    keys(term, pane, "G", "d", "d", "g", "g", "P")  # three, one, two
    keys(term, pane, "x", "u", "C-r", "u")  # a letter away, back, away, back
    keys(term, pane, "Down", "End", "a")
    term.wait("-- INSERT --", pane)
    answer = term.good("term.type", {"pane": pane, "text": "!;", "confirm": True})
    assert answer["outcome"] == "echoed"
    keys(term, pane, "Enter", "x", "Left", "y", "End", "BSpace", "z", "Home", "Tab")
    save(term, pane)
    assert path.read_text() == "three\none!;\n\tyz\ntwo\n"


def test_a_command_line_is_confirmed_too(term: Service, tmp_path: Path) -> None:
    path = tmp_path / "confirmed.txt"
    path.write_text("aaa\n")
    pane = vim(term, path)
    body = {"pane": pane, "text": ":s/a/b/g", "enter": True, "confirm": True}
    assert term.good("term.type", body)["outcome"] == "submitted"
    term.wait("^bbb$", pane)
    save(term, pane)
    assert path.read_text() == "bbb\n"


def test_the_reader_of_these_tests_tells_changed_bytes(term: Service, tmp_path: Path) -> None:
    reader = Reader(term, tmp_path / "read")
    term.good("term.type", {"pane": reader.pane, "text": "ab"})
    with pytest.raises(AssertionError):
        reader.reads(b"ac")
