"""A pane followed as plain lines: each once, complete, and without sequences."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from termnode.cast import lines as module
from termnode.cast.lines import LineFollower
from termnode.terminal import engines
from termnode.view.messages import Ended, Keyframe, Output, Resized

EMULATORS = engines.available()


@pytest.fixture(params=EMULATORS)
def follow(request: pytest.FixtureRequest) -> Callable[..., str]:
    def told(*parts: bytes | Keyframe | Resized | Ended) -> str:
        follower = LineFollower(engines.make(request.param))
        try:
            return "".join(
                follower.take(Output(1, part, 0) if isinstance(part, bytes) else part)
                for part in parts
            )
        finally:
            follower.close()

    return told


def first(ansi: bytes = b"", cols: int = 20, rows: int = 4) -> Keyframe:
    return Keyframe(1, cols, rows, ansi, "", 0)


END = Ended(1, "exited 0", 0)


def test_lines_are_told_when_complete_and_the_last_one_at_the_end(
    follow: Callable[..., str],
) -> None:
    assert follow(first(), b"one\r\ntw") == "one\n"
    assert follow(first(), b"one\r\ntw", b"o\r\nthr", END) == "one\ntwo\nthr\n"
    assert follow(first(), b"one\r\n", END) == "one\n"


def test_sequences_are_gone_and_what_stands_there_counts(follow: Callable[..., str]) -> None:
    told = follow(first(), b"\x1b]2;title\x07\x1b[31mr\x1b[0med\x1b[K\r\n10%\r20%\rdone\r\n\r\n")
    assert told == "red\ndone\n\n"


def test_what_stood_there_before_is_not_told(follow: Callable[..., str]) -> None:
    assert follow(first(b"old\r\n$ "), b"ls\r\nnew\r\n") == "$ ls\nnew\n"


def test_a_flood_is_told_whole(follow: Callable[..., str]) -> None:
    wanted = "".join(f"{number}\n" for number in range(30_000))
    assert follow(first(), wanted.replace("\n", "\r\n").encode()) == wanted


def test_a_flood_looked_at_too_late_would_not_be(
    follow: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PIECE", 1_000_000)
    wanted = "".join(f"{number}\n" for number in range(30_000))
    assert follow(first(), wanted.replace("\n", "\r\n").encode()) != wanted


def test_a_wrapped_line_is_one_line(follow: Callable[..., str]) -> None:
    text = "a line of words  that is longer than the screen is wide"
    assert follow(first(), text.encode() + b"\r\n") == text + "\n"
    assert follow(first(), text.encode(), END) == text + "\n"
    long = "x" * 100_000
    assert follow(first(), long.encode() + b"\r\nnext\r\n") == f"{long}\nnext\n"


def test_a_wiped_screen_begins_anew(follow: Callable[..., str]) -> None:
    told = follow(first(), b"one\r\ntwo\r\n\x1b[H\x1b[2Jthree\r\nfour\r\n")
    assert told == "one\ntwo\nthree\nfour\n"


def test_a_wipe_that_is_not_seen_coming_would_lose_lines(
    follow: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_BEFORE", re.compile(b"(?!)"))
    told = follow(first(), b"one\r\ntwo\r\n\x1b[H\x1b[2Jthree\r\nfour\r\n")
    assert "one\ntwo\n" not in told


def test_a_full_screen_program_is_left_out(follow: Callable[..., str]) -> None:
    told = follow(
        first(b"$ "),
        b"vim\r\n\x1b[?1049h\x1b[H\x1b[2J~\r\n~\r\nfile\r\n\x1b[?1049l$ echo\r\nback\r\n",
    )
    assert told == "$ vim\n$ echo\nback\n"
    alone = follow(first(b"\x1b[?1049hvim"), b"x\r\ny\r\n", b"\x1b[?1049l", first(b"$ "), b"a\r\n")
    assert alone == "$ a\n"


def test_another_size_tells_nothing_twice(follow: Callable[..., str]) -> None:
    told = follow(
        first(),
        b"one\r\n",
        Resized(1, 10, 3, 0),
        first(b"one\r\n$ ", 10, 3),
        b"two\r\n",
        END,
    )
    assert told == "one\n$ two\n"
