"""What a person is told of an error or a refusal, and the exit code that goes with it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from brokerd.client import (
    BrokerLost,
    BusError,
    ErrorCode,
    MessageTooLarge,
    NotConnected,
    Refused,
    Reply,
    RequestTimeout,
    RuntimeDirError,
)
from termnode.cli.exits import REFUSED, TRANSPORT, CommandError
from termnode.cli.output import clean
from termnode.cli.reaching import not_connected, reach

if TYPE_CHECKING:
    import argparse

UNAVAILABLE, UNKNOWN = ErrorCode.UNAVAILABLE, ErrorCode.UNKNOWN_OUTCOME


def first_error(error: BaseException) -> BaseException:
    """The first single exception of what may be a group of groups."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def explain(
    error: BaseException, arguments: argparse.Namespace, wait: float, advice: str
) -> BaseException:
    """What a person at the command line is told, and the exit code that goes with it."""
    said: dict[type[BaseException], tuple[str, int, str]] = {
        RequestTimeout: (f"no answer within {wait:g} s; {advice}", TRANSPORT, UNKNOWN),
        BrokerLost: (f"the broker ended before the answer came; {advice}", TRANSPORT, UNKNOWN),
        MessageTooLarge: (str(error), REFUSED, ErrorCode.INVALID_ARGUMENT),
        Refused: _of_broker(error, arguments),
        BusError: (str(error), TRANSPORT, UNAVAILABLE),
        RuntimeDirError: (str(error), TRANSPORT, UNAVAILABLE),
        OSError: (str(error), TRANSPORT, UNAVAILABLE),
    }
    if isinstance(error, NotConnected):
        return CommandError(not_connected(reach(arguments), arguments.name), TRANSPORT, UNAVAILABLE)
    return next(
        (CommandError(*how) for kind, how in said.items() if isinstance(error, kind)), error
    )


def _of_broker(error: BaseException, arguments: argparse.Namespace) -> tuple[str, int, str]:
    """A refusal of the broker's own."""
    code = getattr(error, "code", UNAVAILABLE)
    if code == ErrorCode.FORBIDDEN and reach(arguments).elsewhere:
        return "FORBIDDEN: not allowed to other users and machines", REFUSED, code
    return str(error), TRANSPORT if code == UNAVAILABLE else REFUSED, code


def refusal(arguments: argparse.Namespace, reply: Reply) -> CommandError:
    """What a person is told of a refusal, and the exit code that goes with it."""
    answer: dict[str, object] = dict(reply.body or {})
    said = answer.get("details")
    details = said if isinstance(said, dict) else {}
    return CommandError(
        _refusal_words(answer, arguments),
        exit_code(reply),
        details=details,
        reply={"rc": reply.rc, "body": reply.body},
    )


def exit_code(reply: Reply) -> int:
    """0 for a good reply, 3 when nobody serves the name, else 1."""
    if reply.rc == 0:
        return 0
    return TRANSPORT if reply.error and reply.error.code == "UNAVAILABLE" else REFUSED


def _refusal_words(body: dict[str, object], arguments: argparse.Namespace) -> str:
    name, elsewhere = arguments.name, reach(arguments).elsewhere
    code, message = body.get("error_code", "refused"), body.get("message", "no reason was given")
    details = body.get("details")
    reason = details.get("reason") if isinstance(details, dict) else None
    if reason in {"not_registered", "deregistered", "peer_gone"}:
        starter = "its owner starts it" if elsewhere else "start it"
        return f"no service named '{name}' answers; {starter} with 'termnode up --name {name}'"
    if code == "FORBIDDEN" and elsewhere:
        return "FORBIDDEN: not allowed to other users and machines, or its posture is strict"
    if code == "FORBIDDEN":
        return "FORBIDDEN: not allowed; if 'termnode posture' says strict, 'open' brings verbs back"
    if isinstance(details, dict) and "written_bytes" in details:
        message = f"{message} ({details['written_bytes']} of {details['bytes']} bytes were written)"
    return clean(f"{code}: {as_commands(str(message))}")  # who serves there may be another user


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


def as_commands(message: str) -> str:
    """A remedy that names verbs, in the words of the command line."""
    return _VERB.sub(lambda found: f"'termnode {_COMMANDS[found[1]]}'", message)
