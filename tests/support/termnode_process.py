"""A whole terminal service for tests: its own runtime directory, its own broker, ended by pid."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import trio

from brokerd.client import connect

DEADLINE_S = 30.0
COMMAND = (sys.executable, "-m", "termnode.cli.main")


T = TypeVar("T")


def eventually(check: Callable[[], T | None], what: str, within: float | None = None) -> T:
    """The first true result of ``check``, asked again and again; fails after ``within`` (None:
    DEADLINE_S) seconds."""
    within = DEADLINE_S if within is None else within
    end = time.monotonic() + within
    pause = 0.002
    while True:
        result = check()
        if result:
            return result
        if time.monotonic() > end:
            raise AssertionError(f"not within {within:g} s: {what}")
        # A poll interval, not a wait for something to have happened: the condition decides.
        os.sched_yield()
        _nap(pause)
        pause = min(pause * 2, 0.1)


def _nap(seconds: float) -> None:
    import select

    select.select([], [], [], seconds)


def alive(pid: int) -> bool:
    """Whether ``pid`` is a process that has not ended (a zombie has)."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


@dataclass
class Service:
    """One started service; ``ready`` is the JSON that ``termnode up`` printed."""

    directory: Path
    name: str = "term"
    ready: dict[str, Any] = field(default_factory=dict)
    extra: dict[str, str] = field(default_factory=dict)

    def environment(self) -> dict[str, str]:
        """The environment of every command: nothing of the user's own configuration."""
        kept = {key: os.environ[key] for key in ("PATH", "TERMNODE_EMULATOR") if key in os.environ}
        return {
            **kept,
            "HOME": str(self.directory),
            "SHELL": "/bin/sh",
            "LANG": "C.UTF-8",
            "COSMIX_RUNTIME_DIR": str(self.directory / "rt"),
            **self.extra,
        }

    def run(self, *arguments: str, check: int | None = 0) -> subprocess.CompletedProcess[str]:
        """Run one command line; fails the test unless it ends with ``check`` (None: any code)."""
        done = subprocess.run(
            [*COMMAND, *arguments],
            env=self.environment(),
            capture_output=True,
            text=True,
            timeout=120,
            cwd=self.directory,
            stdin=subprocess.DEVNULL,
            check=False,
        )
        if check is not None:
            assert done.returncode == check, (arguments, done.returncode, done.stdout, done.stderr)
        return done

    def up(self, *arguments: str) -> None:
        """Start it detached and keep what it printed."""
        done = self.run("up", "--detach", "--name", self.name, *arguments)
        (line,) = done.stdout.splitlines()
        self.ready = json.loads(line)

    def call(self, verb: str, body: dict[str, Any] | None = None) -> tuple[int, Any]:
        """One verb on a connection of its own: (rc, body)."""

        async def ask() -> tuple[int, Any]:
            async with connect(self.directory / "rt") as bus:
                reply = await bus.request(self.name, verb, body or {}, timeout=DEADLINE_S * 2)
                return reply.rc, reply.body

        return trio.run(ask)

    def good(self, verb: str, body: dict[str, Any] | None = None) -> Any:  # noqa: ANN401
        """The body of a reply that must be good."""
        rc, answer = self.call(verb, body)
        assert rc == 0, (verb, answer)
        return answer

    def screen(self, pane: int | None = None) -> list[str]:
        """The rows of a pane."""
        text: str = self.good("term.snapshot", {} if pane is None else {"pane": pane})["text"]
        return text.split("\n")

    def wait(self, until: str, pane: int | None = None) -> None:
        """Wait until a row matches; fails the test when none does in time."""
        body: dict[str, Any] = {"until": until, "timeout_ms": 30_000}
        answer = self.good("term.wait", body if pane is None else {**body, "pane": pane})
        assert answer["outcome"] == "matched", (answer, self.screen(pane))

    def at_prompt(self, pane: int) -> int:
        """The pane, once its shell has shown a prompt: what is typed earlier is echoed before it,
        and the first output then stands in the prompt's own row."""
        self.wait(r"[#$] *$", pane)
        return pane

    def down(self) -> None:
        """End it, whatever state it is in, and check that its process is gone."""
        self.run("down", "--name", self.name, check=None)
        if self.ready:
            eventually(lambda: not alive(self.ready["pid"]), "the service's process is gone")


@contextlib.contextmanager
def service(
    *arguments: str, name: str = "term", directory: Path | None = None, **extra: str
) -> Iterator[Service]:
    """A running service in a short temporary directory (Unix socket paths are short)."""
    base = directory or Path(tempfile.mkdtemp(prefix="tn-", dir="/tmp"))
    made = Service(base, name, extra=extra)
    try:
        made.up(*arguments)
        yield made
    finally:
        made.down()
        if directory is None:
            shutil.rmtree(base, ignore_errors=True)


def plain_service(
    *arguments: str, name: str = "term", directory: Path | None = None, **extra: str
) -> AbstractContextManager[Service]:
    """As `service`, without sessions and pane shells: for tests of what does not need them.

    A service without them starts fewer processes, and so the tests take half the time.
    """
    return service(*arguments, name=name, directory=directory, COSMIX_TERM_POLICY="none", **extra)
