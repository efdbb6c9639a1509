"""Of the commands about the service itself."""

from __future__ import annotations

import argparse

from termnode.cli.values import log_limit, seconds, service_name, size


def up(parser: argparse.ArgumentParser) -> None:
    """Of ``up``."""
    parser.add_argument("--detach", action="store_true", help="go to the background when ready")
    parser.add_argument(
        "--shell", metavar="PROGRAM", help="the shell of new panes (default: yours)"
    )
    parser.add_argument(
        "--size",
        metavar="COLSxROWS",
        type=size,
        default=(80, 24),
        help="of a tab: from 2x1 to 1000x500 (default: 80x24)",
    )
    parser.add_argument("--ready-fd", type=int, help=argparse.SUPPRESS)


def call(parser: argparse.ArgumentParser) -> None:
    """Of ``call``."""
    parser.add_argument("verb", metavar="VERB", help="for example term.panes; HELP lists them")
    parser.add_argument("body", metavar="JSON", nargs="?", help="the body; '-' reads it from stdin")
    parser.add_argument(
        "--to", metavar="NAME", type=service_name, help="the service to ask (default: as --name)"
    )
    parser.add_argument(
        "--timeout",
        metavar="S",
        type=seconds,
        default=60.0,
        help="seconds to wait for the reply (default: 60)",
    )


def posture(parser: argparse.ArgumentParser) -> None:
    """Of ``posture``."""
    parser.add_argument(
        "posture", nargs="?", choices=("open", "strict"), help="without it: show the present one"
    )


def log(parser: argparse.ArgumentParser) -> None:
    """Of ``log``."""
    parser.add_argument(
        "--limit",
        metavar="N",
        type=log_limit,
        default=100,
        help="newest entries, 1-1000 (default: 100)",
    )


def completion(parser: argparse.ArgumentParser) -> None:
    """Of ``completion``."""
    parser.add_argument("shell", choices=("bash", "zsh", "fish"), help="whose script to print")
