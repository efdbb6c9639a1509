"""Of the commands that run something in, or beside, the shell of a pane."""

from __future__ import annotations

import argparse

from termnode.cli.options.common import pane
from termnode.cli.values import operation, patience, task_seconds, variable


def exec_(parser: argparse.ArgumentParser) -> None:
    """Of ``exec``."""
    parser.add_argument(
        "source", metavar="SOURCE", help="the command, of one or more lines; '-' for what stdin has"
    )
    _detach(parser)
    parser.add_argument(
        "--timeout",
        metavar="S",
        type=patience,
        help="wait for S seconds at most; it goes on then (default: for as long as it takes)",
    )
    pane(parser)


def task(parser: argparse.ArgumentParser) -> None:
    """Of ``task``."""
    parser.add_argument(
        "program", metavar="PROGRAM", nargs="*", help="and its arguments, after '--'"
    )
    parser.add_argument(
        "--source",
        metavar="TEXT",
        help="instead of a program a script for your kind of shell, '-' for what stdin has; JSON "
        "that it writes to descriptor 3 is in what --json prints",
    )
    parser.add_argument(
        "--cwd", metavar="DIR", help="where it runs (default: where the pane's shell is)"
    )
    parser.add_argument(
        "--env",
        metavar="NAME=VALUE",
        type=variable,
        action="append",
        help="a variable beside HOME, USER, PATH and LANG; may be given again",
    )
    parser.add_argument(
        "--timeout",
        metavar="S",
        type=task_seconds,
        default=60.0,
        help="it is ended after S seconds, at most 600 (default: 60)",
    )
    _detach(parser)
    pane(parser)


def result(parser: argparse.ArgumentParser) -> None:
    """Of ``result``."""
    _operation(parser)
    parser.add_argument(
        "--timeout",
        metavar="S",
        type=patience,
        help="wait for S seconds at most, 0 to ask only (default: for as long as it takes)",
    )


def cancel(parser: argparse.ArgumentParser) -> None:
    """Of ``cancel``."""
    _operation(parser)


def _operation(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "operation", metavar="OPERATION", type=operation, help="as --detach printed it"
    )


def _detach(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--detach",
        action="store_true",
        help="print the operation's number and do not wait: see termnode result and cancel",
    )
