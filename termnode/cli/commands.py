"""The commands of ``termnode``: one table, from which the parser and completion are made."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from termnode.cli import options


@dataclass(frozen=True, slots=True)
class Command:
    """One command: its words in the help, its options, and the module that carries it out."""

    name: str
    summary: str
    detail: str
    module: str
    options: Callable[[argparse.ArgumentParser], None]


COMMANDS: Final = (
    Command(
        "up",
        "start a shared terminal with your shell",
        "Starts the broker when none answers, then the terminal service, opens a tab with your "
        "shell, and prints one JSON line when ready. Stays in the foreground (Ctrl-C ends it) "
        "unless --detach is given.",
        "up",
        options.up,
    ),
    Command(
        "down",
        "end the terminal service and its programs",
        "Hangs up the programs of this service and ends it; its broker ends too when no other "
        "service uses it. Other services are left alone.",
        "down",
        options.none,
    ),
    Command(
        "call",
        "send one verb and print the reply as JSON",
        'Prints {"rc": ..., "body": ...} on one line. Put a "request_id" into the body of a '
        "mutation and resend the same body after a lost reply: it runs at most once.",
        "call",
        options.call,
    ),
    Command("tabs", "list the tabs", "Lists the tabs of the service.", "look", options.none),
    Command(
        "panes",
        "list the panes: program, directory, size, idle time, exit",
        "Lists every pane of every tab.",
        "look",
        options.none,
    ),
    Command(
        "screen",
        "show what a pane shows",
        "Prints the rows of a pane's screen.",
        "look",
        options.pane,
    ),
    Command(
        "new",
        "open a tab, with your shell or with a program",
        "Opens a tab and makes it the active one: termnode new --title logs -- tail -f log. Prints "
        "which tab and pane it is.",
        "layout",
        options.program,
    ),
    Command(
        "split",
        "split a pane, for your shell or a program",
        "Halves a pane's room for a new pane, to the right or below, and makes it the active one.",
        "layout",
        options.split,
    ),
    Command(
        "close",
        "close a pane or a tab and end its programs",
        "Closes the active pane, or the one that is named; --tab closes a tab with all its panes.",
        "layout",
        options.tab_or_pane,
    ),
    Command(
        "select",
        "make a tab or pane the active one",
        "Commands that name no pane go to the active pane of the active tab; --pane takes a pane "
        "of that tab.",
        "layout",
        options.tab_or_pane,
    ),
    Command(
        "restart",
        "start the program of a pane again after it ended",
        "The same program, arguments and directory, in the same pane.",
        "layout",
        options.restart,
    ),
    Command(
        "type",
        "type text into a pane",
        "Types printable ASCII, Tab, Backspace, Ctrl-C and Ctrl-D, about 8,000 characters at a "
        "time; a newline presses Enter. Ends with 0 when every byte was written to the terminal, "
        "which is not yet 'the program did it'. For text that begins with a hyphen: "
        "termnode type -- '-x'.",
        "keyboard",
        options.type_,
    ),
    Command(
        "wait",
        "wait until a row of the screen matches",
        "Ends with 0 when a row matched, with 1 when the time ran out or the program went away. "
        "The pattern is an RE2 regular expression, searched for in each row.",
        "keyboard",
        options.wait,
    ),
    Command(
        "posture",
        "show or set who may use the terminal: open or strict",
        "open: every caller on this bus may use the targetless verbs. strict: they answer INFO and "
        "HELP only. Takes effect at the next request; no pane is lost.",
        "posture",
        options.posture,
    ),
    Command(
        "log",
        "who did what: principal, verb, pane, outcome, time",
        "Shows the newest requests; never what was typed or shown.",
        "look",
        options.log,
    ),
    Command(
        "doctor",
        "check this machine and say what to do about problems",
        "Checks Python, ZeroMQ, pseudo-terminals, the runtime directory, the emulators and their "
        "speed, and the shells.",
        "doctor",
        options.none,
    ),
    Command(
        "completion",
        "print a completion script for your shell",
        'bash: eval "$(termnode completion bash)"   zsh: eval "$(termnode completion zsh)"   '
        "fish: termnode completion fish | source",
        "completion",
        options.completion,
    ),
)
