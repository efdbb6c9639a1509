"""What runs in a pane: the program, its directory and its environment."""

from __future__ import annotations

import os
import pwd
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

PANE_TERM: Final = "xterm-256color"
"""TERM of every fresh pane (architecture decision 11)."""

_NOT_INHERITED: Final = frozenset(
    {
        "COLUMNS", "LINES",  # the sizes of the terminal that the service was started in
        "TMUX", "TMUX_PANE", "STY", "WINDOW",  # a multiplexer around the service is not in the pane
        "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "VTE_VERSION", "KITTY_WINDOW_ID", "WINDOWID",
        "COSMIX_SESSION_FD",  # a launch descriptor is for one process only (facts 2.10)
        "TERMNODE_TICKET",  # the person's alone: with it a program could play the person
        "OLDPWD", "SHLVL", "_",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Program:
    """What to exec. ``remain`` is in seconds; ``env`` is laid over the service's own.

    ``clean_env``: it is the whole environment instead. ``caller``: the process with whose end the
    pane is closed; None when it stays.
    """

    argv: tuple[str, ...]
    cwd: str
    env: Mapping[str, str] = field(default_factory=dict)
    remain: int = 600
    cwd_chosen: bool = False
    """Whether the caller named the directory: then no other will do."""
    clean_env: bool = False
    caller: int | None = None


def pane_environment(
    base: Mapping[str, str], overlay: Mapping[str, str], service: str, directory: Path, pane: int
) -> dict[str, str]:
    """The environment of a pane's program: the person's own, told which terminal it is in."""
    kept = {name: value for name, value in base.items() if name not in _NOT_INHERITED}
    return {
        **kept,
        "TERM": PANE_TERM,
        "COLORTERM": "truecolor",
        "TERMNODE_NAME": service,
        "TERMNODE_PANE": str(pane),
        "COSMIX_RUNTIME_DIR": str(directory),
        **overlay,
    }


def clean_environment(overlay: Mapping[str, str]) -> dict[str, str]:
    """The environment of a program that is to have nothing of the service's: it must know what
    terminal it has."""
    return {"TERM": PANE_TERM, **overlay}


def default_shell(environment: Mapping[str, str]) -> str:
    """The person's shell: SHELL, else that of the password database, else /bin/sh."""
    try:
        listed = pwd.getpwuid(os.geteuid()).pw_shell
    except KeyError:
        listed = ""
    for shell in (environment.get("SHELL", ""), listed):
        if os.path.isabs(shell) and os.access(shell, os.X_OK):
            return shell
    return "/bin/sh"
