"""``termnode tabs``, ``panes`` and ``log``: reading what is there."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final

from termnode.cli.exits import OK
from termnode.cli.output import GREEN, RED, YELLOW, clean, paint, span, table
from termnode.cli.remote import ask, print_json

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

Item = dict[str, Any]

_WITHOUT: Final = frozenset({"lost", "unbound"})
"""States of a binding whose reasons are worth the room."""


def run(arguments: argparse.Namespace) -> int:
    """Ask for what the command shows, and print it as a table, as text or as JSON."""
    if vars(arguments).get("native"):
        from termnode.cli import native_panes

        return native_panes.run(arguments)
    verb, make_body, show = _VIEWS[arguments.command]
    answer = ask(arguments, verb, make_body(arguments))
    if arguments.json:
        print_json(answer)
    else:
        print(show(answer))
    return OK


def _no_body(_arguments: argparse.Namespace) -> dict[str, object]:
    return {}


def _limit(arguments: argparse.Namespace) -> dict[str, object]:
    return {"limit": arguments.limit}


def _tabs(answer: Item) -> str:
    rows = [
        [
            str(tab["id"]),
            _mark(tab["active"]),
            " ".join(map(str, tab["panes"])),
            f"{tab['cols']}x{tab['rows']}",
            tab["title"],
        ]
        for tab in answer["tabs"]
    ]
    return table(("TAB", "ACTIVE", "PANES", "SIZE", "TITLE"), rows) if rows else "no tab is open"


_PANES: Final = (
    "PANE", "TAB", "ACTIVE", "SIZE", "PROGRAM", "SHELL", "IDLE", "SESSION", "DIRECTORY", "TITLE",
)  # fmt: skip


def _panes(answer: Item) -> str:
    rows = [
        [
            str(pane["id"]),
            str(pane["tab"]),
            _mark(pane["active"]),
            f"{pane['cols']}x{pane['rows']}",
            state_words(pane),
            pane.get("phase") or "-",
            span(pane.get("idle_ms")),
            binding_words(pane),
            pane.get("cwd") or "-",
            pane.get("title") or "-",
        ]
        for pane in answer["panes"]
    ]
    return table(_PANES, rows) if rows else "no pane is open"


def _mark(active: bool) -> str:
    return "*" if active else ""


def state_words(pane: Item) -> str:
    """What runs in a pane, or how it ended."""
    return ended_words(pane) if pane.get("exit") else str(pane.get("command") or "-")


def binding_words(pane: Item) -> str:
    """Whether the pane's shell has its verified session; empty from a service that tells none."""
    binding = pane.get("binding") or {}
    state, reason = str(binding.get("state") or ""), binding.get("reason")
    if not state or state == "over":
        return ""
    if binding.get("ready"):
        return "ready"
    # Attached, and not yet seen to be so by the service: it goes on.
    word = "enrolling" if state == "attached" else state
    return f"{word}: {reason}" if reason and state in _WITHOUT else word


def ended_words(pane: Item) -> str:
    """How a program ended, and after how long where that is known."""
    ended, ran = pane.get("exit") or {}, pane.get("duration_ms")
    how = f"by signal {ended['signal']}" if "signal" in ended else f"with {ended.get('code', '?')}"
    return f"ended {how}" if ran is None else f"ended {how} after {span(ran)}"


def _log(answer: Item) -> str:
    rows = [
        [
            time.strftime("%H:%M:%S", time.localtime(entry["time"] / 1000)),
            entry["principal"],
            entry["verb"],
            str(entry["pane"]) if entry.get("pane") is not None else "-",
            entry["outcome"],
            f"{entry['duration_ms']} ms",
        ]
        for entry in answer["entries"]
    ]
    head = ("TIME", "WHO", "VERB", "PANE", "OUTCOME", "TOOK")
    return _painted(table(head, rows), rows) if rows else "nothing has been asked yet"


def _painted(text: str, rows: list[list[str]]) -> str:
    """The outcome of each row in the colour that says good, refused or odd."""
    lines = text.split("\n")
    for number, row in enumerate(rows, 1):
        outcome = clean(row[4])
        colour = GREEN if outcome == "ok" else RED if outcome == "FORBIDDEN" else YELLOW
        lines[number] = lines[number].replace(f" {outcome} ", f" {paint(outcome, colour)} ", 1)
    return "\n".join(lines)


_View = tuple[str, "Callable[[argparse.Namespace], dict[str, object]]", "Callable[[Item], str]"]

_VIEWS: dict[str, _View] = {
    "tabs": ("term.tabs", _no_body, _tabs),
    "panes": ("term.panes", _no_body, _panes),
    "log": ("term.log", _limit, _log),
}
