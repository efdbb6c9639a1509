"""Who asks: whose request ids these are, and how the audit names them."""

from __future__ import annotations

from typing import Final

from brokerd.client import forbidden
from termnode.control.retry import Scope
from termnode.lanes.calls import Caller

NODE: Final = "node"
"""The assurance of a principal that is another machine."""


def scope_of(principal: Caller | None) -> Scope:
    """Whose request ids these are. Raises Refusal FORBIDDEN without a usable stamp."""
    if principal is not None and principal.unix_uid is not None:
        return "uid", principal.unix_uid
    if principal is not None and principal.assurance == NODE and principal.owner_node:
        return "node", principal.owner_node
    raise forbidden()


def summary(principal: Caller | None) -> str:
    """A principal in a few words, for the audit: what the broker stamped and no more."""
    if principal is None:
        return "unstamped"
    if principal.unix_uid is None:
        return f"node {principal.owner_node}"
    pid = "" if principal.peer_pid is None else f" pid {principal.peer_pid}"
    return f"uid {principal.unix_uid}{pid}"
