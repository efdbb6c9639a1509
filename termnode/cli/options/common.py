"""Options that several commands take."""

from __future__ import annotations

import argparse

from termnode.cli.values import pane_id, whole_number


def none(_parser: argparse.ArgumentParser) -> None:
    """No option of its own."""


def pane(parser: argparse._ActionsContainer) -> None:
    """Which pane."""
    parser.add_argument(
        "--pane",
        metavar="N",
        type=pane_id,
        help="the pane (default: the one this runs in, else the active one)",
    )


def request_id(parser: argparse.ArgumentParser) -> None:
    """An id that makes a resend safe."""
    parser.add_argument(
        "--request-id", metavar="ID", help="makes a resend safe: the same id never runs twice"
    )


def tab_or_pane(parser: argparse.ArgumentParser) -> None:
    """Which tab or which pane."""
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--tab", metavar="N", type=pane_id, help="the tab")
    pane(which)
    request_id(parser)


def revision(parser: argparse.ArgumentParser, option: str, meaning: str) -> None:
    """A revision of a pane's screen."""
    parser.add_argument(option, metavar="REV", type=whole_number, help=meaning)
