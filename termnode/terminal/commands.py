"""What a shell says of its prompts and commands by OSC 133 marks. Sans-IO.

A: a prompt begins. B: it ends, what follows is typed. C: a command runs, its output begins.
D, D;status: it has ended. Shells differ in which they send and when: an empty line gives D without
C, pasted lines one C each and one D for all. Marks are the program's word: output can forge them,
unless the shell was given a nonce for its own ones.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from termnode.terminal.engine import Event

Place = tuple[int, int]
"""Line number (as ``Engine.scrolled`` numbers them) and column."""

Phase = Literal["unknown", "prompt", "input", "running"]
"""``input``: the prompt is there and what is typed is edited. ``unknown``: no mark tells."""

_STATUS: Final = re.compile(r"-?\d{1,10}", re.ASCII)

_ORDER: Final = "DAB"
"""How the marks follow each other around a prompt."""

_SECONDARY: Final = frozenset(("k=s", "k=c", "k=r"))
"""Prompts that ask for more of a line, or stand at its right: not where a command begins."""


@dataclass(slots=True)
class Command:
    """A command that ran, or runs while ``ended_revision`` is None.

    ``start`` and ``end`` are where its output begins and ends; None when no line number says it: on
    the alternate screen, after another width, and while it runs.
    """

    start: Place | None
    started_revision: int
    started: float
    """When it began, by the clock of the marks."""
    end: Place | None = None
    status: int | None = None
    """As the shell gave it; None when it gave none, or while it runs."""
    ended_revision: int | None = None
    duration_ms: int | None = None


@dataclass(frozen=True, slots=True)
class CommandEnded:
    """A command has ended; ``status`` is None where the shell gave none."""

    status: int | None
    duration_ms: int
    revision: int


@dataclass(frozen=True, slots=True)
class PromptReady:
    """The shell waits for a command."""

    revision: int


Signal = Event | CommandEnded | PromptReady
"""What a terminal tells besides its screen; no event in it is a prompt mark."""


class Commands:
    """The state of one shell, by its marks. Nothing here raises, whatever the marks are."""

    def __init__(self) -> None:
        self.marked = False
        """Whether there was any mark."""
        self.nonce: str | None = None
        """What the pane's own shell puts into each of its marks; then a mark without it is none."""
        self.group: int | None = None
        """The process group that read the keys when the newest mark around a prompt came: its
        shell, mostly. None when it is not known."""
        self.phase: Phase = "unknown"
        self.prompt_revision: int | None = None
        """When the present prompt became ready; None when the shell is not at one."""
        self.last: Command | None = None
        """The newest command that ran."""
        self._ready_by = "D"
        """The last of D, A and B that the shell sends: it makes a prompt ready."""
        self._ready_at: Place | None = None

    def mark(
        self,
        text: str,
        line: int | None,
        column: int | None,
        revision: int,
        now: float,
        *,
        group: int | None = None,
    ) -> Sequence[CommandEnded | PromptReady]:
        """Take in a mark: its text behind ``133;``, where the cursor stood, when it came.

        ``now`` is in seconds; ``group`` reads the keys. Returns what it tells, in order; mostly
        nothing or one thing.
        """
        letter, *fields = text.split(";", 9)[:9]
        if letter not in ("A", "B", "C", "D") or not _SECONDARY.isdisjoint(fields):
            return ()
        if self.nonce is not None and f"n={self.nonce}" not in fields:
            return ()
        self.marked = True
        if letter != "C":  # by then the command itself may be in front
            self.group = group
        place = None if line is None or column is None else (line, column)
        status = _status(fields) if letter == "D" else None
        ended = self._ends(place, status, revision, now) if letter != "B" else None
        if letter == "C":
            self._begins(place, revision, now)
            ready = None
        else:
            ready = self._prompt(letter, place, revision)
        return [told for told in (ended, ready) if told is not None]

    def renumbered(self) -> None:
        """Line numbers began anew: places are not known any more."""
        self._ready_at = None
        if self.last is not None:
            self.last.start = self.last.end = None

    def _ends(
        self, place: Place | None, status: int | None, revision: int, now: float
    ) -> CommandEnded | None:
        """D, or a mark that can only come when what ran has ended; None when nothing ran."""
        command = self.last
        if command is None or command.ended_revision is not None:
            return None
        command.end, command.status, command.ended_revision = place, status, revision
        command.duration_ms = max(0, round((now - command.started) * 1000))
        self.phase = "unknown"
        return CommandEnded(status, command.duration_ms, revision)

    def _begins(self, place: Place | None, revision: int, now: float) -> None:
        self.phase, self.prompt_revision = "running", None
        self.last = Command(place, revision, now)

    def _prompt(self, letter: str, place: Place | None, revision: int) -> PromptReady | None:
        """A or B, or D with or without a command before it."""
        if letter != "D":
            self.phase = "input" if letter == "B" else "prompt"
        told = self.prompt_revision is not None
        if _ORDER.index(letter) > _ORDER.index(self._ready_by):
            self._ready_by = letter  # the same prompt, by a better mark
        elif letter != self._ready_by or self._is_redrawn(place):
            return None
        else:
            told = False
        if letter == "D":
            self.phase = "prompt"
        self.prompt_revision, self._ready_at = revision, place
        return None if told else PromptReady(revision)

    def _is_redrawn(self, place: Place | None) -> bool:
        """Whether the present prompt was only drawn again where it stood."""
        return self.prompt_revision is not None and place is not None and place == self._ready_at


def _status(fields: list[str]) -> int | None:
    given = fields[0] if fields else ""
    return int(given) if _STATUS.fullmatch(given) else None
