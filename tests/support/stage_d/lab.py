"""What the fixtures of commands and tasks stand on: a real broker, service, and pane shells.

The callers speak by hand, to the service and to a pane shell's allocated name. Guards and places
to stop at are put into the service and into its zygote (`tests.support.stage_d.service`).
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Final, Protocol

from tests.support.integrated_shell import furnish
from tests.support.s4.caller import Caller
from tests.support.s4.lab import NOTHING_OFF, Lab, LabService, lab_with
from tests.support.session_peer import Answer, Fields, SessionPeer
from tests.support.stage_d.asking import ShellCaller
from tests.support.termnode_process import eventually

__all__ = ["BASH", "Fixture", "PaneLab", "Start", "pane_lab"]

BASH: Final = "bash"


class Start(Protocol):
    """Starts a lab whose person has this shell."""

    def __call__(
        self,
        shell: str = BASH,
        *,
        rc: str | None = None,
        settings: Mapping[str, Any] = {},
        **environment: str,
    ) -> AbstractContextManager[PaneLab]: ...


Fixture = Callable[[Start], None]


class PaneService(LabService):
    """A service whose guards, and those of its pane shells, can be off."""

    def _command(self) -> list[str]:
        how = [self.off, json.dumps(self.settings)]
        broken = [sys.executable, "-m", "tests.support.stage_d.service", *how]
        return [*broken, "up", "--name", self.name, "--size", "80x24"]

    def environment(self) -> dict[str, str]:
        """Its words are the person's; a real terminal's name."""
        return {**super().environment(), "LC_ALL": "C.UTF-8", "USER": "person"}


class PaneLab:
    """One service with its first pane, and who asks that pane's shell for something."""

    def __init__(self, lab: Lab, shell: str) -> None:
        self.lab = lab
        self.term = lab.term
        self.shell = shell
        self.home = lab.term.directory
        lab.term.up()
        self.pane: int = lab.term.ready["pane"]
        lab.ready(self.pane)

    def caller(self, pane: int | None = None, peer: SessionPeer | None = None) -> ShellCaller:
        """A connection of the same user that asks a pane's shell (the first pane's) itself."""
        pane = self.pane if pane is None else pane
        record = self.lab.record_of(pane)
        assert record is not None, f"pane {pane} has no attached record"
        return ShellCaller(peer or self.lab.peer(), record)

    def ready_caller(self) -> ShellCaller:
        """As ``caller``, once the shell's prompt is there."""
        made = self.caller()
        made.at_prompt()
        return made

    def owner(self) -> Caller:
        """A connection of the same user that asks the service."""
        return self.lab.owner()

    def target(self) -> Fields:
        """The pane as the service's requests name it."""
        return self.lab.target(self.pane)

    def screen(self) -> str:
        """What the pane shows; rows without blanks at their ends."""
        return "\n".join(row.rstrip(" \0") for row in self.term.screen(self.pane))

    def type(self, text: str, *, enter: bool = True) -> None:
        """As an agent of the global lane does; in open posture."""
        self.term.good("term.type", {"pane": self.pane, "text": text, "enter": enter})

    def shell_pid(self) -> int:
        """The process of the person's shell."""
        panes = self.term.good("term.panes")["panes"]
        pid: int = next(each["pid"] for each in panes if each["id"] == self.pane)
        return pid

    def file(self, name: str) -> Path:
        """A file in the person's home, which is where the shell starts."""
        return self.home / name

    def lines(self, name: str) -> list[str]:
        """The lines of that file; none while it is not there."""
        path = self.file(name)
        return path.read_text().splitlines() if path.exists() else []

    def until_line(self, name: str, line: str) -> None:
        """Wait until that file has that line."""
        eventually(lambda: line in self.lines(name), f"{line!r} in {name}")


@contextmanager
def pane_lab(
    shell: str = BASH,
    *,
    rc: str | None = None,
    settings: Mapping[str, Any] = {},
    off: str = NOTHING_OFF,
    **environment: str,
) -> Iterator[PaneLab]:
    """A lab whose person has this shell and startup file (None: a plain prompt)."""
    path = shutil.which(shell)
    assert path is not None, shell
    made = lab_with(PaneService, settings=settings, off=off, SHELL=path, **environment)
    with made as lab:
        if shell in ("bash", "zsh", "fish"):
            furnish(lab.term.directory, shell, rc)
        yield PaneLab(lab, shell)


def stopped(pid: int) -> bool:
    """Whether a process stands still."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] == "T"


def kill(pid: int) -> None:
    """As the kernel does it."""
    os.kill(pid, signal.SIGKILL)


def refusal(answer: Answer) -> tuple[str, str | None]:
    """Its code and reason; fails for a good answer."""
    assert answer.rc == 10, answer.body
    return answer.why
