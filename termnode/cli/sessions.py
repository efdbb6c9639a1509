"""``termnode sessions``: who this user's broker vouches for, and which of it is the service's."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import trio

from brokerd.client import TERM, BrokerLost, NotConnected, RequestTimeout
from termnode.cli.exits import OK, USAGE, CommandError
from termnode.cli.output import DIM, paint
from termnode.cli.reaching import reach
from termnode.cli.redraw import Redraw
from termnode.cli.remote import REPLY_TIMEOUT_S, connected, json_line, print_json
from termnode.cli.session_rows import Record, changes, lines, with_service, words

if TYPE_CHECKING:
    import argparse

    from brokerd.client import Bus

Tell = Callable[[list[Record] | None], None]
"""Shows the records, or, for None, that there is no broker now."""

EVERY_S: Final = 1.0
"""How often ``--watch`` looks: who holds no record is sent no notice of any."""

_AWAY: Final = "no broker answers; waiting for one"

ABOUT_S: Final = 2.0
"""For the service's word of its own name; without it no record is marked as the service's."""


def run(arguments: argparse.Namespace) -> int:
    """Print the records once, or with ``--watch`` until Ctrl-C."""
    if reach(arguments).node is not None:
        raise CommandError("sessions are of the users of one machine: leave --node out", USAGE)
    if arguments.watch:
        return connected(arguments, _Watcher(arguments).run, REPLY_TIMEOUT_S, changes=False)

    records = connected(arguments, Looks(arguments.name).look, REPLY_TIMEOUT_S, changes=False)
    if arguments.json:
        print_json({"records": records})
    else:
        print("\n".join(lines(records)))
    return OK


class Looks:
    """Looks at the caller's records, one after the other.

    The service is asked which is its own where another Term came or went, and not at each look:
    it notes in its log who asked.
    """

    def __init__(self, service: str) -> None:
        self._service = service
        self._own: str | None = None
        self._terms: set[str] = set()

    async def look(self, bus: Bus) -> list[Record]:
        """The records as JSON, marked with the service where they are its own.

        Raises as `brokerd.client.Sessions.list`.
        """
        views = await bus.sessions.list()
        terms = {view.name for view in views if view.role == TERM}
        if self._own is None or terms != self._terms:
            self._own = await _name_of(bus, self._service) if terms else None
            self._terms = terms
        return with_service([view.to_json() for view in views], self._service, self._own)


async def _name_of(bus: Bus, service: str) -> str | None:
    """The allocated name of the service that serves ``service``; None when it tells none."""
    try:
        reply = await bus.request(service, "INFO", {}, timeout=ABOUT_S)
    except RequestTimeout:
        return None
    identity = (reply.body or {}).get("identity") if reply.ok else None
    name = identity.get("name") if isinstance(identity, dict) else None
    return name if isinstance(name, str) else None


class _Watcher:
    """Looks again and again: redraws a table on a terminal, else tells what changed.

    A broker that ends is waited for: the connection comes back by itself.
    """

    def __init__(self, arguments: argparse.Namespace) -> None:
        self._looks = Looks(arguments.name)
        self._tell = _tell_table() if _for_a_person(arguments) else _tell_changes(arguments.json)

    async def run(self, bus: Bus) -> int:
        """Until it is cancelled."""
        away = False
        while True:
            try:
                self._tell(await self._looks.look(bus))
                away = False
            except (BrokerLost, NotConnected, RequestTimeout):
                if not away:
                    self._tell(None)
                away = True
            await trio.sleep(EVERY_S)


def _for_a_person(arguments: argparse.Namespace) -> bool:
    return sys.stdout.isatty() and not arguments.json


def _tell_table() -> Tell:
    place = Redraw()

    def tell(records: list[Record] | None) -> None:
        shown = [_AWAY] if records is None else lines(records)
        size = shutil.get_terminal_size()
        sys.stdout.write(place.draw(shown, size.columns, size.lines))
        sys.stdout.flush()

    return tell


def _tell_changes(as_json: bool) -> Tell:
    known: dict[str, Record] = {}

    def tell(records: list[Record] | None) -> None:
        nonlocal known
        if records is None:
            print(f"termnode: {_AWAY}", file=sys.stderr)
            return
        now = {record["record_id"]: record for record in records}
        for change, record in changes(known, now):
            print(_line(change, record, as_json), flush=True)
        known = now

    return tell


def _line(change: str, record: Record, as_json: bool) -> str:
    if as_json:
        told = {"time": round(time.time() * 1000), "change": change, "record": record}
        return json_line(told)
    return f"{paint(time.strftime('%H:%M:%S'), DIM)}  {words(change, record)}"
