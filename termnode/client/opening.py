"""Finding a service, or starting one, and opening a link to it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Final

import trio

from brokerd.client import Bus, BusError, RuntimeDirError, connect
from termnode.client.errors import ServiceUnavailable
from termnode.client.link import Link, open_link

DEFAULT_NAME: Final = "term"


@dataclass(frozen=True, slots=True)
class Where:
    """Which service: the runtime directory (None: the user's own) and the name.

    ``start`` starts one where none answers. ``timeout`` is how many seconds the broker has to let
    us in, and then the service to answer.
    """

    runtime_dir: str | os.PathLike[str] | None = None
    name: str = DEFAULT_NAME
    start: bool = False
    timeout: float = 5.0

    @classmethod
    def of(
        cls,
        runtime_dir: str | os.PathLike[str] | None,
        name: str | None,
        *,
        start: bool,
        timeout: float,
    ) -> Where:
        """``name`` None is $TERMNODE_NAME, which is set in every pane, or "term"."""
        found = name or os.environ.get("TERMNODE_NAME") or DEFAULT_NAME
        return cls(runtime_dir, found, start, timeout)

    @asynccontextmanager
    async def link(self) -> AsyncIterator[Link]:
        """A link to it. Raises ServiceUnavailable."""
        if self.start and not await self._answers():
            await self._start()
        async with open_link(self._bus, self.name, timeout=self.timeout) as link:
            yield link

    def _bus(self) -> AbstractAsyncContextManager[Bus]:
        return _bus(self.runtime_dir, self.timeout)

    async def _answers(self) -> bool:
        try:
            async with open_link(self._bus, self.name, timeout=self.timeout):
                return True
        except ServiceUnavailable:
            return False

    async def _start(self) -> None:
        """Run ``termnode up --detach``; another one that did the same meanwhile is as good."""
        done = await trio.run_process(
            self._command(),
            stdin=subprocess.DEVNULL,
            capture_stdout=True,
            capture_stderr=True,
            check=False,
        )
        if done.returncode and not await self._answers():
            words = done.stderr.decode(errors="replace").strip().removeprefix("termnode: ")
            raise ServiceUnavailable(words or "the service could not be started")

    def _command(self) -> list[str]:
        # -P: no module is ever taken from the directory that this is called in.
        command = [sys.executable, "-P", "-m", "termnode.cli.main", "up", "--detach"]
        command += ["--name", self.name]
        where = self.runtime_dir
        return command if where is None else [*command, "--runtime-dir", os.fspath(where)]


@asynccontextmanager
async def _bus(runtime_dir: str | os.PathLike[str] | None, timeout: float) -> AsyncIterator[Bus]:
    """A connection to the broker. Raises ServiceUnavailable; the block's errors as they are."""
    opened = False
    try:
        async with connect(runtime_dir, timeout=timeout) as bus:
            opened = True
            yield bus
    except (BusError, RuntimeDirError) as error:
        if opened:
            raise
        raise ServiceUnavailable(str(error), {"reason": "no_broker"}) from None
