"""Of the commands that open, move and close tabs and panes."""

from __future__ import annotations

import argparse

from termnode.cli.options.common import pane, request_id
from termnode.cli.options.words import LAYOUTS
from termnode.cli.values import length, pane_id, variable, whole_seconds


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
        "--background", action="store_true", help="leave the active tab and pane as they are"
    )
    parser.add_argument(
        "--env",
        metavar="NAME=VALUE",
        type=variable,
        action="append",
        help="a variable for the program; may be given again",
    )
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


def restart(parser: argparse.ArgumentParser) -> None:
    """Of ``restart``."""
    pane(parser)
    request_id(parser)


def resize(parser: argparse.ArgumentParser) -> None:
    """Of ``resize``."""
    parser.add_argument("--cols", metavar="N", type=length, help="columns: N, +N more or -N fewer")
    parser.add_argument("--rows", metavar="N", type=length, help="rows: N, +N more or -N fewer")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--all", action="store_true", help="the terminal, that is every tab")
    pane(which)
    request_id(parser)


def rename(parser: argparse.ArgumentParser) -> None:
    """Of ``rename``."""
    parser.add_argument(
        "title", metavar="TITLE", help="the name; '' goes back to the program's own"
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--tab", metavar="N", type=pane_id, help="the tab")
    pane(which)
    request_id(parser)


def layout(parser: argparse.ArgumentParser) -> None:
    """Of ``layout``."""
    parser.add_argument("layout", choices=LAYOUTS, help="how to arrange the panes")
    parser.add_argument(
        "--tab", metavar="N", type=pane_id, help="the tab (default: the active one)"
    )
    request_id(parser)


def zoom(parser: argparse.ArgumentParser) -> None:
    """Of ``zoom``."""
    parser.add_argument("--off", action="store_true", help="lay the panes out again")
    pane(parser)
    request_id(parser)


def swap(parser: argparse.ArgumentParser) -> None:
    """Of ``swap``."""
    parser.add_argument("pane", metavar="PANE", type=pane_id, help="one pane")
    parser.add_argument("other", metavar="OTHER", type=pane_id, help="the other one")
    request_id(parser)


def break_(parser: argparse.ArgumentParser) -> None:
    """Of ``break``."""
    pane(parser)
    request_id(parser)


def join(parser: argparse.ArgumentParser) -> None:
    """Of ``join``."""
    parser.add_argument("pane", metavar="PANE", type=pane_id, help="the pane to move")
    parser.add_argument("beside", metavar="BESIDE", type=pane_id, help="where to")
    parser.add_argument("--below", action="store_true", help="put it below (default: to the right)")
    request_id(parser)
