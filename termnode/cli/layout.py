"""``termnode new``, ``split``, ``close``, ``select`` and ``restart``: tabs and panes by hand."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

from termnode.cli.exits import OK, USAGE, CommandError
from termnode.cli.keyboard import with_pane
from termnode.cli.remote import change

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

Body = dict[str, object]


def run(arguments: argparse.Namespace) -> int:
    """Send the verb that the command stands for, and say which tab or pane it was about."""
    verb, body = _REQUESTS[arguments.command](arguments)
    answer = change(arguments, verb, body)
    if not arguments.json:
        print(_words(verb, answer))
    return OK


def _words(verb: str, answer: dict[str, Any]) -> str:
    if verb.startswith("term.tab."):
        tab, pane = answer["id"], answer.get("pane")
    else:
        tab, pane = answer.get("tab"), answer["id"]
    parts = [f"{name} {number}" for name, number in (("tab", tab), ("pane", pane)) if number]
    return " ".join(parts)


def _new(arguments: argparse.Namespace) -> tuple[str, Body]:
    return "term.tab.new", _program(arguments)


def _split(arguments: argparse.Namespace) -> tuple[str, Body]:
    body = {"dir": "v" if arguments.below else "h", **_program(arguments)}
    return "term.pane.split", with_pane(arguments, body)


def _close(arguments: argparse.Namespace) -> tuple[str, Body]:
    if arguments.tab is not None:
        return "term.tab.close", {"id": arguments.tab}
    return "term.pane.close", with_pane(arguments, {})


def _select(arguments: argparse.Namespace) -> tuple[str, Body]:
    if arguments.tab is not None:
        return "term.tab.select", {"id": arguments.tab}
    if arguments.pane is None:
        raise CommandError("select takes --tab N or --pane N", USAGE)
    return "term.pane.select", {"id": arguments.pane}


def _restart(arguments: argparse.Namespace) -> tuple[str, Body]:
    return "term.pane.restart", with_pane(arguments, {})


def _program(arguments: argparse.Namespace) -> Body:
    given: dict[str, object] = {
        "argv": arguments.program or None,
        "cwd": None if arguments.cwd is None else _absolute(arguments.cwd),
        "title": arguments.title,
        "env": dict(arguments.env) if arguments.env else None,
        "remain": arguments.remain,
        "background": arguments.background or None,
    }
    return {name: value for name, value in given.items() if value is not None}


def _absolute(directory: str) -> str:
    try:
        return os.path.abspath(directory) if directory else ""
    except FileNotFoundError:
        raise CommandError("--cwd: this directory has been removed; name an absolute one") from None


_REQUESTS: Final[dict[str, Callable[[argparse.Namespace], tuple[str, Body]]]] = {
    "new": _new,
    "split": _split,
    "close": _close,
    "select": _select,
    "restart": _restart,
}
