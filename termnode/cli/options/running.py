"""Of the commands about the service itself."""

from __future__ import annotations

import argparse

from termnode.cli.values import log_limit, pane_id, seconds, service_name, size


def up(parser: argparse.ArgumentParser) -> None:
    """Of ``up``."""
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--detach", action="store_true", help="go to the background when ready")
    how.add_argument(
        "--foreground",
        action="store_true",
        help="on a terminal too: be the service until Ctrl-C, and do not attach",
    )
    parser.add_argument(
        "--shell", metavar="PROGRAM", help="the shell of new panes (default: yours)"
    )
    parser.add_argument(
        "--no-integration",
        action="store_true",
        help="start bash, zsh and fish as they are: no command can be run at their prompt for you "
        "(default: $TERMNODE_INTEGRATION is 0)",
    )
    parser.add_argument(
        "--size",
        metavar="COLSxROWS",
        type=size,
        help="of a tab: from 2x1 to 1000x500 (default: what this terminal has room for, or 80x24)",
    )
    parser.add_argument("--ready-fd", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--while-fd", type=int, help=argparse.SUPPRESS)


def attach(parser: argparse.ArgumentParser) -> None:
    """Of ``attach``."""
    parser.add_argument("--read-only", action="store_true", help="look on: nothing typed is sent")
    parser.add_argument("--tab", metavar="N", type=pane_id, help="the tab to show first")
    parser.add_argument(
        "--start", action="store_true", help="start the service when there is none, unasked"
    )
    parser.add_argument(
        "--force", action="store_true", help="even inside a pane of the same service"
    )
    parser.add_argument(
        "--ticket-file",
        metavar="FILE",
        help="has the ticket that strict posture asks for (default: $TERMNODE_TICKET)",
    )


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
    parser.add_argument(
        "--native",
        action="store_true",
        help="bound to one pane, through the gate (verbs that are only there go there anyway)",
    )
    parser.add_argument(
        "--pane",
        metavar="N",
        type=pane_id,
        help="with --native: the pane (default: the one this runs in)",
    )
    parser.add_argument(
        "--verbose",
        action="store_true",
        help="with --native: show on stderr what was filled in and sent",
    )


def sessions(parser: argparse.ArgumentParser) -> None:
    """Of ``sessions``."""
    parser.add_argument("--watch", action="store_true", help="go on until Ctrl-C")


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


def mcp(parser: argparse.ArgumentParser) -> None:
    """Of ``mcp``."""
    parser.add_argument(
        "--http",
        metavar="HOST:PORT",
        help="serve streamable HTTP at this loopback address instead (port 0: any that is free)",
    )
    parser.add_argument(
        "--allow",
        metavar="WORD",
        action="append",
        default=[],
        help="what the model may do with the panes that you share, besides looking: input, "
        "execute, layout; may be given again",
    )
    parser.add_argument(
        "--experimental-terminal",
        action="store_true",
        help="let the model open terminals of its own; nothing that it types there is checked",
    )
    parser.add_argument(
        "--yolo", action="store_true", help="open the model's terminals without asking a person"
    )
    parser.add_argument(
        "--text-only",
        action="store_true",
        help="no structured content: for clients that would show that instead of the screen "
        "(known ones are seen to)",
    )
    parser.add_argument(
        "--call-log",
        metavar="FILE",
        help="note each terminal call there: time, tool, sizes, outcome; never what was typed",
    )
