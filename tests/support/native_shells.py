"""Panes' shells as a Term asks them: with a memory for ids, at the end of a line that may fail."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

import trio

from brokerd.client import (
    PANE_SHELL,
    RC_OK,
    BrokerLost,
    BusError,
    ErrorCode,
    Refusal,
    Reply,
    RequestTimeout,
    encode,
)
from termnode.control.native.forwards import CHILD_KEPT_S
from termnode.service.identity.words import BoundShell
from tests.support.native_gate import OWN_RECORD

LOST, NEVER = "lost", "never"
"""It was done and the answer is lost; or it never arrived."""

RECORD: Final = replace(
    OWN_RECORD,
    role=PANE_SHELL,
    parent_instance=OWN_RECORD.instance_id,
    parent_incarnation=OWN_RECORD.incarnation,
)


@dataclass
class Asked:
    """One request as it was sent."""

    to: str
    command: str
    body: dict[str, Any]
    timeout: float


@dataclass
class FakeShells:
    """One shell per pane; pane N has generation N. ``plan`` says what becomes of the next requests:
    a word, a Refusal, a Reply, an error of the bus, or an event to wait for first.
    """

    plan: deque[object] = field(default_factory=deque)
    after: deque[object] = field(default_factory=deque)
    """The same of those that waited for an event."""
    asked: list[Asked] = field(default_factory=list)
    runs: list[str] = field(default_factory=list)
    """Request ids as the shell has them, of what ran."""
    state: str = "running"
    bound: dict[int, BoundShell] = field(default_factory=dict)
    known: dict[str, tuple[bytes, str, float]] = field(default_factory=dict)
    """Of each id what was sent under it, the operation, and when that was."""
    kept: float = CHILD_KEPT_S
    clock: Callable[[], float] = lambda: 0.0
    mark: int = 0

    def __post_init__(self) -> None:
        for pane in (1, 2, 3):
            self.bind(pane, pane)

    def bind(self, pane: int, generation: int) -> None:
        """There is a shell of that generation in the pane."""
        record = replace(
            RECORD,
            name=f"p{pane}g{generation}",
            record_id=f"{pane:032x}",
            pane_id=pane,
            pane_generation=generation,
        )
        self.bound[pane] = BoundShell(record, record.ref)

    def find(self, pane: int) -> BoundShell | None:
        return self.bound.get(pane)

    async def request(
        self, to: str, command: str, body: Mapping[str, object], *, timeout: float
    ) -> Reply:
        raw = encode(dict(body))
        self.asked.append(Asked(to, command, json.loads(raw), timeout))
        what: object = self.plan.popleft() if self.plan else ""
        await trio.lowlevel.checkpoint()
        if isinstance(what, trio.Event):
            await what.wait()
            what = self.after.popleft() if self.after else ""
        if isinstance(what, BusError):
            raise what
        if what == NEVER:
            raise RequestTimeout(timeout)
        if isinstance(what, Refusal):
            return refused(what)
        reply = what if isinstance(what, Reply) else self._answer(command, raw)
        if what == LOST:
            raise BrokerLost("e" * 32)
        return reply

    def _answer(self, command: str, raw: bytes) -> Reply:
        body = json.loads(raw)
        if command in {"shell.execute", "shell.task.submit"}:
            return self._submitted(body["request_id"], raw)
        return good(operation_id=body["operation_id"], state=self.state)

    def _submitted(self, number: str, raw: bytes) -> Reply:
        now = self.clock()
        before, operation, at = self.known.get(number, (b"", "", -1e9))
        if now - at < self.kept:
            if before != raw:
                return refused(Refusal(ErrorCode.CONFLICT, "another", reason="request_mismatch"))
            return good(operation_id=operation, state=self.state, status="accepted")
        if int(number) <= self.mark:
            text = "it is retired"
            return refused(Refusal(ErrorCode.UNKNOWN_OUTCOME, text, reason="retired_request_id"))
        self.mark = int(number)
        operation = str(1_000 + len(self.runs))
        self.known[number] = raw, operation, now
        self.runs.append(number)
        return good(operation_id=operation, state=self.state, status="accepted")


def good(**fields: object) -> Reply:
    return Reply(RC_OK, encode({"version": 1, **fields}))


def refused(refusal: Refusal) -> Reply:
    return Reply(refusal.rc, encode(refusal.body()))
