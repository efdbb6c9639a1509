"""The private tmux directory of a set of terminals, and the end of the servers in it.

tmux falls back to the person's own socket when TMUX_TMPDIR is not there (seed, amendment). So a
server is only ever ended by the exact path of its socket, when that socket is there, and once.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import trio

from termnode.modelterm.limits import Limits
from termnode.modelterm.private import PrivateDirectory, abandoned, make_private


class TmuxDirectory:
    """Made when it is first asked for, mode 0700, in ``place``.

    ``environment`` is for the tmux that is run to end the servers.
    """

    def __init__(self, environment: Mapping[str, str], limits: Limits, place: Path) -> None:
        self._environment = dict(environment)
        self._limits = limits
        self._place = place
        self._made: PrivateDirectory | None = None
        self._closed = False

    def make(self) -> Path:
        """The directory. Raises OSError, RuntimeError after `close`."""
        if self._closed:
            raise RuntimeError("the set of terminals is closed")
        if self._made is None:
            self._made = make_private(self._place)
        return self._made.path

    async def close(self) -> None:
        """End the servers in it by their sockets, then remove it. A second time does nothing."""
        made, self._made, self._closed = self._made, None, True
        if made is not None:
            await self._clear(made)

    async def sweep(self) -> None:
        """The same for what sets left that were killed. Cancelled, it is done with the one begun: a
        directory that is gone leads nobody to its servers any more."""
        for left in abandoned(self._place):
            with trio.CancelScope(shield=True):
                await self._clear(left)
            await trio.lowlevel.checkpoint()

    async def _clear(self, directory: PrivateDirectory) -> None:
        tmux = shutil.which("tmux", path=self._environment.get("PATH"))
        try:
            with trio.move_on_after(self._limits.tmux_s):
                async with trio.open_nursery() as nursery:
                    for socket in _sockets(directory.path, self._limits.tmux_sockets):
                        if tmux is not None:
                            nursery.start_soon(self._end, tmux, socket)
        finally:
            directory.remove()

    async def _end(self, tmux: str, socket: Path) -> None:
        with suppress(OSError):
            await trio.run_process(
                [tmux, "-S", str(socket), "kill-server"],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                check=False,
                env=self._environment,
                cwd="/",
            )


def _sockets(directory: Path, most: int) -> list[Path]:
    """Sockets of this user's tmux servers in it: ``default``, and those of ``tmux -L``.

    A program there can put links in their place; none is followed to a server of the person's.
    """
    mine = directory / f"tmux-{os.geteuid()}"
    try:
        if not stat.S_ISDIR(os.lstat(mine).st_mode):
            return []
        names = sorted(os.listdir(mine))
    except OSError:
        return []
    return [mine / name for name in names if _is_socket(mine / name)][:most]


def _is_socket(path: Path) -> bool:
    """Whether it is a socket with this one name: a hard link has its other name elsewhere."""
    with suppress(OSError):
        found = os.lstat(path)
        return stat.S_ISSOCK(found.st_mode) and found.st_nlink == 1
    return False
