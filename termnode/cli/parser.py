"""The commands and options of ``termnode``, as an argparse parser built from one table."""

from __future__ import annotations

import argparse
import os
from typing import Final, NoReturn

from termnode.cli.commands import COMMANDS
from termnode.cli.exits import MEANING
from termnode.cli.values import service_name

DEFAULT_NAME: Final = "term"


class _Parser(argparse.ArgumentParser):
    """Says what to do about the two commonest mistakes: options before the command, or after the
    program that they are not meant for."""

    def error(self, message: str) -> NoReturn:
        """Print the usage, the message and a hint; exit with 2."""
        for sign, hint in _HINTS.items():
            if sign in message:
                message = f"{message}; {hint}"
        super().error(message)


_HINTS: Final = {
    "invalid choice": "options follow the command: termnode panes --name build",
    "unrecognized arguments": "options go before '--', and a program with its own after it: "
    "termnode new --title x -- ls -l",
}


def _common() -> _Parser:
    """Options that every command takes."""
    common = _Parser(add_help=False)
    common.add_argument(
        "--name",
        metavar="NAME",
        type=service_name,
        default=os.environ.get("TERMNODE_NAME") or DEFAULT_NAME,
        help="the service (default: $TERMNODE_NAME or 'term')",
    )
    common.add_argument(
        "--runtime-dir",
        metavar="DIR",
        help="where the sockets are (default: $COSMIX_RUNTIME_DIR, $XDG_RUNTIME_DIR/cosmix, "
        "or a private one under the temporary directory)",
    )
    common.add_argument("--json", action="store_true", help="print JSON")
    return common


def build(version: str) -> argparse.ArgumentParser:
    """The whole parser; ``command`` holds the chosen command's name."""
    parser = _Parser(
        prog="termnode",
        description="Terminals that people and agents share safely.",
        epilog=MEANING,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"termnode {version}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    common = _common()
    for command in COMMANDS:
        sub = commands.add_parser(
            command.name,
            help=command.summary,
            description=command.detail,
            epilog=MEANING,
            parents=[common],
            allow_abbrev=False,
        )
        command.options(sub)
    return parser
