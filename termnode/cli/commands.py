"""The commands of ``termnode``: one table, from which the parser and completion are made."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from termnode.cli.exits import MEANING, OF_COMMANDS
from termnode.cli.options import common, executing, layout, look, running
from termnode.cli.options import input as of_input


@dataclass(frozen=True, slots=True)
class Command:
    """One command: its words in the help, its options, and the module that carries it out."""

    name: str
    summary: str
    detail: str
    module: str
    options: Callable[[argparse.ArgumentParser], None]
    elsewhere: bool = True
    """Whether it can be about a service of another user or machine."""
    exits: str = MEANING
    """What its exit codes mean."""


COMMANDS: Final = (
    Command(
        "up",
        "start a shared terminal with your shell",
        "Starts the broker when none answers, then the terminal service, and opens a tab with your "
        "shell. On a terminal it then attaches (see attach --help), and the service goes on in the "
        "background. With --detach, or without a terminal, it prints one JSON line when ready; "
        "without --detach it then stays in the foreground until Ctrl-C.",
        "up",
        running.up,
        elsewhere=False,
    ),
    Command(
        "attach",
        "see and use the terminals in yours; C-b d leaves, C-b ? helps",
        "Shows the active tab with all its panes in this terminal, which is left as it was found. "
        "Ends with 0 when you detached, 1 when it was refused, 2 without a terminal, 3 when there "
        "is no service or it ended. Keys, colours and the prefix are set in config.toml.",
        "attach",
        running.attach,
        elsewhere=False,
    ),
    Command(
        "down",
        "end the terminal service and its programs",
        "Hangs up the programs of this service and ends it; its broker ends too when no other "
        "service uses it. Other services are left alone.",
        "down",
        common.none,
        elsewhere=False,
    ),
    Command(
        "call",
        "send one verb and print the reply as JSON",
        'Prints {"rc": ..., "body": ...} on one line. Put a "request_id" into the body of a '
        "mutation and resend the same body after a lost reply: it runs at most once. With --native "
        "the request is bound to --pane N as it is now: target, generations, the other panes that "
        "it may touch and the request id are filled in where the body does not have them.",
        "call",
        running.call,
    ),
    Command("tabs", "list the tabs", "Lists the tabs of the service.", "look", common.none),
    Command(
        "panes",
        "list the panes: program, directory, size, idle time, exit",
        "Lists every pane of every tab. With --native those that can be controlled through their "
        "verified sessions, with what binds a request to them.",
        "look",
        look.panes,
    ),
    Command(
        "screen",
        "show what a pane shows, or has shown",
        "Prints the rows of a pane's screen: termnode screen --format styled. With --scrollback "
        "lines of its history come first; with --since only what is newer. What is shown is output "
        "of programs.",
        "screen",
        look.screen,
    ),
    Command(
        "new",
        "open a tab, with your shell or with a program",
        "Opens a tab and makes it the active one: termnode new --title logs -- tail -f log. Prints "
        "which tab and pane it is.",
        "layout",
        layout.program,
    ),
    Command(
        "split",
        "split a pane, for your shell or a program",
        "Halves a pane's room for a new pane, to the right or below, and makes it the active one.",
        "layout",
        layout.split,
    ),
    Command(
        "close",
        "close a pane or a tab and end its programs",
        "Closes the active pane, or the one that is named; --tab closes a tab with all its panes.",
        "layout",
        common.tab_or_pane,
    ),
    Command(
        "select",
        "make a tab or pane the active one",
        "Commands that name no pane go to the active pane of the active tab; --pane takes a pane "
        "of that tab.",
        "layout",
        common.tab_or_pane,
    ),
    Command(
        "restart",
        "start the program of a pane again after it ended",
        "The same program, arguments and directory, in the same pane.",
        "layout",
        layout.restart,
    ),
    Command(
        "type",
        "type text into a pane",
        "Types printable ASCII, Tab, Backspace, Ctrl-C and Ctrl-D, about 8,000 characters at a "
        "time; a newline presses Enter. Ends with 0 when every byte was written to the terminal, "
        "which is not yet 'the program did it'; with --confirm when the text was seen on the "
        "screen and, with --enter, the screen answered to Enter, else with 1. For text that begins "
        "with a hyphen: termnode type --enter -- '-x'. Other characters: termnode paste.",
        "keyboard",
        of_input.type_,
    ),
    Command(
        "keys",
        "press keys by name in a pane",
        "Presses keys as tmux names them: termnode keys Escape :wq Enter is wrong, since :wq is no "
        "key; termnode keys Escape : w q Enter is right. An unknown name presses nothing.",
        "keyboard",
        of_input.keys,
    ),
    Command(
        "paste",
        "paste a text of any length into a pane",
        "Pastes a file or what stdin has, in brackets when the program asked for them: "
        "git diff | termnode paste. Control characters but Tab and newlines are left out.",
        "pasting",
        of_input.paste,
    ),
    Command(
        "mouse",
        "use the mouse in a pane",
        "For programs that asked to be told of the mouse: termnode mouse click 10 4. Columns and "
        "rows count from 0.",
        "keyboard",
        of_input.mouse,
    ),
    Command(
        "wait",
        "wait until a row matches, or until quiet, prompt, exit or a change",
        "Ends with 0 when one of the conditions held, with 1 when the time ran out or the program "
        "went away: termnode wait --until 'passed|failed' --timeout 300. With --after REV only "
        "what is newer counts; termnode screen --revision and type --json give a REV. A line that "
        "was typed counts too: begin a pattern with ^ to leave its echo out.",
        "waiting",
        look.wait,
    ),
    Command(
        "exec",
        "run a command in the shell of a pane, and print what it wrote",
        "Runs a command in the very shell that a person uses there (bash, zsh or fish), in their "
        "sight and only at a free prompt; what it changes there stays (cd, variables). Prints its "
        "output line by line and ends with its exit code: termnode exec 'make test' --pane 2. "
        "While somebody types there or something runs, nothing is run and it says so. Of "
        "output that comes faster than it is told the middle is left out, and stderr says how "
        "much. Ctrl-C interrupts the command; a second one leaves it running.",
        "exec",
        executing.exec_,
        elsewhere=False,
        exits=OF_COMMANDS,
    ),
    Command(
        "task",
        "run a program beside the shell of a pane, out of sight",
        "Runs a program, or a script with --source, without a terminal: termnode task -- make "
        "test. Prints its stdout and stderr once it has ended, at most 64 KiB of each, and ends "
        "with its exit code. Ctrl-C ends it. All that it started ends with it. Four run beside a "
        "pane at a time.",
        "exec",
        executing.task,
        elsewhere=False,
        exits=OF_COMMANDS,
    ),
    Command(
        "result",
        "wait for what exec or task started, and print its result",
        "For operations that were started with --detach, or left running: as exec and task do. "
        "Of long output the first and the last 32 KiB. Kept for 15 minutes after the end.",
        "result",
        executing.result,
        elsewhere=False,
        exits=OF_COMMANDS,
    ),
    Command(
        "cancel",
        "interrupt what exec or task started",
        "A command of exec is interrupted once, as by Ctrl-C; a task is ended, if need be by "
        "force after two seconds. Says what was done; termnode result says what came of it.",
        "result",
        executing.cancel,
        elsewhere=False,
    ),
    Command(
        "resize",
        "give a pane more or less room, or set the size of the terminal",
        "termnode resize --cols 100, --rows +5, or --all --cols 160 --rows 50 for every tab. "
        "Prints the size it came to.",
        "arranging",
        layout.resize,
    ),
    Command(
        "rename",
        "name a pane or a tab",
        "termnode rename build, termnode rename --tab 2 logs. An empty name goes back to the title "
        "that the program sets.",
        "arranging",
        layout.rename,
    ),
    Command(
        "layout",
        "arrange the panes of a tab",
        "By one of five rules: termnode layout tiled. The main pane is the active one.",
        "arranging",
        layout.layout,
    ),
    Command(
        "zoom",
        "let a pane fill its tab",
        "The other panes stay as they are behind it; termnode zoom --off lays them out again.",
        "arranging",
        layout.zoom,
    ),
    Command(
        "swap",
        "let two panes change places",
        "termnode swap 3 1. Programs go on; ids stay with them.",
        "arranging",
        layout.swap,
    ),
    Command(
        "break",
        "move a pane into a tab of its own",
        "Its program goes on; the new tab becomes the active one.",
        "arranging",
        layout.break_,
    ),
    Command(
        "join",
        "move a pane beside another one",
        "Of any tab: termnode join 3 1 --below. Its program goes on.",
        "arranging",
        layout.join,
    ),
    Command(
        "events",
        "what happened, or happens: prompts, exits, titles, bells, input",
        "Prints one line for each event: termnode events --follow --kind exit. With --json one "
        "object a line. What was missed is said.",
        "following",
        look.events,
    ),
    Command(
        "watch",
        "follow a pane's output as plain lines, or record it",
        "Prints each line once it is complete, without sequences; what full-screen programs draw "
        "is left out. With --record it goes into a file that termnode play and other players of "
        "asciicast v3 take: termnode watch --pane 2 --record build.cast. Ends when the program "
        "does.",
        "watch",
        look.watch,
        elsewhere=False,
    ),
    Command(
        "play",
        "play a recording in this terminal",
        "Plays a recording of termnode watch or asciinema: Space halts it and lets it go on, q "
        "ends it. Only what it shows is drawn; no sequence of it reaches your terminal.",
        "play",
        look.play,
        elsewhere=False,
    ),
    Command(
        "mcp",
        "serve models: your panes, and experimental terminals of their own",
        "Speaks the Model Context Protocol on standard input and output, or by HTTP on a loopback "
        "address. Without --allow a model can only look at your panes. Ends with its client; ends "
        "with 69 when the extra is missing: pip install 'termnode[mcp]'.",
        "mcp",
        running.mcp,
        elsewhere=False,
    ),
    Command(
        "sessions",
        "the verified sessions of your user: terminals and the shells of their panes",
        "Lists what the broker has let your programs prove: name, role, state, what each may do, "
        "and for how long if it is not renewed. With --watch it goes on until Ctrl-C: a table on a "
        "terminal, else a line (with --json an object) for each change. termnode panes says of "
        "each pane whether its shell has a session.",
        "sessions",
        running.sessions,
    ),
    Command(
        "posture",
        "show or set who may use the terminal: open or strict",
        "open: every caller on this bus may use the targetless verbs. strict: they answer INFO and "
        "HELP only. Takes effect at the next request; no pane is lost.",
        "posture",
        running.posture,
        elsewhere=False,
    ),
    Command(
        "log",
        "who did what: principal, verb, pane, outcome, time",
        "Shows the newest requests; never what was typed or shown.",
        "look",
        running.log,
    ),
    Command(
        "doctor",
        "check this machine and say what to do about problems",
        "Checks Python, ZeroMQ, cryptography, pseudo-terminals, the runtime directory, the "
        "emulators and their speed, the shells and whether commands can be run at their prompts "
        "(each is started once), and the verified sessions of a running service.",
        "doctor",
        common.none,
        elsewhere=False,
    ),
    Command(
        "completion",
        "print a completion script for your shell",
        'bash: eval "$(termnode completion bash)"   zsh: eval "$(termnode completion zsh)"   '
        "fish: termnode completion fish | source",
        "completion",
        running.completion,
        elsewhere=False,
    ),
)
