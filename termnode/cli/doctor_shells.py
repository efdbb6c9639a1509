"""Of ``termnode doctor``: whether commands can be run at the prompts of the shells here."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, Final

from termnode.cli.finding import Finding
from termnode.cli.output import clean

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from termnode.cli.shell_trial import Tried

SHELLS: Final = ("bash", "zsh", "fish")
OLDEST: Final = {"bash": "5.1", "zsh": "5.8", "fish": "3.3"}

WITHIN_S: Final = 10.0
"""For a shell to start, with the person's own files, and to run a command."""

SLOW_S: Final = 3.0
"""A shell that takes longer to its prompt is remarked on."""


def shell_findings(_arguments: argparse.Namespace) -> Iterator[Finding]:
    """Each shell that is installed is started once, with its person's own startup files."""
    for kind in SHELLS:
        program = shutil.which(kind)
        if program is not None:
            yield _tried(kind, program)


def _tried(kind: str, program: str) -> Finding:
    from termnode.cli.shell_trial import try_shell  # loads an emulator

    try:
        return judged(kind, try_shell(program, os.environ, WITHIN_S))
    except OSError as error:
        remedy = "panes start it as it is; commands at its prompt are refused"
        return Finding(_name(kind), "warn", f"it could not be started: {error}", remedy)


def judged(kind: str, tried: Tried) -> Finding:
    """What to say of it."""
    name, version = _name(kind), clean(tried.version)
    if not tried.version:
        remedy = (
            f"use {kind} {OLDEST[kind]} or newer, and see what its startup files wait for or exec;"
            " all else works in its panes"
        )
        return Finding(name, "warn", "its integration did not come up: no commands there", remedy)
    if tried.seconds is None or not tried.ran:
        remedy = (
            "see what your startup files do to PROMPT_COMMAND, PS0 and PS1, precmd, preexec or "
            "fish_prompt at their end; until then commands are refused there, or their end is lost"
        )
        found = f"{version}: {_short_of(tried)}"
        return Finding(name, "warn", found, remedy)
    found = f"{version}, a command ran at its prompt, which took {tried.seconds:.1f} s"
    remedy = "" if tried.seconds < SLOW_S else "your startup files are slow: new panes wait for it"
    return Finding(name, "warn" if remedy else "ok", found, remedy)


def _name(kind: str) -> str:
    return f"commands in {kind}"


def _short_of(tried: Tried) -> str:
    if tried.seconds is None:
        return f"no prompt came within {WITHIN_S:g} s"
    if not tried.word:
        return "it did not answer to a command"
    if tried.word != "ADMITTED":
        return f"it took no command ({clean(tried.word)})"
    return "it did not tell of a command's end"
