"""The options of each command, as argparse takes them."""

from __future__ import annotations

import argparse

from termnode.cli.values import (
    log_limit,
    pane_id,
    seconds,
    service_name,
    size,
    whole_seconds,
)


def none(_parser: argparse.ArgumentParser) -> None:
    """No option of its own."""


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


def pane(parser: argparse._ActionsContainer) -> None:
    """Which pane."""
    parser.add_argument(
        "--pane", metavar="N", type=pane_id, help="the pane (default: the active one)"
    )


def type_(parser: argparse.ArgumentParser) -> None:
    """Of ``type``."""
    parser.add_argument("text", metavar="TEXT", help="what to type, '-' for what stdin has")
    parser.add_argument("--enter", action="store_true", help="press Enter after the text")
    request_id(parser)
    pane(parser)


def request_id(parser: argparse.ArgumentParser) -> None:
    """An id that makes a resend safe."""
    parser.add_argument(
        "--request-id", metavar="ID", help="makes a resend safe: the same id never runs twice"
    )


def program(parser: argparse.ArgumentParser) -> None:
    """What to run in a new pane."""
    parser.add_argument(
        "program",
        metavar="PROGRAM",
        nargs="*",
        help="and its arguments, after '--'; your shell if none",
    )
    parser.add_argument(
        "--cwd", metavar="DIR", help="where it starts (default: as the active pane)"
    )
    parser.add_argument("--title", metavar="TEXT", help="a name for the pane")
    parser.add_argument(
        "--remain",
        metavar="S",
        type=whole_seconds,
        help="how long it stays readable after its program ended (default: 600)",
    )
    request_id(parser)


def split(parser: argparse.ArgumentParser) -> None:
    """Of ``split``."""
    parser.add_argument("--below", action="store_true", help="put it below (default: to the right)")
    pane(parser)
    program(parser)


def tab_or_pane(parser: argparse.ArgumentParser) -> None:
    """Which tab or which pane."""
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--tab", metavar="N", type=pane_id, help="the tab")
    pane(which)
    request_id(parser)


def restart(parser: argparse.ArgumentParser) -> None:
    """Of ``restart``."""
    pane(parser)
    request_id(parser)


def wait(parser: argparse.ArgumentParser) -> None:
    """Of ``wait``."""
    parser.add_argument(
        "--until", metavar="REGEX", required=True, help="a row of the screen must match (RE2)"
    )
    parser.add_argument(
        "--timeout", metavar="S", type=seconds, default=30.0, help="seconds to wait (default: 30)"
    )
    pane(parser)


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
