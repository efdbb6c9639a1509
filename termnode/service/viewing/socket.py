"""The view socket: made when the service starts, removed when it ends (specs/view.md)."""

from __future__ import annotations

import logging
import os
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import trio

from brokerd.client import where
from termnode.service.state import State
from termnode.service.viewing.connection import Connection
from termnode.service.viewing.views import Views

CONNECTIONS: Final = 64
"""Open ones, those included that have not said yet what they want."""

BACKLOG: Final = 16
_CREDENTIALS: Final = struct.Struct("iII")
"""pid, uid, gid, as SO_PEERCRED gives them."""

log = logging.getLogger("termnode.view")


async def serve_views(
    views: Views, path: Path, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
) -> None:
    """Serve views at ``path`` until cancelled; ``started`` once that is possible, or never will be.

    Only for who holds the instance lock: a socket that is there is a dead service's. Where none can
    be made the service goes on without views, and says so to who asks for one.
    """
    listener = _listen(path)
    if listener is None:
        task_status.started()
        return
    with _published(views.state, path):
        serving = _Serving(views)
        await trio.serve_listeners(
            serving.one,
            [trio.SocketListener(trio.socket.from_stdlib_socket(listener))],
            task_status=_Started(task_status),
        )


class _Started(trio.TaskStatus[list[trio.SocketListener]]):
    """Tells that the listeners listen to who does not care which they are."""

    def __init__(self, status: trio.TaskStatus[None]) -> None:
        self._status = status

    def started(self, value: object = None) -> None:  # noqa: ARG002  # as TaskStatus has it
        """They listen."""
        self._status.started()


@contextmanager
def _published(state: State, path: Path) -> Iterator[None]:
    state.access.path = path
    try:
        yield
    finally:
        state.access.path = None
        path.unlink(missing_ok=True)


def _listen(path: Path) -> socket.socket | None:
    """The listening socket, None where it cannot be made."""
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        path.unlink(missing_ok=True)
        os.fchmod(made.fileno(), 0o600)  # before it has a name
        made.bind(os.fspath(path))
        path.chmod(0o600)
        made.listen(BACKLOG)
    except OSError as error:
        made.close()
        log.error("there will be no views: the view socket cannot be made (%s)", error)
        return None
    return made


def peer(stream: trio.SocketStream) -> tuple[int, int]:
    """uid and pid of the process that connected, as the kernel noted them then."""
    raw = stream.socket.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    assert isinstance(raw, bytes), "asked for bytes"
    pid, uid, _gid = _CREDENTIALS.unpack(raw)
    return uid, pid


class _Serving:
    """The connections of one service."""

    def __init__(self, views: Views) -> None:
        self._views = views
        self._open = 0

    async def one(self, stream: trio.SocketStream) -> None:
        """Serve one connection. Never raises: one view's end is not the service's."""
        if self._open >= CONNECTIONS:
            await stream.aclose()
            return
        self._open += 1
        try:
            await Connection(self._views, stream, *peer(stream)).run()
        except (trio.BrokenResourceError, trio.ClosedResourceError, OSError):
            pass  # the other side is gone
        except Exception as error:  # noqa: BLE001  # as said above
            log.error("a view failed: %s", where(error))
        finally:
            self._open -= 1
            await trio.aclose_forcefully(stream)
