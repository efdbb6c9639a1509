"""Copy mode, prompts and the mouse in a real view: what reaches the clipboard, panes and tabs."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.attached import Attached, agrees, attach
from tests.support.termnode_process import Service, eventually, service

PREFIX = "\x02"


@pytest.fixture
def term() -> Iterator[Service]:
    with service("--size", "80x23") as running:
        yield running


def lines(term: Service) -> int:
    """A pane that wrote 300 numbered lines, and waits."""
    script = 'i=0; while [ $i -lt 300 ]; do i=$((i+1)); echo "number $i"; done; exec cat'
    pane = term.good("term.tab.new", {"argv": ["sh", "-c", script]})["pane"]
    term.wait("number 300", pane)
    return int(pane)


def clipboard(view: Attached, text: str) -> bool:
    return base64.b64encode(text.encode()) in bytes(view.written)


def places(term: Service) -> dict[int, dict[str, Any]]:
    return {pane["id"]: pane for pane in term.good("term.panes")["panes"]}


def test_what_is_found_and_selected_by_keys_is_copied_and_pasted(term: Service) -> None:
    lines(term)
    with attach(term) as view:
        view.until("number 300")
        view.type(PREFIX + "[")
        view.type("?number 7$\r")
        view.until("number 7")
        assert not view.shows("number 300")
        view.type("0v")
        view.type("j$\r")
        eventually(lambda: clipboard(view, "number 7\nnumber 8"), "OSC 52")
        view.until("number 300")
        view.type(PREFIX + "]")
        view.type("\r")
        eventually(lambda: sum("number 8" in row for row in view.screen()) > 0, "pasted")
        agrees(term, view)


def test_the_wheel_scrolls_and_a_drag_copies(term: Service) -> None:
    lines(term)
    with attach(term) as view:
        view.until("number 300")
        view.type("\x1b[<64;5;5M" * 2)
        view.until("number 270")
        row = next(y for y, text in enumerate(view.screen()) if "number 275" in text)
        view.type(f"\x1b[<0;1;{row + 1}M\x1b[<32;4;{row + 1}M\x1b[<32;6;{row + 1}M")
        view.type(f"\x1b[<0;6;{row + 1}m")
        eventually(lambda: clipboard(view, "number"), "OSC 52")
        view.until("number 300")


def test_borders_tabs_and_prompts(term: Service) -> None:
    pane = lines(term)
    with attach(term) as view:
        view.until("number 300")
        view.type(PREFIX + "%")
        eventually(lambda: places(term)[pane]["cols"] == 39, "split")
        eventually(lambda: any("│" in text for text in view.screen()), "border")
        view.type("\x1b[<0;40;5M\x1b[<32;45;5M\x1b[<32;50;5M\x1b[<0;50;5m")
        eventually(lambda: places(term)[pane]["cols"] == 49, "dragged")
        view.type("\x1b[<0;3;3M\x1b[<0;3;3m")
        eventually(lambda: bool(places(term)[pane]["active"]), "selected")
        view.type(PREFIX + ",")
        view.until("(rename tab)")
        view.type("\x15letters\r")
        view.until("letters")
        view.type(PREFIX + "x")
        view.until("(y/N)")
        view.type("n")
        view.type(PREFIX + "x")
        view.until("(y/N)")
        view.type("y")
        eventually(lambda: pane not in places(term), "closed")
        view.type(PREFIX + "?")
        view.until("After C-b:")
        view.type("q")
