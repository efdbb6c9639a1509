"""From a look at a screen to what the model is shown. Pure."""

from __future__ import annotations

from dataclasses import replace

from termnode.modelterm.results import Shown
from termnode.modelterm.screen import Look, Since, changed_rows, render


def shown(look: Look, since: Since | None = None, *, style: bool = False) -> Shown:
    """The text and the facts in it."""
    return Shown(
        render(look, since=since, style=style),
        look.id,
        look.state,
        look.cols,
        look.rows,
        look.cursor,
        look.full_screen,
        look.revision,
        look.person_typed,
        None if since is None else changed_rows(look, since),
    )


def closed(look: Look, how: str) -> Shown:
    """The last screen of a terminal that was closed; the header says how its program ended."""
    return replace(shown(replace(look, state=f"closed, {how}")), state="closed")
