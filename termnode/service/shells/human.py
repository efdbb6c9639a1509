"""Whether anything was typed at the present prompt, by a person or an agent. Sans-IO.

Marks come from the output that was read, so what they say is older than what was written last: the
count is taken when the end of a command is read, and the first prompt after it is what may be typed
at. A prompt that is only drawn again (after a refused press too) changes nothing.
"""

from __future__ import annotations


class Typing:
    """Counts of bytes are those given to the terminal as input, all writers together."""

    def __init__(self) -> None:
        self._at_end: int | None = None
        self._shown = False

    @property
    def shown(self) -> bool:
        """Whether a prompt was shown since the last command ended, and nothing ran since."""
        return self._shown

    def mark(self, letter: str, count: int) -> None:
        """A mark of the shell was read, when ``count`` bytes had been typed."""
        if letter == "D" or (letter == "A" and self._at_end is None):
            # A prompt after a command without an end: the shell has lost the hook that tells it.
            self._at_end, self._shown = count, False
        elif letter == "B" and self._at_end is not None:
            self._shown = True
        elif letter == "C":
            self._at_end, self._shown = None, False

    def untouched(self, count: int) -> bool:
        """Whether nothing was typed since the last command ended; ``count`` is now's."""
        return self._at_end == count

    def pressed(self, count: int) -> None:
        """So many bytes were typed that count for nothing: the shell's own key was pressed."""
        if self._at_end is not None:
            self._at_end += count
