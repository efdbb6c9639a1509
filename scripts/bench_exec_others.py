"""What ``scripts/bench exec`` measures beside: each runs ``true`` in an interactive bash.

libtmux and pexpect as they are installed, with their own defaults; and what libtmux does, done by
hand with less around it.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

SHELL: Final = "/bin/bash"
COLS, ROWS = 80, 24

Way = Callable[[], object]
"""Runs one command to its end."""


class Libtmux:
    """``send_keys`` of the command and a marked status, then ``capture_pane`` under libtmux's own
    ``retry_until``, until the marked row is there; ``interval`` seconds between two looks."""

    def __init__(self, directory: Path, interval: float) -> None:
        from libtmux import Server  # late: there only where it was installed for this

        self._server = Server(
            socket_path=str(directory / "libtmux"), config_file="/dev/null", colors=256
        )
        session: Any = self._server.new_session(
            "bench", x=COLS, y=ROWS, window_command=f"{SHELL} --norc", attach=False
        )
        self._pane: Any = session.active_window.active_pane
        self._interval = interval
        self._count = 0

    def execute(self) -> None:
        """One command, and its status."""
        from libtmux.test.retry import retry_until  # late: as above

        self._count += 1
        mark = f"END{self._count}-"
        wanted = re.compile(rf"{mark}\d+")
        pane = self._pane

        def told() -> bool:
            return any(wanted.fullmatch(row) for row in pane.capture_pane())

        pane.send_keys(f"true; echo {mark}$?")
        retry_until(told, interval=self._interval)

    def close(self) -> None:
        """End its server."""
        self._server.kill()


class Tmux:
    """The same by hand, and without a pause between two looks."""

    def __init__(self, directory: Path) -> None:
        self._socket = directory / "tmux"
        self._count = 0
        self._run("new-session", "-d", "-x", str(COLS), "-y", str(ROWS), f"{SHELL} --norc")

    def _run(self, *arguments: str) -> str:
        command = ["tmux", "-S", str(self._socket), "-f", "/dev/null", *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    def execute(self) -> None:
        """One command, and its status."""
        self._count += 1
        mark = f"END{self._count}-"
        self._run("send-keys", f"true; echo {mark}$?")
        self._run("send-keys", "Enter")
        wanted = re.compile(rf"^{mark}\d+$", re.MULTILINE)
        while not wanted.search(self._run("capture-pane", "-p")):
            pass

    def close(self) -> None:
        """End its server."""
        self._run("kill-server")


class Pexpect:
    """REPLWrapper: a prompt of its own, read until it comes. It learns no status.

    ``delay`` seconds before each line; None for pexpect's own.
    """

    def __init__(self, delay: float | None) -> None:
        from pexpect import replwrap  # late: there only where it was installed for this

        self._wrapper: Any = _untyped(replwrap).bash(SHELL)
        if delay is not None:
            self._wrapper.child.delaybeforesend = delay or None

    def execute(self) -> None:
        """One command, until the next prompt."""
        self._wrapper.run_command("true")

    def close(self) -> None:
        """End its shell."""
        self._wrapper.child.close(force=True)


def _untyped(module: Any) -> Any:  # noqa: ANN401  # pexpect has no types
    return module


@contextmanager
def others(directory: Path) -> Iterator[Mapping[str, Way]]:
    """All of them by their names, ended afterwards. Exits with words when they are not there."""
    try:
        import libtmux  # noqa: F401  # late: as above
        import pexpect  # noqa: F401
        from libtmux.test.constants import RETRY_INTERVAL_SECONDS
    except ImportError:
        sys.exit("bench exec needs libtmux and pexpect: scripts/bench exec installs them")
    with ExitStack() as stack:
        stack.enter_context(_home(directory))
        made: list[tuple[str, Callable[[], Libtmux | Tmux | Pexpect]]] = [
            ("libtmux", lambda: Libtmux(directory, RETRY_INTERVAL_SECONDS)),
            ("tmux", lambda: Tmux(directory)),
            ("pexpect", lambda: Pexpect(None)),
            ("floor", lambda: Pexpect(0.0)),
        ]
        ways: dict[str, Way] = {}
        for name, make in made:
            each = make()
            stack.callback(each.close)
            ways[name] = each.execute
        yield ways


@contextmanager
def _home(directory: Path) -> Iterator[None]:
    """Nobody's own startup files are read."""
    before = os.environ.get("HOME")
    os.environ["HOME"] = str(directory)
    try:
        yield
    finally:
        if before is None:
            del os.environ["HOME"]
        else:
            os.environ["HOME"] = before
