"""Notices of the broker about records, and who is told of them. No I/O.

Only the broker's own word counts: what a peer sends under these commands is dropped. A watcher is
called inside the connection's own task, at once, so that authority ends with the notice and not
when a task gets its turn.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol

import trio

from brokerd import bodies, fields
from brokerd.bodies import Json
from brokerd.client.errors import MalformedReply
from brokerd.client.failures import where
from brokerd.client.sessions.types import ATTACHED, RECORD_STATES, Ref, parsed
from brokerd.errors import Refusal
from brokerd.fields import read_fields

LIFECYCLE: Final = "session.lifecycle"
LIFECYCLE_GAP: Final = "session.lifecycle.gap"
COMMANDS: Final = frozenset({LIFECYCLE, LIFECYCLE_GAP})

NOTICE_CAPACITY: Final = 256
"""Notices that wait for a stream's reader, unless it says else."""

log = logging.getLogger("brokerd.client")


@dataclass(frozen=True, slots=True)
class LifecycleNotice:
    """That record has come into ``state`` (one of RECORD_STATES); ``ref`` as of then."""

    ref: Ref
    state: str

    def ends(self, held: Ref) -> bool:
        """Whether ``held`` is no longer what its holder thinks it is.

        An attachment ends all before it; any other state ends that attachment as well.
        """
        if (self.ref.record_id, self.ref.incarnation) != (held.record_id, held.incarnation):
            return False
        behind = held.binding_generation < self.ref.binding_generation
        same = held.binding_generation == self.ref.binding_generation
        return behind or (same and self.state != ATTACHED)


@dataclass(frozen=True, slots=True)
class LifecycleGap:
    """Notices may be missing before this point: ask the broker for what matters."""


class LifecycleWatcher(Protocol):
    """Told at once; must be quick. What it raises is logged and goes no further."""

    def notice(self, notice: LifecycleNotice) -> None:
        """A record has changed."""

    def gap(self) -> None:
        """Notices may be missing."""

    def lost(self) -> None:
        """The connection is gone, and with it whatever it held."""


class Lifecycle:
    """The watchers of one connection."""

    def __init__(self) -> None:
        self._watchers: list[LifecycleWatcher] = []

    def __len__(self) -> int:
        return len(self._watchers)

    def add(self, watcher: LifecycleWatcher) -> None:
        """Tell ``watcher`` from now on."""
        self._watchers.append(watcher)

    def remove(self, watcher: LifecycleWatcher) -> None:
        """Tell it no more."""
        self._watchers = [other for other in self._watchers if other is not watcher]

    def take(self, command: str, body: bytes, epoch: str) -> bool:
        """The broker's own event; False when it is not as agreed, which counts as a gap."""
        notice = _parse(command, body, epoch)
        if isinstance(notice, LifecycleNotice):
            self._tell(lambda watcher: watcher.notice(notice))
        else:
            self.mark_gap()
        return notice is not None

    def mark_gap(self) -> None:
        """Something may be missing."""
        self._tell(lambda watcher: watcher.gap())

    def lost(self) -> None:
        """The connection is gone."""
        self._tell(lambda watcher: watcher.lost())

    def _tell(self, call: Callable[[LifecycleWatcher], None]) -> None:
        for watcher in self._watchers:
            try:
                call(watcher)
            except Exception as error:  # noqa: BLE001  # one watcher's failure is not the others'
                log.error("a watcher of lifecycle notices failed: %s", where(error))


class LifecycleNotices:
    """A stream of notices and gaps, for one reader; at most ``capacity`` notices wait.

    A full stream drops the new notice; its reader gets a LifecycleGap first, as it does after a
    lost connection.
    """

    def __init__(self, capacity: int = NOTICE_CAPACITY) -> None:
        if capacity < 1:
            raise ValueError("capacity must be at least 1")
        self.capacity = capacity
        self._waiting: deque[LifecycleNotice] = deque()
        self._gap = False
        self._reader = trio.lowlevel.ParkingLot()

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def gapped(self) -> bool:
        """Whether the next item will be a LifecycleGap."""
        return self._gap

    def clear(self) -> None:
        """Forget what nobody has taken yet, a gap included."""
        self._waiting.clear()
        self._gap = False

    def notice(self, notice: LifecycleNotice) -> None:
        """For the connection: one has arrived."""
        if len(self._waiting) >= self.capacity:
            self._gap = True
        else:
            self._waiting.append(notice)
        self._reader.unpark()

    def gap(self) -> None:
        """For the connection: some may be missing."""
        self._gap = True
        self._reader.unpark()

    lost = gap

    def __aiter__(self) -> LifecycleNotices:
        return self

    async def __anext__(self) -> LifecycleNotice | LifecycleGap:
        if self._gap or self._waiting:
            # A reader that is always behind must still let others run and be cancellable.
            await trio.lowlevel.checkpoint()
        while not self._gap and not self._waiting:
            await self._reader.park()
        if self._gap:
            self._gap = False
            return LifecycleGap()
        return self._waiting.popleft()


def _parse(command: str, body: bytes, epoch: str) -> LifecycleNotice | LifecycleGap | None:
    try:
        raw = bodies.decode_object(body)
        return parsed("notice", lambda: _read(command, raw, epoch))
    except (Refusal, MalformedReply):
        return None


def _read(command: str, raw: dict[str, Json], epoch: str) -> LifecycleNotice | LifecycleGap:
    same_epoch = fields.one_of((epoch,))
    if command == LIFECYCLE_GAP:
        read_fields({"broker_epoch": same_epoch}, raw)
        return LifecycleGap()
    readers = {
        "target": Ref.from_json,
        "state": fields.one_of(RECORD_STATES),
        "broker_epoch": same_epoch,
    }
    values = read_fields(readers, raw)
    return LifecycleNotice(values["target"], values["state"])
