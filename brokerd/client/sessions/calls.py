"""One request to the broker about sessions: its timeout, its repetition, its refusal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from brokerd import bodies, wire
from brokerd.bodies import Json
from brokerd.client.errors import MalformedReply, Refused
from brokerd.client.session import Session
from brokerd.client.slots import Outcome, reply_of
from brokerd.client.waiting import asked

TIMEOUT: Final = 2.0
"""Seconds for the answer to a request about sessions."""


async def ask(
    session: Session, command: str, body: Mapping[str, object], timeout: float
) -> dict[str, Json]:
    """The answer's body. Raises Refused, MalformedReply, and what ``Bus.request`` raises."""
    outcome, _ = await asked(session, wire.BROKER, command, bodies.encode(body), timeout)
    return _result(outcome, timeout)


async def ask_retained(
    session: Session, command: str, body: Mapping[str, object], timeout: float
) -> dict[str, Json]:
    """As ``ask``, for the verbs whose results the broker keeps by id.

    When no answer comes in time, the very same request is sent once more on the same connection:
    it is done once, however often it arrives. The time is ``timeout`` for each of the two.
    """
    raw, connection = bodies.encode(body), _connection(session)
    outcome, request_id = await asked(session, wire.BROKER, command, raw, timeout)
    if outcome is None and _connection(session) == connection:
        outcome, _ = await asked(session, wire.BROKER, command, raw, timeout, again=request_id)
    return _result(outcome, timeout)


def _connection(session: Session) -> tuple[str, str]:
    return session.epoch, session.connection_id


def _result(outcome: Outcome | None, timeout: float) -> dict[str, Json]:
    reply = reply_of(outcome, timeout)
    if (error := reply.error) is not None:
        raise Refused(error.code, error.message, error.details)
    body = reply.body
    if body is None:
        raise MalformedReply("body")
    return body
