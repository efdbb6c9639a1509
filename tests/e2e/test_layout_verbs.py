"""Panes that are resized, zoomed and moved: their programs go on and are told their true sizes."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.programs import need
from tests.support.termnode_process import Service, alive, eventually
from tests.support.termnode_process import plain_service as service

WATCHER = """
import fcntl, os, signal, struct, termios
def show(*_):
    rows, cols = struct.unpack("HHHH", fcntl.ioctl(0, termios.TIOCGWINSZ, b"\\0" * 8))[:2]
    os.write(1, b"\\r\\nsize %d %d" % (rows, cols))
signal.signal(signal.SIGWINCH, show)
show()
while True:
    signal.pause()
"""
"""Shows its size (rows, columns) at its start and at every SIGWINCH."""

Pane = dict[str, Any]


@pytest.fixture(scope="module")
def term() -> Iterator[Service]:
    with service("--size", "80x24") as running:
        yield running


@pytest.fixture(autouse=True)
def sized(term: Service) -> Iterator[None]:
    """Every test begins and ends with one tab, of 80 by 24."""
    yield
    term.good("term.resize", {"cols": 80, "rows": 24})
    for tab in term.good("term.tabs")["tabs"][1:]:
        term.good("term.tab.close", {"id": tab["id"]})


def watching(term: Service) -> Pane:
    """A tab with a program that shows its size."""
    return told(term, term.good("term.tab.new", {"argv": [sys.executable, "-c", WATCHER]}), 24, 80)


def beside(term: Service, pane: int, direction: str, rows: int, cols: int) -> int:
    body = {"pane": pane, "dir": direction, "argv": [sys.executable, "-c", WATCHER]}
    new: int = term.good("term.pane.split", body)["id"]
    shows(term, new, rows, cols)
    return new


def told(term: Service, opened: Pane, rows: int, cols: int) -> Pane:
    shows(term, opened["pane"], rows, cols)
    return opened


def shows(term: Service, pane: int, rows: int, cols: int) -> None:
    """Wait until the last size that the program was told is this one, and the screen has it."""

    def last() -> bool:
        screen = term.good("term.snapshot", {"pane": pane})
        sizes = re.findall(r"^size (\d+) (\d+)$", screen["text"], re.MULTILINE)
        assert sizes or not screen["text"].strip(), screen["text"]
        return (screen["rows"], screen["cols"]) == (rows, cols) and sizes[-1:] == [
            (str(rows), str(cols))
        ]

    eventually(last, f"pane {pane} is told {rows} rows and {cols} columns")


def panes(term: Service) -> dict[int, Pane]:
    return {pane["id"]: pane for pane in term.good("term.panes")["panes"]}


def place(pane: Pane) -> tuple[int, int, int, int]:
    return pane["x"], pane["y"], pane["cols"], pane["rows"]


def refused(term: Service, verb: str, body: Pane) -> tuple[str, Any]:
    rc, answer = term.call(verb, body)
    assert rc == 10, answer
    return answer["error_code"], answer["details"]


def test_the_terminal_is_resized_with_every_pane(term: Service) -> None:
    first = watching(term)["pane"]
    second = beside(term, first, "h", 24, 40)
    assert term.good("term.resize", {"cols": 100, "rows": 30}) == {"cols": 100, "rows": 30}
    shows(term, first, 30, 49)
    shows(term, second, 30, 50)
    session = term.good("term.session")
    assert (session["cols"], session["rows"]) == (100, 30)


def test_a_pane_is_resized_at_its_neighbours_cost(term: Service) -> None:
    first = watching(term)["pane"]
    second = beside(term, first, "v", 12, 80)
    answer = term.good("term.pane.resize", {"pane": first, "rows": 20})
    assert answer == {"id": first, "cols": 80, "rows": 20}
    shows(term, first, 20, 80)
    shows(term, second, 3, 80)
    answer = term.good("term.pane.resize", {"pane": second, "cols": 10, "rows": 500})
    assert answer == {"id": second, "cols": 80, "rows": 22}
    shows(term, first, 1, 80)
    assert refused(term, "term.pane.resize", {"pane": first})[0] == "INVALID_ARGUMENT"


def test_a_shell_sees_its_size_in_a_zoom_and_after_it(term: Service) -> None:
    need("bash")
    argv = ["bash", "--norc", "-i"]
    first = term.at_prompt(term.good("term.tab.new", {"argv": argv})["pane"])
    split = {"pane": first, "dir": "h", "argv": argv}
    second = term.at_prompt(term.good("term.pane.split", split)["id"])
    before = panes(term)
    steps = [(True, "24 80", "24 40"), (False, "24 39", "24 40"), (True, "24 80", "24 40")]
    for on, mine, others in steps:
        answer = term.good("term.pane.zoom", {"pane": first, "on": on})
        assert answer == {"id": first, "tab": before[first]["tab"], "zoomed": on}
        for pane, size in ((first, mine), (second, others)):
            term.good("term.type", {"pane": pane, "text": "clear; stty size", "enter": True})
            first_row_is(term, pane, size)
    now = panes(term)
    assert (now[first]["zoomed"], place(now[first])) == (True, (0, 0, 80, 24))
    assert (now[second]["hidden"], place(now[second])) == (True, place(before[second]))
    assert "hidden" not in now[first]
    term.good("term.pane.select", {"id": second})
    assert {pane: place(now) for pane, now in panes(term).items()} == {
        pane: place(was) for pane, was in before.items()
    }


def first_row_is(term: Service, pane: int, text: str) -> None:
    eventually(lambda: term.screen(pane)[0] == text, f"the first row is {text}")


def test_a_split_ends_a_zoom_only_when_its_program_starts(term: Service) -> None:
    first = watching(term)["pane"]
    second = beside(term, first, "h", 24, 40)
    term.good("term.pane.zoom", {"pane": first})
    shows(term, first, 24, 80)
    bad = {"pane": first, "dir": "v", "argv": ["/no/such/program"]}
    assert refused(term, "term.pane.split", bad)[0] == "NOT_FOUND"
    assert panes(term)[first]["zoomed"]
    third = beside(term, first, "v", 12, 39)
    shows(term, first, 11, 39)
    shows(term, second, 24, 40)
    assert panes(term)[third]["active"]


def test_a_swap_across_tabs_keeps_both_programs_going(term: Service) -> None:
    ticking = ["sh", "-c", "while i=$((i+1)); do echo tick-$i; sleep 0.05; done"]
    one = term.good("term.tab.new", {"argv": ticking})
    other = watching(term)
    half = beside(term, other["pane"], "h", 24, 40)
    body = {"pane": one["pane"], "with": half, "request_id": "swap-1"}
    answer = term.good("term.pane.swap", body)
    assert answer == {"id": one["pane"], "tab": other["id"], "with": half}
    assert term.good("term.pane.swap", body) == answer, "sent again it does not swap back"
    shows(term, half, 24, 80)
    now = panes(term)
    assert (now[half]["tab"], now[one["pane"]]["tab"]) == (one["id"], other["id"])
    assert (now[one["pane"]]["pid"], now[one["pane"]]["generation"]) == (one["pid"], 1)
    assert place(now[one["pane"]]) == (40, 0, 40, 24)
    seen = ticks(term, one["pane"])
    eventually(lambda: ticks(term, one["pane"]) > seen + 1, "it goes on ticking")
    assert refused(term, "term.pane.swap", {"pane": half, "with": half})[1]["field"] == "with"


def ticks(term: Service, pane: int) -> int:
    found = re.findall(r"tick-(\d+)", term.good("term.snapshot", {"pane": pane})["text"])
    return int(found[-1]) if found else 0


def test_a_pane_breaks_out_and_joins_again_with_the_same_program(term: Service) -> None:
    opened = watching(term)
    first, tab = opened["pane"], opened["id"]
    later = watching(term)
    term.good("term.tab.select", {"id": tab})
    second = beside(term, first, "h", 24, 40)
    pid = panes(term)[second]["pid"]
    broken = term.good("term.pane.break", {"pane": second})
    shows(term, second, 24, 80)
    shows(term, first, 24, 80)
    tabs = term.good("term.tabs")["tabs"]
    assert [each["id"] for each in tabs][1:] == [tab, broken["tab"], later["id"]]
    assert [each["active"] for each in tabs].index(True) == 2
    assert term.good("term.pane.break", {"pane": second}) == broken, "it is alone there"
    join = {"pane": second, "beside": first, "dir": "v"}
    assert term.good("term.pane.join", join) == {"id": second, "tab": tab, "tab_closed": True}
    shows(term, first, 11, 80)
    shows(term, second, 12, 80)
    now = panes(term)[second]
    assert (now["pid"], now["generation"], now["active"]) == (pid, 1, True)
    assert alive(pid)
    itself = {"pane": second, "beside": second, "dir": "v"}
    assert refused(term, "term.pane.join", itself)[1]["field"] == "beside"


def test_a_join_without_room_changes_nothing(term: Service) -> None:
    first, second = watching(term)["pane"], watching(term)["pane"]
    term.good("term.resize", {"cols": 4, "rows": 24})
    before = panes(term)
    code, details = refused(term, "term.pane.join", {"pane": second, "beside": first, "dir": "h"})
    assert (code, details["reason"]) == ("RESOURCE_LIMIT", "too_small")
    assert {pane: place(now) for pane, now in panes(term).items()} == {
        pane: place(was) for pane, was in before.items()
    }


def test_a_layout_arranges_the_panes_of_a_tab(term: Service) -> None:
    opened = watching(term)
    first = opened["pane"]
    second = beside(term, first, "h", 24, 40)
    third = beside(term, second, "v", 12, 40)
    answer = term.good("term.tab.layout", {"layout": "main-vertical"})
    assert answer["id"] == opened["id"]
    assert {pane["id"]: place(pane) for pane in answer["panes"]} == {
        third: (0, 0, 39, 24),
        first: (40, 0, 40, 11),
        second: (40, 12, 40, 12),
    }
    shows(term, third, 24, 39)
    shows(term, first, 11, 40)
    term.good("term.tab.layout", {"id": opened["id"], "layout": "even-vertical"})
    for pane in (first, second, third):
        rows = panes(term)[pane]["rows"]
        assert rows in {7, 8}
        shows(term, pane, rows, 80)
    term.good("term.resize", {"cols": 80, "rows": 4})
    code, details = refused(term, "term.tab.layout", {"layout": "even-vertical"})
    assert (code, details["rows"]) == ("RESOURCE_LIMIT", 5)
    assert refused(term, "term.tab.layout", {"layout": "spiral"})[0] == "INVALID_ARGUMENT"


def test_names_of_tabs_and_panes(term: Service) -> None:
    titled = ["sh", "-c", r"printf '\033]2;own\007ready\n'; exec sleep 600"]
    opened = term.good("term.tab.new", {"argv": titled})
    pane, tab = opened["pane"], opened["id"]
    term.wait("^ready$", pane)
    assert title_of_tab(term, tab) == "own"
    answer = term.good("term.pane.rename", {"pane": pane, "title": "logs"})
    assert answer == {"id": pane, "title": "logs"}
    assert (title_of_tab(term, tab), panes(term)[pane]["title"]) == ("logs", "logs")
    answer = term.good("term.tab.rename", {"title": "build"})
    assert answer == {"id": tab, "title": "build"}
    assert (title_of_tab(term, tab), panes(term)[pane]["title"]) == ("build", "logs")
    assert term.good("term.tab.rename", {"id": tab, "title": ""}) == {"id": tab, "title": "logs"}
    answer = term.good("term.pane.rename", {"pane": pane, "title": ""})
    assert answer == {"id": pane, "title": "own"}
    assert refused(term, "term.tab.rename", {"id": 999, "title": "x"})[0] == "NOT_FOUND"


def title_of_tab(term: Service, tab: int) -> str:
    (found,) = (each for each in term.good("term.tabs")["tabs"] if each["id"] == tab)
    title: str = found["title"]
    return title
