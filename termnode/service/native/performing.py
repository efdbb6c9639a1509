"""What a performer of the native lane is: it carries out a verb that the gate has let through.

It is called in the very step in which the request id is reserved, and checks first: a Refusal that
it raises says that nothing was done, and spends no id. It must not wait.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeAlias

from termnode.control.native.decisions import Go
from termnode.control.native.ledger import Later
from termnode.service.state import Result, State


@dataclass(frozen=True, slots=True)
class Done:
    """It is done, with these fields of a good reply.

    ``request_id`` and ``operation_id`` are added by the dispatcher. ``later`` will have what it
    comes to after this reply; whoever carries that out settles it.
    """

    body: Result
    later: Later | None = None


Unfinished: TypeAlias = Callable[[], Awaitable[Result]]
"""What is left to wait for. The next mutation waits for it too; a Refusal it raises is the reply,
and the id stays spent."""

Perform: TypeAlias = Callable[[State, Go], Done | Unfinished]
"""Raises Refusal before it has done anything."""
