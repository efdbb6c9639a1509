"""``termnode watch``: a pane's output as plain lines, or into a recording."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import trio

from brokerd.client import ErrorCode
from termnode.cast.file import CastFile
from termnode.cast.lines import LineFollower
from termnode.cast.link import Told, WatchLost, watched
from termnode.cast.recording import record
from termnode.cast.writing import CastWriter
from termnode.cli.exits import OK, REFUSED, TRANSPORT, USAGE, CommandError
from termnode.cli.explaining import first_error
from termnode.cli.keyboard import own_pane
from termnode.cli.remote import ask
from termnode.terminal import engines
from termnode.view.messages import Keyframe, Reason

if TYPE_CHECKING:
    import argparse

Messages = AsyncGenerator[Told, None]

MAX_TICKET = 4_096
"""Characters of a ticket file."""

_WHY = {
    Reason.FORBIDDEN: ("FORBIDDEN: the service does not let this process watch", REFUSED),
    Reason.FULL: ("there are as many views as there may be: close one", REFUSED),
    Reason.GONE: ("there is no such pane; see 'termnode panes'", REFUSED),
    Reason.SLOW: ("the service let go of us: the output was not taken for too long", REFUSED),
}


def run(arguments: argparse.Namespace) -> int:
    """Follow the pane until its program ends; Ctrl-C ends it too."""
    pane = _chosen(arguments)
    make_writer = _recorder(arguments) if arguments.record is not None else None
    opened = ask(arguments, "term.view.open", _ticket(arguments))
    messages = watched(str(opened["path"]), str(opened["token"]), pane)
    if make_writer is None:
        return _run(_print(messages))
    return _run(_record(messages, arguments.record, make_writer))


def _chosen(arguments: argparse.Namespace) -> int:
    """The pane that was named, else the one this runs in, else 0: the active one."""
    own = own_pane(arguments)
    pane = own if arguments.pane is None else arguments.pane
    if pane == own is not None and arguments.record is None and sys.stdout.isatty():
        message = "this pane would follow itself without end: name another one with --pane"
        raise CommandError(message, USAGE)
    return pane or 0


def _ticket(arguments: argparse.Namespace) -> dict[str, object]:
    ticket = os.environ.get("TERMNODE_TICKET", "")
    if arguments.ticket_file is not None:
        try:
            with Path(arguments.ticket_file).open(encoding="ascii") as file:
                ticket = file.read(MAX_TICKET)
        except (OSError, UnicodeDecodeError):
            raise CommandError("the ticket file cannot be read", USAGE) from None
    ticket = ticket.strip()
    return {"ticket": ticket} if ticket else {}


def _run(follow: Coroutine[Any, Any, int]) -> int:
    """What ``follow`` gives; the ways in which a connection ends, in words."""

    async def whole() -> int:
        return await follow

    try:
        return trio.run(whole)
    except (WatchLost, OSError, ExceptionGroup) as error:
        first = first_error(error)  # OSError: of our own output, which `main` explains
        raise (_lost(first) if isinstance(first, WatchLost) else first) from None


def _lost(lost: WatchLost) -> CommandError:
    if lost.reason in _WHY:
        return CommandError(*_WHY[lost.reason])
    return CommandError("the service has ended", TRANSPORT, ErrorCode.UNAVAILABLE)


async def _print(messages: Messages) -> int:
    follower = LineFollower(engines.make())
    try:
        async with aclosing(messages):
            async for message in messages:
                if isinstance(message, Keyframe) and message.missed:
                    _say_missed(message.missed)
                sys.stdout.write(follower.take(message))
                sys.stdout.flush()
    finally:
        follower.close()
    return OK


def _say_missed(count: int) -> None:
    sys.stdout.flush()
    print(f"termnode: {count} bytes of output were missed here", file=sys.stderr)


async def _record(
    messages: Messages, path: str, make_writer: Callable[[CastFile, Keyframe], CastWriter]
) -> int:
    """The file is made once the service lets us watch, so that a refusal leaves none behind."""
    async with aclosing(messages):
        first = await anext(messages)
        assert isinstance(first, Keyframe), "the first message is a keyframe"
        try:
            file = CastFile(path)
        except FileExistsError:
            message = "there is a file of that name already: choose another, or remove it"
            raise CommandError(message, REFUSED, ErrorCode.CONFLICT) from None
        except OSError as error:
            raise CommandError(f"the file cannot be made: {error.strerror}", REFUSED) from None
        ended = await record(first, messages, file, make_writer(file, first), _say_missed)
    print("termnode: recorded " + ("to the end" if ended else "until now"), file=sys.stderr)
    return OK


def _recorder(arguments: argparse.Namespace) -> Callable[[CastFile, Keyframe], CastWriter]:
    """Makes the writer of a recording: with what the pane's own program has as environment."""
    panes: Any = ask(arguments, "term.panes", {})["panes"]
    pids = {pane["id"]: pane.get("pid") for pane in panes}

    def make(file: CastFile, first: Keyframe) -> CastWriter:
        environment = _environment(pids.get(first.pane))
        return CastWriter(file.write, int(time.time()), environment)

    return make


def _environment(pid: int | None) -> dict[str, str]:
    """That of a process; empty when it cannot be read."""
    try:
        data = Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return {}
    pairs = (entry.partition(b"=") for entry in data.split(b"\0"))
    return {
        name.decode("utf-8", "replace"): value.decode("utf-8", "replace")
        for name, _, value in pairs
        if name
    }
