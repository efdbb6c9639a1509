"""Of the commands that look and wait."""

from __future__ import annotations

import argparse
from typing import Final

from termnode.cli.options.common import pane, revision
from termnode.cli.options.words import EVENT_KINDS, FORMATS
from termnode.cli.values import pane_id, seconds, whole_number

ALL_LINES: Final = -1
"""`--scrollback` without a number."""


def panes(parser: argparse.ArgumentParser) -> None:
    """Of ``panes``."""
    parser.add_argument(
        "--native",
        action="store_true",
        help="what binds a request to each: instance, incarnation, id, generation",
    )


def wait(parser: argparse.ArgumentParser) -> None:
    """Of ``wait``."""
    parser.add_argument("--until", metavar="REGEX", help="a row matches (RE2)")
    parser.add_argument(
        "--quiet", metavar="S", type=seconds, help="the program has written nothing for S seconds"
    )
    parser.add_argument("--prompt", action="store_true", help="the shell waits for a command")
    parser.add_argument("--exit", action="store_true", help="the program has ended")
    parser.add_argument("--changed", action="store_true", help="anything on the screen changed")
    parser.add_argument(
        "--alternate",
        action="store_true",
        help="a full-screen program took the screen, or gave it back",
    )
    revision(parser, "--after", "what stood there already at this revision does not count")
    parser.add_argument(
        "--timeout", metavar="S", type=seconds, default=30.0, help="seconds to wait (default: 30)"
    )
    pane(parser)


def screen(parser: argparse.ArgumentParser) -> None:
    """Of ``screen``."""
    pane(parser)
    parser.add_argument(
        "--format",
        choices=FORMATS,
        default="text",
        help="text; styled: marks what stands out; ansi: with colours; html: a page "
        "(default: text)",
    )
    part = parser.add_mutually_exclusive_group()
    part.add_argument(
        "--since",
        metavar="REV",
        type=whole_number,
        help="only the lines that are newer than this revision; the new one goes to stderr",
    )
    part.add_argument(
        "--scrollback",
        metavar="LINES",
        nargs="?",
        type=whole_number,
        const=ALL_LINES,
        help="so many lines of history before the screen; all without a number",
    )
    part.add_argument("--offset", metavar="N", type=whole_number, help="begin N rows further up")
    part.add_argument("--line", metavar="N", type=whole_number, help="begin with this line")
    part.add_argument(
        "--command",
        dest="last_command",
        action="store_true",
        help="what the last command wrote (in a shell that marks its prompts)",
    )
    part.add_argument(
        "--revision", action="store_true", help="print the revision alone: an anchor to wait after"
    )
    parser.add_argument("--lines", metavar="N", type=whole_number, help="at most N rows")


def watch(parser: argparse.ArgumentParser) -> None:
    """Of ``watch``."""
    pane(parser)
    parser.add_argument(
        "--record",
        metavar="FILE",
        help="write everything into a new file (asciicast v3), until Ctrl-C or the program's end",
    )
    parser.add_argument(
        "--ticket-file",
        metavar="FILE",
        help="has the ticket that strict posture asks for (default: $TERMNODE_TICKET)",
    )


def play(parser: argparse.ArgumentParser) -> None:
    """Of ``play``."""
    parser.add_argument("file", metavar="FILE", help="a recording (asciicast v2 or v3)")
    parser.add_argument(
        "--speed", metavar="N", type=_speed, default=1.0, help="N times as fast (default: 1)"
    )
    parser.add_argument(
        "--idle-limit",
        metavar="S",
        type=seconds,
        help="pauses last S seconds at most (default: what the recording says)",
    )


def _speed(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.01 <= value <= 1000:
        raise argparse.ArgumentTypeError("a speed is a number from 0.01 to 1000")
    return value


def events(parser: argparse.ArgumentParser) -> None:
    """Of ``events``."""
    parser.add_argument("--follow", action="store_true", help="go on until Ctrl-C")
    parser.add_argument("--pane", metavar="N", type=pane_id, help="of this pane (default: of all)")
    parser.add_argument(
        "--kind",
        choices=EVENT_KINDS,
        action="append",
        help="of this kind; may be given again (default: all)",
    )
    parser.add_argument(
        "--after",
        metavar="SEQ",
        type=whole_number,
        help="begin after this event (default: with --follow now, else as far back as is known)",
    )
