"""What is set in a person's terminal and set back, how many colours it has, and signals."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from termnode.attach.tty_depth import TRUE_COLOR, depth, terminfo_colours
from termnode.attach.tty_protocols import ABORT, Borrowed, asks_well, fences
from termnode.attach.tty_signals import Signals

KITTY = b"\x1b[?0u"
DA1 = b"\x1b[?62;22c"


def test_the_kitty_keyboard_is_used_where_it_is_known() -> None:
    borrowed = Borrowed()
    borrowed.enter()
    assert b"\x1b[<u" not in borrowed.restore()
    assert borrowed.hear(KITTY) == b"\x1b[>5u"
    assert borrowed.hear(KITTY) == b"", "once"
    assert borrowed.hear(DA1) == b""
    back = borrowed.restore()
    assert back.index(b"\x1b[<u") < back.index(b"\x1b[?1049l"), "each screen has its own stack"
    assert b"\x1b[=5u" in borrowed.again(), "not once more on the stack"


def test_where_it_is_not_known_other_keys_are_asked_for() -> None:
    borrowed = Borrowed()
    assert borrowed.hear(DA1) == b"\x1b[>4;1m"
    assert borrowed.answered
    assert b"\x1b[>4m" in borrowed.restore()
    assert borrowed.hear(KITTY) == b"", "too late: one of them is enough"


def test_where_nothing_is_answered_nothing_is_set_back_that_was_not_set() -> None:
    back = Borrowed().restore()
    for sequence in (b"\x1b[<u", b"\x1b[>4m", b"2026", ABORT):
        assert sequence not in back


def test_modes_that_were_set_before_are_set_after_all_that_were_not() -> None:
    borrowed = Borrowed()
    borrowed.hear(b"\x1b[?1002;1$y")
    borrowed.hear(b"\x1b[?2004;1$y")
    borrowed.hear(b"\x1b[?25;2$y")
    borrowed.hear(b"\x1b[?1000;0$y")
    borrowed.hear(b"\x1b[?4711;1$y")
    back = borrowed.restore()
    assert back.index(b"\x1b[?1003l") < back.index(b"\x1b[?1002h")
    assert b"\x1b[?2004h" in back
    assert b"\x1b[?25l" in back
    assert b"4711" not in back


def test_a_frame_that_was_cut_is_ended_first() -> None:
    assert Borrowed().restore(cut=True).startswith(ABORT)


def test_the_cursors_shape_and_synchronized_output() -> None:
    borrowed = Borrowed()
    assert b"\x1b[0 q" in borrowed.restore()
    borrowed.hear(b"\x1bP1$r5 q\x1b\\")
    borrowed.hear(b"\x1b[?2026;2$y")
    assert borrowed.synchronized
    assert b"\x1b[5 q" in borrowed.restore()
    assert b"\x1b[?2026l" in borrowed.restore()


def test_all_motion_is_asked_for_and_not() -> None:
    borrowed = Borrowed()
    assert borrowed.set_motion(on=True) == b"\x1b[?1003h"
    assert borrowed.set_motion(on=True) == b""
    assert b"\x1b[?1003h" in borrowed.again()
    assert borrowed.set_motion(on=False).startswith(b"\x1b[?1003l\x1b[?1000h\x1b[?1002h")


@pytest.mark.parametrize("answer", [b"", b"\x1b[?2026$y", b"\x1b[0n", b"\x1b]11;x\x07"])
def test_other_answers_change_nothing(answer: bytes) -> None:
    borrowed = Borrowed()
    before = borrowed.restore()
    assert borrowed.hear(answer) == b""
    assert borrowed.restore() == before


def test_fences_are_counted() -> None:
    assert fences(b"x" + DA1 + b"\x1b[?1;2c\x1b[c\x1b[>1c") == 2


@pytest.mark.parametrize(
    ("term", "asked"),
    [("xterm-256color", True), ("tmux-256color", True), ("linux", False), ("dumb", False),
     ("", False), ("vt100", False)],
)  # fmt: skip
def test_who_is_asked(term: str, asked: bool) -> None:
    assert asks_well(term) == asked
    assert (b"\x1b[c" in Borrowed(asked).enter()) == asked


@pytest.mark.parametrize(
    ("environ", "colours"),
    [
        ({"TERM": "xterm", "COLORTERM": "truecolor"}, TRUE_COLOR),
        ({"TERM": "screen", "COLORTERM": "24bit"}, TRUE_COLOR),
        ({"TERM": "xterm-kitty"}, TRUE_COLOR),
        ({"TERM": "foot"}, TRUE_COLOR),
        ({"TERM": "xterm-direct"}, TRUE_COLOR),
        ({"TERM": "xterm-256color"}, 256),
        ({"TERM": "other-256color"}, 256),
        ({"TERM": "xterm"}, 16),
        ({"TERM": "linux", "COLORTERM": "yes"}, 16),
        ({}, 16),
    ],
)
def test_how_many_colours_there_are(environ: dict[str, str], colours: int) -> None:
    known = {"xterm": 8, "linux": 8, "xterm-256color": 256}
    assert depth(environ, lambda term: known.get(term, -1)) == colours


def test_terminfo_is_asked() -> None:
    assert depth({"TERM": "own"}, lambda term: {"own": 256}[term]) == 256
    assert depth({"TERM": "own"}, lambda _: TRUE_COLOR) == TRUE_COLOR
    assert terminfo_colours("") == -1


@pytest.mark.parametrize(("term", "colours"), [("xterm", 8), ("xterm-256color", 256), ("none", -1)])
def test_what_terminfo_says(term: str, colours: int) -> None:
    code = f"from termnode.attach.tty_depth import *; print(terminfo_colours({term!r}))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, text=True, timeout=60
    )
    assert done.stdout == f"{colours}\n"


def test_signals_wait_while_undisturbed_and_come_once() -> None:
    called: list[str] = []

    def again() -> bool:
        called.append("again")
        return len(called) > 1

    signals = Signals(lambda: None, again, lambda: called.append("size"))
    before = signal.getsignal(signal.SIGWINCH)
    signals.install()
    try:
        with signals.undisturbed():
            for number in (signal.SIGCONT, signal.SIGWINCH, signal.SIGWINCH):
                signal.raise_signal(number)
            assert called == []
        assert called == ["again", "again", "size"], "what did not succeed is tried again"
    finally:
        signals.remove()
    assert signal.getsignal(signal.SIGWINCH) == before


def test_what_is_ignored_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signals = Signals(lambda: None, lambda: True, lambda: None)
    try:
        signals.install()
        assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
        signals.remove()
        assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_nothing_is_tried_again_when_the_end_has_come() -> None:
    tried: list[int] = []
    ended = []
    before = signal.signal(signal.SIGTERM, lambda *_: ended.append(1))
    signals = Signals(lambda: None, lambda: True, lambda: None)

    def attempt() -> bool:
        tried.append(1)
        signal.raise_signal(signal.SIGTERM)
        return False

    try:
        with signals.undisturbed():
            signals.install()
            signals.insist(attempt)
            signals.remove()
        assert (tried, ended) == ([1], [1]), "who was there before is told"
    finally:
        signal.signal(signal.SIGTERM, before)
