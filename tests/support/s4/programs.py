"""A program that reads nothing until it is told to, and then writes down every byte it read."""

from __future__ import annotations

import os
import sys
import tty
from pathlib import Path

from tests.support.s4.lab import Lab
from tests.support.session_peer import ROOT
from tests.support.termnode_process import eventually

LAST = b"~"
"""The byte with which it stops to read."""


class SlowReader:
    """The program in a pane of its own."""

    def __init__(self, lab: Lab) -> None:
        self._directory = lab.term.directory
        os.mkfifo(self._directory / "go")
        script = (
            f"import sys; sys.path.insert(0, {str(ROOT)!r}); from tests.support.s4 import programs"
        )
        command = f"{script}; programs.main({str(self._directory)!r})"
        self.pane = lab.tab(sys.executable, "-c", command)
        lab.term.wait("^ready", self.pane)

    def go(self) -> None:
        """Let it read."""
        with (self._directory / "go").open("w"):
            pass

    def got(self) -> bytes:
        """What it read, once it has seen LAST."""
        found = self._directory / "got"
        eventually(found.exists, "the program has read it all")
        return found.read_bytes()


def main(directory: str) -> None:
    """Be the program."""
    tty.setraw(0)
    os.write(1, b"ready\r\n")
    with Path(directory, "go").open():
        pass
    got = b""
    while not got.endswith(LAST):
        got += os.read(0, 65_536)
    Path(directory, "new").write_bytes(got[: -len(LAST)])
    Path(directory, "new").rename(Path(directory, "got"))
