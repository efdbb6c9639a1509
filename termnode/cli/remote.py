"""Asking a running service for something from the command line."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import trio

from brokerd.client import (
    BrokerLost,
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
from termnode.service.instance import InstanceFiles

if TYPE_CHECKING:
    import argparse

REPLY_TIMEOUT_S = 15.0
UNAVAILABLE, UNKNOWN = ErrorCode.UNAVAILABLE, ErrorCode.UNKNOWN_OUTCOME

_MAYBE = "a change may have been made all the same: look before you repeat one"


def ask_raw(arguments: argparse.Namespace, to: str, verb: str, raw: bytes, wait: float) -> Reply:
    """Send ``raw`` as the body of ``verb`` and return the reply, refusals included.

    Raises CommandError (exit code 3) when nobody answers within ``wait`` seconds.
    """

    async def exchange() -> Reply:
        async with connect(arguments.runtime_dir) as bus:
            return await bus.request_raw(to, verb, raw, timeout=wait)

    try:
        return trio.run(exchange)
    except (BusError, RuntimeDirError, OSError, ExceptionGroup) as error:
        raise _explain(first_error(error), arguments, wait) from None


def first_error(error: BaseException) -> BaseException:
    """The first single exception of what may be a group of groups."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _explain(error: BaseException, arguments: argparse.Namespace, wait: float) -> BaseException:
    """What a person at the command line is told, and the exit code that goes with it."""
    if isinstance(error, RequestTimeout):
        return CommandError(f"no answer within {wait:g} s; {_MAYBE}", TRANSPORT, UNKNOWN)
    if isinstance(error, BrokerLost):
        return CommandError(
            f"the broker ended before the answer came; {_MAYBE}", TRANSPORT, UNKNOWN
        )
    if isinstance(error, NotConnected):
        return CommandError(_not_connected(arguments), TRANSPORT, UNAVAILABLE)
    if isinstance(error, MessageTooLarge):
        return CommandError(str(error), REFUSED, ErrorCode.INVALID_ARGUMENT)
    if isinstance(error, (BusError, RuntimeDirError, OSError)):
        return CommandError(str(error), TRANSPORT, UNAVAILABLE)
    return error


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
    try:
        raw = json.dumps(body, ensure_ascii=False).encode()
    except UnicodeEncodeError:  # bytes of the command line that are no text
        raise CommandError("what was given is not valid UTF-8", USAGE) from None
    reply = ask_raw(arguments, arguments.name, verb, raw, wait)
    answer: dict[str, object] = dict(reply.body or {})
    if reply.rc == 0:
        return answer
    if arguments.json:
        print_json({"rc": reply.rc, "body": reply.body})
    raise CommandError(_refusal_words(answer, arguments.name), exit_code(reply))


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
    return f"{code}: {message}"


def print_json(value: object) -> None:
    """One JSON value on one line of standard output."""
    sys.stdout.write(f"{json_line(value)}\n")


def json_line(value: object) -> str:
    """One JSON value on one line, in characters that standard output can take."""
    plain = (sys.stdout.encoding or "ascii").lower().replace("-", "") != "utf8"
    return json.dumps(value, ensure_ascii=plain, separators=(",", ":"))
