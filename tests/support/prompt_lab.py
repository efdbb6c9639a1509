"""A shell with its integration, and the least of a Term beside it: it presses and parts output."""

from __future__ import annotations

import os
import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import trio

from termnode.paneshell.integration import TRIGGER
from termnode.paneshell.launch import ShellFacts
from tests.support.integrated_shell import Shell, environment, furnish

END = re.compile(rb"\x1b\]133;D;(\d+);n=(\w+);g=(\d+);op=(\d*)\x07")


class FakeTerm:
    """Owns the shell's terminal. ``send`` is the way to the sidecar; ``take`` its way back."""

    def __init__(self, shell: Shell) -> None:
        self.shell = shell
        self.raw = b""
        self.pressed: list[str] = []
        """Operations for which the key was pressed."""
        self.word: Callable[[str], str | None] = self._obstacle
        """Why the key is not pressed now; None when it is."""
        self.deaf = False
        """Whether what the sidecar asks for is passed over."""
        self.silent = False
        """Whether output and ends are kept from the sidecar."""
        self.send: Callable[[Mapping[str, Any]], object] = _nowhere
        self._read = 0

    @property
    def facts(self) -> ShellFacts:
        return ShellFacts(self.shell.kind, str(self.shell.dir.path), self.shell.dir.nonce)

    def post(self, record: Mapping[str, Any]) -> bool:
        """As the sidecar's end of a channel: what it tells."""
        self.take(record)
        return True

    def take(self, record: Mapping[str, Any]) -> None:
        if record["type"] != "press" or self.deaf:
            return
        op = record["op"]
        word = self.word(op)
        if word is None:
            os.write(self.shell.fd, TRIGGER)
            self.pressed.append(op)
        self.send({"type": "pressed", "op": op, "word": word or "pressed"})

    def type(self, keys: str) -> None:
        os.write(self.shell.fd, keys.encode())

    async def run(self) -> None:
        """Read the terminal until the program has ended."""
        with suppress(OSError):
            while True:
                await trio.lowlevel.wait_readable(self.shell.fd)
                self.raw += os.read(self.shell.fd, 65_536)
                self._part()
        self.send({"type": "program", "ended": {"code": 0}})

    def _obstacle(self, _op: str) -> str | None:
        if self.shell.foreground() != self.shell.pid:
            return "foreground_program"
        return "canonical" if self.shell.canonical() else None

    def _part(self) -> None:
        for found in END.finditer(self.raw, self._read):
            begun = self.raw.rfind(b"\x1b]133;C;", self._read, found.start())
            self._read = found.end()
            if begun >= 0 and found[4] and not self.silent:
                data = self.raw[self.raw.index(b"\x07", begun) + 1 : found.start()]
                self._tell_output(found, data)

    def _tell_output(self, found: re.Match[bytes], data: bytes) -> None:
        self.send(
            {
                "type": "output",
                "op": found[4].decode(),
                "head": data[:32_768],
                "tail": data[32_768:][-32_768:],
                "bytes": len(data),
                "status": int(found[1]),
                "generation": int(found[3]),
            }
        )


def _nowhere(_record: Mapping[str, Any]) -> None:
    """Nobody listens."""


@asynccontextmanager
async def fake_term(kind: str, home: Path, rc: str | None = None) -> AsyncIterator[FakeTerm]:
    """A shell that runs, and its Term."""
    furnish(home, kind, rc)
    parent = home.parent / f"{home.name}.shells"
    parent.mkdir(mode=0o700, exist_ok=True)
    with Shell((kind,), environment(home), parent, cwd=str(home)) as shell:
        os.set_blocking(shell.fd, False)
        async with trio.open_nursery() as nursery:
            term = FakeTerm(shell)
            nursery.start_soon(term.run)
            yield term
            nursery.cancel_scope.cancel()
