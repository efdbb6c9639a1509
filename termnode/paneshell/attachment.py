"""A pane's proved attachment: connects, proves, holds, and answers, again and again."""

from __future__ import annotations

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
)
from termnode.paneshell.answering import StatusService
from termnode.paneshell.channel import (
    ATTACHED,
    ENROLLING,
    WAITING,
    SidecarEnd,
    SidecarState,
)
from termnode.paneshell.identity import Identity
from termnode.paneshell.launch import Launch
from termnode.paneshell.shell_side import ShellSide
from termnode.paneshell.tasks.client import Tasks
from termnode.paneshell.tasks.verbs import task_verbs

CONNECT_SECONDS: Final = 5.0
"""For one attempt to reach the broker, and between two of them."""

REVOKE_SECONDS: Final = 2.0
"""For the revocation of its own record at the end."""

ANSWER_SECONDS: Final = 0.5
"""Before that, for what is being answered: the end of the shell is an answer too."""


class Attachment:
    """Of a sidecar with a sound launch: one connection at a time, one keeper, one key."""

    def __init__(
        self,
        launch: Launch,
        channel: SidecarEnd,
        identity: Identity,
        shell: ShellSide,
        tasks: Tasks,
    ) -> None:
        self._launch = launch
        self._tasks = tasks
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
        self._service: StatusService | None = None
        self._ended = trio.Event()
        self._serving = trio.CancelScope()
        self._shell = shell

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
        """Answer what is asked, revoke the record, leave the broker. Bound it from outside."""
        if self._service is not None:
            with trio.move_on_after(ANSWER_SECONDS):
                await self._service.finish()
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
                service = StatusService(
                    bus,
                    nursery,
                    self._authority,
                    self._report,
                    boottime_ms,
                    verbs={**self._shell.verbs(), **task_verbs(self._tasks)},
                )
                self._service = service
                with bus.attend_bound(service.take):
                    await keeper.run()
                    await trio.sleep_forever()  # `end` revokes: the connection must last for that
        finally:
            self._keeper = self._service = None

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
        return self._shell.report(self._record.binding_generation, tasks=self._tasks.available)

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
