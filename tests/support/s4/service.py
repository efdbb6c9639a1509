"""The service of a lab: a process of this checkout, and the processes that it starts."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from brokerd.client import open_broker
from tests.support.broker_process import START_SECONDS, read_all
from tests.support.session_peer import ROOT
from tests.support.termnode_process import Service

NOTHING_OFF: Final = "none"


class LabService(Service):
    """A service of this checkout, run by `tests.support.broken_service`."""

    off: str = NOTHING_OFF
    settings: Mapping[str, Any] = {}
    process: subprocess.Popen[bytes] | None = None

    def up(self, *arguments: str) -> None:
        reader, writer = os.pipe()
        try:
            self.process = subprocess.Popen(
                [*self._command(), "--ready-fd", str(writer), *arguments],
                env=self.environment(),
                stdin=subprocess.DEVNULL,
                pass_fds=(writer,),
                cwd=ROOT,
                start_new_session=True,
            )
        finally:
            os.close(writer)
        try:
            self.ready = json.loads(read_all(reader))
        except AssertionError as error:
            # No check of a guard takes that for what it looks for.
            raise RuntimeError(f"the service did not start: {self.log()}") from error
        finally:
            os.close(reader)

    def _command(self) -> list[str]:
        how = [self.off, json.dumps(self.settings)]
        broken = [sys.executable, "-m", "tests.support.broken_service", *how]
        return [*broken, "up", "--name", self.name, "--size", "80x24"]

    @property
    def files(self) -> Path:
        """The runtime directory."""
        return self.directory / "rt"

    def log(self) -> str:
        """What the service had to say."""
        path = self.files / f"{self.name}.log"
        return path.read_text() if path.exists() else ""

    def down(self) -> None:
        """End it, if it is still there."""
        process = self.process
        if process is None:
            return
        if process.poll() is None:
            process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(START_SECONDS)
        process.kill()
        process.wait()


def send_signal(pidfd: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        signal.pidfd_send_signal(pidfd, number)


def end_broker(directory: Path) -> None:
    """End the broker that the service started in the place of the lab's."""
    found = open_broker(directory)
    if found is not None:
        send_signal(found[1], signal.SIGTERM)
        select.select([found[1]], [], [], START_SECONDS)
        os.close(found[1])


def descendants(pid: int) -> list[int]:
    """Child processes and theirs."""
    found: list[int] = []
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            for child in map(int, path.read_text().split()):
                found += [child, *descendants(child)]
    return found


def comm(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""
