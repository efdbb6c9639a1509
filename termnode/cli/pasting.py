"""``termnode paste``: a file, or what stdin has, into a pane."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from termnode.cli.exits import OK, REFUSED, USAGE, CommandError
from termnode.cli.keyboard import with_pane
from termnode.cli.remote import converse, print_json
from termnode.control.parts import parts

if TYPE_CHECKING:
    import argparse

    from termnode.cli.remote import Ask

LONG_PARTS: Final = 9
"""From here on a person at a terminal is told how far it is."""

PASTE_WAIT_S: Final = 120.0
"""A slow program may take its time as long as it goes on reading."""


def run(arguments: argparse.Namespace) -> int:
    """Paste the text and say what was left out."""
    text = _text(arguments.file)

    async def talk(ask: Ask) -> dict[str, Any]:
        return await _paste(arguments, text, ask)

    answer = converse(arguments, talk)
    if arguments.json:
        print_json(answer)
    if answer.get("removed"):
        print(f"termnode: {answer['removed']} control characters were left out", file=sys.stderr)
    return OK


async def _paste(arguments: argparse.Namespace, text: str, ask: Ask) -> dict[str, Any]:
    """All parts of ``text`` under one operation; the reply to the last.

    Only the first and the last part have a request id: a part between them may be sent again, and
    the service remembers too few ids for all of a long text. When an earlier run has written it,
    there is nothing to add to any more: the last part is then answered as it was.
    """
    pieces = list(parts(text))
    body: dict[str, object] = with_pane(arguments, {})
    answer: dict[str, Any] = {}
    offset = 0
    for number, piece in enumerate(pieces):
        try:
            answer = await _part(ask, arguments, {**body, "text": piece}, number, len(pieces))
        except CommandError as refused:
            if number + 1 == len(pieces) or not _written_before(arguments, refused):
                raise
        offset += len(piece.encode())
        body |= {"operation": answer.get("operation"), "offset": offset}
    if arguments.enter:
        await _enter(ask, arguments, answer)
    return answer


async def _enter(ask: Ask, arguments: argparse.Namespace, pasted: dict[str, Any]) -> None:
    """Press Enter in the pane that the text went to, whichever is active by now."""
    body: dict[str, object] = {"keys": ["Enter"], "pane": pasted["pane"]}
    if arguments.request_id is not None:
        body["request_id"] = f"{arguments.request_id}.enter"
    await ask("term.keys", body, PASTE_WAIT_S)


def _written_before(arguments: argparse.Namespace, refused: CommandError) -> bool:
    """Whether a part may be refused because an earlier run with the same id has ended."""
    return arguments.request_id is not None and refused.details.get("reason") == "no_such_paste"


async def _part(
    ask: Ask, arguments: argparse.Namespace, body: dict[str, object], number: int, of: int
) -> dict[str, Any]:
    last = number + 1 == of
    if not last:
        body["more"] = True
    if arguments.request_id is not None and (last or not number):
        body["request_id"] = arguments.request_id + ("" if last else ".begin")
    answer = await ask("term.paste", body, PASTE_WAIT_S)
    _progress(number + 1, of)
    return answer


def _progress(done: int, of: int) -> None:
    if of >= LONG_PARTS and sys.stderr.isatty():
        end = "\n" if done == of else ""
        print(f"\rpasting: {100 * done // of} %", end=end, file=sys.stderr, flush=True)


def _text(file: str) -> str:
    try:
        raw = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise CommandError(f"the file cannot be read: {error.strerror}", REFUSED) from None
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        raise CommandError(f"not UTF-8 at byte {error.start}: nothing was pasted", USAGE) from None
