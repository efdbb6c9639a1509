"""From a verb's reply to what travels: encoded once, within the limit, always something to send."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from brokerd.client import MAX_RESPONSE_BODY, ErrorCode, Refusal, encode, limit_reached
from termnode.control.schema import Args
from termnode.control.spec import VerbSpec
from termnode.lanes.calls import OK, Reply, Sealed


class Verb(Protocol):
    """What of a verb's entry, of either lane, its reply depends on."""

    @property
    def mutates(self) -> bool: ...  # noqa: D102


def seal(spec: VerbSpec, args: Args, reply: Reply) -> Sealed:
    """The reply of an admitted verb of the global lane; as `seal_for`."""
    return seal_for(spec, reply, _pane(spec, args, reply.body))


def seal_for(verb: Verb, reply: Reply, pane: int | None) -> Sealed:
    """The reply of an admitted verb. One that cannot travel becomes a refusal that says so.

    Of a read that is RESOURCE_LIMIT or UNAVAILABLE. A mutation has happened by then, so it is
    UNKNOWN_OUTCOME: its caller must look before repeating it.
    """
    try:
        raw = encode(dict(reply.body))
    except (TypeError, ValueError):
        return seal_refusal(_unsendable(verb), pane)
    if len(raw) > MAX_RESPONSE_BODY:
        return seal_refusal(_too_large(verb), pane)
    return Sealed(reply.rc, raw, _outcome(reply), pane)


def abandoned(spec: Verb) -> Reply:
    """The reply of a verb that was given up half-way: nobody knows what it did."""
    if spec.mutates:
        code, message = ErrorCode.UNKNOWN_OUTCOME, "it was given up: look before you repeat it"
    else:
        code, message = ErrorCode.CANCELLED, "it was given up before it was done: ask again"
    return Reply.refused(Refusal(code, message, reason="abandoned"))


def seal_refusal(refusal: Refusal, pane: int | None = None) -> Sealed:
    """A refusal as it travels."""
    return Sealed(refusal.rc, encode(refusal.body()), str(refusal.code), pane)


def _outcome(reply: Reply) -> str:
    return str(reply.body.get("error_code", OK))


def _pane(spec: VerbSpec, args: Args, body: Mapping[str, object]) -> int | None:
    """The pane that a request was about, for the audit: as replied, else as asked."""
    names = ("id", "pane") if spec.name.startswith("term.pane.") else ("pane",)
    for source in (body, args):
        for name in names:
            value = source.get(name)
            if type(value) is int:
                return value
    return None


def _too_large(spec: Verb) -> Refusal:
    message = f"the reply is over {MAX_RESPONSE_BODY} bytes"
    if spec.mutates:
        return _unknown(f"{message}: look at the result before you repeat it", "response_too_large")
    return limit_reached("response_bytes", MAX_RESPONSE_BODY, f"{message}: ask for less")


def _unsendable(spec: Verb) -> Refusal:
    message = "the reply cannot be written as JSON; this is an error of the service"
    if spec.mutates:
        return _unknown(f"{message}: look before you repeat it", "handler_failed")
    return Refusal(ErrorCode.UNAVAILABLE, message, reason="handler_failed")


def _unknown(message: str, reason: str) -> Refusal:
    return Refusal(ErrorCode.UNKNOWN_OUTCOME, message, reason=reason)
