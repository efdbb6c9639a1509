"""A ledger with plain replies, and mutations as the service carries them out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from brokerd.client import ErrorCode, Refusal
from termnode.control.native.actors import Actor
from termnode.control.native.ledger import Ledger, New

A, B = b"a" * 32, b"b" * 32
PANE, OTHER = ("pane", 1), ("pane", 2)
T0 = 1_000.0
TICK = 2.0**-10


@dataclass(frozen=True)
class Said:
    """A reply as the ledger sees it."""

    text: str
    about_load: bool = False

    @property
    def size(self) -> int:
        return len(self.text)


def ambient(number: int) -> Actor:
    return "ambient", 1000, "e" * 32, f"{number:032x}"


def bound(number: int) -> Actor:
    return "bound", 1000, f"{number:032x}", "1" * 32


ME = ambient(1)


def run(
    ledger: Ledger[Said], request_id: int, now: float = T0, actor: Actor = ME, digest: bytes = A
) -> Said:
    """Carry a mutation out as the service does: look, reserve, record."""
    assert ledger.lookup(actor, request_id, digest, now) == New()
    reply = Said(f"{actor[3]} {request_id}")
    ledger.reserve(actor, request_id, digest, PANE, "term.type", now=now).record(reply, now)
    ledger.verify()
    return reply


def refusal(call: Callable[[], object]) -> Refusal:
    with pytest.raises(Refusal) as caught:
        call()
    return caught.value


def retired(ledger: Ledger[Said], request_id: int, now: float = T0, actor: Actor = ME) -> str:
    """Assert that the id is spent and nothing kept of it; the mark that the refusal tells."""
    told = refusal(lambda: ledger.lookup(actor, request_id, A, now))
    assert told.code is ErrorCode.UNKNOWN_OUTCOME
    if told.details == {"reason": "request_ids_spent"}:
        return "connect anew"
    assert told.details.keys() == {"reason", "request_high_water"}
    assert told.details["reason"] == "retired_request_id"
    return str(told.details["request_high_water"])


def run_quickly(ledger: Ledger[Said], actor: Actor, number: int, now: float = T0) -> Said:
    reply = Said(str(number))
    ledger.reserve(actor, number, A, PANE, "term.type", now=now).record(reply, now)
    return reply
