"""A person at a view who types at random: lines, pastes, searches, interrupts, two editing modes.

What was entered is known, so that afterwards it can be held against what the shell ran.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Final

from termnode.view.messages import Item, Key, Pasted, Text
from tests.support.view_client import Viewer

PATIENCE: Final = 15.0
"""Seconds that the person waits for what must come."""

LOG: Final = "~/ran.log"

MODES: Final = {
    "bash": ("set -o vi", "set -o emacs"),
    "zsh": ("bindkey -v", "bindkey -e"),
}
"""How the editing modes are chosen, vi and usual."""

LEAVES: Final = {"fish": "Escape"}
"""The key that gives up a search, where it is not C-g."""


class Typist:
    """``entered`` are the words of the lines that were entered, in order.

    ``has_run`` says whether the word of a line was logged by the shell.
    """

    def __init__(self, view: Viewer, shell: str, seed: int, has_run: Callable[[str], bool]) -> None:
        self.entered: list[str] = []
        self.deeds: list[str] = []
        """What was done, in order."""
        self._view = view
        self._shell = shell
        self._random = random.Random(seed)
        self._has_run = has_run
        self._vi = False
        self._number = 0

    def act(self) -> None:
        """Do one thing, and then nothing for a moment."""
        deeds = (self._type, self._paste, self._search, self._edit, self._empty, self._give_up)
        weights = (8, 3, 3, 4, 2, 2)
        deed = self._random.choices((*deeds, self._other_mode), (*weights, 1))[0]
        self.deeds.append(deed.__name__.strip("_"))
        deed()
        self._rest(self._random.choice((0.0, 0.02, 0.1, 0.4, 0.8)))

    def last(self) -> None:
        """Enter a last line, which must be run."""
        self._press(Text(self._line()), Key("Enter"))
        self._await_all()

    def sees(self) -> list[str]:
        """The last rows that are not blank."""
        return [row for row in self._view.rows() if row][-6:]

    # -- deeds -------------------------------------------------------------------------------------

    def _type(self) -> None:
        """A line, a few keys at a time."""
        self._slowly(self._line())
        self._press(Key("Enter"))

    def _paste(self) -> None:
        """One line or two at once."""
        lines = [self._line() for _ in range(self._random.choice((1, 2)))]
        self._press(Pasted("\n".join(lines)))
        self._pause()
        self._press(Key("Enter"))

    def _search(self) -> None:
        """Look into the history for something, give that up, clear the line, and type."""
        self._begin("ec")
        self._press(Key("C-r"))
        self._pause()
        self._slowly("ho")
        self._press(Key(LEAVES.get(self._shell, "C-g")))
        if self._shell in LEAVES:  # a panel of its own, in which C-u is about the search
            self._until(lambda: not any("search:" in row for row in self._view.rows()), "its end")
        self._press(Key("C-u"))
        self._until(lambda: self._at_prompt().endswith("$"), "an empty line")
        self._type()

    def _edit(self) -> None:
        """Mistakes that are mended before the line is entered."""
        self._begin("ec")
        line = self._line()
        at = self._random.randrange(2, len(line))
        self._slowly(line[2:at])
        if self._vi:
            self._press(Key("Escape"))
            self._pause()
            self._press(Text("A"))
        else:
            self._press(Text("zz"), Key("BSpace"), Key("BSpace"))
            self._pause()
            self._press(Key("C-a"), Key("C-e"))
        self._slowly(line[at:])
        self._press(Key("Enter"))

    def _empty(self) -> None:
        self._press(Key("Enter"))

    def _give_up(self) -> None:
        """Half a line and then C-c, until the prompt is seen to be free again.

        An interrupt may hit an agent's command, and takes with it some of what was typed ahead.
        """
        self._begin("ec")
        self._slowly(f"ho given-up >>{LOG}")
        self._until(self._interrupted, "the prompt is free again")

    def _interrupted(self) -> bool:
        self._press(Key("C-c"))
        self._rest(0.1)
        return self._at_prompt().endswith("$")

    def _other_mode(self) -> None:
        modes = MODES.get(self._shell)
        if modes is None:
            return
        self._vi = not self._vi
        self._slowly(modes[0 if self._vi else 1])
        self._press(Key("Enter"))

    # -- how ---------------------------------------------------------------------------------------

    def _line(self) -> str:
        self._number += 1
        word = f"h{self._number}"
        self.entered.append(word)
        self.deeds.append(word)
        return f"echo {word} >>{LOG}"

    def _begin(self, text: str) -> None:
        """Type and see it at the prompt: before that, what edits a line is the terminal's own.

        From then on the prompt is the person's until they enter the line.
        """
        self._await_all()
        self._press(Text(text))
        self._until(lambda: self._at_prompt().endswith(f"$ {text}"), f"{text} at the prompt")

    def _until(self, check: Callable[[], bool], what: str) -> None:
        self._view.until(check, what, PATIENCE)

    def _at_prompt(self) -> str:
        """What stands in the last row that is not blank."""
        return "".join(self.sees()[-1:])

    def _slowly(self, text: str) -> None:
        while text:
            count = self._random.randint(1, 8)
            self._press(Text(text[:count]))
            text = text[count:]
            self._pause()

    def _pause(self) -> None:
        self._rest(self._random.choice((0.0, 0.0, 0.002, 0.02)))

    def _rest(self, seconds: float) -> None:
        """See what is shown meanwhile."""
        self._view.read(seconds)

    def _press(self, *items: Item) -> None:
        self._view.press(*items)

    def _await_all(self) -> None:
        if self.entered:
            word = self.entered[-1]
            self._until(lambda: self._has_run(word), f"{word} has run")
