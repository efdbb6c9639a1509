"""term.type: input for a pane, admitted whole, told apart by what became of it."""

from __future__ import annotations

from typing import Final

from brokerd.client import ErrorCode, Refusal, limit_reached
from termnode.control.keys import ENTER, encode_keys
from termnode.service.live_pane import LivePane
from termnode.service.state import Args, Later, Result, State
from termnode.terminal.pty_terminal import Gone, QueueFull, Ticket

CANONICAL_LINE: Final = 4_095
"""Bytes of one line that the kernel keeps in canonical mode (Linux: N_TTY's buffer less one)."""


async def type_text(state: State, args: Args) -> Later:
    """term.type"""
    pane = state.workspace.pane(args.get("pane"))
    live = state.live(pane.id)
    data = encode_keys(args["text"]) + (ENTER if args["enter"] else b"")
    if live.ended is not None:
        raise _ended()
    _check_lines(live, data)
    try:
        ticket = live.terminal.write(
            data, within=state.config.write_deadline_s, permit=state.is_open
        )
    except QueueFull as full:
        message = "the program does not read its input: wait until it does, then type again"
        raise limit_reached("input_queue_room", full.room, message) from None
    except Gone:
        raise _ended() from None
    about: Result = {"pane": pane.id, "generation": pane.generation}
    return lambda: _written(ticket, about)


async def _written(ticket: Ticket, about: Result) -> Result:
    outcome = await ticket.wait()
    if outcome == "written":
        return {**about, "outcome": "written", "bytes": ticket.total}
    counts = {"written_bytes": ticket.written, "bytes": ticket.total}
    if outcome == "gone":
        raise Refusal(
            ErrorCode.DISCONNECTED, "the program ended before it had read all of it", **counts
        )
    if outcome == "revoked":
        raise Refusal(
            ErrorCode.CANCELLED, "the terminal became strict; the rest was discarded", **counts
        )
    raise Refusal(
        ErrorCode.EXPIRED,
        "the program did not read all of it in time; the rest was discarded: look at the screen",
        **counts,
    )


def _check_lines(live: LivePane, data: bytes) -> None:
    """Refuse a line that the kernel would cut and then hand over as if it were whole.

    A terminal in canonical mode takes 4,095 bytes of a line and drops the rest without a word, so
    that a shortened command would run.
    """
    longest = max(map(len, data.split(ENTER)))
    if longest <= CANONICAL_LINE:
        return
    discipline = live.terminal.line_discipline()
    if discipline is not None and discipline.canonical:
        raise limit_reached(
            "line_too_long",
            CANONICAL_LINE,
            f"the program reads by lines of at most {CANONICAL_LINE} bytes: put the text into a "
            "file, or wait for the shell's prompt",
        )


def _ended() -> Refusal:
    return Refusal(
        ErrorCode.DISCONNECTED,
        "the pane's program has ended: term.pane.restart starts it again",
        reason="program_ended",
    )
