"""``termnode resize``, ``rename``, ``layout``, ``zoom``, ``swap``, ``break`` and ``join``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

from termnode.cli.exits import OK, REFUSED, USAGE, CommandError
from termnode.cli.keyboard import with_pane
from termnode.cli.output import clean
from termnode.cli.remote import ask, change

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

Body = dict[str, object]


def run(arguments: argparse.Namespace) -> int:
    """Send the verb that the command stands for, and say what it came to."""
    verb, body, words = _REQUESTS[arguments.command](arguments)
    answer = change(arguments, verb, body)
    if not arguments.json:
        print(clean(words.format(**answer)))  # a title may be a program's own
    if arguments.command == "resize":
        _note_shortfall(arguments, body, answer)
    return OK


def _note_shortfall(arguments: argparse.Namespace, body: Body, answer: Body) -> None:
    """Say that a pane could not have the size that was asked for."""
    short = [side for side in ("cols", "rows") if side in body and body[side] != answer[side]]
    if short:
        remedy = "" if arguments.all else "; --all resizes the whole terminal"
        print(
            f"termnode: its neighbours leave no other {', '.join(short)}{remedy}", file=sys.stderr
        )


_Request = tuple[str, Body, str]


def _resize(arguments: argparse.Namespace) -> _Request:
    wished = {side: getattr(arguments, side) for side in ("cols", "rows")}
    given = {side: value for side, value in wished.items() if value is not None}
    if not given:
        raise CommandError("resize takes --cols, --rows or both", USAGE)
    sizes: Body
    if not arguments.all:
        sizes = _sizes(given, lambda: _pane_size(arguments))
        return "term.pane.resize", with_pane(arguments, sizes), "pane {id} {cols}x{rows}"
    now = ask(arguments, "term.session", {})
    sizes = {side: now[side] for side in wished} | _sizes(given, lambda: now)
    return "term.resize", sizes, "every tab {cols}x{rows}"


def _sizes(given: dict[str, tuple[str, int]], now: Callable[[], Body]) -> Body:
    """Absolute sizes; the present ones are asked for only when a change by some cells is wanted."""
    known = now() if any(sign for sign, _ in given.values()) else {}
    return {side: _length(sign, number, known.get(side)) for side, (sign, number) in given.items()}


def _length(sign: str, number: int, now: Any) -> int:  # noqa: ANN401  # a field of a reply
    return {"": number, "+": int(now or 0) + number, "-": int(now or 0) - number}[sign]


def _pane_size(arguments: argparse.Namespace) -> Body:
    """What the pane has without zoom, which a new size ends."""
    pane = _pane(arguments)
    if pane.get("zoomed"):
        ask(arguments, "term.pane.zoom", {"pane": pane["id"], "on": False})
        pane = _pane(arguments)
    return pane


def _pane(arguments: argparse.Namespace) -> Body:
    panes: Any = ask(arguments, "term.panes", {})["panes"]
    wanted = with_pane(arguments, {}).get("pane")
    for pane in panes:
        if pane["id"] == wanted or (wanted is None and pane["active"]):
            return dict(pane)
    raise CommandError("there is no such pane: 'termnode panes' lists those there are", REFUSED)


def _rename(arguments: argparse.Namespace) -> _Request:
    if arguments.tab is not None:
        body: Body = {"id": arguments.tab, "title": arguments.title}
        return "term.tab.rename", body, "tab {id} {title}"
    return (
        "term.pane.rename",
        with_pane(arguments, {"title": arguments.title}),
        "pane {id} {title}",
    )


def _layout(arguments: argparse.Namespace) -> _Request:
    tab = {} if arguments.tab is None else {"id": arguments.tab}
    return "term.tab.layout", {"layout": arguments.layout, **tab}, "tab {id}"


def _zoom(arguments: argparse.Namespace) -> _Request:
    body = with_pane(arguments, {"on": not arguments.off})
    return "term.pane.zoom", body, "tab {tab} pane {id}"


def _swap(arguments: argparse.Namespace) -> _Request:
    body: Body = {"pane": arguments.pane, "with": arguments.other}
    return "term.pane.swap", body, "tab {tab} pane {id}"


def _break(arguments: argparse.Namespace) -> _Request:
    return "term.pane.break", with_pane(arguments, {}), "tab {tab} pane {id}"


def _join(arguments: argparse.Namespace) -> _Request:
    body: Body = {
        "pane": arguments.pane,
        "beside": arguments.beside,
        "dir": "v" if arguments.below else "h",
    }
    return "term.pane.join", body, "tab {tab} pane {id}"


_REQUESTS: Final[dict[str, Callable[[argparse.Namespace], _Request]]] = {
    "resize": _resize,
    "rename": _rename,
    "layout": _layout,
    "zoom": _zoom,
    "swap": _swap,
    "break": _break,
    "join": _join,
}
