"""The entry point of ``termnode``: parse, find the command's module, map errors to exit codes."""

from __future__ import annotations

import errno
import importlib
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from termnode.cli.commands import COMMANDS
from termnode.cli.exits import INTERRUPTED, OK, REFUSED, CommandError
from termnode.cli.parser import build
from termnode.cli.streams import standard_streams
from termnode.version import VERSION

if TYPE_CHECKING:
    import argparse


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code (see ``termnode --help``)."""
    standard_streams()
    arguments = build(VERSION).parse_args(argv)
    try:
        code = _run(arguments)
        sys.stdout.flush()
        return code
    except CommandError as error:
        print(f"termnode: {error}", file=sys.stderr)
        return error.code
    except BrokenPipeError:  # the reader of our output had enough: "termnode log | head"
        _drop_output()
        return OK
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        _drop_output()
        print("termnode: the output could not be written: no space is left", file=sys.stderr)
        return REFUSED
    except KeyboardInterrupt:
        return INTERRUPTED
    except BaseExceptionGroup as group:
        if group.subgroup(KeyboardInterrupt) is None:
            raise
        return INTERRUPTED  # it came while Trio had several tasks


def _drop_output() -> None:
    """What is still to be written goes nowhere, so that the interpreter's own flush succeeds."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def _run(arguments: argparse.Namespace) -> int:
    module = next(command.module for command in COMMANDS if command.name == arguments.command)
    # Imported when chosen: most commands need neither the service nor its emulators.
    runner = importlib.import_module(f"termnode.cli.{module}")
    try:
        code: int = runner.run(arguments)
    except CommandError as error:
        if error.reply is not None and arguments.json:
            importlib.import_module("termnode.cli.remote").print_json(error.reply)
        raise
    return code


if __name__ == "__main__":
    sys.exit(main())
