"""The screen of a shared pane, as a model reads it."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from typing import Final

from termnode.client import Exit, Pane, Screen
from termnode.client.replies import TypedLast
from termnode.mcp.call import Call, House
from termnode.mcp.facts import ScreenFacts
from termnode.mcp.outcome import Outcome
from termnode.mcp.paging import part
from termnode.mcp.pane_memory import Shown
from termnode.mcp.terminal_tools import more
from termnode.modelterm.command import program_name
from termnode.modelterm.screen import Look, Row, Since, render
from termnode.modelterm.styles import row_of

_A_PERSON: Final = "person"
"""The verb of what somebody typed at a view."""


async def screen_of(
    call: Call,
    number: int,
    *,
    offset: int = 0,
    since: int | None = None,
    style: bool = False,
    from_line: int = 1,
) -> Outcome:
    """The text of a pane's screen and its facts. Raises TermnodeError."""
    pane, found, look = await _looked(call.house, call.client, number, offset)
    screens = call.house.screens
    before = None
    if since is not None:
        before = Since(since, screens.find(Shown(number, found.generation, since)))
    if not offset:
        screens.keep(Shown(number, found.generation, found.revision), look.lines)
    typed = _who(pane.info.typed_last)
    text, next_line = part(_with_typist(render(look, since=before, style=style), typed), from_line)
    again: dict[str, object] = {"offset": offset or None, "since": since, "style": style or None}
    rest = None if next_line is None else more("screen", number, next_line, again)
    facts = ScreenFacts(
        id=look.id,
        state=look.state,
        cols=look.cols,
        rows=look.rows,
        cursor=look.cursor,
        full_screen=look.full_screen,
        revision=look.revision,
        person_typed=look.person_typed,
        typed_last=typed,
        next=rest,
        untrusted=True,
    )
    return Outcome(text if rest is None else f"{text}\n... {rest}", facts)


async def look_at(house: House, number: int) -> tuple[str, int]:
    """A pane's screen as text, and its revision; nobody counts as having looked."""
    pane = await house.reach.pane(number)
    look = _look(pane, await _whole(pane, 0), 0, person_typed=False)
    return render(look), look.revision


async def revision_of(house: House, number: int) -> int:
    """Only the revision of a pane's screen."""
    pane = await house.reach.pane(number)
    return (await pane.screen(lines=1)).revision


async def _looked(house: House, client: str, number: int, offset: int) -> tuple[Pane, Screen, Look]:
    pane = await house.reach.pane(number)
    found = await _whole(pane, offset)
    typed = house.screens.person_typed(client, number, pane.info.person_inputs)
    return pane, found, _look(pane, found, offset, person_typed=typed)


async def _whole(pane: Pane, offset: int) -> Screen:
    """The screen with all its rows, also when they take several replies."""
    found = await pane.screen(format="styled", scrollback=offset or None)
    lines, following = list(found.lines), found.next_line
    rows = found.rows or 0
    while following is not None and len(lines) < rows:
        rest = await pane.screen(format="styled", line=following, lines=rows - len(lines))
        if not rest.lines:
            break
        lines += rest.lines
        following = rest.next_line
    return replace(found, lines=tuple(lines[:rows]))


def _look(pane: Pane, found: Screen, offset: int, *, person_typed: bool) -> Look:
    rows = found.rows or pane.rows
    lines: list[Row] = [row_of(line.runs) for line in found.lines]
    lines += [()] * (rows - len(lines))
    cursor = found.cursor
    history = found.history or 0
    return Look(
        id=f"pane:{pane.id}",
        name=program_name([pane.command or "-"]),
        state=_state(found.exit),
        cols=found.cols or pane.cols,
        lines=tuple(lines),
        cursor=(1, 1) if cursor is None else (cursor.y + 1, cursor.x + 1),
        full_screen=bool(found.alternate),
        revision=found.revision,
        history=history,
        back=min(offset, history) if offset else None,
        person_typed=person_typed,
    )


def _state(ended: Exit | None) -> str:
    if ended is None:
        return "running"
    if ended.signal is None:
        return f"exited {'?' if ended.code is None else ended.code}"
    try:
        return f"killed by {signal.Signals(ended.signal).name}"
    except ValueError:
        return f"killed by signal {ended.signal}"


def _who(last: TypedLast | None) -> str | None:
    if last is None:
        return None
    if last.verb == _A_PERSON:
        return "a person"
    mine = f"uid {os.geteuid()} pid {os.getpid()}"
    return "you" if last.who == mine else last.who


def _with_typist(text: str, typist: str | None) -> str:
    """Who typed there last, at the end of the header."""
    if typist is None:
        return text
    header, _, rest = text.partition("\n")
    return f"{header} | typed last: {typist}\n{rest}"
