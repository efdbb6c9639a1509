"""How one service is set up. Tests change limits here, never by patching."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from brokerd.client import CAPABILITIES
from termnode.control.native.ledger import RETENTION_S
from termnode.service.program import default_shell
from termnode.terminal.engine import DEFAULT_SCROLLBACK


def all_capabilities(_pane: int) -> Sequence[str]:
    """A pane shell may do to its pane whatever there is."""
    return CAPABILITIES


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """``cols`` and ``rows`` are the size of a tab; ``scrollback`` is in lines per pane."""

    name: str
    directory: Path
    cwd: str
    environment: Mapping[str, str]
    shell: str
    cols: int = 80
    rows: int = 24
    scrollback: int = DEFAULT_SCROLLBACK
    notify: bool = True
    integration: bool = True
    """Whether bash, zsh and fish are started with their integration."""
    detached: bool = False
    """In the background: what there is to say goes to the log file."""
    while_fd: int | None = None
    """A pipe that whoever this service is for holds the other end of: it ends when that is closed.
    None: nobody does."""
    write_deadline_s: float = 2.0
    """Input that has not reached the program by then is discarded (seed, "Input")."""
    spawn_timeout_s: float = 10.0
    """A pane host that has not started a program by then is stuck, in a dead file system perhaps;
    mutations run one at a time, so all of them would wait for it."""
    hangup_grace_s: float = 2.0
    """From SIGHUP to SIGKILL when a pane is closed."""
    retention_s: float = RETENTION_S
    """How long the reply to a mutation of the native lane can be read again."""
    child_capabilities: Callable[[int], Sequence[str]] = all_capabilities
    """What the shell of a pane, by the pane's id, is granted; the same for as long as it lives."""

    @classmethod
    def from_environment(
        cls,
        *,
        name: str,
        directory: Path,
        cwd: str,
        environment: Mapping[str, str],
        shell: str | None,
        size: tuple[int, int],
        integration: bool = True,
        detached: bool = False,
        while_fd: int | None = None,
    ) -> Config:
        """What ``termnode up`` was told, and the environment for the rest."""
        return cls(
            name=name,
            directory=directory,
            cwd=cwd,
            environment=environment,
            shell=shell or default_shell(environment),
            cols=size[0],
            rows=size[1],
            notify=environment.get("TERM_NOTIFY") != "0",
            integration=integration and environment.get("TERMNODE_INTEGRATION") != "0",
            detached=detached,
            while_fd=while_fd,
        )
