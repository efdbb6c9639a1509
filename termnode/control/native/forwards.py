"""What was passed on to panes' shells: under which id, and whose each operation is. No I/O.

At a pane's shell Term is one caller. So each request id of each of Term's callers has an id of its
own there, the same one whenever it is sent again: the shell's own memory of ids then keeps it from
running twice. One table for both families, so that one id is never spent on each of them.

An entry is remembered for longer than the shell remembers what it stands for. It is given up only
when the shell cannot know it any more; a full table refuses what is new. What is given up is
refused by the ledger's mark and never passed on again.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from brokerd.client import Refusal, limit_reached
from termnode.control.native.actors import Actor
from termnode.control.native.answers import request_mismatch
from termnode.control.native.exec_table import EXECUTE
from termnode.control.native.limits import FORWARDED_CALLS, FORWARDED_IDS, FORWARDED_MS
from termnode.control.native.targets import Target
from termnode.paneshell.operations import KEPT_MS, MAX_OPERATIONS

FORWARDED_S: Final = FORWARDED_MS / 1_000
"""Seconds for which an entry is remembered from its known end on, which is not before its end."""

CHILD_KEPT_S: Final = KEPT_MS / 1_000
"""Seconds for which a pane's shell remembers an operation, from its end on."""

assert FORWARDED_S > CHILD_KEPT_S, "an id must not get another one while the shell remembers it"

OPERATIONS: Final = MAX_OPERATIONS + FORWARDED_CALLS
"""Operations of one shell that are remembered, beside those that may still run. It remembers fewer,
and the oldest goes first there too; those that were answered at the same time may change places."""

SWEEP_S: Final = 5.0
"""Between two looks for what has lapsed."""


Key: TypeAlias = tuple[Actor, int]
"""A caller and its request id."""


@dataclass(slots=True, eq=False)
class Forward:
    """One submission. ``ends`` (seconds) is when it will have ended for all that is known: infinite
    for a command that was taken.

    ``number`` is its id at the pane's shell, from its first sending on, which was at ``sent``;
    ``operation`` is what the shell calls it.
    """

    key: Key
    digest: bytes
    target: Target
    family: str
    ends: float
    sent: float
    number: int = 0
    operation: int | None = None

    @property
    def at_the_prompt(self) -> bool:
        """Whether it is a command that its shell took, and runs for all that is known."""
        return self.operation is not None and self.ends == float("inf")


class Forwards:
    """The table. Times are monotonic seconds.

    ``kept`` are the seconds for which an entry is remembered from its end on.
    """

    def __init__(self, *, most: int = FORWARDED_IDS, kept: float = FORWARDED_S) -> None:
        self.most = most
        self._kept = kept
        self._last_number = 0
        self._swept = 0.0
        self._by_request: dict[Key, Forward] = {}
        self._by_operation: dict[tuple[Target, int], Forward] = {}
        self._taken: dict[Target, OrderedDict[Forward, None]] = {}
        """Of each shell what it took, but for what is remembered by time alone."""
        self._latest: dict[Target, Forward] = {}
        """Of each shell the command that it took last: all before that have ended."""

    def __len__(self) -> int:
        return len(self._by_request)

    def find(self, key: Key, digest: bytes, now: float) -> Forward | None:
        """The entry of an id. Raises Refusal CONFLICT when it stands for another request."""
        found = self._by_request.get(key)
        if found is None or not self._live(found, now):
            return None
        if found.digest != digest:
            raise request_mismatch()
        return found

    def check_room(self, now: float, is_there: Callable[[Target], bool]) -> None:
        """Raises Refusal RESOURCE_LIMIT when there is no place for another one.

        ``is_there`` says whether a target's shell is still its pane's; asked when there is no room,
        since one that is gone remembers nothing.
        """
        full = len(self) >= self.most
        if full or now >= self._swept + SWEEP_S:
            self._swept = now
            for forward in list(self._by_request.values()):
                if not self._live(forward, now) or (full and not is_there(forward.target)):
                    self.forget(forward)
        if len(self) >= self.most:
            raise _too_many(self.most)

    def add(self, key: Key, digest: bytes, target: Target, family: str, now: float) -> Forward:
        """An entry for an id that has none; there is room for it (`check_room`)."""
        lapsed = self._by_request.get(key)
        if lapsed is not None:
            self.forget(lapsed)
        made = self._by_request[key] = Forward(key, digest, target, family, now, now)
        return made

    def sending(self, forward: Forward, now: float) -> int:
        """Its id at the pane's shell; to be sent in this very step, so that these ids rise."""
        if not forward.number:
            self._last_number += 1
            forward.number, forward.sent = self._last_number, now
        forward.ends = max(forward.ends, now)
        return forward.number

    def accepted(
        self, forward: Forward, operation: int, now: float, within: float | None = None
    ) -> None:
        """The pane's shell took it as this operation, which ends ``within`` seconds if that is
        known. Of a repeat nothing new is learnt."""
        if forward.operation is not None or not self._has(forward):
            return
        forward.operation = operation
        forward.ends = float("inf") if within is None else now + within
        self._by_operation[forward.target, operation] = forward
        self._taken.setdefault(forward.target, OrderedDict())[forward] = None
        if forward.family == EXECUTE:
            self._follow(forward, now)
        self._give_up_oldest(forward.target, now)

    def ended(self, forward: Forward, now: float) -> None:
        """It is known to have ended."""
        forward.ends = min(forward.ends, now)

    def forget(self, forward: Forward) -> None:
        """Remember it no more: its id is told of by others, or refused."""
        if not self._has(forward):
            return
        del self._by_request[forward.key]
        if forward.operation is None:
            return
        target = forward.target
        if self._by_operation.get((target, forward.operation)) is forward:
            del self._by_operation[target, forward.operation]
        if self._latest.get(target) is forward:
            del self._latest[target]
        self._let_go(forward)

    def owned(
        self, actor: Actor, target: Target, operation: int, family: str, now: float
    ) -> Forward | None:
        """The caller's operation of that family at that shell; None for any other."""
        found = self._by_operation.get((target, operation))
        if found is None or (found.key[0], found.family) != (actor, family):
            return None
        return found if self._live(found, now) else None

    def statistics(self) -> dict[str, int]:
        """How many submissions are remembered, and how many of them were taken."""
        return {"forwarded": len(self), "operations": len(self._by_operation)}

    def verify(self) -> None:
        """Raise AssertionError when the parts disagree or a bound does not hold."""
        everyone = set(self._by_request.values())
        taken = {each for row in self._taken.values() for each in row}
        checks = {
            "entries over their bound": len(self) <= self.most,
            "an operation of nobody": set(self._by_operation.values()) <= everyone,
            "a taken one of nobody": taken <= everyone,
            "a latest one of nobody": set(self._latest.values()) <= everyone,
            "a shell without operations": all(self._taken.values()),
            "two with one id": _differ([each.number for each in everyone if each.number]),
        }
        wrong = [what for what, holds in checks.items() if not holds]
        if wrong:
            raise AssertionError(", ".join(wrong))

    # -- inside --------------------------------------------------------------------------------

    def _has(self, forward: Forward) -> bool:
        return self._by_request.get(forward.key) is forward

    def _live(self, forward: Forward, now: float) -> bool:
        return now < forward.ends + self._kept

    def _follow(self, forward: Forward, now: float) -> None:
        """A shell takes a command when the one before has ended; answers may change places."""
        latest = self._latest.get(forward.target)
        if latest is not None and latest.number > forward.number:
            self.ended(forward, now)
            return
        if latest is not None:
            self.ended(latest, now)
        self._latest[forward.target] = forward

    def _give_up_oldest(self, target: Target, now: float) -> None:
        """What has ended before so many others were taken, its shell does not remember."""
        row = self._taken[target]
        if len(row) <= OPERATIONS:
            return
        oldest = next(iter(row))
        if oldest.ends <= now:
            self.forget(oldest)
        else:
            self._let_go(oldest)

    def _let_go(self, forward: Forward) -> None:
        row = self._taken.get(forward.target)
        if row is not None:
            row.pop(forward, None)
            if not row:
                del self._taken[forward.target]


def _differ(numbers: list[int]) -> bool:
    return len(set(numbers)) == len(numbers)


def _too_many(limit: int) -> Refusal:
    return limit_reached(
        "forwarded_ids",
        limit,
        f"{limit} submissions to panes' shells are remembered: they lapse 16 minutes after their "
        "end, then send it again",
    )
