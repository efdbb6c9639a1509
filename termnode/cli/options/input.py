"""Of the commands that press keys."""

from __future__ import annotations

import argparse

from termnode.cli.options.common import pane, request_id
from termnode.cli.options.words import ACTIONS, BUTTONS, MODIFIERS
from termnode.cli.values import whole_number


def type_(parser: argparse.ArgumentParser) -> None:
    """Of ``type``."""
    parser.add_argument("text", metavar="TEXT", help="what to type, '-' for what stdin has")
    parser.add_argument("--enter", action="store_true", help="press Enter after the text")
    parser.add_argument(
        "--confirm",
        action="store_true",
        help="watch for the text on the screen before Enter is pressed, and for an answer to it",
    )
    request_id(parser)
    pane(parser)


def keys(parser: argparse.ArgumentParser) -> None:
    """Of ``keys``."""
    parser.add_argument("keys", metavar="KEY", nargs="*", help="for example Enter, Up, C-c, M-x")
    parser.add_argument("--list", action="store_true", help="print the names of all keys")
    request_id(parser)
    pane(parser)


def paste(parser: argparse.ArgumentParser) -> None:
    """Of ``paste``."""
    parser.add_argument(
        "file", metavar="FILE", nargs="?", default="-", help="UTF-8 text; '-' or nothing: stdin"
    )
    parser.add_argument("--enter", action="store_true", help="press Enter after the text")
    request_id(parser)
    pane(parser)


def mouse(parser: argparse.ArgumentParser) -> None:
    """Of ``mouse``."""
    parser.add_argument("action", choices=ACTIONS, help="what to do")
    parser.add_argument("x", metavar="X", type=whole_number, help="column of the pane, from 0")
    parser.add_argument("y", metavar="Y", type=whole_number, help="row of the pane, from 0")
    parser.add_argument("--button", choices=BUTTONS, default="left", help="(default: left)")
    parser.add_argument(
        "--modifier",
        choices=MODIFIERS,
        action="append",
        default=[],
        help="held meanwhile; may be given again",
    )
    request_id(parser)
    pane(parser)
