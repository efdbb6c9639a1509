"""Whether a pane's shell waits for a command: by its own marks, else by its terminal's state."""

from __future__ import annotations

from termnode.terminal.prompting import at_prompt, just_written, marker_gone, marks_itself
from termnode.terminal.pty_terminal import Terminal


class Prompts:
    """What is seen of a terminal at one moment; looked at once, when somebody asks."""

    def __init__(self, terminal: Terminal, now: float) -> None:
        self._terminal = terminal
        self._now = now
        self._unmarked: bool | None = None
        marked = terminal.commands.prompt_revision
        self._marked = None if marked is None or marker_gone(terminal) else marked

    def newer(self, after: int | None) -> bool:
        """Whether there is a prompt, and it came after that revision.

        None: any will do, but not one at which something was typed just now: that may be a command
        which the shell has not read yet.
        """
        if self._marked_newer(after):
            return True
        if marks_itself(self._terminal):
            return False
        if after is not None and self._terminal.output_revision <= after:
            return False
        if self._unmarked is None:
            self._unmarked = at_prompt(self._terminal, self._now)
        return self._unmarked and (after is None or begins_newer(self._terminal, after))

    def _marked_newer(self, after: int | None) -> bool:
        if self._marked is None:
            return False
        if after is None:
            return not just_written(self._terminal, self._now)
        return self._marked > after


def begins_newer(terminal: Terminal, after: int) -> bool:
    """Whether the cursor's line begins with something newer than that revision.

    A prompt at which only something was typed is the old one, however much was typed.
    """
    engine, log = terminal.engine, terminal.log
    row = engine.cursor.y
    wrapped = engine.wrapped(0, row)
    while row and wrapped[row - 1]:
        row -= 1
    if not engine.text(row, 1)[0]:
        return True  # a prompt of nothing: that there was output is all that can be known
    return any(start == 0 for start, _ in log.fresh(log.base + row, after))
