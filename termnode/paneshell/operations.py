"""The pane shell's memory of what was submitted: no id runs twice, results stay for a while.

One table for every kind of submission, so that one id of a caller is spent once whatever it is
for. No I/O; times are milliseconds since boot.
"""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from brokerd.client import ErrorCode, Refusal, limit_reached
from termnode.paneshell.calls import Actor

KEPT_MS: Final = 900_000
"""For which a settled operation is kept."""

MAX_OPERATIONS: Final = 256
"""Operations that are kept; the oldest settled one gives way."""

MAX_ACTORS: Final = 64
"""Callers with operations at once."""

MAX_MARKS: Final = 4_096
"""Callers whose highest spent id is remembered; the longest unused one gives way."""

MAX_UNSPENT: Final = 256
"""Ids that came and are not spent: they may come again, though a higher one was spent since."""


@dataclass(slots=True, eq=False)
class Operation:
    """One submission that is or was carried out, or of which nobody can say.

    ``acceptance`` is the reply that was given, ``refusal`` what was raised instead; neither while
    it is being admitted. ``payload`` is what its family keeps of it.
    """

    id: str
    family: str
    actor: Actor
    request_id: int
    digest: bytes
    began_ms: int
    acceptance: dict[str, object] = field(default_factory=dict)
    refusal: Refusal | None = None
    settled_ms: int | None = None
    payload: Any = None
    mark_before: int = 0

    @property
    def running(self) -> bool:
        """Whether it has no outcome yet."""
        return self.settled_ms is None


class Operations:
    """The table. ``family`` is what an operation is read as, `execute` or `task`."""

    def __init__(self) -> None:
        self._by_id: OrderedDict[str, Operation] = OrderedDict()
        self._by_request: dict[tuple[Actor, int], Operation] = {}
        self._marks: OrderedDict[Actor, int] = OrderedDict()
        self._unspent: OrderedDict[tuple[Actor, int], None] = OrderedDict()

    def __len__(self) -> int:
        return len(self._by_id)

    def __iter__(self) -> Iterator[Operation]:
        return iter(list(self._by_id.values()))

    def arrived(self, actor: Actor, request_id: int) -> None:
        """A submission came: later ones of its caller that are spent first do not retire its id."""
        if request_id > self._marks.get(actor, 0):
            self._remember_unspent(actor, request_id)

    def find(self, actor: Actor, request_id: int, digest: bytes, now_ms: int) -> Operation | None:
        """What this submission, sent before, has become; None when it is a new one.

        Raises Refusal: CONFLICT for another body, UNKNOWN_OUTCOME for an id that is retired.
        """
        self._forget_old(now_ms)
        known = self._by_request.get((actor, request_id))
        if known is not None:
            if known.digest != digest:
                raise _mismatch()
            return known
        mark = self._marks.get(actor, 0)
        if request_id <= mark and (actor, request_id) not in self._unspent:
            raise _retired(mark)
        return None

    def check_room(self, actor: Actor, now_ms: int) -> None:
        """Raises Refusal RESOURCE_LIMIT when one more of this caller's would have no place."""
        self._forget_old(now_ms)
        if len(self._by_id) >= MAX_OPERATIONS and self._oldest_settled() is None:
            text = "too many commands and tasks run here: wait for some of them"
            raise limit_reached("operations", MAX_OPERATIONS, text)
        actors = {operation.actor for operation in self._by_id.values()}
        if actor not in actors and len(actors) >= MAX_ACTORS:
            text = "too many callers have operations here: try again later"
            raise limit_reached("operation_actors", MAX_ACTORS, text)

    def spend(
        self,
        family: str,
        actor: Actor,
        request_id: int,
        digest: bytes,
        *,
        now_ms: int,
        operation_id: str | None = None,
    ) -> Operation:
        """Spend the id and keep an operation for it. Raises Refusal RESOURCE_LIMIT."""
        self.check_room(actor, now_ms)
        if len(self._by_id) >= MAX_OPERATIONS:
            self._drop(self._oldest_settled())
        made = Operation(operation_id or new_id(), family, actor, request_id, digest, now_ms)
        made.mark_before = self._marks.get(actor, 0)
        self._by_id[made.id] = self._by_request[actor, request_id] = made
        self._unspent.pop((actor, request_id), None)
        self._marks[actor] = max(request_id, made.mark_before)
        self._marks.move_to_end(actor)
        _trim(self._marks, MAX_MARKS)
        return made

    def give_back(self, operation: Operation) -> None:
        """Nothing came of it: its id is as if it had not been spent."""
        self._drop(operation)
        actor, request_id = operation.actor, operation.request_id
        if self._marks.get(actor) == request_id:
            self._marks[actor] = operation.mark_before
        self._remember_unspent(actor, request_id)

    def settle(self, operation: Operation, now_ms: int) -> None:
        """It has its outcome; from now on it is kept for KEPT_MS."""
        operation.settled_ms = now_ms

    def forget(self, operation: Operation) -> None:
        """Keep it no longer; its id stays spent."""
        self._drop(operation)

    def get(self, operation_id: str, actor: Actor, family: str, now_ms: int) -> Operation:
        """An operation of this caller and kind. Raises Refusal UNKNOWN_OUTCOME for any other."""
        self._forget_old(now_ms)
        found = self._by_id.get(operation_id)
        if found is None or found.actor != actor or found.family != family:
            text = "no operation of yours has that id here now: look at the pane"
            raise Refusal(ErrorCode.UNKNOWN_OUTCOME, text, field="operation_id")
        return found

    def _remember_unspent(self, actor: Actor, request_id: int) -> None:
        self._unspent[actor, request_id] = None
        self._unspent.move_to_end((actor, request_id))
        _trim(self._unspent, MAX_UNSPENT)

    def _forget_old(self, now_ms: int) -> None:
        for operation in list(self._by_id.values()):
            if operation.settled_ms is not None and now_ms - operation.settled_ms >= KEPT_MS:
                self._drop(operation)

    def _oldest_settled(self) -> Operation | None:
        return next((each for each in self._by_id.values() if not each.running), None)

    def _drop(self, operation: Operation | None) -> None:
        if operation is not None and self._by_id.pop(operation.id, None) is not None:
            del self._by_request[operation.actor, operation.request_id]


def new_id() -> str:
    """A fresh operation id: a decimal u64 that no earlier process of this pane has used."""
    return str(secrets.randbits(63) or 1)


def _trim(table: OrderedDict[tuple[Actor, int], None] | OrderedDict[Actor, int], size: int) -> None:
    while len(table) > size:
        table.popitem(last=False)


def _mismatch() -> Refusal:
    return Refusal(
        ErrorCode.CONFLICT,
        "the request id was used with another body: take a fresh one, or send the same bytes",
        reason="request_mismatch",
        retry_requires="byte_identical_body",
    )


def _retired(mark: int) -> Refusal:
    return Refusal(
        ErrorCode.UNKNOWN_OUTCOME,
        "the request id is retired: look at the pane, then take a higher one",
        reason="retired_request_id",
        request_high_water=str(mark),
    )
