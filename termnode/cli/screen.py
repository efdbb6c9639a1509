"""``termnode screen``: what a pane shows, has shown, or shows anew since a revision."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

from termnode.cli.exits import OK, USAGE, CommandError
from termnode.cli.keyboard import with_pane
from termnode.cli.look import state_words
from termnode.cli.markup import marked
from termnode.cli.options.look import ALL_LINES
from termnode.cli.output import BOLD, paint
from termnode.cli.remote import converse, print_json

if TYPE_CHECKING:
    import argparse
    from collections.abc import AsyncIterator

    from termnode.cli.remote import Ask

Answer = dict[str, Any]

FURTHEST_UP: Final = 1_000_000
"""As far up as may be asked for: more rows than any history has."""


def run(arguments: argparse.Namespace) -> int:
    """Print what was asked for; page by page where it does not fit into one reply."""
    if arguments.scrollback is not None and arguments.format == "html":
        raise CommandError("--scrollback is for text, styled and ansi: a page is one piece", USAGE)

    async def talk(ask: Ask) -> None:
        async for answer in _pages(arguments, ask):
            _show(arguments, answer)

    converse(arguments, talk, changes=False)
    return OK


async def _pages(arguments: argparse.Namespace, ask: Ask) -> AsyncIterator[Answer]:
    """The replies, one after the other, until all that was asked for is there."""
    body = _body(arguments)
    left = arguments.lines
    while True:
        answer = await ask("term.snapshot", body)
        yield answer
        if left is not None:
            left -= _count(answer)
        if answer.get("next_line") is None or not (left is None or left > 0) or not _goes_on(body):
            return
        body = {**_further(arguments, answer), **({} if left is None else {"lines": left})}


def _goes_on(body: Answer) -> bool:
    """Whether the rest follows by line number: neither what is new nor an output does."""
    return "since" not in body and not body.get("command") and body.get("format") != "html"


def _count(answer: Answer) -> int:
    if "lines" in answer:
        return len(answer["lines"])
    return str(answer.get("text", "")).count("\n") + 1


def _further(arguments: argparse.Namespace, answer: Answer) -> Answer:
    return with_pane(arguments, {"format": arguments.format, "line": answer["next_line"]})


def _body(arguments: argparse.Namespace) -> Answer:
    given: Answer = {
        "format": arguments.format,
        "since": arguments.since,
        "offset": arguments.offset,
        "line": arguments.line,
        "lines": arguments.lines,
        "command": arguments.last_command or None,
    }
    if arguments.scrollback is not None:
        all_lines = arguments.scrollback == ALL_LINES
        given["offset"] = FURTHEST_UP if all_lines else min(arguments.scrollback, FURTHEST_UP)
    known = {name: value for name, value in given.items() if value is not None}
    return with_pane(arguments, known)


def _show(arguments: argparse.Namespace, answer: Answer) -> None:
    if arguments.revision:
        print(answer["revision"])
    elif arguments.json:
        print_json(answer)
    else:
        _print(arguments, answer)


def _print(arguments: argparse.Namespace, answer: Answer) -> None:
    if sys.stderr.isatty() and answer.get("exit"):
        print(paint(f"({state_words(answer)})", BOLD), file=sys.stderr)
    if answer.get("lines_missed"):
        print(f"termnode: {answer['lines_missed']} lines can no longer be read", file=sys.stderr)
    text = _text(answer)
    whole = arguments.scrollback is None and arguments.line is None and arguments.offset is None
    text = text.rstrip("\n") if whole else text
    if text or arguments.since is None:
        print(text)
    if arguments.since is not None:
        print(f"revision {answer['revision']}", file=sys.stderr)


def _text(answer: Answer) -> str:
    """The rows of the reply in the form they are printed in."""
    if "html" in answer:
        return str(answer["html"])
    if "lines" not in answer:
        return str(answer.get("text", ""))
    return "\n".join(_line(line) for line in answer["lines"])


def _line(line: Answer) -> str:
    return marked(line["runs"]) if "runs" in line else str(line.get("text", ""))
