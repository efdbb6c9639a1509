"""``termnode wait``: until a row matches, or until quiet, prompt, exit or a change."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Final

import trio

from brokerd.client import BrokerLost, NotConnected
from termnode.cli.exits import OK, REFUSED, USAGE, CommandError
from termnode.cli.keyboard import with_pane
from termnode.cli.look import ended_words
from termnode.cli.reaching import own_files, reach
from termnode.cli.remote import REPLY_TIMEOUT_S, converse, print_json

if TYPE_CHECKING:
    import argparse

    from termnode.cli.remote import Ask

Body = dict[str, object]

BROKER_BACK_S: Final = 10.0
"""A broker that was killed is started again in less; the service and its panes go on meanwhile."""

RETRY_S: Final = 0.1
MAX_WAIT_MS: Final = 45_000
"""The longest single wait of the service."""

_FLAGS: Final = ("prompt", "exit", "changed", "alternate")
_HELD: Final = {
    "matched": "until",
    "quiet": "quiet",
    "prompt": "prompt",
    "changed": "changed",
    "alternate": "alternate",
    "exited": "exit",
}
"""The option that asks for an outcome."""


def run(arguments: argparse.Namespace) -> int:
    """Wait, and say why when what was waited for did not come."""
    conditions = _conditions(arguments)
    answer = wait_for(arguments, conditions)
    outcome = str(answer.get("outcome"))
    if arguments.json:
        print_json(answer)
    elif not _held(arguments, outcome):
        print(f"termnode: not seen: {_reason(outcome)}", file=sys.stderr)
    elif outcome == "exited":
        print(ended_words(answer))
    elif len(conditions) > 1:
        print(outcome)
    return OK if _held(arguments, outcome) else REFUSED


def _conditions(arguments: argparse.Namespace) -> Body:
    asked: Body = {name: True for name in _FLAGS if getattr(arguments, name)}
    if arguments.until is not None:
        asked["until"] = arguments.until
    if arguments.quiet is not None:
        asked["quiet_ms"] = round(arguments.quiet * 1000)
    if not asked:
        raise CommandError(
            "name what to wait for: --until, --quiet, --prompt, --exit, --changed or --alternate",
            USAGE,
        )
    return asked


def _held(arguments: argparse.Namespace, outcome: str) -> bool:
    asked = getattr(arguments, _HELD.get(outcome, ""), None)
    return asked is not None and asked is not False


def wait_for(
    arguments: argparse.Namespace, conditions: Body, longest_ms: int = MAX_WAIT_MS
) -> Body:
    """Wait for as long as was asked for, in as many waits of ``longest_ms`` as it takes.

    Each goes on from the revision that the one before ended at, so that nothing is overlooked.
    """
    end = time.monotonic() + arguments.timeout

    async def talk(ask: Ask) -> Body:
        after: object = arguments.after
        while True:
            left_ms = max(1, round((end - time.monotonic()) * 1000))
            wait_ms = min(left_ms, longest_ms)
            body = {**conditions, "timeout_ms": wait_ms}
            if after is not None:
                body["after"] = after
            answer = await _patiently(arguments, ask, with_pane(arguments, body))
            if answer is None:
                continue
            if answer.get("outcome") != "deadline" or wait_ms == left_ms:
                return answer
            after = answer.get("revision")

    try:
        return converse(arguments, talk, changes=False)
    except CommandError as error:
        _point_at(arguments, error)
        raise


async def _patiently(arguments: argparse.Namespace, ask: Ask, body: Body) -> Body | None:
    """One wait's answer; None when a broker that ended took it along, and there is another."""
    files = own_files(reach(arguments), arguments.name)
    serving = None if files is None else files.running()
    patience = int(str(body["timeout_ms"])) / 1000 + REPLY_TIMEOUT_S
    try:
        return await ask("term.wait", body, patience)
    except (BrokerLost, NotConnected):
        lost = time.monotonic()
    while files is not None and serving is not None and files.running() == serving:
        await trio.sleep(RETRY_S)
        try:
            await ask("term.session", {})
        except (BrokerLost, NotConnected, CommandError):
            if time.monotonic() - lost > BROKER_BACK_S:
                raise
        else:
            return None
    raise NotConnected


def _point_at(arguments: argparse.Namespace, error: CommandError) -> None:
    """Show where in the pattern the fault is; the service says the position alone."""
    position = error.details.get("position")
    if error.details.get("field") == "until" and isinstance(position, int):
        print(f"  {arguments.until}\n  {' ' * position}^", file=sys.stderr)


def _reason(outcome: str) -> str:
    return {
        "deadline": "the time ran out; 'termnode screen' shows what is there now (what came before "
        "the wait counts with --after REV)",
        "exited": "the program has ended",
        "gone": "the pane was closed",
    }.get(outcome, outcome)
