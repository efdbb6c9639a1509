"""What the ledger answers, and how it refuses."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

from brokerd.client import ErrorCode, Refusal, limit_reached
from termnode.control.spec import U64_MAX

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class New:
    """Nothing is known of the id: the request may run."""


@dataclass(frozen=True, slots=True)
class Recorded(Generic[R]):
    """It has run: this is its first reply."""

    reply: R


@dataclass(frozen=True, slots=True)
class Pending:
    """It is running."""

    operation_id: int


@dataclass(frozen=True, slots=True)
class Settled:
    """It has run, and this is the body that says what it came to after its first reply."""

    outcome: Mapping[str, object]


Lookup: TypeAlias = New | Recorded[R] | Pending
Operation: TypeAlias = Settled | Recorded[R] | Pending


def request_mismatch() -> Refusal:
    """CONFLICT: the id stands for another request."""
    return Refusal(
        ErrorCode.CONFLICT,
        "request_id was used for another request: send that one byte for byte, or use a higher id",
        reason="request_mismatch",
        retry_requires="byte_identical_body",
    )


def retired(high_water: int) -> Refusal:
    """UNKNOWN_OUTCOME: it may have run and never will again. It tells where ids go on.

    Nowhere, when all are spent, or when nobody knows any more which: then on another connection.
    """
    if high_water >= U64_MAX:
        return Refusal(
            ErrorCode.UNKNOWN_OUTCOME,
            "all ids of this connection count as spent: look at what it did, then connect anew,"
            " where ids begin at 1",
            reason="request_ids_spent",
        )
    return Refusal(
        ErrorCode.UNKNOWN_OUTCOME,
        "that id is spent and its reply is not kept: look at what it did,"
        " then go on above request_high_water",
        reason="retired_request_id",
        request_high_water=str(high_water),
    )


def unknown_operation(high_water: int) -> Refusal:
    """UNKNOWN_OUTCOME: no operation of this caller ever had that id."""
    return Refusal(
        ErrorCode.UNKNOWN_OUTCOME,
        "you have no operation with that id: use the operation_id of a reply",
        reason="unknown_operation",
        request_high_water=str(high_water),
    )


def too_many_entries(limit: int, left: float | None) -> Refusal:
    """RESOURCE_LIMIT: replies of the last 15 minutes fill the ledger. Nothing was spent.

    The first of them lapses in ``left`` seconds; None when there is none yet.
    """
    when = {} if left is None else {"retry_after_ms": str(max(1, math.ceil(left * 1000)))}
    return limit_reached(
        "retained_requests",
        limit,
        f"{limit} replies are kept: they lapse after 15 minutes, then send it again",
        **when,
    )


def too_many_actors(limit: int) -> Refusal:
    """RESOURCE_LIMIT: every actor there is room for has something under way. Nothing was spent."""
    return limit_reached(
        "retained_actors",
        limit,
        f"{limit} callers have requests under way: wait for replies, then send it again",
    )
