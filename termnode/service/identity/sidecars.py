"""The processes of the pane shells: started through the zygote, heard, ended.

A pane shell gets two descriptors, its launch and its end of a channel; the pane's own program gets
neither. Closing the channel ends it.
"""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias, cast

import trio

from brokerd.client import Json
from termnode.paneshell import descriptor
from termnode.paneshell.channel import UNBOUND, SidecarState, TermEnd, channel_pair
from termnode.paneshell.client import Forked, ForkFailed, Launch, Zygote, ZygoteLost
from termnode.service.identity.child import Child
from termnode.service.shells.link import ShellLink

FORK_TIMEOUT_S: Final = 5.0
"""A zygote that has not forked by then is not waited for."""

MAX_REASON: Final = 200


class NotStarted(Exception):
    """There is no pane shell now; says why."""


@dataclass(frozen=True, slots=True)
class Sidecar:
    """A pane shell that runs. ``pidfd`` tells of its end, also when the zygote has ended."""

    pid: int
    pidfd: int
    channel: TermEnd
    shell: ShellLink | None = None
    """What it is told of, and asks to press; None without integration."""


_Fields: TypeAlias = "Mapping[str, Json]"

OnSaid = Callable[[Child, str, bool], object]
"""A pane shell told how it stands: words, and whether it goes on without a session."""


class Sidecars:
    """All pane shells that run, by their child."""

    def __init__(self, on_said: OnSaid, on_ended: Callable[[Child], object]) -> None:
        self._running: dict[Child, Sidecar] = {}
        self._on_said = on_said
        self._on_ended = on_ended

    def __len__(self) -> int:
        return len(self._running)

    async def start(
        self,
        child: Child,
        launch: Launch,
        zygote: Zygote,
        nursery: trio.Nursery,
        shell: ShellLink | None = None,
    ) -> None:
        """Start a child's pane shell; a task of ``nursery`` looks after it. Raises NotStarted.

        Whether it has said anything is not waited for.
        """
        try:
            ours, theirs = channel_pair()
        except OSError as error:
            raise NotStarted(f"no pane shell can be started now ({error.strerror})") from None
        channel = TermEnd(
            ours,
            lambda state: self._said(child, state),
            None if shell is None else shell.take,
        )
        try:
            forked = await _fork(zygote, launch, child, theirs)
        except BaseException:
            channel.close()
            raise
        finally:
            theirs.close()
        sidecar = self._running[child] = Sidecar(forked.pid, forked.pidfd, channel, shell)
        if shell is not None:
            shell.attach(channel)
        nursery.start_soon(self._look_after, child, sidecar)

    def end(self, child: Child) -> None:
        """End a child's pane shell, without waiting; without effect when it has none."""
        sidecar = self._running.get(child)
        if sidecar is not None:
            sidecar.channel.end()
            sidecar.channel.close()

    def end_all(self) -> None:
        """End every pane shell, without waiting."""
        for child in list(self._running):
            self.end(child)

    async def _look_after(self, child: Child, sidecar: Sidecar) -> None:
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(sidecar.channel.run)
                if sidecar.shell is not None:
                    nursery.start_soon(sidecar.shell.run)
                await trio.lowlevel.wait_readable(sidecar.pidfd)
                nursery.cancel_scope.cancel()
        finally:
            if sidecar.shell is not None:
                sidecar.shell.detach(sidecar.channel)
            sidecar.channel.close()
            os.close(sidecar.pidfd)
            self._running.pop(child, None)
        self._on_ended(child)

    def _said(self, child: Child, state: SidecarState) -> None:
        words = "".join(filter(str.isprintable, state.reason[:MAX_REASON]))
        self._on_said(child, words, state.state == UNBOUND)


async def _fork(zygote: Zygote, launch: Launch, child: Child, theirs: socket.socket) -> Forked:
    try:
        with _launch_descriptor(child) as launch_fd, trio.fail_after(FORK_TIMEOUT_S):
            return await zygote.fork(launch, launch_fd, theirs)
    except (ForkFailed, ZygoteLost, descriptor.BadDescriptor) as error:
        raise NotStarted(str(error)) from None
    except trio.TooSlowError:
        raise NotStarted("the zygote of the pane shells does not answer") from None
    except OSError as error:
        raise NotStarted(f"no pane shell can be started now ({error.strerror})") from None


@contextlib.contextmanager
def _launch_descriptor(child: Child) -> Iterator[int]:
    assert child.grant is not None, "only a child with a grant is started"
    assert child.record is not None, "a grant has a record"
    grant, record = cast(_Fields, child.grant.to_json()), cast(_Fields, child.record.to_json())
    bundle = descriptor.LaunchBundle(grant, record, child.key.seed)
    made = descriptor.write(bundle)
    try:
        yield made
    finally:
        os.close(made)
