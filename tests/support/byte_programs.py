"""Programs that keep what they read from a raw terminal, and a way to paste long texts to them."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import trio

from brokerd.client import Bus, connect
from tests.support.termnode_process import DEADLINE_S, Service, eventually

READER = """
import os, sys, time, tty
path, setup, step, pause = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
tty.setraw(0)
kept = open(path, "ab", 0)
os.write(1, setup.encode().decode("unicode_escape").encode("latin-1") + b"READY")
while path + ".stop" and os.path.exists(path + ".stop"):
    time.sleep(0.01)
while data := os.read(0, step):
    kept.write(data)
    if pause:
        time.sleep(pause)
"""
"""Reads at most ``step`` bytes at a time with ``pause`` seconds between, not before the file
``path``.stop is gone, and shows nothing. ``setup`` is written first, with Python's escapes."""

PART = 3_000
"""Characters of one part: a body has at most 8,192 bytes, and characters may take more than one."""


class Reader:
    """A pane whose program keeps the bytes it reads in a file."""

    def __init__(
        self,
        term: Service,
        path: Path,
        setup: str = "",
        *,
        step: int = 65_536,
        pause: float = 0,
        stopped: bool = False,
    ) -> None:
        self._term = term
        self._path = path
        if stopped:
            self._stop.touch()
        argv = [sys.executable, "-S", "-c", READER, str(path), setup, str(step), str(pause)]
        self.pane: int = term.good("term.tab.new", {"argv": argv})["pane"]
        term.wait("READY", self.pane)

    @property
    def _stop(self) -> Path:
        return self._path.with_name(self._path.name + ".stop")

    def go_on(self) -> None:
        """Let a stopped one read."""
        self._stop.unlink()

    @property
    def data(self) -> bytes:
        """What it has read so far."""
        return self._path.read_bytes() if self._path.exists() else b""

    def reads(self, data: bytes) -> None:
        """Wait until it has read exactly this; fails when it reads anything else."""
        eventually(lambda: len(self.data) >= len(data), "it has read as many bytes")
        assert self.data == data

    def reads_at_last(self, end: bytes) -> bytes:
        """Wait until what it has read ends so; give it all."""
        eventually(lambda: self.data.endswith(end), "it has read the end")
        return self.data


def paste(term: Service, pane: int, text: str, part: int = PART) -> tuple[int, Any]:
    """Paste a text, in parts where it is long: the last reply, or the first that is a refusal."""

    async def ask() -> tuple[int, Any]:
        async with connect(term.directory / "rt") as bus:
            return await paste_over(bus, term.name, pane, text, part)

    return trio.run(ask)


async def paste_over(
    bus: Bus, name: str, pane: int, text: str, part: int = PART
) -> tuple[int, Any]:
    """As ``paste``, on a connection that is there."""
    body: dict[str, Any] = {"pane": pane}
    for start in range(0, max(1, len(text)), part):
        piece, more = text[start : start + part], start + part < len(text)
        body = {**body, "text": piece, "more": more}
        reply = await bus.request(name, "term.paste", body, timeout=DEADLINE_S * 2)
        if reply.rc or not more:
            break
        answer = reply.body
        assert isinstance(answer, dict)
        body = {"pane": pane, "operation": answer["operation"], "offset": answer["received"]}
    return reply.rc, reply.body


def bash(term: Service) -> int:
    """A pane with a bash of no configuration, at its prompt."""
    argv = [shutil.which("bash") or "bash", "--norc", "--noprofile", "-i"]
    pane: int = term.good("term.tab.new", {"argv": argv, "env": {"PS1": "$ "}})["pane"]
    return term.at_prompt(pane)


def ended(term: Service, pane: int) -> None:
    """Wait until the program of a pane has ended."""

    def is_there() -> bool:
        state = term.good("term.snapshot", {"pane": pane})["state"]
        return bool(state == "exited")

    eventually(is_there, "the program has ended")
