"""What arrives: replies, requests and events, as values. No I/O and no state.

Bodies and stamps are decoded only when asked for, since many are only passed on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from brokerd.bodies import Json, decode_object
from brokerd.errors import RC_REFUSED, Refusal, invalid
from brokerd.principal import NodePrincipal, Principal, principal_from_stamp

# A peer that holds no record sends the same stamp with every message; it is checked once.
principal_of = lru_cache(maxsize=256)(principal_from_stamp)


def decode_value(raw: bytes) -> Json:
    """Any JSON value under the rules of ``decode_object``. Raises Refusal for anything else."""
    # Wrapped so that the one strict decoder judges it; two keys mean that `raw` closed the object.
    wrapped = decode_object(b'{"value":' + raw + b"}")
    if len(wrapped) != 1:
        raise invalid("body", "the body is not JSON")
    return wrapped["value"]


def _object_or_none(raw: bytes) -> dict[str, Json] | None:
    try:
        return decode_object(raw)
    except Refusal:
        return None


@dataclass(frozen=True, slots=True)
class ReplyError:
    """The refusal in a reply: ``code`` (see ErrorCode), ``message``, ``details``."""

    code: str
    message: str
    details: Mapping[str, Json]


class Reply:
    """The answer to a request. ``rc`` is 0 (done), 5 (done, with a warning), 10 or 20 (refused)."""

    __slots__ = ("_stamp", "raw", "rc")

    def __init__(self, rc: int, raw: bytes, stamp: bytes = b"") -> None:
        self.rc = rc
        self.raw = raw
        self._stamp = stamp

    @property
    def ok(self) -> bool:
        """Whether it was done (rc 0 or 5)."""
        return self.rc < RC_REFUSED

    @property
    def body(self) -> dict[str, Json] | None:
        """The JSON object in ``raw``, decoded anew at each call; None when it is not one."""
        return _object_or_none(self.raw)

    @property
    def sender(self) -> Principal | NodePrincipal | None:
        """Who answered; None when the broker itself did."""
        return principal_of(self._stamp)

    @property
    def error(self) -> ReplyError | None:
        """The refusal, when it is one; a refusal whose body cannot be read has the code ''."""
        if self.ok:
            return None
        body = self.body or {}
        details = body.get("details")
        return ReplyError(
            code=str(body.get("error_code", "")),
            message=str(body.get("message", "")),
            details=details if isinstance(details, dict) else {},
        )

    def __repr__(self) -> str:
        return f"<Reply rc={self.rc} {len(self.raw)} bytes>"


class Request:
    """A request to a name that this client serves.

    ``command``, ``raw`` (the body's bytes, untouched), ``id`` (the requester's own), ``name`` (the
    served name it was sent to) and ``from_connection`` (where the answer goes).
    """

    __slots__ = ("_respond", "_stamp", "command", "from_connection", "id", "name", "raw")

    def __init__(
        self,
        *,
        command: str,
        raw: bytes,
        request_id: str,
        name: str,
        from_connection: str,
        stamp: bytes,
        respond: Callable[[Request, int, bytes | Mapping[str, object]], bool],
    ) -> None:
        self.command = command
        self.raw = raw
        self.id = request_id
        self.name = name
        self.from_connection = from_connection
        self._stamp = stamp
        self._respond: Callable[[Request, int, bytes | Mapping[str, object]], bool] | None = respond

    @property
    def principal(self) -> Principal | NodePrincipal | None:
        """Who asks, as the broker stamped it; None means unknown: refuse."""
        return principal_of(self._stamp)

    @property
    def answered(self) -> bool:
        """Whether ``respond`` has been called."""
        return self._respond is None

    def body(self, *, empty_ok: bool = True) -> dict[str, Json]:
        """The JSON object in ``raw``. Raises Refusal (INVALID_ARGUMENT) when it is not one."""
        return decode_object(self.raw, empty_ok=empty_ok)

    def respond(self, rc: int, body: bytes | Mapping[str, object]) -> bool:
        """Queue the answer; never waits. ``body`` is a JSON object or bytes to send as they are.

        True when queued. False when it can no longer be delivered (answered before, the broker or
        the connection is gone, the send queue is full). Raises MessageTooLarge, and what
        ``encode`` raises for a body that JSON cannot say; then an answer is still possible.
        """
        respond = self._respond
        if respond is None:
            return False
        queued = respond(self, rc, body)
        self._respond = None
        return queued

    def refuse(self, refusal: Refusal) -> bool:
        """Queue a refusal as the answer; as ``respond``."""
        return self.respond(refusal.rc, refusal.body())

    def __repr__(self) -> str:
        return f"<Request {self.command} to {self.name}, {len(self.raw)} bytes>"


@dataclass(frozen=True, slots=True)
class Event:
    """The latest value of a topic.

    ``seq`` rises with each publication (jumps are values that a newer one replaced). ``gap``: the
    broker may have dropped something, or has been replaced, since the last event. ``stale``: the
    publisher is gone.
    """

    topic: str
    seq: int
    value: Json
    gap: bool = False
    stale: bool = False


class DirectedEvent:
    """An event that a service sent to this connection alone. ``gap`` as in ``Event``."""

    __slots__ = ("_stamp", "command", "gap", "raw")

    def __init__(self, command: str, raw: bytes, stamp: bytes = b"", gap: bool = False) -> None:
        self.command = command
        self.raw = raw
        self.gap = gap
        self._stamp = stamp

    @property
    def body(self) -> dict[str, Json] | None:
        """The JSON object in ``raw``; None when it is not one."""
        return _object_or_none(self.raw)

    @property
    def sender(self) -> Principal | NodePrincipal | None:
        """The service's principal, as the broker stamped it."""
        return principal_of(self._stamp)

    def with_gap(self) -> DirectedEvent:
        """The same event, saying that something before it may be missing."""
        return DirectedEvent(self.command, self.raw, self._stamp, gap=True)

    def __repr__(self) -> str:
        return f"<DirectedEvent {self.command}, {len(self.raw)} bytes>"
