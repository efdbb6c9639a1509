"""What a shell's prompt marks say, in the orders that real shells send them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from termnode.terminal.commands import Command, CommandEnded, Commands, PromptReady

PHASES = {"unknown", "prompt", "input", "running"}


class Shell:
    """Marks as a shell sends them: each one line lower, one revision later, 0.25 s later."""

    def __init__(self, marks: str = "") -> None:
        self.commands = Commands()
        self.told: list[CommandEnded | PromptReady] = []
        self.line = self.revision = 0
        self.send(marks)

    def send(self, marks: str, *, line: int | None = None) -> Shell:
        """Marks separated by blanks."""
        for mark in marks.split():
            self.revision += 1
            self.line = self.line + 1 if line is None else line
            told = self.commands.mark(mark, self.line, 2, self.revision, self.revision / 4)
            self.told += told
        return self

    @property
    def last(self) -> Command:
        assert self.commands.last is not None
        return self.commands.last

    @property
    def statuses(self) -> list[int | None]:
        """Of the commands that have ended."""
        return [told.status for told in self.told if isinstance(told, CommandEnded)]

    @property
    def prompts(self) -> list[int]:
        """When a prompt was told of."""
        return [told.revision for told in self.told if isinstance(told, PromptReady)]


def test_one_command() -> None:
    shell = Shell("A B")
    assert (shell.commands.phase, shell.commands.prompt_revision) == ("input", 2)
    assert shell.commands.last is None
    shell.send("C")
    assert (shell.commands.phase, shell.commands.prompt_revision) == ("running", None)
    assert shell.last == Command((3, 2), 3, 0.75)
    shell.send("D;7")
    assert shell.commands.phase == "unknown"
    assert shell.last == Command((3, 2), 3, 0.75, (4, 2), 7, 4, 250)
    shell.send("A")
    assert (shell.commands.phase, shell.commands.prompt_revision) == ("prompt", None)
    shell.send("B")
    assert (shell.commands.phase, shell.commands.prompt_revision) == ("input", 6)
    assert shell.told == [PromptReady(1), CommandEnded(7, 250, 4), PromptReady(6)]


def test_nothing_is_known_without_marks() -> None:
    commands = Commands()
    assert (commands.marked, commands.phase, commands.prompt_revision) == (False, "unknown", None)
    assert commands.last is None


@pytest.mark.parametrize(
    ("marks", "statuses", "phase"),
    [
        # Three lines typed, three pasted at once (one D, with the status of the last).
        ("A B C D;0 A B C D;1 A B C D;0 A B", [0, 1, 0], "input"),
        ("A B C C C D;3 A B", [None, None, 3], "input"),
        # An empty line, a comment, Ctrl-C: D without C repeats a status that nothing had.
        ("A B C D;5 A B D;5 A B", [5], "input"),
        ("A B D;0 A B", [], "input"),
        ("A B D;130 A B", [], "input"),
        # set -e, exit, exec: the end comes without D. A nested shell marks nothing.
        ("A B C", [], "running"),
        # Ctrl-Z, a crash, a kill.
        ("A B C D;148 A B C D;139 A B C D;137", [148, 139, 137], "unknown"),
        # A forged D comes before the true one, which is then without a command.
        ("A B C D;0 D;1 A B", [0], "input"),
        # The marks stop, or D never comes.
        ("A B C D;0", [0], "unknown"),
        ("A B C A B", [None], "input"),
        # Fields of some shells, and letters that mean nothing here.
        ("A;cl=m;aid=7 B C;cmdline_url=ls D;2;aid=7 A;cl=m B", [2], "input"),
        ("P;k=i N I;x L A B Z;1 133 A;k=s B;k=s", [], "input"),
        # No status, or none that is one.
        (
            "C D C D; C D;aid=3 C D;x C D;-1 C D;٣ C D;99999999999",
            [None] * 4 + [-1, None, None],
            "prompt",
        ),
    ],
)
def test_marks_as_shells_send_them(marks: str, statuses: list[int | None], phase: str) -> None:
    shell = Shell(marks)
    assert shell.statuses == statuses
    assert shell.commands.phase == phase


def test_a_prompt_without_a_command_is_a_newer_prompt() -> None:
    """The shell refuses a line (history expansion): only the prompt's end is marked again."""
    assert Shell("A B B").prompts == [1, 3]
    assert Shell("A B D;0 A B").prompts == [1, 5]
    assert Shell("A B C D;0 A B").prompts == [1, 6]


def test_a_prompt_that_is_drawn_again_in_its_place_is_no_newer_one() -> None:
    shell = Shell("A B").send("A B A B", line=2)
    assert shell.prompts == [1]
    assert (shell.commands.phase, shell.commands.prompt_revision) == ("input", 2)
    shell.commands.renumbered()
    shell.send("B", line=2)
    assert shell.commands.prompt_revision == 7


def test_the_last_mark_that_a_shell_sends_makes_its_prompt_ready() -> None:
    assert Shell("A C D;0 A C D;0 A").prompts == [1, 4, 7]
    assert Shell("C D;0 C D;0").prompts == [2, 4]
    assert Shell("D;0 A B C D;0 A B").prompts == [1, 7]
    shell = Shell("A C A")  # D never comes
    assert shell.told == [PromptReady(1), CommandEnded(None, 250, 3), PromptReady(3)]


def test_places_go_when_lines_are_numbered_anew() -> None:
    shell = Shell("A B C D;0")
    shell.commands.renumbered()
    assert (shell.last.start, shell.last.end, shell.last.status) == (None, None, 0)


def test_there_is_no_place_on_the_alternate_screen() -> None:
    commands = Commands()
    commands.mark("C", None, 3, 1, 0.0)
    commands.mark("D", 4, None, 2, 1.0)
    assert commands.last == Command(None, 1, 0.0, None, None, 2, 1_000)


def test_a_clock_that_goes_back_makes_no_negative_time() -> None:
    commands = Commands()
    commands.mark("C", 1, 0, 1, 9.0)
    assert commands.mark("D", 1, 0, 2, 1.0)[0] == CommandEnded(None, 0, 2)


mark = st.text("ABCDPk=s;0139", max_size=6) | st.text(max_size=20)
place = st.none() | st.integers(0, 3)


@settings(max_examples=500, deadline=None)
@given(marks=st.lists(st.tuples(mark, place, place), max_size=30))
def test_nothing_raises_and_everything_fits(
    marks: list[tuple[str, int | None, int | None]],
) -> None:
    commands = Commands()
    for revision, (text, line, column) in enumerate(marks):
        before = commands.last
        told = commands.mark(text, line, column, revision, float(revision))
        assert commands.phase in PHASES
        assert (commands.phase == "running") == (
            commands.last is not None and commands.last.ended_revision is None
        )
        assert commands.prompt_revision is None or commands.phase != "running"
        assert [type(one) for one in told] in (
            [],
            [CommandEnded],
            [PromptReady],
            [CommandEnded, PromptReady],
        )
        if commands.last is not before and before is not None:
            assert before.ended_revision is not None
