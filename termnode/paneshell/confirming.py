"""Asks the broker whether a caller and this pane are still what they were.

Nothing is allowed on what it did not say. What it refuses is FORBIDDEN; that it could not be asked,
or did not answer in time, says nothing of anybody's right, and may be tried again.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final, Protocol, TypeAlias

import trio

from brokerd.client import BusError, ErrorCode, RecordView, Ref, Refusal, Refused, forbidden

_OF_THE_BROKER: Final = frozenset({str(ErrorCode.RESOURCE_LIMIT), str(ErrorCode.UNAVAILABLE)})
"""Refusals that are about the broker itself, and not about who was asked after."""


class Sessions(Protocol):
    """What is asked; `brokerd.client.Sessions` is one. Everything raises BusError."""

    async def lease_check(self, ref: Ref) -> int:
        """Milliseconds left of a caller's lease."""

    async def self_record(self, record_id: str) -> RecordView:
        """The own record."""


Question: TypeAlias = Callable[[], Awaitable[int]]
"""How many milliseconds something is still good for. Raises BusError, Refusal."""


async def good_until(
    sessions: Sessions, caller: Ref | None, own: RecordView, clock_ms: Callable[[], int]
) -> int:
    """Until when (milliseconds since boot) the caller, if it has a record, and ``own`` are good.

    Counted from before the questions, so that a slow answer only shortens it. Raises Refusal:
    FORBIDDEN, UNAVAILABLE (`not_confirmed`).
    """
    asked = clock_ms()
    questions: list[Question] = [partial(_own_left, sessions, own)]
    if caller is not None:
        questions.append(partial(sessions.lease_check, caller))
    try:
        return asked + min(await _answers(questions))
    except BusError as error:
        refused = isinstance(error, Refused) and error.code not in _OF_THE_BROKER
        raise (forbidden() if refused else not_confirmed()) from None


def not_confirmed() -> Refusal:
    """UNAVAILABLE: the broker could not be asked in time."""
    return Refusal(
        ErrorCode.UNAVAILABLE,
        "the broker did not confirm it in time and nothing happened: send it again",
        reason="not_confirmed",
    )


async def _own_left(sessions: Sessions, own: RecordView) -> int:
    latest = await sessions.self_record(own.record_id)
    if latest.ref != own.ref or latest.lease_remaining_ms is None:
        raise forbidden()
    return latest.lease_remaining_ms


async def _answers(questions: list[Question]) -> list[int]:
    """All of them, asked at once; the first that fails is raised and the others are given up."""
    answers: list[int] = []
    failed: list[BusError | Refusal] = []

    async def ask(question: Question) -> None:
        try:
            answers.append(await question())
        except (BusError, Refusal) as error:
            failed.append(error)
            nursery.cancel_scope.cancel()

    async with trio.open_nursery() as nursery:
        for question in questions:
            nursery.start_soon(ask, question)
    if failed:
        raise failed[0]
    return answers
