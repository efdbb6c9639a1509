"""``termnode attach``: the person's view of a service, in the terminal that they already use."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import trio

from brokerd.client import RuntimeDirError, connect, locate_runtime_dir, resolve_runtime_dir
from termnode.attach import app
from termnode.attach.link import OPEN_TIMEOUT_S, Opened, OpenRefused, authorise
from termnode.cli.exits import OK, REFUSED, TRANSPORT, USAGE, CommandError
from termnode.cli.explaining import refusal
from termnode.cli.mirror import refuse_own_pane
from termnode.cli.remote import connected
from termnode.cli.starting import Ready, start
from termnode.control import posture
from termnode.service.keeping.instance import InstanceFiles

if TYPE_CHECKING:
    import argparse

    from brokerd.client import Bus

TICKET: Final = "TERMNODE_TICKET"
MAX_TICKET_BYTES: Final = 4_096


@dataclass(frozen=True, slots=True)
class View:
    """How to attach; ``ticket`` is what strict posture asks for."""

    read_only: bool = False
    tab: int | None = None
    ticket: str | None = None


def run(arguments: argparse.Namespace) -> int:
    """Attach, and start a service first if there is none and the person wants one."""
    if not person_terminal():
        raise CommandError(
            "attach needs a terminal on standard input and output; "
            "for the text of a pane: termnode screen",
            USAGE,
        )
    files = InstanceFiles(_directory(arguments), arguments.name)
    refuse_own_pane(arguments, files, force=arguments.force)
    view = View(arguments.read_only, arguments.tab, _ticket(arguments))
    if files.running() is None:
        return _start_first(arguments, view)
    return attach_to(arguments, files, view)


def person_terminal() -> bool:
    """Whether both standard input and output are a terminal."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def tab_size() -> tuple[int, int]:
    """What this terminal has room for: a tab, and the status line below it."""
    cols, rows = os.get_terminal_size(sys.stdout.fileno())
    return max(cols or 80, 2), max((rows or 24) - 1, 1)


def attach_to(arguments: argparse.Namespace, files: InstanceFiles, view: View) -> int:
    """Be a view until the person leaves or there is nothing to see; says which, and how it was."""
    opened = _opened(arguments, files, view)

    async def again() -> Opened:
        async with connect(arguments.runtime_dir) as bus:
            return await authorise(bus, arguments.name, view.ticket)

    wish = app.Wish(read_only=view.read_only, tab=view.tab, environment=os.environ)
    end = trio.run(app.show, opened, again, wish)
    return _said(end, arguments.name)


def _opened(arguments: argparse.Namespace, files: InstanceFiles, view: View) -> Opened:
    async def ask(bus: Bus) -> Opened:
        return await authorise(bus, arguments.name, view.ticket)

    try:
        return connected(arguments, ask, OPEN_TIMEOUT_S, changes=False)
    except OpenRefused as refused:
        body = refused.reply.body or {}
        if body.get("error_code") == "FORBIDDEN":
            raise CommandError(_forbidden(files, view)) from None
        raise refusal(arguments, refused.reply) from None


def _forbidden(files: InstanceFiles, view: View) -> str:
    if posture.read(files.posture) is posture.Posture.STRICT:
        wrong = "" if view.ticket is None else "; the one that was given is not it"
        return (
            "FORBIDDEN: in strict posture a view needs the ticket that 'termnode up' printed, in "
            f"${TICKET} or --ticket-file{wrong}"
        )
    return "FORBIDDEN: a view is for programs of the same user that are not bound to a pane"


def _said(end: app.End, name: str) -> int:
    """Tell the person how it ended; the exit code."""
    if end.how is app.How.DETACHED:
        print(f"detached; '{name}' goes on: termnode attach{_option(name)}")
        return OK
    words = {
        app.How.ENDED: f"the service '{name}' has ended",
        app.How.LOST: f"the connection to '{name}' is gone: {end.why}",
        app.How.REFUSED: f"'{name}' gives no view: {end.why}",
    }
    raise CommandError(words[end.how], REFUSED if end.how is app.How.REFUSED else TRANSPORT)


def _option(name: str) -> str:
    return "" if name == "term" else f" --name {name}"


def _directory(arguments: argparse.Namespace) -> Path:
    """Where the sockets would be; it need not be there."""
    try:
        return locate_runtime_dir(arguments.runtime_dir)
    except RuntimeDirError as error:
        raise CommandError(str(error), TRANSPORT) from None


def _ticket(arguments: argparse.Namespace) -> str | None:
    if arguments.ticket_file is None:
        return os.environ.get(TICKET) or None
    try:
        with open(arguments.ticket_file, encoding="utf-8") as file:
            return file.read(MAX_TICKET_BYTES).strip()
    except (OSError, UnicodeDecodeError):
        raise CommandError("--ticket-file: there is no text to be read there", USAGE) from None


def _start_first(arguments: argparse.Namespace, view: View) -> int:
    if not (arguments.start or _wanted(arguments.name)):
        raise CommandError(
            f"no service named '{arguments.name}' runs; "
            f"start one with 'termnode up{_option(arguments.name)}'",
            TRANSPORT,
        )
    try:
        files = InstanceFiles(resolve_runtime_dir(arguments.runtime_dir), arguments.name)
    except RuntimeDirError as error:
        raise CommandError(str(error), TRANSPORT) from None
    ready = start(files, tab_size())
    return attach_to(arguments, files, View(view.read_only, None, ticket_of(ready)))


def ticket_of(ready: Ready) -> str | None:
    """The ticket of a service that was just started; in strict posture the person needs it again,
    so it is printed: nobody else could tell it."""
    ticket = ready.fields.get("view_ticket")
    if ticket is not None and ready.fields.get("posture") == posture.Posture.STRICT:
        print(f"strict posture; to attach again: {TICKET}={ticket} termnode attach", flush=True)
    return None if ticket is None else str(ticket)


def _wanted(name: str) -> bool:
    """Ask on the terminal; the default is no."""
    print(f"no service named '{name}' runs. Start one? [y/N] ", end="", flush=True)
    try:
        answer = sys.stdin.readline()
    except UnicodeDecodeError:
        return False
    return answer.strip().lower() in {"y", "yes"}
