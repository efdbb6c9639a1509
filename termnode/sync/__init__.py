"""Termnode for plain scripts, as with libtmux or pexpect.

::

    import termnode.sync

    with termnode.sync.connect(start=True) as session:
        pane = session.new_tab("bash").active_pane
        pane.send_keys("make test")
        match = pane.wait_for("^(passed|failed)", timeout=600)
        print(match.text, pane.capture())

        below = pane.split("tail -f log", below=True)
        below.press("C-c")
        print(below.wait_exit())

Importing this starts nothing. A session has one thread for its connection; both are gone after the
``with`` block, or after ``session.close()``. It may be used from several threads, and Ctrl-C ends a
wait at once. Errors are those of ``termnode.client``: every one is a `TermnodeError`.
"""

from __future__ import annotations

import os
import weakref
from typing import Self

from termnode.client import public
from termnode.client.opening import Where
from termnode.client.portal import Portal
from termnode.client.public import *  # noqa: F403  # one list of names for the three packages
from termnode.sync import session as _session
from termnode.sync.events import Events
from termnode.sync.native import Native
from termnode.sync.native_operations import Execution, Task
from termnode.sync.native_output import Output
from termnode.sync.native_pane import NativePane
from termnode.sync.pane import Pane
from termnode.sync.runner import Runner
from termnode.sync.tab import Tab

__all__ = [
    "Events",
    "Execution",
    "Native",
    "NativePane",
    "Output",
    "Pane",
    "Session",
    "Tab",
    "Task",
    "connect",
]
__all__ += public.__all__


class Session(_session.Session):
    """A session that is connected. It ends with its ``with`` block, with `close`, with the program,
    or when nobody has it or anything of it any more."""

    def __init__(self, portal: Portal) -> None:
        super().__init__(Runner(portal))
        self._portal = portal
        # Of what its panes share with it: one that outlives it can still be used. It only begins
        # to close: nobody knows which thread this runs in, and what that one holds.
        weakref.finalize(self._asking, portal.stop).atexit = False

    def close(self) -> None:
        """Leave the service; what still waits in other threads gets SessionClosed."""
        self._portal.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


def connect(
    runtime_dir: str | os.PathLike[str] | None = None,
    *,
    name: str | None = None,
    start: bool = False,
    timeout: float = 5.0,
) -> Session:
    """A session with the service ``name`` (None: $TERMNODE_NAME, or "term") of ``runtime_dir``
    (None: the user's own).

    ``start`` starts one where none answers; it goes on after the session. ``timeout`` is how many
    seconds the connection may take. Raises ServiceUnavailable.
    """
    portal = Portal(Where.of(runtime_dir, name, start=start, timeout=timeout))
    try:
        portal.opened.result()
    except BaseException:
        portal.close()
        raise
    return Session(portal)
