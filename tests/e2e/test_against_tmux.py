"""The same programs in a pane and in a private tmux of the same size show the same screen.

Where the two differ by rule, the case says which rows may and why; rows that are said to differ and
do not fail the test, so that the list stays true.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest

from tests.support.private_tmux import PrivateTmux, private_tmux
from tests.support.programs import need
from tests.support.termnode_process import Service, eventually
from tests.support.termnode_process import plain_service as service

COLS, ROWS = 80, 24
ENV = {
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "TERM": "xterm-256color",
    "LESS": "",
    "VIMINIT": "",
    # Lines as UTF-8: for those of the alternate character set capture-pane prints bare letters.
    "NCURSES_NO_UTF8_ACS": "1",
}

REDRAW = """
import curses, sys
def main(screen):
    curses.curs_set(0)
    for turn in range(40):
        screen.erase()
        screen.border()
        for row in range(1, 20):
            screen.addstr(row, 2 + (row * 7 + turn) % 50, f"row {row} turn {turn}", curses.A_BOLD)
        screen.addstr(21, 2, "\\u2500" * 10 + " done" if turn == 39 else "working")
        screen.refresh()
    screen.getch()
curses.wrapper(main)
"""

CJK = "日本語テスト 中文字符 한국어\nhalf ｱｲｳ full \uff21\uff22\n" + "漢" * 50 + "\nend-of-text\n"
EMOJI = "plain 😀 faces 🎉🚀\nflag 🇫🇷|\nheart ❤|\nskin 👍🏽|\nfamily 👩‍👩‍👧|\nend-of-text\n"


@dataclass(frozen=True)
class Case:
    """A program, what shows that it is done, keys to send then, and the rows that may differ."""

    id: str
    program: str
    argv: tuple[str, ...]
    marker: str
    keys: str = ""
    after: str = ""
    files: dict[str, str] = field(default_factory=dict)
    differs: dict[int, str] = field(default_factory=dict)


LINES = "".join(f"{n:03d} the quick brown fox\n" for n in range(1, 201))

CASES = (
    Case(
        "vim", "vim", ("vim", "-u", "NONE", "-nN", "text"), "020 the", "GOlast line added\x1b",
        "last line added", {"text": LINES},
    ),
    Case(
        "vim-split", "vim", ("vim", "-u", "NONE", "-nN", "-O", "text", "other"), "other",
        ":set number\r:split\r", "  1 ", {"text": LINES, "other": LINES[:600]},
    ),
    Case("less", "less", ("less", "text"), "020 the", " /150\r", "150 the", {"text": LINES}),
    Case(
        "redraw", sys.executable, (sys.executable, "redraw.py"), "done",
        files={"redraw.py": REDRAW},
    ),
    Case("cjk", "cat", ("cat", "text"), "end-of-text", files={"text": CJK}),
    Case("emoji", "cat", ("cat", "text"), "end-of-text", files={"text": EMOJI}),
)  # fmt: skip


@pytest.fixture(scope="module")
def term() -> Iterator[Service]:
    with service("--size", f"{COLS}x{ROWS}") as running:
        yield running


@pytest.fixture
def tmux() -> Iterator[PrivateTmux]:
    need("tmux")
    with private_tmux() as running:
        yield running


def differing(ours: list[str], theirs: list[str]) -> dict[int, tuple[str, str]]:
    """The rows that are not the same, by number."""
    assert len(ours) == len(theirs) == ROWS
    rows = enumerate(zip(ours, theirs, strict=True))
    return {number: pair for number, pair in rows if pair[0] != pair[1]}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_screens_are_equal(term: Service, tmux: PrivateTmux, tmp_path: Path, case: Case) -> None:
    need(case.program)
    for name, content in case.files.items():
        (tmp_path / name).write_text(content)
    argv = [*case.argv]
    body = {"argv": argv, "cwd": str(tmp_path), "env": ENV}
    pane = term.good("term.tab.new", body)["pane"]
    tmux.start(["env", "-C", str(tmp_path), *argv], COLS, ROWS, ENV)
    _both_show(term, tmux, pane, case.marker)
    if case.keys:
        _press(term, tmux, pane, case.keys)
        _both_show(term, tmux, pane, case.after)
    expected = set(case.differs)
    eventually(
        lambda: set(differing(term.screen(pane), tmux.screen())) == expected,
        f"the same screen: {differing(term.screen(pane), tmux.screen())}",
    )


def _press(term: Service, tmux: PrivateTmux, pane: int, keys: str) -> None:
    # term.type has no Escape yet, so an Escape at the end is left out on both sides.
    typed = keys.removesuffix("\x1b")
    term.good("term.type", {"pane": pane, "text": typed})
    tmux.keys(typed)


def _both_show(term: Service, tmux: PrivateTmux, pane: int, marker: str) -> None:
    for screen in (partial(term.screen, pane), tmux.screen):
        eventually(partial(_shows, screen, marker), f"{marker!r} is shown")


def _shows(screen: Callable[[], list[str]], marker: str) -> bool:
    return any(marker in row for row in screen())


def test_the_comparison_sees_a_difference() -> None:
    """The check itself, seen to fail."""
    rows = ["same"] * ROWS
    assert differing(rows, [*rows[:-1], "other"]) == {ROWS - 1: ("same", "other")}


def test_tmux_runs_inside_a_pane(term: Service, tmp_path: Path) -> None:
    need("tmux")
    pane = term.good("term.tab.new", {"argv": ["sh"], "env": ENV})["pane"]
    socket = tmp_path / "s"
    start = f"tmux -S {socket} -f /dev/null new-session 'echo in-$((40+2)); exec sleep 600'"
    try:
        term.good("term.type", {"pane": pane, "text": start, "enter": True})
        term.wait("^in-42", pane)
        screen = term.screen(pane)
        assert screen[-1].startswith("[0]"), "the status line of tmux is in the last row"
        assert term.good("term.snapshot", {"pane": pane})["alternate"] is True
    finally:
        term.good("term.tab.new", {"argv": ["tmux", "-S", str(socket), "kill-server"]})
    term.wait("exited|server", pane)
