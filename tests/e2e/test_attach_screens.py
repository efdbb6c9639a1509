"""What a view draws equals the composition of what each program drew, whatever it is and does."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from brokerd.client import broker_pid
from tests.e2e.test_against_tmux import CJK, EMOJI, LINES
from tests.support.attached import FULL_SCREEN, Attached, agrees, attach, stopping
from tests.support.programs import need
from tests.support.termnode_process import Service, eventually, service

PREFIX = "\x02"
COLOURS = (
    r"printf '\033[31mred\033[m \033[48;5;200mpink\033[m \033[38;2;1;200;3mrgb\033[m "
    r"\033[1;4:3;7mmuch\033[m end-%s\n' colours"
)
ENV = {"LC_ALL": "C.UTF-8", "LESS": "", "VIMINIT": ""}


@pytest.fixture
def term() -> Iterator[Service]:
    with service("--size", "80x23") as running:
        for name, content in (("text", LINES), ("cjk", CJK), ("emoji", EMOJI)):
            (running.directory / name).write_text(content)
        (running.directory / "full.py").write_text(FULL_SCREEN)
        yield running


PROGRAMS = {
    "cjk": (("cat", "cjk"), "end-of-text"),
    "emoji": (("cat", "emoji"), "end-of-text"),
    "vim": (("vim", "-u", "NONE", "-nN", "text"), "020 the"),
    "less": (("less", "text"), "020 the"),
    "redraw": ((sys.executable, "full.py"), "done"),
    "colours": (("sh", "-c", COLOURS + "; exec cat"), "end-colours"),
}


def test_programs_alone_and_side_by_side(term: Service) -> None:
    need("vim", "less")
    with attach(term) as view:
        for argv, marker in PROGRAMS.values():
            body = {"argv": [*argv], "cwd": str(term.directory), "env": ENV}
            pane = term.good("term.tab.new", body)["pane"]
            term.wait(marker, pane)
            agrees(term, view)
            split = {**body, "dir": "h", "pane": pane}
            term.good("term.pane.split", split)
            term.good("term.pane.split", {**split, "dir": "v"})
            agrees(term, view)


def test_styles_are_those_of_the_program(term: Service) -> None:
    with attach(term) as view:
        body = {"argv": ["sh", "-c", f"{COLOURS}; exec cat"]}
        term.wait("end-colours", term.good("term.tab.new", body)["pane"])
        view.until("end-colours")
        styles = {text.strip(): style for text, style in view.runs(0, 0, 40, 1)[0]}
        assert styles["red"].fg == 1
        assert styles["pink"].bg == 200
        assert styles["rgb"].fg == (1, 200, 3)
        much = styles["much"]
        assert (much.bold, much.underline, much.reverse) == (True, 3, True)


def test_a_terminal_with_few_colours(term: Service) -> None:
    with attach(term, env={"TERM": "xterm-color", "COLORTERM": ""}) as view:
        body = {"argv": ["sh", "-c", f"{COLOURS}; exec cat"]}
        term.wait("end-colours", term.good("term.tab.new", body)["pane"])
        view.until("end-colours")
        assert b"38;2;" not in view.written
        assert b"48;5;" not in view.written


def test_down_to_the_smallest_panes(term: Service) -> None:
    with attach(term) as view:
        for direction in ("h", "v") * 5:
            term.call("term.pane.split", {"dir": direction, "argv": ["cat"]})
        for direction in ("h", "v"):
            _rc, body = term.call("term.pane.split", {"dir": direction, "argv": ["cat"]})
            assert body["details"]["reason"] == "too_small", "there are no smaller ones"
        agrees(term, view)
        # Smaller than its panes need: the view shows a part, and comes back.
        view.resize(12, 5)
        eventually(lambda: term.good("term.session")["rows"] == 4, "the size is told")
        view.resize(80, 24)
        eventually(lambda: term.good("term.session")["rows"] == 23, "the size is told")
        agrees(term, view)


def test_a_storm_of_sizes(term: Service) -> None:
    with attach(term) as view:
        term.good("term.pane.split", {"dir": "h", "argv": [sys.executable, "full.py"],
                                      "cwd": str(term.directory)})  # fmt: skip
        for turn in range(60):
            view.resize(40 + turn * 7 % 60, 10 + turn * 5 % 25)
        view.resize(90, 30)
        eventually(
            lambda: [term.good("term.session")[side] for side in ("cols", "rows")] == [90, 29],
            "the last size counts",
        )
        agrees(term, view)


def test_twenty_tabs(term: Service) -> None:
    with attach(term, cols=160, rows=24) as view:
        for number in range(2, 21):
            argv = ["sh", "-c", f"echo this-is-{number}; exec cat"]
            term.good("term.tab.new", {"argv": argv, "title": f"t{number}"})
        view.until("this-is-20")
        agrees(term, view)
        view.type(PREFIX + "3")
        view.until("this-is-3")
        agrees(term, view)
        view.type(PREFIX + "n")
        view.until("this-is-4")
        agrees(term, view)


def test_two_views_of_different_size(term: Service) -> None:
    with attach(term) as small, attach(term, cols=110, rows=35) as large:
        for view, size in ((large, "34 110"), (small, "23 80")):
            term.at_prompt(1)
            view.type("clear\r")
            view.type("stty size\r")
            view.until(size)
            agrees(term, view)
        small.type(f"{PREFIX}d")
        assert small.ended() == 0
        large.type("echo alone-$((40+2))\r")
        large.until("alone-42")


def test_a_stopped_view_delays_nobody(term: Service) -> None:
    with attach(term) as still, attach(term, cols=100, rows=30) as moving:
        with stopping(still.process.pid):
            moving.type("yes | head -200000; echo past-$((40+2))\r")
            moving.until("past-42")
            moving.type("echo again-$((40+2))\r")
            moving.until("again-42")
        still.until("again-42")
        still.type("echo and-$((40+2))\r")
        still.until("and-42")
        agrees(term, still)


def test_the_broker_may_be_stopped(term: Service) -> None:
    """A person types, scrolls and leaves all the same."""
    broker = broker_pid(term.directory / "rt")
    assert broker
    with attach(term) as view:
        term.at_prompt(1)
        with stopping(broker):
            view.type("cat text\r")
            view.until("200 the quick")
            view.type("echo typed-$((40+2))\r")
            view.until("typed-42")
            view.type(PREFIX + "[" + "\x1b[5~" * 4)
            view.until("100 the quick")
            view.type("q")
            view.until("typed-42")
            view.type(PREFIX + "d")
            assert view.ended() == 0


def test_what_a_full_redraw_shows_is_what_was_shown(term: Service) -> None:
    with attach(term) as view:
        _busy(term, view)
        before = view.screen()[:-1]
        written = len(view.written)
        view.type(PREFIX + "r")
        eventually(lambda: len(view.written) > written, "it is drawn again")
        eventually(lambda: view.screen()[:-1] == before, "the same screen")


def _busy(term: Service, view: Attached) -> None:
    for direction in ("h", "v"):
        argv = ["sh", "-c", "cat cjk emoji; exec cat"]
        body = {"dir": direction, "argv": argv, "cwd": str(term.directory), "env": ENV}
        term.wait("end-of-text", term.good("term.pane.split", body)["id"])
    agrees(term, view)
