"""The commands of ``termnode``: one table, from which the parser and completion are made."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from termnode.cli.values import log_limit, pane_id, seconds, service_name, size


@dataclass(frozen=True, slots=True)
class Command:
    """One command: its words in the help, its options, and the module that carries it out."""

    name: str
    summary: str
    detail: str
    module: str
    options: Callable[[argparse.ArgumentParser], None]


def _none(_parser: argparse.ArgumentParser) -> None:
    pass


def _up(parser: argparse.ArgumentParser) -> None:
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


def _call(parser: argparse.ArgumentParser) -> None:
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


def _pane(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--pane", metavar="N", type=pane_id, help="the pane (default: the active one)"
    )


def _type(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("text", metavar="TEXT", help="what to type, '-' for what stdin has")
    parser.add_argument("--enter", action="store_true", help="press Enter after the text")
    parser.add_argument(
        "--request-id", metavar="ID", help="makes a resend safe: the same id never types twice"
    )
    _pane(parser)


def _wait(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--until", metavar="REGEX", required=True, help="a row of the screen must match (RE2)"
    )
    parser.add_argument(
        "--timeout", metavar="S", type=seconds, default=30.0, help="seconds to wait (default: 30)"
    )
    _pane(parser)


def _posture(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "posture", nargs="?", choices=("open", "strict"), help="without it: show the present one"
    )


def _log(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--limit",
        metavar="N",
        type=log_limit,
        default=100,
        help="newest entries, 1-1000 (default: 100)",
    )


def _completion(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=("bash", "zsh", "fish"), help="whose script to print")


COMMANDS: Final = (
    Command(
        "up",
        "start a shared terminal with your shell",
        "Starts the broker when none answers, then the terminal service, opens a tab with your "
        "shell, and prints one JSON line when ready. Stays in the foreground (Ctrl-C ends it) "
        "unless --detach is given.",
        "up",
        _up,
    ),
    Command(
        "down",
        "end the terminal service and its programs",
        "Hangs up the programs of this service and ends it; its broker ends too when no other "
        "service uses it. Other services are left alone.",
        "down",
        _none,
    ),
    Command(
        "call",
        "send one verb and print the reply as JSON",
        'Prints {"rc": ..., "body": ...} on one line. Put a "request_id" into the body of a '
        "mutation and resend the same body after a lost reply: it runs at most once.",
        "call",
        _call,
    ),
    Command("tabs", "list the tabs", "Lists the tabs of the service.", "look", _none),
    Command(
        "panes",
        "list the panes: program, directory, size, idle time, exit",
        "Lists every pane of every tab.",
        "look",
        _none,
    ),
    Command(
        "screen", "show what a pane shows", "Prints the rows of a pane's screen.", "look", _pane
    ),
    Command(
        "type",
        "type text into a pane",
        "Types printable ASCII, Tab, Backspace, Ctrl-C and Ctrl-D, about 8,000 characters at a "
        "time; a newline presses Enter. Ends with 0 when every byte was written to the terminal, "
        "which is not yet 'the program did it'. For text that begins with a hyphen: "
        "termnode type -- '-x'.",
        "keyboard",
        _type,
    ),
    Command(
        "wait",
        "wait until a row of the screen matches",
        "Ends with 0 when a row matched, with 1 when the time ran out or the program went away. "
        "The pattern is an RE2 regular expression, searched for in each row.",
        "keyboard",
        _wait,
    ),
    Command(
        "posture",
        "show or set who may use the terminal: open or strict",
        "open: every caller on this bus may use the targetless verbs. strict: they answer INFO and "
        "HELP only. Takes effect at the next request; no pane is lost.",
        "posture",
        _posture,
    ),
    Command(
        "log",
        "who did what: principal, verb, pane, outcome, time",
        "Shows the newest requests; never what was typed or shown.",
        "look",
        _log,
    ),
    Command(
        "doctor",
        "check this machine and say what to do about problems",
        "Checks Python, ZeroMQ, pseudo-terminals, the runtime directory, the emulators and their "
        "speed, and the shells.",
        "doctor",
        _none,
    ),
    Command(
        "completion",
        "print a completion script for your shell",
        'bash: eval "$(termnode completion bash)"   zsh: eval "$(termnode completion zsh)"   '
        "fish: termnode completion fish | source",
        "completion",
        _completion,
    ),
)
