"""A person's whole way through a view: up, splits, programs side by side, zoom, scroll, leave."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.support.attached import FULL_SCREEN, InTmux, agrees, attach, differences, prompted
from tests.support.private_tmux import PrivateTmux, private_tmux
from tests.support.programs import need
from tests.support.termnode_process import COMMAND, Service, eventually, service

COLS, ROWS = 120, 40
PREFIX = "\x02"
LINES = "".join(f"{n:03d} the quick brown fox\n" for n in range(1, 201))


@pytest.fixture
def tmux() -> Iterator[PrivateTmux]:
    need("tmux", "vim", "less")
    with private_tmux() as running:
        yield running


def _shell(tmux: PrivateTmux, term: Service) -> InTmux:
    """A shell in tmux, as the person's, in which ``termnode`` is a command."""
    commands = term.directory / "bin"
    commands.mkdir()
    command = f'exec "{COMMAND[0]}" -P -m {COMMAND[2]} "$@"'
    (commands / "termnode").write_text(f"#!/bin/sh\n{command}\n")
    (commands / "termnode").chmod(0o700)
    env = term.environment()
    env |= {
        "PATH": f"{commands}:{env['PATH']}",
        "PYTHONPATH": str(Path(__file__).parents[2]),
        "PS1": "outside$ ",
        "TERM": "xterm-256color",
        "LESS": "",
        "VIMINIT": "",
    }
    # By env: tmux gives a program its own PATH, whatever it is told.
    words = [f"{name}={value}" for name, value in env.items()]
    tmux.start(["env", "-i", "-C", str(term.directory), *words, "sh"], COLS, ROWS, {})
    shell = InTmux(tmux)
    shell.until("outside$")
    return shell


@pytest.fixture
def term() -> Iterator[Service]:
    """No service yet; the paths of its sockets are short."""
    made = Service(Path(tempfile.mkdtemp(prefix="tn-", dir="/tmp")), "term")
    yield made
    shutil.rmtree(made.directory, ignore_errors=True)


def test_a_person_works_in_a_view(tmux: PrivateTmux, term: Service) -> None:
    for name, content in (("text", LINES), ("full.py", FULL_SCREEN)):
        (term.directory / name).write_text(content)
    view = _shell(tmux, term)
    try:
        tmux.keys("stty -a > stty-before; termnode up\r")
        eventually(lambda: "term" in view.screen()[-1], "the view is drawn")
        agrees(term, view)

        _side_by_side(tmux, term, view)
        _zoomed(tmux, term, view)
        _scrolled(tmux, term, view)

        tmux.keys(PREFIX + "d")
        view.until("detached")
        tmux.keys("stty -a > stty-after\r")
        eventually((term.directory / "stty-after").exists, "the shell is back")
        eventually(
            lambda: (
                (term.directory / "stty-before").read_text()
                == (term.directory / "stty-after").read_text()
            ),
            "the terminal's settings are as before",
        )
        assert "termnode up" in view.screen()[0], "what stood there before the view is back"

        with attach(term, cols=90, rows=30) as second:
            second.type(PREFIX + "o")
            agrees(term, second)
            assert term.good("term.session")["cols"] == 90
    finally:
        term.down()


def _side_by_side(tmux: PrivateTmux, term: Service, view: InTmux) -> None:
    tmux.keys("vim -u NONE -nN text\r")
    view.until("020 the")
    tmux.keys(PREFIX + "%")
    prompted(term, 2)
    tmux.keys("less text\r")
    eventually(lambda: "020 the" in "".join(term.screen(2)), "less is there")
    tmux.keys(PREFIX + '"')
    prompted(term, 3)
    tmux.keys(f"{sys.executable} full.py\r")
    term.wait("done", 3)
    agrees(term, view)


def _zoomed(tmux: PrivateTmux, term: Service, view: InTmux) -> None:
    for zoomed in (True, False):
        tmux.keys(PREFIX + "z")
        eventually(partial(_zoom_is, term, zoomed), "zoom, and back")
        agrees(term, view)


def _zoom_is(term: Service, wanted: bool) -> bool:
    return any(pane.get("zoomed") for pane in term.good("term.panes")["panes"]) is wanted


def _scrolled(tmux: PrivateTmux, term: Service, view: InTmux) -> None:
    """In a new tab: history is scrolled and searched, and the view comes back to what is there."""
    tmux.keys(PREFIX + "c")
    prompted(term, 4)
    tmux.keys("cat text; echo end-$((40+2))\r")
    view.until("end-42")
    agrees(term, view)
    tmux.keys(PREFIX + "[")
    tmux.keys("\x1b[5~" * 3)
    view.until("060 the quick")
    assert not any("end-42" in row for row in view.screen()), "it is scrolled back"
    tmux.keys("?023 the\r")
    view.until("023 the quick")
    tmux.keys("q")
    view.until("end-42")
    agrees(term, view)
    tmux.keys(PREFIX + "p")
    view.until("020 the")
    agrees(term, view)


def test_the_comparison_sees_a_wrong_view() -> None:
    """The check itself, seen to fail: a view of one character more is not the composition."""

    class Wrong:
        def __init__(self, rows: list[str]) -> None:
            self.rows = rows

        def part(self, x: int, y: int, cols: int, rows: int) -> list[str]:
            return [row[x : x + cols].rstrip() for row in self.rows[y : y + rows]]

        def screen(self) -> list[str]:
            return self.rows

    with service() as term:
        pane = term.at_prompt(1)
        right = term.screen(pane)
        assert not differences(term, Wrong(right))
        assert differences(term, Wrong([right[0] + "x", *right[1:]])).keys() == {pane}
