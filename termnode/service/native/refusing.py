"""What a caller is told when a pane's shell gave no good answer, or was not asked. No I/O."""

from __future__ import annotations

from typing import Final

from brokerd.client import (
    BusError,
    ErrorCode,
    MessageTooLarge,
    NotConnected,
    Overloaded,
    Refusal,
    Reply,
    forbidden,
    invalid,
    limit_reached,
)
from termnode.control.native.fields import TARGET

MAX_MESSAGE: Final = 1_024
"""Characters of a shell's words that are passed on."""

ATTACHED_ANEW: Final = "attached_anew"
"""The shell is the same and another attachment by now: the caller named neither."""

_ARRIVED: Final = frozenset({"peer_gone", "deregistered", "pending_expired", "handler_failed"})
"""Reasons of UNAVAILABLE after which something may have been done all the same."""


def not_answered(error: BusError, *, submits: bool) -> Refusal:
    """What to say when there was no answer."""
    if isinstance(error, MessageTooLarge):
        return invalid("body", "the request is too large to be passed on: send less")
    if isinstance(error, Overloaded):
        text = "too much waits for answers: wait for replies, then send it again"
        return limit_reached("forwarding", error.limit, text)
    if isinstance(error, NotConnected) and submits:
        return _not_sent("the terminal has lost its broker", "not_forwarded")
    if submits:
        return unknown("the pane's shell did not answer", "no_answer")
    return lost("the pane's shell did not answer")


def not_passed_on() -> Refusal:
    """What was decided a step before did not hold any more."""
    return _not_sent("the pane, or your right to it, has just changed", "not_forwarded")


def _not_sent(why: str, reason: str) -> Refusal:
    text = f"{why} and nothing was passed on: send it again"
    return Refusal(ErrorCode.UNAVAILABLE, text, reason=reason)


def unknown(what: str, reason: str) -> Refusal:
    """UNKNOWN_OUTCOME of a submission."""
    text = f"{what}, and may have run it: send it again byte for byte, which runs it once at most"
    return Refusal(ErrorCode.UNKNOWN_OUTCOME, text, reason=reason)


def lost(what: str, reason: str = "no_answer") -> Refusal:
    """DISCONNECTED of a question."""
    return Refusal(ErrorCode.DISCONNECTED, f"{what}: ask again", reason=reason)


def refusal_of(reply: Reply, *, submits: bool) -> Refusal:
    """The shell's refusal, or the broker's in its place, as the caller is told."""
    error = reply.error
    assert error is not None, "a good reply is no refusal"
    code = _CODES.get(error.code)
    reason = error.details.get("reason")
    if code is None or (code is ErrorCode.UNAVAILABLE and reason in _ARRIVED):
        gone = "the pane's shell was lost"
        return unknown(gone, "no_answer") if submits else lost(gone)
    if code is ErrorCode.FORBIDDEN:
        return forbidden()
    if code is ErrorCode.STALE_GENERATION and error.details.get("field") == TARGET:
        anew = "the pane's shell was attached anew"
        return _not_sent(anew, ATTACHED_ANEW) if submits else lost(anew, ATTACHED_ANEW)
    if submits and (code is ErrorCode.CONFLICT or reason == "retired_request_id"):
        # The caller's request is the one that it was; ids at the shell are nothing to the caller.
        return unknown("the pane's shell does not know it any more", "not_remembered")
    details = {name: value for name, value in error.details.items() if name not in _OUR_OWN}
    return Refusal(code, error.message[:MAX_MESSAGE], **details)


_CODES: Final = {str(code): code for code in ErrorCode}

_OUR_OWN: Final = frozenset({"code", "message", "request_high_water"})
"""Details that no refusal can have, or that are about ids at the shell."""
