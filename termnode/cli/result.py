"""``termnode result`` and ``termnode cancel``: operations that ``exec`` and ``task`` started."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from termnode.cli.exec_asking import RUNNING, cancel, operation_files, outcome, refused
from termnode.cli.exec_files import OperationFiles
from termnode.cli.exec_words import note_command, show, status_of
from termnode.cli.exits import OK, REFUSED, STILL_RUNS, CommandError
from termnode.cli.remote import print_json

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping


def run(arguments: argparse.Namespace) -> int:
    """Wait for it and print it, or end it."""
    files = operation_files(arguments)
    if arguments.command == "cancel":
        return _cancel(arguments, files)
    return tell(arguments, outcome(files, arguments.operation, arguments.timeout))


def tell(
    arguments: argparse.Namespace,
    told: Mapping[str, Any],
    rest: Callable[[Mapping[str, Any]], None] | None = None,
) -> int:
    """Print where an operation stands; the exit code. Raises CommandError.

    ``rest`` prints the output of a command, of which some may be printed already.
    """
    if "error" in told:
        raise refused(told["error"])
    if arguments.json:
        print_json(told)
    if told["state"] == RUNNING:
        return _still_runs(told)
    if arguments.json:
        return status_of(told)
    if rest is None:
        return show(told)
    rest(told)
    note_command(told["result"])
    return status_of(told)


def _still_runs(told: Mapping[str, Any]) -> int:
    number = told["operation_id"]
    print(
        f"termnode: it still runs: 'termnode result {number}' waits on, 'termnode cancel {number}'"
        " ends it",
        file=sys.stderr,
    )
    return STILL_RUNS


def _cancel(arguments: argparse.Namespace, files: OperationFiles) -> int:
    try:
        told = cancel(files, arguments.operation)
    except CommandError as error:
        error.code = REFUSED
        raise
    if arguments.json:
        print_json(told)
    else:
        print(words_of(told))
    return OK


def words_of(told: Mapping[str, Any]) -> str:
    """What a cancel did, for a person."""
    return f"{told.get('outcome')}: {told.get('delivery') or 'no more is known'}"
