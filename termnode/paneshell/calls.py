"""What a verb of the pane shell is, and the call of it that it answers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final, Protocol

from brokerd.client import (
    ErrorCode,
    Principal,
    RecordView,
    Ref,
    Refusal,
    Request,
    decode_object,
    invalid,
)
from termnode.paneshell import status

VERSION: Final = 1

Actor = tuple[str, int, str, str]
"""Whose an operation is: of a bound caller its record, of another one its connection."""

Confirm = Callable[[float], Awaitable[int]]
"""Until when (milliseconds since boot) what the broker said is good. Raises Refusal."""


@dataclass(frozen=True, slots=True)
class Call:
    """One request whose caller may ask this, of the very attachment that it names.

    ``body`` has the verb's own fields: neither version nor target. ``own`` is this pane's record.
    """

    request: Request
    caller: Principal
    own: RecordView
    body: dict[str, Any]
    ask_again: Confirm
    look_again: Callable[[], object]
    """Decides it all again by what is known here. Raises Refusal."""

    @property
    def actor(self) -> Actor:
        """Whose operations this caller's are."""
        return actor_of(self.caller)

    async def confirm(self, seconds: float) -> int:
        """Ask the broker whether all of this still holds, and decide it all again.

        When this returns it held, with nothing awaited since. The result is until when that is good
        at most, in milliseconds since boot. Raises Refusal: FORBIDDEN and the like, UNAVAILABLE
        ``not_confirmed`` when the broker did not answer within ``seconds``.
        """
        return await self.ask_again(seconds)


class Verb(Protocol):
    """Answers one command. Everything it raises but Refusal is a failure of its own."""

    capability: str
    """What the caller, and this pane's record, must have."""

    shape_first: bool
    """Whether a malformed request is told so before it is asked who sent it."""

    def read(self, raw: bytes) -> dict[str, Any]:
        """The fields, ``target`` among them, checked. Raises Refusal INVALID_ARGUMENT."""
        ...

    def arrived(self, call: Call) -> None:
        """The call was taken, before anything is waited for: once, in order of arrival."""
        ...

    async def answer(self, call: Call) -> dict[str, object]:
        """The reply's body. Raises Refusal."""
        ...


def actor_of(caller: Principal) -> Actor:
    """Whose operations a caller's are."""
    session = caller.session
    if session is None:
        return ("connection", caller.unix_uid, caller.broker_epoch, caller.connection_id)
    return ("record", caller.unix_uid, session.record_id, session.incarnation)


def ref_of(caller: Principal) -> Ref | None:
    """The attachment that the caller speaks for; None when it holds no record."""
    session = caller.session
    if session is None:
        return None
    return Ref(session.record_id, session.incarnation, session.binding_generation)


def read_body(raw: bytes, limit: int, *, required: set[str], optional: set[str]) -> dict[str, Any]:
    """A request's fields: version 1, a well-formed target, the required ones, no unknown ones.

    ``version`` is left out of them. Raises Refusal INVALID_ARGUMENT.
    """
    if len(raw) > limit:
        raise invalid("body", f"a request has at most {limit} bytes: shorten it")
    body: dict[str, Any] = decode_object(raw)
    version = body.pop("version", None)
    if type(version) is not int or version != VERSION:
        raise invalid("version", f"this speaks version {VERSION}: say so")
    status.check_shape(body.get("target"))
    for name in sorted(required):
        if name not in body:
            raise invalid(name, f"the request needs {name}: give it")
    if not body.keys() <= required | optional | {"target"}:
        raise invalid("body", "the request has a field that this verb does not take: drop it")
    return body


def unsupported(message: str) -> Refusal:
    """What this pane shell does not do."""
    return Refusal(ErrorCode.UNSUPPORTED, message)
