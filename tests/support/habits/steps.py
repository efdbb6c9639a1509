"""What a habit is: keys, and what is seen of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

from tests.support.integrated_shell import SHELLS


class Step(NamedTuple):
    """Keys, and how it is seen that they were taken."""

    keys: str
    shows: str
    """A regular expression; blanks at ends of rows are not looked at."""
    then: Literal["", "prompt", "program", "builtin", "ended"] = ""
    """What has the terminal then: a prompt below all, another program, the shell's own command,
    nobody."""


RESIZE: Final = "<resize>"
"""In place of keys: the terminal becomes narrower."""


PROMPT: Final = r"(\d \d ~ \d \d )?\S{0,12}[$>%#]( +(right|INSERT))?"
"""How the last row looks at a prompt."""


@dataclass(frozen=True)
class Habit:
    """``rc`` per shell, in place of the plain one; ``{}`` in it is the plain one.

    ``styled``: colours and other looks are compared in fish too, whose ``rc`` has the colours that
    fish gives to a line in its own time switched off.
    """

    written: tuple[Step | tuple[str, str], ...]
    shells: tuple[str, ...] = SHELLS
    rc: Mapping[str, str] = field(default_factory=dict)
    arguments: tuple[str, ...] = ()
    prompt: str = PROMPT
    styled: bool = False

    @property
    def steps(self) -> list[Step]:
        return [Step(*step) for step in self.written]


BASH, ZSH, FISH = ("bash",), ("zsh",), ("fish",)
POSIX: Final = ("bash", "zsh")
SHOWN: Final = "(?m)^done-1$"


def habit(*steps: Step | tuple[str, str], on: tuple[str, ...] = SHELLS, **rc: str) -> Habit:
    return Habit(steps, on, rc)


def line(text: str, shows: str) -> Step:
    return Step(text + "\r", shows, "prompt")


def program(text: str) -> Step:
    return Step(text + "\r", "", "program")
