"""Starting a service as a process of its own, in the background."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from typing import Any

from termnode.cli.exits import REFUSED, TRANSPORT, USAGE, CommandError
from termnode.service.keeping.instance import AlreadyRunning, InstanceFiles

DEFAULT_SIZE = (80, 24)
"""Of a tab, when nobody's terminal says otherwise."""


@dataclass(frozen=True, slots=True)
class Ready:
    """What the started service said: its one JSON line, and that line's fields."""

    line: str
    fields: dict[str, Any]


def start(
    files: InstanceFiles,
    size: tuple[int, int] = DEFAULT_SIZE,
    shell: str | None = None,
    *,
    integration: bool = True,
) -> Ready:
    """Start the service and wait until it is ready.

    Raises CommandError when it runs already, and with what it had to say when it ended first.
    """
    pid = files.running()
    if pid is not None:
        raise CommandError(str(AlreadyRunning(files.name, files.directory, pid)), REFUSED)
    reader, writer = os.pipe()
    # What it says before it holds the lock is for this caller alone; then it opens its log.
    with tempfile.TemporaryFile("w+", errors="replace") as words, os.fdopen(reader) as pipe:
        with os.fdopen(writer, "w"):
            process = subprocess.Popen(
                _command(files, size, shell, writer, integration=integration),
                stdin=subprocess.DEVNULL,
                stdout=words,
                stderr=words,
                pass_fds=[writer],
                start_new_session=True,
            )
        line = pipe.read()
        if line:
            return Ready(line, json.loads(line))
        code = process.wait()
        words.seek(0)
        raise CommandError(
            words.read().strip().removeprefix("termnode: ")
            or f"the service ended before it was ready; {files.log} may say why",
            code if code in {USAGE, TRANSPORT} else REFUSED,
        )


def _command(
    files: InstanceFiles,
    size: tuple[int, int],
    shell: str | None,
    ready_fd: int,
    *,
    integration: bool,
) -> list[str]:
    # -P: no module is ever taken from the directory that this was called in.
    command = [sys.executable, "-P", "-m", "termnode.cli.main", "up", "--ready-fd", str(ready_fd)]
    command += ["--name", files.name, "--runtime-dir", str(files.directory)]
    command += ["--size", f"{size[0]}x{size[1]}"]
    command += [] if integration else ["--no-integration"]
    return command if shell is None else [*command, "--shell", shell]
