"""Hostile output: everything an engine keeps has an end."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import pytest

from termnode.terminal.engine import MAX_EVENTS, MAX_REPLY_BYTES, MAX_TITLE, EventKind
from termnode.terminal.event_queue import MAX_EVENT_CHARS
from termnode.terminal.pyte_engine import PyteEngine
from termnode.terminal.pyte_engine.cells import MAX_LIVE, Palette
from termnode.terminal.pyte_engine.history import CELLS_PER_LINE, SWEEP_EVERY, History
from termnode.terminal.pyte_engine.osc import MAX_LINK
from termnode.terminal.pyte_engine.storing import KITTY_DEPTH

LIMIT = 2_000


def distinct(engine: PyteEngine) -> int:
    screen = engine.screen
    return len({id(cell) for row in (*screen.history.rows, *screen.grid) for cell in row})


def live(palette: Palette) -> int:
    pens = list(palette._pens.values())
    return len(pens) + sum(len(pen) + len(pen.turns) for pen in pens)


def colors() -> Iterator[bytes]:
    for n in range(10**6):
        yield b"\x1b[38;2;%d;%d;%dmX" % (n >> 16 & 255, n >> 8 & 255, n & 255)


def backgrounds() -> Iterator[bytes]:
    for n in range(10**6):
        yield b"\x1b[48;2;%d;%d;%dm \x1b[K" % (n >> 16 & 255, n >> 8 & 255, n & 255)


def links() -> Iterator[bytes]:
    for n in range(10**6):
        yield b"\x1b]8;;http://e.x/%d/%s\x07X" % (n, b"y" * 900)


def clusters() -> Iterator[bytes]:
    for n in range(10**6):
        yield ("a" + "".join(chr(0x300 + (n >> 4 * k & 15)) for k in range(5))).encode()


def unknown_turns() -> Iterator[bytes]:
    for n in range(10**6):
        yield b"\x1b[%dmX" % (1_000 + n)


@pytest.mark.parametrize("stream", [colors, backgrounds, links, clusters, unknown_turns])
def test_what_never_repeats_is_not_kept_for_ever(stream: object) -> None:
    assert callable(stream)
    engine = PyteEngine(50, 10, LIMIT)
    pieces: Iterator[bytes] = stream()
    while engine.screen.palette.created <= 2 * SWEEP_EVERY:
        engine.feed(b"".join(islice(pieces, 8_000)))
        assert live(engine.screen.palette) <= MAX_LIVE + 100
    budget = LIMIT * CELLS_PER_LINE + SWEEP_EVERY // 8
    assert distinct(engine) <= budget + SWEEP_EVERY + 50 * 10


def test_a_pen_in_use_forgets_too() -> None:
    engine = PyteEngine(50, 10, 100)
    for block in ((0x4E00, 0xA000), (0xAC00, 0xD7A4), (0x20000, 0x2A6E0)):
        engine.feed("".join(map(chr, range(*block))).encode())
        assert len(engine.screen.pen) <= MAX_LIVE + 1


def test_the_count_of_distinct_cells_notices_a_history_that_is_never_swept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(History, "_sweep", lambda self: None)
    engine = PyteEngine(50, 10, 4_000)
    engine.feed(b"".join(islice(colors(), 120_000)))
    assert distinct(engine) > LIMIT * CELLS_PER_LINE + SWEEP_EVERY + SWEEP_EVERY // 8


def test_ordinary_output_keeps_all_of_its_history() -> None:
    engine = PyteEngine(80, 10, LIMIT)
    for n in range(3 * LIMIT):
        engine.feed(f"\x1b[{31 + n % 7}mline {n} \x1b[1mж 漢字 e\u0301\x1b[0m\r\n".encode())
    assert engine.history_len == LIMIT
    assert engine.text(-LIMIT, 1)[0].split()[1] == str(3 * LIMIT - LIMIT - 9)


def test_a_sweep_does_not_depend_on_how_the_stream_was_cut() -> None:
    data = b"".join(islice(colors(), 45_000))
    whole, parts = PyteEngine(40, 5, 1_000), PyteEngine(40, 5, 1_000)
    whole.feed(data)
    for start in range(0, len(data), 1_000):
        parts.feed(data[start : start + 1_000])
    assert whole.history_len == parts.history_len < 1_000


def test_replies_are_whole_or_not_there() -> None:
    engine = PyteEngine(80, 24)
    engine.feed(b"\x1b[6n" * 10_000)
    replies = engine.take_replies()
    assert MAX_REPLY_BYTES - 6 < len(replies) <= MAX_REPLY_BYTES
    assert replies == b"\x1b[1;1R" * (len(replies) // 6)
    engine.feed(b"\x1b[5n")
    assert engine.take_replies() == b"\x1b[0n"


def test_events_are_bounded_in_number_and_size() -> None:
    engine = PyteEngine(80, 24)
    engine.feed(b"\x07" * 1_000 + b"\x1b]133;A\x07")
    events = engine.take_events()
    assert len(events) == MAX_EVENTS
    assert events[-1].kind is EventKind.PROMPT_MARK
    engine.feed((b"\x1b]52;c;" + b"QUFB" * 16_000 + b"\x07") * 100)
    assert 0 < sum(len(event.text) for event in engine.take_events()) <= MAX_EVENT_CHARS
    assert engine.take_events() == []


def test_titles_links_and_stacks_are_bounded() -> None:
    engine = PyteEngine(80, 24)
    engine.feed(b"\x1b]2;" + b"t" * 50_000 + b"\x07" + b"\x1b[22t" * 500)
    assert len(engine.title) == MAX_TITLE
    assert len(engine.screen.titles) == 10
    engine.feed(b"\x1b[>5u" * 500)
    assert len(engine.screen.kitty) == KITTY_DEPTH
    engine.feed(b"\x1b[<65535u\x1b[?u")
    assert engine.take_replies() == b"\x1b[?0u"
    engine.feed(b"\x1b]8;;" + b"u" * (MAX_LINK + 1) + b"\x07x")
    assert engine.runs()[0][-1][1].link is None
    engine.feed(b"".join(b"\x1b[?%dh\x1b[?%ds\x1b[%dh" % (n, n, n) for n in range(5_000)))
    assert len(engine.screen.mode) < 40
    assert len(engine.screen.saved_modes) < 40


@pytest.mark.parametrize(
    ("stream", "columns"),
    [(b"a\x1b[999999999b", 4), (b"ab\x1b[1000000000bZ", 10), ("日\x1b[99b".encode(), 10)],
)  # fmt: skip
def test_repeats_are_limited_to_a_line(stream: bytes, columns: int) -> None:
    engine = PyteEngine(columns, 5, 100)
    engine.feed(stream)
    assert engine.history_len == 0
    engine.verify()


def test_marks_on_one_cell_are_bounded() -> None:
    engine = PyteEngine(10, 5)
    engine.feed(b"a" + "\u0301".encode() * 20_000 + b"b")
    assert engine.text()[0] == "a" + "\u0301" * 31 + "b"
