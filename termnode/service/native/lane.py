"""Puts the native lane of one service together, and serves it at the Term's allocated name."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import trio

from brokerd.client import ATTACHED, REVOKED, Bus, LifecycleNotice, Ref, Request, boottime_ms
from termnode.control.native.decisions import Go
from termnode.control.native.gate import Gate
from termnode.control.native.ledger import Ledger
from termnode.control.native.world import World
from termnode.lanes.calls import Sealed
from termnode.lanes.native_lane import NativeLane
from termnode.service.events.pump import EventPump
from termnode.service.native.checks import CHECK_S, LeaseChecks
from termnode.service.native.departures import Departures
from termnode.service.native.desk import Desk
from termnode.service.native.dispatch import NativeDispatcher
from termnode.service.native.events import NativeEvents
from termnode.service.native.forwarding import Forwarding
from termnode.service.native.input import INPUT, NativeInput
from termnode.service.native.jobs import queue_places, wait_places
from termnode.service.native.line import Ways
from termnode.service.native.output import OutputTelling
from termnode.service.native.parts import Native
from termnode.service.native.performers import Performers
from termnode.service.native.relaying import Ended
from termnode.service.native.turns import OnSettled, Turns
from termnode.service.state import Result, State, Work


class NativeService:
    """Takes requests and the broker's notices about records (`termnode.service.identity.native`).

    ``add`` puts work among the mutations of all lanes. ``clock`` is monotonic, in seconds,
    ``wall_ms`` gives Unix milliseconds. ``recheck`` is called when somebody's right may have ended.
    """

    def __init__(
        self,
        state: State,
        world: World,
        *,
        add: Callable[[Work], None],
        on_settled: OnSettled,
        recheck: Callable[[], None],
        clock: Callable[[], float],
        wall_ms: Callable[[], int],
    ) -> None:
        ledger: Ledger[Sealed] = Ledger(retention=state.config.retention_s)
        native = self.parts = Native(state, world, ledger)
        self._clock = clock
        self._recheck = recheck
        self._bus: Bus | None = None
        self._held = False
        self._departures = Departures(ledger, add)
        self._checks = LeaseChecks(native.leases, self._ask_broker, boottime_ms)
        self.events = NativeEvents(
            state.events, world, native.leases, self._checks, now_ms=boottime_ms
        )
        self.output = OutputTelling(self.events, state.events, clock)
        """Of commands that run in panes' shells."""
        self._pump = EventPump(self.events)
        gate: Gate[Sealed] = Gate(world, native.ledger, native.leases, native.forwards)
        lane = NativeLane(gate, native.ledger, state.audit, wall_ms)
        desk = Desk(lane, self._checks, clock, boottime_ms)
        performers = Performers(world, lambda go, panes: gate.stands(go, panes, boottime_ms()))
        places = queue_places()
        self._forwarding = Forwarding(
            world,
            native.ledger,
            native.forwards,
            desk,
            Ways(
                add,
                places,
                state.identity.shell_of,
                on_settled,
                clock,
                partial(_ended, state),
                self.output.accepted,
                lambda go: gate.stands(go, frozenset({go.target.pane_id}), boottime_ms()),
            ),
        )
        given = NativeInput(world, native.leases, native.revoked)
        turns = Turns(
            state,
            desk,
            add=add,
            perform={**performers.table, **dict.fromkeys(INPUT, given.perform)},
            on_settled=on_settled,
            places=places,
        )
        self._dispatcher = NativeDispatcher(
            native,
            desk,
            turns,
            waits=wait_places(),
            subscribe=self._subscribe,
            clock=clock,
            forward=self._forwarding.begin,
        )

    def take(self, request: Request) -> None:
        """A request has come; quick."""
        self._dispatcher.take(request)

    def noticed(self, notice: LifecycleNotice) -> None:
        """A record has changed: what is trusted of it is trusted no more."""
        ref = notice.ref
        before = ref.binding_generation - (notice.state == ATTACHED)
        self.parts.leases.drop(ref.record_id, before)
        if notice.state == REVOKED:
            self.parts.ledger.ended(ref.record_id, self._clock())
        self._recheck()

    def gapped(self) -> None:
        """Notices may have been missed: nobody's lease is trusted any more."""
        self.parts.leases.clear()
        self._recheck()

    def identity_changed(self) -> None:
        """The Term's own right may have come or gone."""
        own = self.parts.world.own()
        if own is not None:
            self._departures.under(own.broker_epoch)
        held = own is not None
        if held != self._held:
            self._held = held
            self._recheck()
            self.events.on_news()  # what waited for it can go now

    async def run(
        self, bus: Bus, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
    ) -> None:
        """Serve over ``bus``, which holds the Term's record; ends by cancellation only."""
        self._bus = bus
        async with trio.open_nursery() as nursery:
            await nursery.start(self._checks.run)
            await nursery.start(self._dispatcher.run)
            await nursery.start(self._forwarding.run, bus)
            nursery.start_soon(self.parts.revoked.run, bus)
            nursery.start_soon(self._pump.run, bus)
            nursery.start_soon(self.output.run)
            nursery.start_soon(self._departures.run, bus)
            task_status.started()

    def _subscribe(self, go: Go) -> Result:
        told = self.events.begin(go)
        self.output.wake()
        return told

    async def _ask_broker(self, ref: Ref) -> int:
        assert self._bus is not None, "leases are checked while the lane is served"
        return await self._bus.sessions.lease_check(ref, timeout=CHECK_S)


def _ended(state: State, pane: int) -> Ended | None:
    """How the program of a pane has ended; None while it runs, and for no pane."""
    live = state.find_live(pane)
    if live is None or live.ended is None:
        return None
    return Ended(live.exit_body() or {}, live.ended)
