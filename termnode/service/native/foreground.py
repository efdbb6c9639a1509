"""Who is in front of a pane: a number that rises with everything an agent could not foresee.

Input of the native lane names the number that its caller read last. It rises with a person's key,
with input over the global lane, with a change of the pane's place, size or focus, when the program
ends, and when another process group is seen in front (specs/control.md, "Input"). No I/O.
"""

from __future__ import annotations

from collections.abc import Callable


class Foreground:
    """One pane's foreground generation. ``group`` is the process group in front, None: unknown.

    ``on_rise`` is called at every rise and must not touch the pane's queue of input: the rise may
    be seen in the midst of a write. ``on_raise`` is called after `raise_` only, and may.
    """

    def __init__(self, group: int | None = None) -> None:
        self.generation = 1
        """Rises, and never goes back."""
        self.on_rise: Callable[[], object] = _ignored
        self.on_raise: Callable[[], object] = _ignored
        self._group = group

    def raise_(self, why: str) -> None:
        """Something happened there; ``why`` in a word, for who reads the caller's code.

        What was permitted before is permitted no more, and what of it waits is discarded at once.
        """
        del why
        self._rise()
        self.on_raise()

    def observe(self, group: int | None) -> int | None:
        """The generation now that this group was seen in front; None while none is known.

        Nothing is taken out of the queue: ask this also while a write is being decided.
        """
        if group != self._group:
            self._group = group
            self._rise()
        return None if group is None else self.generation

    def follow(self, before: Foreground) -> None:
        """Go on above the number of the program whose place this one takes."""
        self.generation = before.generation + 1

    def _rise(self) -> None:
        self.generation += 1
        self.on_rise()


def _ignored() -> None:
    """Nobody wants to know."""
