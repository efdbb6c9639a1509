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
    "termnode new --title x -- ls -l; what exec runs is one word, in quotes: termnode exec 'ls -l'",
}


def _common(*, elsewhere: bool) -> _Parser:
    """Options that every command takes, and with ``elsewhere`` those for other brokers."""
    common = _Parser(add_help=False)
    common.add_argument(
        "--name",
        metavar="NAME",
        type=service_name,
        default=os.environ.get("TERMNODE_NAME") or DEFAULT_NAME,
        help="the service (default: $TERMNODE_NAME or 'term')",
    )
    common.add_argument("--json", action="store_true", help="print JSON")
    where = common.add_mutually_exclusive_group()
    where.add_argument(
        "--runtime-dir",
        metavar="DIR",
        help="where the sockets are (default: $COSMIX_RUNTIME_DIR, $XDG_RUNTIME_DIR/cosmix, "
        "or a private one under the temporary directory)",
    )
    if elsewhere:
        _elsewhere(common, where)
    return common


def _elsewhere(common: _Parser, where: argparse._MutuallyExclusiveGroup) -> None:
    """Options of the commands that can talk to another user's service, or another machine's."""
    where.add_argument(
        "--shared",
        metavar="DIR",
        help="the broker that another user shares in DIR (default: $COSMIX_SHARED_DIR)",
    )
    where.add_argument(
        "--node",
        metavar="ENDPOINT",
        help="the broker of another machine, as tcp://HOST:PORT (default: $COSMIX_NODE)",
    )
    common.add_argument(
        "--account",
        metavar="USER",
        help="with --shared: whose broker that is, when it is neither yours nor root's "
        "(default: $COSMIX_BROKER_ACCOUNT)",
    )
    common.add_argument(
        "--server-key",
        metavar="KEY",
        help="with --node: that broker's public key, or a file with it "
        "(default: $COSMIX_NODE_SERVER_KEY)",
    )
    common.add_argument(
        "--key",
        metavar="FILE",
        help="with --node: your secret key, made by 'brokerd keys new' (default: $COSMIX_NODE_KEY)",
    )


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
    common = {elsewhere: _common(elsewhere=elsewhere) for elsewhere in (False, True)}
    for command in COMMANDS:
        sub = commands.add_parser(
            command.name,
            help=command.summary,
            description=command.detail,
            epilog=command.exits,
            parents=[common[command.elsewhere]],
            allow_abbrev=False,
        )
        command.options(sub)
    return parser
