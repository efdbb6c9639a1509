"""The last command's output is what stands between its marks, without what the shell adds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import cast

import pytest

from brokerd.client import Refusal
from termnode.service.looking import snapshot_command
from termnode.service.looking.snapshot_command import last_command
from termnode.service.looking.snapshot_part import read
from termnode.service.state import Result
from termnode.terminal import engines
from termnode.terminal.commands import Commands
from termnode.terminal.engine import Engine, EventKind, Modes
from termnode.terminal.pty_terminal import Terminal
from termnode.terminal.screen_log import ScreenLog

COLS, ROWS = 20, 6
PROMPT = b"\x1b]133;A\x07$ \x1b]133;B\x07"


@dataclass
class Pane:
    """What of a terminal the last command is found by."""

    engine: Engine
    log: ScreenLog = field(default_factory=ScreenLog)
    commands: Commands = field(default_factory=Commands)
    revision: int = 0
    rows: int = ROWS

    def feed(self, data: bytes) -> None:
        self.engine.feed(data)
        self.revision += 1
        for event in self.engine.take_events():
            if event.kind is EventKind.PROMPT_MARK:
                self.commands.mark(event.text, event.line, event.column, self.revision, 1.0)
        self.log.sync(self.engine, self.revision)

    def run(self, output: bytes, status: int = 0, sign: bytes = b"") -> None:
        """A command between two prompts; ``sign`` comes before the mark of its end."""
        self.feed(b"%bcmd\r\n\x1b]133;C\x07" % PROMPT)
        self.feed(b"%b%b\x1b]133;D;%d\x07%b" % (output, sign, status, PROMPT))

    def output(self) -> tuple[list[str], Result]:
        part, about = last_command(cast(Terminal, self))
        rows = read(self.engine, self.log, part, styled=False)
        return [row.text for row in rows], {**about, "missed": part.missed}

    def reason(self) -> object:
        with pytest.raises(Refusal) as caught:
            self.output()
        return caught.value.details["reason"]


@pytest.fixture(params=engines.available())
def pane(request: pytest.FixtureRequest) -> Iterator[Pane]:
    engine = engines.make(request.param)(COLS, ROWS, 40)
    yield Pane(engine)
    engine.close()


def sign(char: str, look: bytes = b"\x1b[1m\x1b[7m") -> bytes:
    """What zsh writes before a prompt: a sign, blanks to the end of a line, and blanks over it."""
    return look + char.encode() + b"\x1b[m" + b" " * (COLS - 1) + b"\r \r"


@pytest.mark.parametrize(
    ("output", "wanted"),
    [
        (b"", []),
        (b"\r\n", [""]),
        (b"one\r\n\r\ntwo\r\n", ["one", "", "two"]),
        (b"abc", ["abc"]),
        ("中文 x".encode(), ["中文 x"]),
        (b"x" * COLS, ["x" * COLS]),
        (b"x" * (COLS + 3), ["x" * COLS, "xxx"]),
        (b"100%", ["100%"]),
        (b"\x1b[7m%\x1b[m\r\n", ["%"]),
    ],
)
def test_output_is_what_stands_between_the_marks(
    pane: Pane, output: bytes, wanted: list[str]
) -> None:
    pane.run(output, 3)
    rows, about = pane.output()
    assert rows == wanted
    assert (about["running"], about["status"], about["missed"]) == (False, 3, 0)


@pytest.mark.parametrize("output", [b"", b"abc", b"100%", "中".encode(), b"x" * (COLS - 1)])
@pytest.mark.parametrize("char", ["%", "#", "⏎"])
def test_the_sign_of_an_unfinished_line_is_no_output(
    pane: Pane, output: bytes, char: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pane.run(output, sign=sign(char))
    wanted = [output.decode()] if output else []
    assert pane.output()[0] == wanted
    monkeypatch.setattr(snapshot_command, "_SIGNS", frozenset())
    assert (pane.output()[0] == wanted) is (output == b"")


def test_a_sign_that_looks_like_output_is_output(pane: Pane) -> None:
    pane.run(b"x", sign=sign("%", look=b""))
    assert pane.output()[0] == ["x%"]


def test_a_full_line_before_the_sign_stays_whole(pane: Pane) -> None:
    pane.run(b"x" * COLS, sign=sign("%"))
    assert pane.output()[0] == ["x" * COLS]


def test_a_command_that_runs_has_written_down_to_the_last_text(pane: Pane) -> None:
    pane.feed(PROMPT + b"cmd\r\n\x1b]133;C\x07one\r\ntwo")
    rows, about = pane.output()
    assert rows == ["one", "two"]
    assert about == {"running": True, "output_line": 1, "missed": 0}


def test_what_is_out_of_history_is_missed(pane: Pane) -> None:
    pane.run(b"".join(b"%d\r\n" % n for n in range(300)))
    rows, about = pane.output()
    assert rows[-1] == "299"
    assert about["missed"] == 300 - len(rows) > 0
    pane.feed(b"\r\n" * 900)
    assert pane.reason() == "output_gone"


def test_there_are_reasons_to_have_no_output(pane: Pane) -> None:
    assert pane.reason() == "no_marks"
    pane.feed(PROMPT)
    assert pane.reason() == "no_command"
    pane.run(b"text\r\n")
    assert pane.output()[0] == ["text"]
    pane.feed(b"\x1b[?1049h")
    assert pane.engine.modes != Modes()
    assert pane.reason() == "output_gone"
    pane.feed(b"\x1b[?1049l")
    assert pane.output()[0] == ["text"]
    pane.commands.renumbered()
    assert pane.reason() == "output_gone"


def test_a_command_that_clears_the_screen_has_no_output(pane: Pane) -> None:
    pane.run(b"text\r\n")
    pane.run(b"\x1b[H\x1b[2J")
    assert pane.output()[0] == []
