"""Asking a running service for something from the command line."""

from __future__ import annotations

import errno
import json
import re
import sys
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

import trio

from brokerd.client import (
    BrokerLost,
    Bus,
    BusError,
    ErrorCode,
    MessageTooLarge,
    NotConnected,
    Reply,
    RequestTimeout,
    RuntimeDirError,
    connect,
    locate_runtime_dir,
)
from termnode.cli.exits import REFUSED, TRANSPORT, USAGE, CommandError
from termnode.control.verbs import find
from termnode.service.keeping.instance import InstanceFiles

if TYPE_CHECKING:
    import argparse

T = TypeVar("T")

REPLY_TIMEOUT_S = 15.0
UNAVAILABLE, UNKNOWN = ErrorCode.UNAVAILABLE, ErrorCode.UNKNOWN_OUTCOME


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
        async with connect(arguments.runtime_dir) as bus:
            return await talk(bus)

    try:
        return trio.run(whole)
    except (BusError, RuntimeDirError, OSError, ExceptionGroup) as error:
        first = first_error(error)
        if isinstance(first, OSError) and first.errno in _OF_OUTPUT:
            raise first from None
        raise _explain(first, arguments, wait, _MAYBE if changes else _AGAIN) from None


def first_error(error: BaseException) -> BaseException:
    """The first single exception of what may be a group of groups."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _explain(
    error: BaseException, arguments: argparse.Namespace, wait: float, advice: str
) -> BaseException:
    """What a person at the command line is told, and the exit code that goes with it."""
    said: dict[type[BaseException], tuple[str, int, str]] = {
        RequestTimeout: (f"no answer within {wait:g} s; {advice}", TRANSPORT, UNKNOWN),
        BrokerLost: (f"the broker ended before the answer came; {advice}", TRANSPORT, UNKNOWN),
        MessageTooLarge: (str(error), REFUSED, ErrorCode.INVALID_ARGUMENT),
        BusError: (str(error), TRANSPORT, UNAVAILABLE),
        RuntimeDirError: (str(error), TRANSPORT, UNAVAILABLE),
        OSError: (str(error), TRANSPORT, UNAVAILABLE),
    }
    if isinstance(error, NotConnected):
        return CommandError(_not_connected(arguments), TRANSPORT, UNAVAILABLE)
    return next(
        (CommandError(*how) for kind, how in said.items() if isinstance(error, kind)), error
    )


def _not_connected(arguments: argparse.Namespace) -> str:
    directory = locate_runtime_dir(arguments.runtime_dir)
    if InstanceFiles(directory, arguments.name).running() is not None:
        return f"'{arguments.name}' runs, and its broker is being started again: try again"
    return (
        "no broker answers here; start a terminal with 'termnode up', or name its directory with "
        "--runtime-dir"
    )


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


def refusal(arguments: argparse.Namespace, reply: Reply) -> CommandError:
    """What a person is told of a refusal, and the exit code that goes with it."""
    answer: dict[str, object] = dict(reply.body or {})
    said = answer.get("details")
    details = said if isinstance(said, dict) else {}
    return CommandError(
        _refusal_words(answer, arguments.name),
        exit_code(reply),
        details=details,
        reply={"rc": reply.rc, "body": reply.body},
    )


def exit_code(reply: Reply) -> int:
    """0 for a good reply, 3 when nobody serves the name, else 1."""
    if reply.rc == 0:
        return 0
    return TRANSPORT if reply.error and reply.error.code == "UNAVAILABLE" else REFUSED


def _refusal_words(body: dict[str, object], name: str) -> str:
    code, message = body.get("error_code", "refused"), body.get("message", "no reason was given")
    details = body.get("details")
    reason = details.get("reason") if isinstance(details, dict) else None
    if reason in {"not_registered", "deregistered", "peer_gone"}:
        return f"no service named '{name}' answers; start it with 'termnode up --name {name}'"
    if code == "FORBIDDEN":
        return "FORBIDDEN: not allowed; if 'termnode posture' says strict, 'open' brings verbs back"
    if isinstance(details, dict) and "written_bytes" in details:
        message = f"{message} ({details['written_bytes']} of {details['bytes']} bytes were written)"
    return f"{code}: {_as_commands(str(message))}"


_COMMANDS: Final = {
    "term.panes": "panes",
    "term.tabs": "tabs",
    "term.tab.new": "new",
    "term.tab.select": "select --tab",
    "term.tab.close": "close --tab",
    "term.pane.close": "close",
    "term.pane.restart": "restart",
    "term.pane.zoom": "zoom",
    "term.snapshot": "screen",
    "term.type": "type",
    "term.keys": "keys",
    "term.paste": "paste",
    "term.wait": "wait",
    "term.events": "events",
    "HELP": "call HELP",
}
_VERB: Final = re.compile(rf"\b({'|'.join(map(re.escape, _COMMANDS))})\b(?!\.)")


def _as_commands(message: str) -> str:
    """A remedy that names verbs, in the words of the command line."""
    return _VERB.sub(lambda found: f"'termnode {_COMMANDS[found[1]]}'", message)


def print_json(value: object) -> None:
    """One JSON value on one line of standard output."""
    sys.stdout.write(f"{json_line(value)}\n")


def json_line(value: object) -> str:
    """One JSON value on one line, in characters that standard output can take."""
    plain = (sys.stdout.encoding or "ascii").lower().replace("-", "") != "utf8"
    return json.dumps(value, ensure_ascii=plain, separators=(",", ":"))
