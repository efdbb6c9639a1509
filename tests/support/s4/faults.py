"""What can be wrong with the launch of a pane shell, done to the service that launches it."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from termnode.paneshell import descriptor
from termnode.paneshell.bundle import pack
from termnode.paneshell.client import Forked, Launch, Zygote
from termnode.service.identity import bundle, sidecars
from termnode.service.identity.child import Child

MISSING: Final = "missing"
"""No launch descriptor."""

WRONG_GRANT: Final = "wrong_grant"
"""A grant that the broker never gave."""

BROKEN_FD: Final = "broken_fd"
"""A descriptor that says nothing sound."""

CANCELLED: Final = "cancelled"
"""The pane shell is ended as soon as it is started."""

EXPIRED: Final = "expired"
"""Grants are handed out however little time is left: with a broker that gives hardly any."""


def with_faults(faults: Mapping[int, str]) -> None:
    """Launch the shells of these panes so."""
    if EXPIRED in faults.values():
        vars(bundle)["LEAST_LEFT_S"] = -1e9
    sound, fork = sidecars._launch_descriptor, sidecars._fork

    @contextmanager
    def launch_descriptor(child: Child) -> Iterator[int | None]:
        made = _MADE.get(faults.get(child.pane, ""))
        if made is None:
            with sound(child) as number:
                yield number
            return
        wrong = made(child)
        try:
            yield wrong
        finally:
            if wrong is not None:
                os.close(wrong)

    async def forked(zygote: Zygote, launch: Launch, child: Child, theirs: socket.socket) -> Forked:
        made = await fork(zygote, launch, child, theirs)
        if faults.get(child.pane) == CANCELLED:
            signal.pidfd_send_signal(made.pidfd, signal.SIGKILL)
        return made

    vars(sidecars).update(_launch_descriptor=launch_descriptor, _fork=forked)


def _missing(_child: Child) -> None:
    return None


def _wrong_grant(child: Child) -> int:
    grant, record = _granted(child)
    grant["grant_id"] = "0" * 32
    return descriptor._sealed(pack(descriptor.LaunchBundle(grant, record, child.key.seed)))


def _broken(child: Child) -> int:
    grant, record = _granted(child)
    sound = pack(descriptor.LaunchBundle(grant, record, child.key.seed))
    return descriptor._sealed(sound[:-1] + bytes([sound[-1] ^ 1]))


def _granted(child: Child) -> tuple[dict[str, Any], dict[str, Any]]:
    assert child.grant is not None
    assert child.record is not None
    return dict(child.grant.to_json()), dict(child.record.to_json())


_MADE: Final[Mapping[str, Callable[[Child], int | None]]] = {
    MISSING: _missing,
    WRONG_GRANT: _wrong_grant,
    BROKEN_FD: _broken,
}
