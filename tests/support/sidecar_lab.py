"""Real sidecars of a real zygote, on a real broker, under a parent Term that the test holds."""

from __future__ import annotations

import os
import signal
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field

import trio

from brokerd.client import (
    CAPABILITIES,
    Bus,
    GrantView,
    RecordView,
    Reply,
    SessionKeeper,
    SessionKey,
    attach_term,
    background,
    connect,
)
from termnode.paneshell.channel import ATTACHED, TermEnd, channel_pair
from termnode.paneshell.client import Forked, Launch, Zygote
from termnode.paneshell.descriptor import LaunchBundle, write
from termnode.paneshell.launch import ShellFacts
from termnode.paneshell.status import target_of
from tests.support.broker_process import BrokerProcess, broker_process

WITHIN = 60.0
"""Seconds after which a test counts as stuck, on a loaded machine too."""


@dataclass
class Pane:
    """One sidecar as Term sees it."""

    channel: TermEnd
    forked: Forked
    key: SessionKey
    number: int
    record: RecordView | None
    reasons: list[str] = field(default_factory=list)

    async def until(self, state: str, record_id: str | None = None) -> None:
        """Wait until the sidecar tells this state (of this record)."""
        await until(lambda: self._is(state, record_id), f"{state}, not {self.channel.state}")

    def _is(self, state: str, record_id: str | None) -> bool:
        told = self.channel.state
        return told.state == state and record_id in (None, told.record_id)

    async def wait_end(self) -> None:
        """Wait until the process has ended."""
        await trio.lowlevel.wait_readable(self.forked.pidfd)

    def kill(self, number: int = signal.SIGKILL) -> None:
        """Signal the sidecar, and nothing else."""
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.forked.pidfd, number)


class SidecarLab:
    """A broker, a zygote, a parent Term, and panes."""

    def __init__(
        self, broker: BrokerProcess, bus: Bus, zygote: Zygote, nursery: trio.Nursery
    ) -> None:
        self.broker = broker
        self.bus = bus
        self.zygote = zygote
        self.nursery = nursery
        self.parent_key = SessionKey.generate()
        self.parent = SessionKeeper(bus, self.parent_key, attach_term(self.parent_key))
        self.panes: list[Pane] = []
        self._generations: dict[int, int] = {}

    async def parent_record(self) -> RecordView:
        """The parent's, attached."""
        return (await self.parent.wait_authority()).record

    async def grant(
        self, number: int, key: SessionKey, capabilities: tuple[str, ...] = CAPABILITIES
    ) -> tuple[GrantView, RecordView]:
        """A grant for a pane, of the next generation."""
        parent = await self.parent_record()
        generation = self._generations[number] = self._generations.get(number, 0) + 1
        return await self.bus.sessions.grant_create(
            parent.ref,
            pane_id=number,
            pane_generation=generation,
            public_key=key.public_key,
            capabilities=capabilities,
        )

    async def pane(
        self,
        number: int = 1,
        *,
        shell_pid: int | None = None,
        tty: str | None = None,
        shell: ShellFacts | None = None,
    ) -> Pane:
        """A pane with a sound launch; not yet attached."""
        key = SessionKey.generate()
        grant, record = await self.grant(number, key)
        descriptor = descriptor_of(grant, record, key)
        try:
            return await self.launch(
                descriptor,
                number,
                key,
                record,
                shell_pid=shell_pid or os.getpid(),
                tty=tty,
                shell=shell,
            )
        finally:
            os.close(descriptor)

    async def attached(self, number: int = 1) -> Pane:
        """A pane whose sidecar is attached."""
        pane = await self.pane(number)
        await pane.until(ATTACHED)
        return pane

    async def launch(
        self,
        descriptor: int | None,
        number: int = 1,
        key: SessionKey | None = None,
        record: RecordView | None = None,
        *,
        shell_pid: int = 1,
        tty: str | None = None,
        shell: ShellFacts | None = None,
    ) -> Pane:
        """A sidecar with that launch descriptor."""
        directory = str(self.broker.directory)
        launch = Launch(directory, number, tty, shell_pid, "/", "term", shell)
        ours, theirs = channel_pair()
        try:
            forked = await self.zygote.fork(launch, descriptor, theirs)
        finally:
            theirs.close()
        pane = Pane(TermEnd(ours), forked, key or SessionKey.generate(), number, record)
        self.panes.append(pane)
        self.nursery.start_soon(pane.channel.run)
        return pane

    async def status(self, pane: Pane, bus: Bus | None = None, **changed: object) -> Reply:
        """shell.status of its present attachment, with some of the request's fields changed."""
        record = await self.record(pane)
        body = {"version": 1, "target": target_of(record), **changed}
        return await (bus or self.bus).request(record.name, "shell.status", body, timeout=10)

    async def record(self, pane: Pane) -> RecordView:
        """The pane's record as the broker has it now."""
        record_id = pane.channel.state.record_id
        assert record_id is not None
        return await self.bus.sessions.self_record(record_id)

    def close(self) -> None:
        """End every sidecar and let go of it."""
        for pane in self.panes:
            pane.channel.close()
            pane.kill()
            os.close(pane.forked.pidfd)


def descriptor_of(grant: GrantView, record: RecordView, key: SessionKey) -> int:
    """The launch descriptor, as Term makes it."""
    return write(LaunchBundle(grant.to_json(), record.to_json(), key.seed))  # type: ignore[arg-type]


async def until(check: Callable[[], object], what: str) -> None:
    """Wait until ``check`` holds; the test's own deadline bounds it."""
    try:
        while not check():  # noqa: ASYNC110  # nothing announces it: look often
            await trio.sleep(0.005)
    except trio.Cancelled:
        print("waited for:", what)
        raise


def in_sidecar_lab(
    test: Callable[[SidecarLab], Awaitable[None]], *settings: str, within: float = WITHIN
) -> None:
    """Run a test with a lab; ``settings`` are NAME=VALUE limits of the broker."""
    arguments = [part for setting in settings for part in ("--set", setting)]

    async def main(broker: BrokerProcess) -> None:
        with trio.fail_after(within):
            async with (
                connect(broker.directory, wait=True, timeout=20) as bus,
                Zygote.start() as zygote,
                background(_nothing_more) as nursery,
            ):
                lab = SidecarLab(broker, bus, zygote, nursery)
                try:
                    await nursery.start(_run_keeper, lab.parent)
                    await test(lab)
                finally:
                    lab.close()

    with broker_process(*arguments) as broker:
        trio.run(main, broker)


async def _run_keeper(
    keeper: SessionKeeper, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
) -> None:
    await keeper.run(task_status=task_status)


async def _nothing_more(_nursery: trio.Nursery) -> None:
    """The nursery is the lab's."""
