"""``termnode type`` and ``termnode wait``: input, and waiting for what it does."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Final

from termnode.cli.exits import OK, REFUSED
from termnode.cli.remote import REPLY_TIMEOUT_S, ask, print_json

if TYPE_CHECKING:
    import argparse


MAX_WAIT_MS: Final = 45_000
"""The longest single wait of the service."""


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
    answer = wait_for(arguments)
    matched = answer.get("outcome") == "matched"
    if arguments.json:
        print_json(answer)
    elif not matched:
        print(f"termnode: not seen: {_reason(str(answer.get('outcome')))}", file=sys.stderr)
    return OK if matched else REFUSED


def wait_for(arguments: argparse.Namespace, longest_ms: int = MAX_WAIT_MS) -> dict[str, object]:
    """Wait for as long as was asked for, in as many waits of ``longest_ms`` as it takes."""
    end = time.monotonic() + arguments.timeout
    while True:
        left_ms = max(1, round((end - time.monotonic()) * 1000))
        wait_ms = min(left_ms, longest_ms)
        body: dict[str, object] = {"until": arguments.until, "timeout_ms": wait_ms}
        patience = wait_ms / 1000 + REPLY_TIMEOUT_S
        answer = ask(arguments, "term.wait", with_pane(arguments, body), patience)
        if answer.get("outcome") != "deadline" or wait_ms == left_ms:
            return answer


def _reason(outcome: str) -> str:
    return {
        "deadline": "the time ran out ('termnode screen' shows what is there now)",
        "exited": "the program has ended",
        "gone": "the pane was closed",
    }.get(outcome, outcome)


def with_pane(arguments: argparse.Namespace, body: dict[str, object]) -> dict[str, object]:
    """``body`` with the pane that was named, if one was."""
    return body if arguments.pane is None else {**body, "pane": arguments.pane}
