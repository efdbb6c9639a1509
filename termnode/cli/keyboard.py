"""``termnode type``, ``keys`` and ``mouse``: input, as a person would give it."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Final

from termnode.cli.exits import OK, REFUSED, USAGE, CommandError
from termnode.cli.reaching import Reach, reach
from termnode.cli.remote import change, print_json

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

Body = dict[str, object]

CONFIRM_S: Final = 20.0
"""Longer than the service watches for what was typed."""


def run(arguments: argparse.Namespace) -> int:
    """Send what the command stands for to the pane."""
    if arguments.command == "keys" and arguments.list:
        return _list(arguments)
    verb, make_body = _REQUESTS[arguments.command]
    body = with_pane(arguments, make_body(arguments))
    if verb == "term.type" and not body["text"] and arguments.enter:
        verb, body = "term.keys", with_pane(arguments, {"keys": ["Enter"]})
    answer = change(arguments, verb, body, CONFIRM_S)
    return _confirmed(arguments, answer) if body.get("confirm") else OK


def _list(arguments: argparse.Namespace) -> int:
    from termnode.terminal.input.names import key_names

    names = list(key_names())
    if arguments.json:
        print_json({"keys": names})
    else:
        print(*names, sep="\n")
    return OK


def _type(arguments: argparse.Namespace) -> Body:
    text = sys.stdin.read() if arguments.text == "-" else arguments.text
    return {
        "text": text,
        **({"enter": True} if arguments.enter else {}),
        **({"confirm": True} if arguments.confirm else {}),
    }


def _keys(arguments: argparse.Namespace) -> Body:
    if not arguments.keys:
        raise CommandError("keys takes the names of keys; --list prints them", USAGE)
    return {"keys": arguments.keys}


def _mouse(arguments: argparse.Namespace) -> Body:
    return {
        "action": arguments.action,
        "x": arguments.x,
        "y": arguments.y,
        "button": arguments.button,
        "modifiers": arguments.modifier,
    }


def _confirmed(arguments: argparse.Namespace, answer: Body) -> int:
    """0 when as much was seen as could be hoped for."""
    wished = "submitted" if arguments.enter else "echoed"
    if answer.get("outcome") == wished:
        return OK
    hidden = "; the program hides what is typed" if answer.get("echo") is False else ""
    print(f"termnode: {answer.get('outcome')}, not seen to be {wished}{hidden}", file=sys.stderr)
    return REFUSED


def with_pane(arguments: argparse.Namespace, body: Body) -> Body:
    """``body`` with the pane that was named, else with the one that the command itself runs in."""
    pane = own_pane(arguments) if arguments.pane is None else arguments.pane
    return body if pane is None else {**body, "pane": pane}


def own_pane(arguments: argparse.Namespace) -> int | None:
    """The pane of the chosen service that the command runs in; None when it runs elsewhere."""
    pane = os.environ.get("TERMNODE_PANE", "")
    here = arguments.name == os.environ.get("TERMNODE_NAME") and reach(arguments) == Reach()
    return int(pane) if here and pane.isascii() and pane.isdigit() and len(pane) < 20 else None


_REQUESTS: Final[dict[str, tuple[str, Callable[[argparse.Namespace], Body]]]] = {
    "type": ("term.type", _type),
    "keys": ("term.keys", _keys),
    "mouse": ("term.mouse", _mouse),
}
