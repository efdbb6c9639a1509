"""What goes into a lane and what comes out: calls, replies, verdicts. Plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol, TypeAlias

from brokerd.client import RC_OK, ErrorCode, Refusal
from termnode.control.retry import Key, Scope
from termnode.control.schema import Args
from termnode.control.spec import VerbSpec

OK: Final = "ok"


class Caller(Protocol):
    """What a lane reads of a principal; `brokerd.client.Principal` is one.

    ``unix_uid`` and ``peer_pid`` are None for another machine, whose ``assurance`` is "node".
    """

    @property
    def unix_uid(self) -> int | None: ...  # noqa: D102
    @property
    def peer_pid(self) -> int | None: ...  # noqa: D102
    @property
    def owner_node(self) -> str: ...  # noqa: D102
    @property
    def assurance(self) -> str: ...  # noqa: D102


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """One request as it arrived. ``principal`` is None without a usable stamp.

    ``reply_to`` is the I/O side's own: the lane hands it back and never looks at it.
    """

    principal: Caller | None
    verb: str
    raw: bytes
    reply_to: object = None


@dataclass(frozen=True, slots=True)
class Reply:
    """What a verb came to: a return code and a JSON body."""

    rc: int
    body: Mapping[str, object]

    @classmethod
    def ok(cls, **body: object) -> Reply:
        """Success with these result fields."""
        return cls(RC_OK, body)

    @classmethod
    def refused(cls, refusal: Refusal) -> Reply:
        """The reply that a refusal stands for."""
        return cls(refusal.rc, refusal.body())


@dataclass(frozen=True, slots=True)
class Sealed:
    """A reply as it travels: encoded once, within the size limit. ``outcome`` is for the audit."""

    rc: int
    raw: bytes
    outcome: str
    pane: int | None = None

    @property
    def about_load(self) -> bool:
        """Whether it says that nothing was done for want of room: never recorded."""
        return self.outcome in {ErrorCode.RESOURCE_LIMIT, ErrorCode.UNAVAILABLE}

    @property
    def size(self) -> int:
        """Bytes of its body."""
        return len(self.raw)


@dataclass(slots=True, eq=False)
class Ticket:
    """An admitted request until it is settled. ``args`` are checked (`schema.validate`).

    ``key`` is its place in the retry record, None when it has none. ``joined`` are later calls for
    the same request, with when they came: they get the same reply. ``pane`` is the one it turned
    out to be about when it ran, as far as whoever runs it knows.
    """

    spec: VerbSpec
    args: Args
    call: Call
    scope: Scope
    started: float
    key: Key | None = None
    joined: list[tuple[Call, float]] = field(default_factory=list)
    settled: bool = False
    pane: int | None = None

    @property
    def principal(self) -> Caller | None:
        """Who asked first."""
        return self.call.principal


@dataclass(frozen=True, slots=True)
class Answer:
    """Send this reply now; the call is done."""

    reply: Sealed


@dataclass(frozen=True, slots=True)
class Admitted:
    """Run the ticket's verb as its kind says, then settle it."""

    ticket: Ticket


@dataclass(frozen=True, slots=True)
class Join:
    """Do nothing: the call is answered when the ticket, which is already under way, is settled."""

    ticket: Ticket


Verdict: TypeAlias = Answer | Admitted | Join


@dataclass(frozen=True, slots=True)
class Settled:
    """Send the reply to each of the calls, the first one first."""

    reply: Sealed
    calls: tuple[Call, ...]
