"""This Term's identity on the bus: its own record, and one for the shell of each pane.

It has a connection of its own, since the allocated name takes the place of all others on one.
Everything here runs beside the panes: nothing of it is waited for when one is opened.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final

import trio

from brokerd.client import (
    Authority,
    Bus,
    BusError,
    LifecycleNotice,
    RuntimeDirError,
    SessionKeeper,
    SessionKey,
    attach_term,
    connect,
)
from termnode.service.config import Config
from termnode.service.identity.calling import Caller, revoke_all
from termnode.service.identity.children import Children
from termnode.service.identity.native import NativeLane, Refusing
from termnode.service.identity.pane_shells import PaneShells
from termnode.service.identity.policy import VARIABLE, term_policy
from termnode.service.identity.words import OFF, BoundShell, IdentityState, Native, PaneBinding

CONNECT_TIMEOUT_S: Final = 20.0
CONNECT_PAUSE_S: Final = 1.0
CHILDREN_STOP_S: Final = 3.0
STOP_S: Final = 8.0
"""For all records to be revoked at the end; what is left ends within a minute by itself."""

log = logging.getLogger("termnode.identity")


def boottime() -> float:
    """Seconds of the clock that the broker's deadlines are in."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class IdentityActor:
    """Owns the connection, the keeper of the record, and the table of children.

    ``next_pane`` tells which pane will be opened next. ``on_change`` is called when `state` or a
    pane's binding may have changed; it must be quick and must not raise.
    """

    def __init__(
        self,
        config: Config,
        next_pane: Callable[[], int],
        *,
        on_change: Callable[[], object] = lambda: None,
        clock: Callable[[], float] = boottime,
    ) -> None:
        self._config = config
        self._policy = term_policy(config.environment)
        self._next_pane = next_pane
        self._on_change = on_change
        self._clock = clock
        self._key: Final = SessionKey.generate()
        self._children = Children(clock())
        self._asking = self._children.asking
        self.panes: Final = PaneShells(config, self._children, clock, self._ring)
        """To be told of panes, and to run beside each."""
        self.lane: NativeLane = Refusing()
        """Takes the requests to the allocated name; set before `run`."""
        self._bell = trio.Event()
        self._work = trio.CancelScope()
        self._bus: Bus | None = None
        self._keeper: SessionKeeper | None = None
        self._authority: Authority | None = None
        self._problem = ""
        self._stopping = False

    # -- for the rest of the service -----------------------------------------------------------

    @property
    def state(self) -> IdentityState:
        """How the Term's own record stands now."""
        if self._policy is None:
            words = f"{VARIABLE} is neither default-open nor restricted: correct it, and restart"
            return IdentityState(Native.OFF, None, words)
        authority = self._authority
        if authority is not None and self._held:
            return IdentityState(Native.READY, self._policy, "", authority.record)
        problem = (self._keeper.problem if self._keeper else "") or self._problem
        native = Native.STARTING if authority is None else Native.LOST
        return IdentityState(native, self._policy, problem)

    @property
    def connected(self) -> bool:
        """Whether its connection to the broker stands."""
        return self._bus is not None and self._bus.connected

    @property
    def authority(self) -> Authority | None:
        """What this Term holds now; None while it may not act."""
        return self._authority if self._held else None

    @property
    def _held(self) -> bool:
        """Whether this Term may act by its record."""
        return self._authority is not None and self._authority.live and not self._stopping

    def control_ready(self, pane: int) -> bool:
        """Whether the pane's program runs and its pane shell was seen attached, as granted last."""
        return self._held and self._children.control_ready(pane)

    def shell_of(self, pane: int) -> BoundShell | None:
        """The pane's shell, while the pane may be controlled through it."""
        return self._children.bound(pane) if self._held else None

    def binding_of(self, pane: int) -> PaneBinding:
        """How a pane stands; without a native identity, or a program, its state is ``off``."""
        found = None if self._policy is None else self._children.binding(pane)
        return found or OFF

    def active(self) -> None:
        """Somebody uses the terminal. Quick: called for each key."""
        now = self._clock()
        if self._asking.provision.idle(now):
            self._ring()
        self._asking.provision.active(now)

    # -- life ----------------------------------------------------------------------------------

    async def run(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Be the identity until cancelled; ``started`` at once, before there is any."""
        task_status.started()
        if self._policy is None:
            log.error("%s", self.state.problem)
            await trio.sleep_forever()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self.panes.run, self._rest)
            await self._connected()

    async def stop(self) -> None:
        """Revoke the children, then this Term, as far as the broker answers; start no more."""
        self._stopping = True
        self._work.cancel()
        self.panes.end_all()
        bus, keeper = self._bus, self._keeper
        if bus is None or keeper is None or self._authority is None:
            return
        with trio.move_on_after(STOP_S):
            with trio.move_on_after(CHILDREN_STOP_S):
                await revoke_all(bus, self._asking.refs())
            with suppress(BusError):  # the broker does it within a minute
                await keeper.revoke()

    async def _connected(self) -> None:
        while True:
            try:
                async with connect(
                    self._config.directory, wait=True, timeout=CONNECT_TIMEOUT_S
                ) as bus:
                    await self._serve(bus)
            except (BusError, RuntimeDirError) as error:
                log.error("no verified session: %s", error)
                self._problem = str(error)
                self._on_change()
            await trio.sleep(CONNECT_PAUSE_S)

    async def _serve(self, bus: Bus) -> None:
        assert self._policy is not None, "without a policy there is no connection"
        self._bus = bus
        self._keeper = SessionKeeper(
            bus,
            self._key,
            attach_term(self._key, self._policy),
            on_change=self._authority_changed,
            on_notice=self._noticed,
            on_gap=self._gapped,
        )
        async with trio.open_nursery() as nursery:
            await nursery.start(self.lane.run, bus)
            with bus.attend_bound(self.lane.take):
                nursery.start_soon(self._keeper.run)
                await self._calls(bus)
                await trio.sleep_forever()

    async def _calls(self, bus: Bus) -> None:
        caller = Caller(self._asking, self._clock, self._config.child_capabilities)
        with self._work:
            while True:
                call = self._asking.next_call(self._next_pane(), self._clock())
                if call is None:
                    await self._rest()
                else:
                    await caller.carry_out(bus, call)
                    self._ring()

    # -- what is told --------------------------------------------------------------------------

    def _ring(self) -> None:
        """Something may be to be done, and to be told."""
        self._bell.set()
        self._bell = trio.Event()
        self._on_change()

    async def _rest(self) -> None:
        """Wait until something happens or is due."""
        bell = self._bell
        with trio.move_on_after(self._children.wait(self._next_pane(), self._clock())):
            await bell.wait()

    def _authority_changed(self) -> None:
        assert self._keeper is not None, "the keeper calls this"
        authority = self._keeper.authority
        if authority is None or authority is not self._authority:
            record = None if authority is None else authority.record
            self._asking.authority(record, self._clock())
        self._authority = authority or self._authority
        self._ring()

    def _noticed(self, notice: LifecycleNotice) -> None:
        self._asking.notice(notice.ref, notice.state, self._clock())
        self.lane.noticed(notice)
        self._ring()

    def _gapped(self) -> None:
        self._asking.gap(self._clock())
        self.lane.gapped()
        self._ring()
