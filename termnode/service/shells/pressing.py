"""Presses the key that makes an integrated shell read its request: the look and the write as one.

Between the two nothing else runs, so what was seen is still so for whatever is written. What the
shell itself has on its line is the shell's to say.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from termnode.paneshell.integration import TRIGGER
from termnode.service.shells.human import Typing
from termnode.terminal.pty_terminal import Gone, QueueFull

if TYPE_CHECKING:
    from termnode.service.live_pane import LivePane

Word: TypeAlias = Literal["pressed", "busy", "foreground_program", "canonical", "gone", "queued"]
"""``pressed``: the key was written. Else nothing was written, for:
``gone``: the program has ended, or its pane was closed. ``foreground_program``: another one reads
the keys. ``canonical``: the shell does not edit a line. ``queued``: other input is under way.
``busy``: something was typed, or no prompt was shown yet."""


def press(live: LivePane, typing: Typing) -> Word:
    """Look, and press the key; no other input comes between."""
    why = obstacle(live, typing)
    if why is not None:
        return why
    word = _write(live)
    if word == "pressed":
        typing.pressed(len(TRIGGER))
        live.foreground.raise_("execute")  # what agents were permitted was not for what runs now
    return word


def obstacle(live: LivePane, typing: Typing) -> Word | None:
    """Why the key may not be pressed now; None when it may."""
    terminal = live.terminal
    if live.gone.is_set() or live.ended is not None or terminal.ended or terminal.exit is not None:
        return "gone"  # a closed pane's program may live on for a while
    if terminal.foreground_group() != live.pid:
        return "foreground_program"
    discipline = terminal.line_discipline()
    if discipline is None or discipline.canonical:
        return "canonical"
    if not terminal.input_idle or any(each.left() for each in live.outstanding):
        return "queued"  # of a text that is being confirmed the Enter is still to come
    if not (typing.shown and typing.untouched(terminal.bytes_typed)):
        return "busy"
    return None


def _write(live: LivePane) -> Word:
    """Now or never: what the terminal does not take in this step is taken back."""
    may = [True]
    try:
        ticket = live.terminal.write(TRIGGER, permit=lambda: may[0])
    except Gone:
        return "gone"
    except QueueFull:
        return "queued"
    if ticket.outcome is None:  # the key is one byte: nothing of it was written
        may[0] = False
        live.terminal.recheck_permits()
    if ticket.outcome == "written":
        return "pressed"
    return "gone" if ticket.outcome == "gone" else "queued"
