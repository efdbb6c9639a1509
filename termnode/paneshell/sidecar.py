"""A pane's sidecar: proves who the pane is, keeps that proved, and answers shell.status.

It holds nothing of the pane: no PTY, no shell. It ends when its channel to Term does.
"""

from __future__ import annotations

import signal
import socket
from contextlib import suppress
from pathlib import Path
from typing import Final

import trio

from brokerd.client import (
    Authority,
    Bus,
    BusError,
    RecordView,
    RuntimeDirError,
    SessionKeeper,
    attach_child,
    background,
    boottime_ms,
    connect,
    where,
)
from termnode.paneshell import loud
from termnode.paneshell.answering import StatusService
from termnode.paneshell.channel import (
    ATTACHED,
    ENROLLING,
    UNBOUND,
    WAITING,
    SidecarEnd,
    SidecarState,
)
from termnode.paneshell.descriptor import BadDescriptor, close_all
from termnode.paneshell.identity import Identity, identity_of
from termnode.paneshell.launch import Launch
from termnode.paneshell.shell_process import ShellProcess
from termnode.paneshell.status import Tracker

CONNECT_SECONDS: Final = 5.0
"""For one attempt to reach the broker, and between two of them."""

REVOKE_SECONDS: Final = 2.0
"""For the revocation of its own record at the end."""

STOP_SECONDS: Final = 3.0
"""For the whole end: revocation and farewell."""


def run(launch: Launch, channel_fd: int, descriptor_fd: int | None) -> None:
    """Be the sidecar until Term says so, is gone, or SIGTERM. Blocks; owns both descriptors."""
    try:
        identity, problem = identity_of(launch, descriptor_fd), ""
    except BadDescriptor as error:
        identity, problem = None, str(error)
        close_all()
        loud.say(problem, launch.tty)
    try:
        trio.run(_main, launch, socket.socket(fileno=channel_fd), identity, problem)
    except Exception as error:
        loud.say(f"it has failed ({where(error)})", None)
        raise


async def _main(
    launch: Launch, sock: socket.socket, identity: Identity | None, problem: str
) -> None:
    channel = SidecarEnd(sock)
    sidecar = None if identity is None else Sidecar(launch, channel, identity)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(channel.send)
        if sidecar is None:
            channel.tell(SidecarState(UNBOUND, problem))
        else:
            nursery.start_soon(sidecar.run)
        await _end_asked(channel)
        if sidecar is not None:
            with trio.move_on_after(STOP_SECONDS):
                await sidecar.end()
        nursery.cancel_scope.cancel()


async def _end_asked(channel: SidecarEnd) -> None:
    """Wait for the channel's end or for SIGTERM."""
    with trio.open_signal_receiver(signal.SIGTERM) as signals:
        async with trio.open_nursery() as nursery:

            async def on_signal() -> None:
                async for _ in signals:
                    nursery.cancel_scope.cancel()

            nursery.start_soon(on_signal)
            await channel.wait_end()
            nursery.cancel_scope.cancel()


class Sidecar:
    """A sidecar with a sound launch: one connection at a time, one keeper, one key."""

    def __init__(self, launch: Launch, channel: SidecarEnd, identity: Identity) -> None:
        self._launch = launch
        self._channel = channel
        self._key = identity.key
        self._record = identity.record
        self._attach_child = attach_child(
            self._key,
            identity.grant,
            self._record,
            on_waiting=self._on_waiting,
        )
        self._keeper: SessionKeeper | None = None
        self._ended = trio.Event()
        self._serving = trio.CancelScope()
        self._shell = ShellProcess(launch.shell_pid)
        self._tracker = Tracker(launch.cwd.encode("utf-8", "surrogateescape"), boottime_ms())

    async def run(self) -> None:
        """Connect, however often it takes, and serve on that connection until `end`."""
        self._tell(ENROLLING, "connecting")
        try:
            with self._serving:
                while True:
                    await self._try_to_serve()
                    await trio.sleep(CONNECT_SECONDS)
        finally:
            self._ended.set()

    async def end(self) -> None:
        """Revoke the record, leave the broker, and return. Bound it from outside."""
        if self._keeper is not None:
            with trio.move_on_after(REVOKE_SECONDS):
                await _revoke(self._keeper)
        self._serving.cancel()
        await self._ended.wait()

    async def _try_to_serve(self) -> None:
        try:
            directory = Path(self._launch.runtime_dir)
            async with connect(directory, timeout=CONNECT_SECONDS, wait=True) as bus:
                await self._serve(bus)
        except (BusError, RuntimeDirError) as error:
            self._tell(WAITING, f"no broker: {error}")

    async def _serve(self, bus: Bus) -> None:
        keeper = SessionKeeper(bus, self._key, self._attach, on_change=self._changed)
        self._keeper = keeper
        try:
            async with background(_nothing_more) as nursery:
                service = StatusService(bus, nursery, self._authority, self._report, boottime_ms)
                with bus.attend_bound(service.take):
                    await keeper.run()
                    await trio.sleep_forever()  # `end` revokes: the connection must last for that
        finally:
            self._keeper = None

    async def _attach(self, bus: Bus) -> RecordView:
        """As `attach_child`, telling Term of each failure."""
        try:
            return await self._attach_child(bus)
        except BusError as error:
            self._tell(WAITING, str(error))
            raise

    def _on_waiting(self, waiting: bool) -> None:
        if waiting:
            self._tell(WAITING, "the broker has no grant for this pane shell's key")

    def _authority(self) -> Authority | None:
        return None if self._keeper is None else self._keeper.authority

    def _report(self) -> dict[str, object]:
        now = boottime_ms()
        self._tracker.note(self._shell.observe(), now)
        return self._tracker.answer(now)

    def _changed(self, *_: object) -> None:
        """Tell Term where the keeper stands."""
        authority = self._authority()
        if authority is not None:
            self._record = authority.record
            self._tell(ATTACHED, "")
        elif self._keeper is not None:
            self._tell(WAITING, self._keeper.problem)

    def _tell(self, state: str, reason: str) -> None:
        record = self._record
        self._channel.tell(
            SidecarState(state, reason[:256], record.record_id, record.binding_generation)
        )


async def _revoke(keeper: SessionKeeper) -> None:
    """End the record, if the broker still can; else its window does."""
    with suppress(BusError):
        await keeper.revoke()


async def _nothing_more(_nursery: trio.Nursery) -> None:
    """The nursery is for answers alone."""
