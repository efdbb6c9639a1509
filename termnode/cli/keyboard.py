"""``termnode type`` and ``termnode wait``: input, and waiting for what it does."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from termnode.cli.exits import OK, REFUSED
from termnode.cli.parser import MAX_WAIT_S
from termnode.cli.remote import REPLY_TIMEOUT_S, ask, print_json

if TYPE_CHECKING:
    import argparse


def run(arguments: argparse.Namespace) -> int:
    """Carry out ``type`` or ``wait``."""
    return _type(arguments) if arguments.command == "type" else _wait(arguments)


def _type(arguments: argparse.Namespace) -> int:
    text = sys.stdin.read() if arguments.text == "-" else arguments.text
    body: dict[str, object] = {"text": text}
    if arguments.enter:
        body["enter"] = True
    if arguments.request_id is not None:
        body["request_id"] = arguments.request_id
    answer = ask(arguments, "term.type", with_pane(arguments, body))
    if arguments.json:
        print_json(answer)
    return OK


def _wait(arguments: argparse.Namespace) -> int:
    limit = min(arguments.timeout, MAX_WAIT_S)
    body: dict[str, object] = {"until": arguments.until, "timeout_ms": max(1, int(limit * 1000))}
    answer = ask(arguments, "term.wait", with_pane(arguments, body), limit + REPLY_TIMEOUT_S)
    matched = answer.get("outcome") == "matched"
    if arguments.json:
        print_json(answer)
    elif not matched:
        print(f"termnode: not seen: {_reason(str(answer.get('outcome')))}", file=sys.stderr)
    return OK if matched else REFUSED


def _reason(outcome: str) -> str:
    return {
        "deadline": "the time ran out ('termnode screen' shows what is there now)",
        "exited": "the program has ended",
        "gone": "the pane was closed",
    }.get(outcome, outcome)


def with_pane(arguments: argparse.Namespace, body: dict[str, object]) -> dict[str, object]:
    """``body`` with the pane that was named, if one was."""
    return body if arguments.pane is None else {**body, "pane": arguments.pane}
