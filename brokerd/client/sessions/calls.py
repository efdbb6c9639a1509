"""One request to the broker about sessions: its timeout, its repetition, its refusal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from brokerd import bodies, wire
from brokerd.bodies import Json
from brokerd.client.errors import BusError, MalformedReply, Refused, RequestTimeout
from brokerd.client.session import Session
from brokerd.client.slots import Outcome, Slot
from brokerd.client.waiting import outcome_of

TIMEOUT: Final = 2.0
"""Seconds for the answer to a request about sessions."""


async def ask(
    session: Session, command: str, body: Mapping[str, object], timeout: float
) -> dict[str, Json]:
    """The answer's body. Raises Refused, MalformedReply, and what ``Bus.request`` raises."""
    outcome, _ = await _once(session, command, bodies.encode(body), timeout)
    return _result(outcome, timeout)


async def ask_retained(
    session: Session, command: str, body: Mapping[str, object], timeout: float
) -> dict[str, Json]:
    """As ``ask``, for the verbs whose results the broker keeps by id.

    When no answer comes in time, the very same request is sent once more on the same connection:
    it is done once, however often it arrives. The time is ``timeout`` for each of the two.
    """
    raw, connection = bodies.encode(body), _connection(session)
    outcome, request_id = await _once(session, command, raw, timeout)
    if outcome is None and _connection(session) == connection:
        outcome, _ = await _once(session, command, raw, timeout, again=request_id)
    return _result(outcome, timeout)


def _connection(session: Session) -> tuple[str, str]:
    return session.epoch, session.connection_id


async def _once(
    session: Session, command: str, body: bytes, timeout: float, *, again: str | None = None
) -> tuple[Outcome | None, str]:
    slot = Slot()
    request_id = session.request(wire.BROKER, command, body, slot, again=again)
    try:
        return await outcome_of(slot, timeout), request_id
    finally:
        if slot.outcome is None:
            session.abandon(request_id)


def _result(outcome: Outcome | None, timeout: float) -> dict[str, Json]:
    if outcome is None:
        raise RequestTimeout(timeout)
    if isinstance(outcome, BusError):
        raise outcome
    if (error := outcome.error) is not None:
        raise Refused(error.code, error.message, error.details)
    body = outcome.body
    if body is None:
        raise MalformedReply("body")
    return body
