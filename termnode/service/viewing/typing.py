"""What a person types at a view, on its way to a pane's program.

It needs no agent's permit, waits behind no agent's input and is never held back by an agent's text
that waits for its Enter.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from brokerd.client import Refusal
from termnode.service.input.lines import begun_after_all
from termnode.service.live_pane import LivePane
from termnode.service.state import State
from termnode.service.viewing.people import PERSON, People
from termnode.service.viewing.strokes import Stroke, strokes
from termnode.terminal.pty_terminal import Gone, QueueFull
from termnode.view.items import Item, Pasted

WITHIN_S: Final = 300.0
"""A person types ahead of a program that is busy; what it has not read by then is discarded."""


def press(state: State, pane: int, items: Sequence[Item], *, who: str = PERSON) -> bool:
    """Give the pane's program what a person did, as it asks for it now, in this step.

    Keys, text, pastes, the mouse (but for its moves) and raw bytes are human input: agents give way
    first (`People.interrupt`). What the program has not asked for is left out, and so are names of
    keys and mouse actions that there are not. ``who`` is as in `person_summary`.

    False when the program did not take all of it: it has ended or is being started, the pane is
    gone, or there is no room because the program does not read. Never raises.
    """
    live = _program(state, pane)
    if live is None:
        return False
    items = list(_with_whole_pastes(state.people, live, items, who))
    found = strokes(items, live.terminal.engine)
    human = sum(len(stroke.data) for stroke in found if stroke.human)
    if human:
        state.people.interrupt(live)
    taken = _write_all(live, found)
    if human:
        state.people.typed(live, who, human, taken=taken)
    return taken


def _program(state: State, pane: int) -> LivePane | None:
    try:
        live = state.live(state.workspace.pane(pane).id)
    except Refusal:
        return None
    return live if live.ended is None else None


def _with_whole_pastes(
    people: People, live: LivePane, items: Sequence[Item], who: str
) -> Iterator[Item]:
    for item in items:
        if not isinstance(item, Pasted):
            yield item
        elif (text := people.pastes.take((live, who), item.text, more=item.more)) is not None:
            yield Pasted(text)


def _write_all(live: LivePane, found: Sequence[Stroke]) -> bool:
    """Once one is refused, none that follows is written: it was meant to come after it."""
    try:
        for stroke in found:
            begun = begun_after_all(live, live.line_begun, stroke.data)
            live.terminal.write(
                stroke.data, within=WITHIN_S, closing=stroke.closing, patience=stroke.paste
            )
            live.line_begun = begun
    except (QueueFull, Gone):
        return False
    return True
