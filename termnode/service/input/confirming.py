"""term.type with confirm: the text is watched on its way to the screen, then Enter is pressed.

Enter goes as a key of its own: programs that take a burst of input for a paste swallow one that
comes with it. Until it was pressed nothing else is typed into the pane, so that no two texts end up
in one line.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import trio

from brokerd.client import Refusal
from termnode.control.keys import ENTER
from termnode.service.input.authors import Outstanding
from termnode.service.input.echo import Echo
from termnode.service.input.writing import Target, send, write, written
from termnode.service.live_pane import LivePane
from termnode.service.state import Later, Result, State
from termnode.terminal.pty_terminal import Terminal, Ticket

SEEN_WITHIN_S: Final = 2.0
"""How long the screen is watched for the text, and again for what Enter does."""

LOOK_EVERY_S: Final = 0.01
"""A flood changes the screen all the time; looking more often would only take time from others."""


def type_confirmed(state: State, target: Target, text: bytes, *, enter: bool) -> Later:
    """Write the text now, and give what is left to do. Raises Refusal as ``writing.send``."""
    terminal = target.live.terminal
    about: Result = {**target.about, "echo": not _secret(terminal)}
    if not about["echo"]:
        ticket = send(state, target, text + (ENTER if enter else b""))
        return lambda: _unseen(target, ticket, about)
    echo = Echo(text.decode("ascii"), terminal.engine, terminal.log)
    ticket = send(state, target, text)
    typed = _Typed(state, target, ticket, echo)
    typed.hold(enter=enter)
    return lambda: _watched(typed, about, enter=enter)


def _secret(terminal: Terminal) -> bool:
    """Whether what is typed is not shown because a program asks for a secret."""
    discipline = terminal.line_discipline()
    return discipline is not None and discipline.canonical and not discipline.echo


async def _unseen(target: Target, ticket: Ticket, about: Result) -> Result:
    """There is nothing to watch for, so the outcome is no more than that it was written."""
    return {**about, "outcome": "written", "bytes": await written(target, ticket)}


class _Typed:
    """A text that was typed, and holds its pane until Enter was pressed."""

    def __init__(self, state: State, target: Target, ticket: Ticket, echo: Echo) -> None:
        self.target = target
        self.ticket = ticket
        self._state = state
        self._echo = echo

    def hold(self, *, enter: bool) -> None:
        """Let no other agent type there; a person who does takes the Enter that is to come."""
        live, held = self.target.live, self._state.inputs.held
        held.add(live)
        if enter:
            awaited = Outstanding(self.target.author, lambda: live in held, _nothing)
            self._state.people.expect(live, awaited)

    async def seen(self) -> bool:
        """Wait until the text is on the screen; False when it is not in time.

        Once a person has typed there nobody waits for it any longer.
        """
        terminal = self.target.live.terminal
        await _holds(terminal, lambda: self.target.revoked or self._shown())
        return self._shown()

    def _shown(self) -> bool:
        terminal = self.target.live.terminal
        return not terminal.closed and self._echo.seen(terminal.engine, terminal.log)

    def press_enter(self) -> Ticket:
        """Press it. Raises Refusal as ``writing.write``, with what was written until then."""
        try:
            return write(self._state, self.target, ENTER)
        except Refusal as refusal:
            counts = {"written_bytes": self.ticket.written, "bytes": self.ticket.total + len(ENTER)}
            details = {**refusal.details, **counts}
            raise Refusal(refusal.code, refusal.message, **details) from None

    def release(self) -> None:
        """Let others type again."""
        self._state.inputs.held.discard(self.target.live)


async def _watched(typed: _Typed, about: Result, *, enter: bool) -> Result:
    try:
        await written(typed.target, typed.ticket)
        outcome = "echoed" if await typed.seen() else "written"
        answer = _Answer(typed.target.live)
        tickets = (typed.ticket, typed.press_enter()) if enter else (typed.ticket,)
        total = await written(typed.target, *tickets)
    finally:
        typed.release()
    if enter and outcome == "echoed" and await answer.came():
        outcome = "submitted"
    return {**about, "outcome": outcome, "bytes": total}


def _nothing() -> None:
    """Of an Enter that was not pressed nothing is to be put right."""


class _Answer:
    """What the screen shows of Enter. Make it in the same step as the write."""

    def __init__(self, live: LivePane) -> None:
        self._terminal = live.terminal
        log = self._terminal.log
        self._revision = log.revision
        self._line = log.base + self._terminal.engine.cursor.y

    async def came(self) -> bool:
        """Wait until the cursor has left its line or something is newer; False if not in time."""
        return await _holds(self._terminal, self._is_there)

    def _is_there(self) -> bool:
        log = self._terminal.log
        if log.base + self._terminal.engine.cursor.y != self._line:
            return True
        changes = log.changes(self._revision)
        return changes.full or bool(changes.lines)


async def _holds(terminal: Terminal, check: Callable[[], bool]) -> bool:
    """Whether ``check`` comes to hold within SEEN_WITHIN_S, looked at after changes.

    Of a terminal that was closed nobody can say any more what it would have shown.
    """
    with trio.move_on_after(SEEN_WITHIN_S):
        while not terminal.closed:
            revision, looked = terminal.revision, trio.current_time()
            if check():
                return True
            if terminal.final:
                return False
            await terminal.changed(revision)
            await trio.sleep_until(looked + LOOK_EVERY_S)
    return not terminal.closed and check()
