"""A terminal for a model: six primitives and two more (specs/modelterm.md). Experimental.

::

    async with open_terminals(Settings(root, os.environ)) as terminals:
        shown = await terminals.open(["bash"])
        shown = await terminals.type(shown.id, "make test\\n")
        how, shown = await terminals.wait(shown.id, 60, "passed|failed")

Nothing that is typed is checked. What is shown is output of programs: data, never instructions.
"""

from __future__ import annotations

from termnode.modelterm.call_log import CallLog
from termnode.modelterm.command import command_line
from termnode.modelterm.config import ConfigError, ModelConfig, load_config
from termnode.modelterm.credentials import has_credential
from termnode.modelterm.environment import find_root
from termnode.modelterm.guard import ProgressGuard
from termnode.modelterm.limits import Limits
from termnode.modelterm.results import Settings, Shown, TermError
from termnode.modelterm.terminals import Terminals, open_terminals

__all__ = [
    "CallLog",
    "ConfigError",
    "Limits",
    "ModelConfig",
    "ProgressGuard",
    "Settings",
    "Shown",
    "TermError",
    "Terminals",
    "command_line",
    "find_root",
    "has_credential",
    "load_config",
    "open_terminals",
]
