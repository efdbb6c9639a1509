"""Starts a shell with its integration on a pseudo-terminal of its own, and has it run ``true``."""

from __future__ import annotations

import os
import selectors
import signal
import tempfile
import termios
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from termnode.panehost.protocol import Failure, SpawnRequest, UserSettings
from termnode.panehost.spawn import Pty, spawn
from termnode.paneshell.integration import TRIGGER, Request, ShellDir, plan
from termnode.paneshell.prompt.control_dir import ControlDir
from termnode.paneshell.prompt.records import Hello, Prompt, ReplyWord
from termnode.terminal import engines

if TYPE_CHECKING:
    from termnode.terminal.engine import Engine

OPERATION: Final = "doctor"
COLS, ROWS = 80, 24

_LOOK_S: Final = 0.05
"""Between two looks at the terminal's mode, of which nobody tells."""


@dataclass(frozen=True, slots=True)
class Tried:
    """How far a shell came. ``version`` is empty when its integration never spoke up, ``seconds``
    how long it took to its first prompt (None: none came), ``word`` what it answered to a command
    (empty: nothing), ``ran`` whether that ended well."""

    version: str = ""
    seconds: float | None = None
    word: str = ""
    ran: bool = False


def try_shell(program: str, environment: Mapping[str, str], within: float) -> Tried:
    """Start it as its person would, for at most ``within`` seconds. Raises OSError when it cannot
    be started."""
    end = time.monotonic() + within
    with (
        tempfile.TemporaryDirectory(prefix="termnode-") as name,
        _started(program, environment, name) as trial,
    ):
        return trial.run(end)


@contextmanager
def _started(program: str, environment: Mapping[str, str], name: str) -> Iterator[_Trial]:
    """It and all of its session are gone afterwards."""
    directory = ShellDir.make(Path(name))
    with closing(directory), closing(ControlDir(str(directory.path))) as control:
        planned = plan([program], {**environment, "TERM": "xterm-256color"}, directory.path)
        if planned is None:
            raise OSError("it is no shell that can be integrated")
        request = SpawnRequest(list(planned.argv), "/", planned.env, COLS, ROWS)
        try:
            shell = spawn(request, UserSettings.capture())
        except Failure as failure:
            raise OSError(failure.message) from None
        os.set_blocking(shell.fd, False)
        engine = engines.make()(COLS, ROWS)
        try:
            yield _Trial(shell, control, engine)
        finally:
            engine.close()
            _end(shell)


def _end(shell: Pty) -> None:
    groups = {shell.pid}
    with suppress(OSError):
        groups.add(os.tcgetpgrp(shell.fd))
    for group in groups - {0}:  # 0: nobody has the terminal; as a group it would be this one
        with suppress(OSError):
            os.killpg(group, signal.SIGKILL)
    with suppress(ChildProcessError):
        os.waitpid(shell.pid, 0)
    shell.release()


class _Trial:
    """One shell, and what it has told."""

    def __init__(self, shell: Pty, control: ControlDir, engine: Engine) -> None:
        self._shell, self._control, self._engine = shell, control, engine
        self._version, self._word = "", ""
        self._prompt: Prompt | None = None
        self._done: Prompt | None = None
        self._over = False

    def run(self, end: float) -> Tried:
        """The whole of it, until ``end`` (monotonic seconds)."""
        start = time.monotonic()
        self._until(lambda: self._prompt is not None, end)
        if self._prompt is None:
            return Tried(self._version)
        seconds = time.monotonic() - start
        self._until(self._edits, end)
        self._control.put(Request(OPERATION, self._prompt.generation, "termnode doctor", "true"))
        with suppress(OSError):
            os.write(self._shell.fd, TRIGGER)
        self._until(lambda: self._done is not None or self._word not in {"", "ADMITTED"}, end)
        ran = self._done is not None and self._done.status == 0
        return Tried(self._version, seconds, self._word, ran)

    def _until(self, holds: Callable[[], bool], end: float) -> None:
        while not (holds() or self._over) and time.monotonic() < end:
            self._look()

    def _look(self) -> None:
        """Take in what comes within a moment."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._shell.fd, selectors.EVENT_READ)
            selector.register(self._control.descriptor, selectors.EVENT_READ)
            selector.select(_LOOK_S)
        self._read_output()
        for record in self._control.read():
            if isinstance(record, Hello):
                self._version = record.version
            elif isinstance(record, Prompt):
                self._prompt = record
                self._done = record if record.op == OPERATION else self._done
            elif isinstance(record, ReplyWord) and record.id == OPERATION:
                self._word = record.word

    def _read_output(self) -> None:
        """A shell may ask its terminal things, and wait for the answers."""
        try:
            data = os.read(self._shell.fd, 65_536)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        self._over = not data
        self._engine.feed(data)
        if answers := self._engine.take_replies():
            with suppress(OSError):
                os.write(self._shell.fd, answers)

    def _edits(self) -> bool:
        """Whether it reads keys one by one by now."""
        with suppress(OSError, termios.error):
            return not termios.tcgetattr(self._shell.fd)[3] & termios.ICANON
        return False
