"""Input on its way to a pane's program: to whom, whether it may, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

from brokerd.client import ErrorCode, Refusal, limit_reached
from termnode.service.input.authors import Author, Outstanding
from termnode.service.input.lines import begun_after, begun_after_all
from termnode.service.live_pane import LivePane
from termnode.service.state import Args, Result, State
from termnode.terminal.pty_terminal import Gone, Outcome, QueueFull, Ticket


@dataclass(frozen=True, slots=True)
class Target:
    """A program that runs in a pane, and who types to it.

    ``foreground`` is its foreground generation when the request came: once a person has typed
    there, nothing of the request is written any more. ``about`` is what every reply says of it.
    """

    live: LivePane
    pane: int
    generation: int
    foreground: int
    author: Author

    @property
    def revoked(self) -> bool:
        """Whether a person has typed there since."""
        return self.live.foreground_generation != self.foreground

    def since(self, earlier: Target) -> Target:
        """The same, as of ``earlier`` when that is the same program."""
        same = self.live is earlier.live
        return replace(self, foreground=earlier.foreground) if same else self

    @property
    def about(self) -> Result:
        """The pane, and the revision of its screen as it is now: take it before a write."""
        return {
            "pane": self.pane,
            "generation": self.generation,
            "revision": self.live.terminal.log.revision,
        }


def target_of(state: State, pane: int | None) -> Target:
    """The pane's program, or that of the active pane.

    Raises Refusal: NOT_FOUND, BUSY while it is being started, DISCONNECTED when it has ended.
    """
    found = state.workspace.pane(pane)
    live = state.live(found.id)
    if live.ended is not None:
        raise _ended()
    foreground, author = _foreground(state, live), state.inputs.author
    return Target(live, found.id, found.generation, foreground, author)


def _foreground(state: State, live: LivePane) -> int:
    """The foreground generation when the request came, or another old one: it may have waited
    behind other mutations while a person typed."""
    since = state.inputs.since
    late = since is not None and live.person_at > since
    return live.foreground_generation - 1 if late else live.foreground_generation


def send(
    state: State,
    target: Target,
    data: bytes,
    *,
    closing: bytes = b"",
    patience: bool = False,
    within: float | None = None,
) -> Ticket:
    """Admit input whole and write what fits now, in one step.

    Raises Refusal: BUSY while a text waits for its Enter there, RESOURCE_LIMIT when the program
    does not read what is there already or a line would be cut, CANCELLED when a person has typed
    there meanwhile, DISCONNECTED when it is gone.
    """
    if target.live in state.inputs.held:
        raise held()
    return write(state, target, data, closing=closing, patience=patience, within=within)


def within_of(args: Args) -> float | None:
    """Seconds that the caller gives the program to read; None: the service's own."""
    return args["within_ms"] / 1000 if "within_ms" in args else None


def write(
    state: State,
    target: Target,
    data: bytes,
    *,
    closing: bytes = b"",
    patience: bool = False,
    within: float | None = None,
) -> Ticket:
    """As ``send``, also while the pane is held: for who holds it."""
    if target.live.ended is not None:
        raise _ended()
    if target.revoked:
        raise _person_typed(written_bytes=0, bytes=len(data))
    target.live.foreground.raise_("input")  # what the native lane was permitted goes first
    before, begun = target.live.line_begun, begun_after(target.live, data)
    try:
        ticket = target.live.terminal.write(
            data,
            within=within or state.config.write_deadline_s,
            permit=lambda: state.is_open() and not target.revoked,
            closing=closing,
            patience=patience,
        )
    except QueueFull as full:
        raise no_room(full) from None
    except Gone:
        raise _ended() from None
    if ticket.outcome in {None, "written"}:
        target.live.line_begun = begun
        state.people.admitted(target.live, target.author, _outstanding(target, ticket, before))
    return ticket


def _outstanding(target: Target, ticket: Ticket, line_begun: int) -> Outstanding | None:
    if ticket.outcome is not None:
        return None
    undo = partial(recount_line, target.live, ticket, line_begun)
    return Outstanding(target.author, lambda: ticket.outcome is None, undo)


def recount_line(live: LivePane, ticket: Ticket, line_begun: int) -> None:
    """Note what of a discarded input was typed behind ``line_begun`` bytes of a line."""
    live.line_begun = begun_after_all(live, line_begun, ticket.data[: ticket.written])


async def written(target: Target, *tickets: Ticket) -> int:
    """Wait until all was written; return the number of bytes. Raises Refusal with the counts."""
    for ticket in tickets:
        outcome = await ticket.wait()
        if outcome != "written":
            raise _not_written(outcome, target, tickets)
    return sum(ticket.total for ticket in tickets)


def _not_written(outcome: Outcome, target: Target, tickets: tuple[Ticket, ...]) -> Refusal:
    counts = {
        "written_bytes": sum(ticket.written for ticket in tickets),
        "bytes": sum(ticket.total for ticket in tickets),
    }
    if outcome == "gone":
        return Refusal(
            ErrorCode.DISCONNECTED, "the program ended before it had read all of it", **counts
        )
    if outcome == "revoked" and target.revoked:
        return _person_typed(**counts)
    if outcome == "revoked":
        return Refusal(
            ErrorCode.CANCELLED, "the terminal became strict; the rest was discarded", **counts
        )
    return Refusal(
        ErrorCode.EXPIRED,
        "the program did not read all of it in time; the rest was discarded, what was written may "
        "still be read: look at the screen, press C-c before you type anything else",
        **counts,
    )


def _person_typed(**counts: int) -> Refusal:
    return Refusal(
        ErrorCode.CANCELLED,
        "a person typed there, and goes first; the rest was discarded: look at the screen before "
        "you type again",
        reason="person_typed",
        **counts,
    )


def no_room(full: QueueFull) -> Refusal:
    """RESOURCE_LIMIT: the queue of the pane."""
    message = "the program has not read earlier input yet: wait until it has, then try again"
    return limit_reached("input_queue_room", full.room, message)


def held() -> Refusal:
    """BUSY: a text waits for its Enter."""
    return Refusal(
        ErrorCode.BUSY,
        "a text that was just typed there waits for its Enter: try again in a moment",
        reason="confirming",
    )


def _ended() -> Refusal:
    return Refusal(
        ErrorCode.DISCONNECTED,
        "the pane's program has ended: term.pane.restart starts it again",
        reason="program_ended",
    )
