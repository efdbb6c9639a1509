"""A person's own shell with hooks: what starts it, and the directory that it and Term share."""

from __future__ import annotations

from termnode.paneshell.integration.directory import ShellDir
from termnode.paneshell.integration.plan import Plan, plan
from termnode.paneshell.integration.request import (
    TRIGGER,
    Request,
    as_one_command,
    take_claim,
    write_request,
)

__all__ = [
    "TRIGGER",
    "Plan",
    "Request",
    "ShellDir",
    "as_one_command",
    "plan",
    "take_claim",
    "write_request",
]
