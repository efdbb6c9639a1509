"""Asking a running service for something from the command line."""

from __future__ import annotations

import errno
import json
import sys
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Protocol, TypeVar

import trio

from brokerd.client import Bus, BusError, Reply, RuntimeDirError
from termnode.cli.exits import USAGE, CommandError
from termnode.cli.explaining import explain, first_error, refusal
from termnode.cli.reaching import open_bus, reach
from termnode.control.verbs import find

if TYPE_CHECKING:
    import argparse

T = TypeVar("T")

REPLY_TIMEOUT_S = 15.0


class Ask(Protocol):
    """One verb of the chosen service, asked; raises as `ask`."""

    async def __call__(
        self, verb: str, body: dict[str, object], wait: float = ...
    ) -> dict[str, object]:
        """The body of a good reply."""


_OF_OUTPUT = frozenset((errno.EPIPE, errno.ENOSPC))
"""Our reader had enough, or the disk: nothing that is sent to a service ends so."""

_MAYBE = "a change may have been made all the same: look before you repeat one"
_AGAIN = "nothing was changed: try again"


def ask_raw(arguments: argparse.Namespace, to: str, verb: str, raw: bytes, wait: float) -> Reply:
    """Send ``raw`` as the body of ``verb`` and return the reply, refusals included.

    Raises CommandError (exit code 3) when nobody answers within ``wait`` seconds.
    """

    async def exchange(bus: Bus) -> Reply:
        return await bus.request_raw(to, verb, raw, timeout=wait)

    spec = find(verb)
    return connected(arguments, exchange, wait, changes=spec is None or spec.mutates)


def connected(
    arguments: argparse.Namespace,
    talk: Callable[[Bus], Awaitable[T]],
    wait: float,
    *,
    changes: bool = True,
) -> T:
    """What ``talk`` gives, on a connection of its own. Raises as `ask_raw`.

    ``changes`` says whether anything may have been done when an answer does not come.
    """

    async def whole() -> T:
        async with open_bus(reach(arguments)) as bus:
            return await talk(bus)

    try:
        return trio.run(whole)
    except (BusError, RuntimeDirError, OSError, ExceptionGroup) as error:
        first = first_error(error)
        if isinstance(first, OSError) and first.errno in _OF_OUTPUT:
            raise first from None
        raise explain(first, arguments, wait, _MAYBE if changes else _AGAIN) from None


def ask(
    arguments: argparse.Namespace,
    verb: str,
    body: dict[str, object],
    wait: float = REPLY_TIMEOUT_S,
) -> dict[str, object]:
    """Send ``verb`` to the chosen service and return the body of its good reply.

    Raises CommandError: 1 for a refusal (printed as JSON first when --json was given), 3 when the
    service cannot be reached.
    """
    reply = ask_raw(arguments, arguments.name, verb, _encoded(body), wait)
    return _good(arguments, reply)


def change(
    arguments: argparse.Namespace,
    verb: str,
    body: dict[str, object],
    wait: float = REPLY_TIMEOUT_S,
) -> dict[str, object]:
    """As `ask`, for a command that takes ``--request-id``; prints the reply with ``--json``."""
    if arguments.request_id is not None:
        body = {**body, "request_id": arguments.request_id}
    answer = ask(arguments, verb, body, wait)
    if arguments.json:
        print_json(answer)
    return answer


def converse(
    arguments: argparse.Namespace, talk: Callable[[Ask], Awaitable[T]], *, changes: bool = True
) -> T:
    """What ``talk`` gives; the ``ask`` it gets is as `ask`, all on one connection."""

    async def exchange(bus: Bus) -> T:
        return await talk(asker(arguments, bus))

    return connected(arguments, exchange, REPLY_TIMEOUT_S, changes=changes)


def asker(arguments: argparse.Namespace, bus: Bus) -> Ask:
    """Asks the chosen service over ``bus``; raises the bus's own errors."""

    async def put(
        verb: str, body: dict[str, object], wait: float = REPLY_TIMEOUT_S
    ) -> dict[str, object]:
        raw = _encoded(body)
        return _good(arguments, await bus.request_raw(arguments.name, verb, raw, timeout=wait))

    return put


def _encoded(body: dict[str, object]) -> bytes:
    try:
        return json.dumps(body, ensure_ascii=False).encode()
    except UnicodeEncodeError:  # bytes of the command line that are no text
        raise CommandError("what was given is not valid UTF-8", USAGE) from None


def _good(arguments: argparse.Namespace, reply: Reply) -> dict[str, object]:
    """The body of a good reply; a refusal is a CommandError, which --json prints at the end."""
    if reply.rc == 0:
        return dict(reply.body or {})
    raise refusal(arguments, reply)


def print_json(value: object) -> None:
    """One JSON value on one line of standard output."""
    sys.stdout.write(f"{json_line(value)}\n")


def json_line(value: object) -> str:
    """One JSON value on one line, in characters that standard output can take."""
    plain = (sys.stdout.encoding or "ascii").lower().replace("-", "") != "utf8"
    return json.dumps(value, ensure_ascii=plain, separators=(",", ":"))
