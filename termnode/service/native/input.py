"""The input verbs of the native lane, carried out in the one step in which the gate let them go."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Final, NamedTuple

from brokerd.client import ErrorCode, Refusal, boottime_ms, forbidden
from termnode.control.keys import ENTER, encode_keys
from termnode.control.native.decisions import Go
from termnode.control.native.history import Later
from termnode.control.native.leases import LeaseCache
from termnode.control.native.world import World
from termnode.control.posture import Posture
from termnode.service.input.authors import Outstanding
from termnode.service.input.keyboard import mouse_bytes
from termnode.service.input.lines import begun_after
from termnode.service.input.writing import held, no_room, recount_line
from termnode.service.live_pane import LivePane
from termnode.service.native import outcomes
from termnode.service.native.performing import Done
from termnode.service.native.permit import Permit
from termnode.service.native.revoked import Revoked
from termnode.service.native.writers import Lease
from termnode.service.state import Args, State
from termnode.terminal.input.encode import encode_all
from termnode.terminal.input.paste import PASTE_END, clean_paste, paste_bytes
from termnode.terminal.pty_terminal import Gone, QueueFull, Ticket

INPUT: Final = frozenset({"term.type", "term.keys", "term.paste", "term.mouse"})
"""The verbs that `NativeInput.perform` carries out."""


class Data(NamedTuple):
    """The bytes of one input; ``closing`` is written when it ends early."""

    data: bytes
    closing: bytes = b""


class NativeInput:
    """See the module. ``clock`` is monotonic, in seconds, ``now_ms`` the clock of leases."""

    def __init__(
        self,
        world: World,
        leases: LeaseCache,
        revoked: Revoked,
        *,
        clock: Callable[[], float] = time.monotonic,
        now_ms: Callable[[], int] = boottime_ms,
    ) -> None:
        self._world = world
        self._leases = leases
        self._revoked = revoked
        self._clock = clock
        self._now_ms = now_ms

    def perform(self, state: State, go: Go) -> Done:
        """Admit the input whole and write what fits now. The id is reserved, in this very step.

        Raises Refusal, and then nothing was done and the reservation is to be cancelled:
        INVALID_ARGUMENT, UNSUPPORTED (mouse), FORBIDDEN, STALE_GENERATION, BUSY, RESOURCE_LIMIT.
        """
        live = _live(state, go)
        data = _encode(live, go.spec.name, go.args)
        permit = Permit(go, self._world, self._leases, self._now_ms)
        _check_foreground(live, go)
        if not permit.holds():
            raise forbidden()
        self._check_writer(state, live, go)
        return self._admit(state, live, go, data, permit)

    def _check_writer(self, state: State, live: LivePane, go: Go) -> None:
        if live in state.inputs.held:
            raise held()
        if self._world.posture() is Posture.STRICT and live.writer.is_busy(go.actor):
            raise Refusal(
                ErrorCode.BUSY,
                "another caller types there: try again, it has the pane for two seconds at most",
                reason="writer_busy",
            )

    def _admit(self, state: State, live: LivePane, go: Go, data: Data, permit: Permit) -> Done:
        before, begun = live.line_begun, begun_after(live, data.data)
        within, asked, later = permit.remaining_s, outcomes.asked(go), Later()
        lease = Lease(
            go.actor,
            self._clock() + within,
            permit.holds,
            on_settled=lambda sent: later.settle(outcomes.operation(asked, sent)),
            on_ended=lambda sent: self._revoked.put(outcomes.notice(asked, sent)),
        )
        ticket = _write(live, data, within, partial(_may_write, live, lease, permit))
        live.line_begun = begun
        _follow(live, lease, ticket)
        _note(state, live, ticket, before)
        return Done(outcomes.accepted(asked), later)


def _live(state: State, go: Go) -> LivePane:
    """The pane's program. The gate has seen that it runs; one that does not is FORBIDDEN."""
    live = state.find_live(go.target.pane_id)
    if live is None or live.ended is not None:
        raise forbidden()
    return live


def _encode(live: LivePane, verb: str, args: Args) -> Data:
    """What the program is to be given, as it asks for it now. Raises Refusal."""
    engine = live.terminal.engine
    if verb == "term.type":
        return Data(encode_keys(args["text"]) + (ENTER if args["enter"] else b""))
    if verb == "term.keys":
        return Data(encode_all(args["keys"], engine.modes))
    if verb == "term.mouse":
        return Data(mouse_bytes(engine, args))
    bracketed = engine.modes.bracketed_paste and not args.get("plain")
    text = clean_paste(args["text"]).text
    return Data(paste_bytes(text, bracketed), PASTE_END if bracketed else b"")


def _check_foreground(live: LivePane, go: Go) -> None:
    generation = live.observe_foreground()
    if generation is None:
        raise forbidden()
    if generation != go.request.foreground:
        raise Refusal(
            ErrorCode.STALE_GENERATION,
            "something else has happened in the pane since: look at it, read foreground_generation "
            "again, and decide anew",
            reason="foreground_generation",
        )


def _may_write(live: LivePane, lease: Lease, permit: Permit) -> bool:
    """Asked in the step of each write. A rise that is seen only here ends the lease as well."""
    if not lease.ended:
        live.foreground.observe(live.terminal.foreground_group())
    return not lease.ended and permit.holds()


def _write(live: LivePane, data: Data, within: float, permit: Callable[[], bool]) -> Ticket:
    try:
        return live.terminal.write(data.data, within=within, permit=permit, closing=data.closing)
    except QueueFull as full:
        raise no_room(full) from None
    except Gone:
        raise forbidden() from None


def _follow(live: LivePane, lease: Lease, ticket: Ticket) -> None:
    """Claim the lease, and let it know what becomes of the input: now, or in the step it is so."""
    live.writer.claim(lease)
    settled = partial(live.writer.settled, lease, ticket)
    if ticket.outcome is None:
        ticket.on_settled = settled
    else:
        settled()


def _note(state: State, live: LivePane, ticket: Ticket, line_begun: int) -> None:
    """It is an agent's input as any other: shown as such, and put right when it is discarded."""
    undo = partial(recount_line, live, ticket, line_begun)
    outstanding = None
    if ticket.outcome is None:
        outstanding = Outstanding(state.inputs.author, lambda: ticket.outcome is None, undo)
    elif not ticket.all_written:
        undo()
    state.people.admitted(live, state.inputs.author, outstanding)
