"""``termnode call``: one verb, one reply."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from termnode.cli.exits import USAGE, CommandError
from termnode.cli.explaining import exit_code
from termnode.cli.remote import ask_raw, print_json
from termnode.control.verbs import find

if TYPE_CHECKING:
    import argparse

    from brokerd.client import Reply


NO_REPLY: Final = -1


def run(arguments: argparse.Namespace) -> int:
    """Print ``{"rc", "body"}``; the body's bytes go out exactly as given, for retries.

    Without a reply ``rc`` is -1, which never travels, and the body says what is known.
    """
    raw = _body(arguments.body)
    try:
        reply = _asked(arguments, raw)
    except CommandError as error:
        if error.error_code is not None:
            said = {"error_code": error.error_code, "message": str(error), "details": error.details}
            print_json({"rc": NO_REPLY, "body": said})
        raise
    body = reply.body if reply.body is not None else reply.raw.decode("utf-8", "replace")
    print_json({"rc": reply.rc, "body": body})
    return exit_code(reply)


def _asked(arguments: argparse.Namespace, raw: bytes) -> Reply:
    if arguments.native or arguments.pane is not None or find(arguments.verb) is None:
        from termnode.cli import native  # most calls are of the other lane

        if native.wanted(arguments):
            return native.ask(arguments, raw)
    to = arguments.to or arguments.name
    return ask_raw(arguments, to, arguments.verb, raw, arguments.timeout)


def _body(given: str | None) -> bytes:
    if given is None:
        return b"{}"
    if given == "-":
        return sys.stdin.buffer.read()
    try:
        return given.encode()
    except UnicodeEncodeError:
        raise CommandError("the body is not valid UTF-8", USAGE) from None
