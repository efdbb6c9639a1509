"""Who begins to watch anywhere, or misses anything, still comes to the true screen."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from termnode.cast.reading import CastReader, NotACast, Printed, Sized
from termnode.cast.writing import CastWriter
from termnode.service.viewing.watching_output import WatchedOutput
from termnode.terminal import engines
from termnode.terminal.engine import Engine
from termnode.terminal.render.keyframe import keyframe
from termnode.view.messages import Keyframe, Output, Resized
from tests.support.vt_streams import chunks, stream, well_formed
from tests.support.watched_pane import Pane

COLS, ROWS = 24, 6
EMULATORS = engines.available()


def shown(engine: Engine) -> tuple[object, ...]:
    """What a person sees."""
    cursor, modes = engine.cursor, engine.modes
    where = (cursor.x, cursor.y) if cursor.visible else None
    return engine.text(), where, modes.alternate, modes.reverse


class Player:
    """Takes messages as a terminal of another's would: one engine from the first to the last."""

    def __init__(self, emulator: str) -> None:
        self.engine = engines.make(emulator)(COLS, ROWS)

    def take(self, message: object) -> None:
        match message:
            case Keyframe(cols=cols, rows=rows, ansi=ansi):
                self._size(cols, rows)
                self.engine.feed(ansi)
            case Output(data=data):
                self.engine.feed(data)
            case Resized(cols=cols, rows=rows):
                self._size(cols, rows)

    def _size(self, cols: int, rows: int) -> None:
        if (cols, rows) != (self.engine.cols, self.engine.rows):
            self.engine.resize(cols, rows)


@pytest.mark.parametrize("emulator", EMULATORS)
@given(before=stream | well_formed)
def test_a_keyframe_shows_the_same_screen(emulator: str, before: bytes) -> None:
    engine, other = (engines.make(emulator)(COLS, ROWS) for _ in range(2))
    engine.feed(before + b"\x18\x1b\\")  # nothing is unfinished
    other.feed(b"\x1b[2;4r\x1b[31;4mleft over\x1b(0\x1b[?6h\x1b[4h\x1b[?1049hmore")
    other.feed(keyframe(engine))
    assert shown(other) == shown(engine)
    engine.close()
    other.close()


@pytest.mark.parametrize("emulator", EMULATORS)
@given(data=well_formed, cut=st.integers(0, 400))
def test_what_was_cut_in_the_middle_goes_on(emulator: str, data: bytes, cut: int) -> None:
    """Text is written after the cut alone: the style and the margins there are not told."""
    assume(b"\x1b[4h" not in data and b"r" not in data.replace(b"error:", b""))
    engine, other = (engines.make(emulator)(COLS, ROWS) for _ in range(2))
    data += "\x1b[0;1m中é\x1b[?25l\x1b]2;a title\x07\x1b[m".encode()
    begun, rest = data[: len(data) - cut % 26], data[len(data) - cut % 26 :]
    engine.feed(b"\x1b[r\x1b[4l\x1b[H" + begun)
    other.feed(keyframe(engine, begun[-4096:]))
    for each in (engine, other):
        each.feed(rest)
    assert shown(other) == shown(engine)
    engine.close()
    other.close()


steps = st.lists(
    st.tuples(st.just("feed"), well_formed)
    | st.tuples(st.just("feed"), st.sampled_from((b"\x1b[?1049h", b"\x1b[?1049l", b"\x1b[?25h")))
    | st.tuples(st.just("resize"), st.tuples(st.integers(8, 40), st.integers(2, 12)))
    | st.tuples(st.just("take"), st.none()),
    max_size=20,
)


def played(
    emulator: str, what: list[tuple[str, Any]], limit: int, watch: Callable[..., WatchedOutput]
) -> tuple[object, object]:
    """(what the pane shows in the end, what a player shows that was told)."""
    pane, player = Pane(engines.make(emulator)(COLS, ROWS)), Player(emulator)
    watched = watch(1, pane, lambda: 0, lambda: None, limit)
    watched.begin()
    for step, value in what:
        if step == "feed":
            pane.feed(value)
        elif step == "resize":
            pane.resize(*value)
        else:
            for message in watched.take():
                player.take(message)
    # As programs do before they draw: the style, the margins and inserting are in no keyframe.
    pane.feed(b"\x1b[m\x1b[r\x1b[4l")
    for message in watched.take():
        player.take(message)
    pane.feed(b"\x1b[?1049l\x1b[5;1Hend")
    for message in watched.take():
        player.take(message)
    try:
        return shown(pane.engine), shown(player.engine)
    finally:
        pane.engine.close()
        player.engine.close()


@pytest.mark.parametrize("emulator", EMULATORS)
@settings(max_examples=60)
@given(what=steps, limit=st.sampled_from((1, 40, 100_000)))
def test_any_pace_of_taking_leads_to_the_true_screen(
    emulator: str, what: list[tuple[str, Any]], limit: int
) -> None:
    there, told = played(emulator, what, limit, WatchedOutput)
    assert there == told


class NeverAgain(WatchedOutput):
    """Broken: one keyframe and no other."""

    def _look(self) -> None:
        self._size = self._terminal.engine.cols, self._terminal.engine.rows

    def _add(self, item: Output | Resized, cost: int) -> None:
        self._queued += cost
        if self._queued <= self._limit:
            self._queue.append(item)


LOST: dict[str, list[tuple[str, Any]]] = {
    "a gap": [("take", None), ("feed", b"one\r\n"), ("feed", b"x" * 60), ("take", None)],
    "another size": [("take", None), ("resize", (30, 4)), ("take", None)],
    "what was beneath": [
        ("feed", b"beneath\x1b[?1049h"),
        ("take", None),
        ("feed", b"\x1b[?1049l"),
        ("take", None),
    ],
}


@pytest.mark.parametrize("emulator", EMULATORS)
@pytest.mark.parametrize("what", LOST.values(), ids=LOST)
def test_without_a_second_keyframe_it_would_not(emulator: str, what: list[tuple[str, Any]]) -> None:
    there, told = played(emulator, what, 40, WatchedOutput)
    assert there == told
    there, told = played(emulator, what, 40, NeverAgain)
    assert there != told


@given(data=st.text(max_size=60), cuts=st.lists(st.integers(0, 200), max_size=6))
def test_a_recording_has_every_character_however_the_output_was_cut(
    data: str, cuts: list[int]
) -> None:
    lines: list[str] = []
    writer = CastWriter(lines.append, 0, {})
    raw = data.encode("utf-8", "replace")
    writer.take(Keyframe(1, 80, 24, b"", "", 5))
    for number, part in enumerate(chunks(raw, cuts)):
        writer.take(Output(1, part, 5 + 10 * number))
    events = list(CastReader(lines).events())
    assert "".join(e.text for e in events if isinstance(e, Printed)) == raw.decode()


@given(
    times=st.lists(st.integers(0, 10**7), min_size=1, max_size=30).map(sorted),
    sizes=st.lists(st.tuples(st.integers(1, 1000), st.integers(1, 500)), max_size=5),
)
def test_a_recording_has_every_size_and_its_times_do_not_drift(
    times: list[int], sizes: list[tuple[int, int]]
) -> None:
    lines: list[str] = []
    writer = CastWriter(lines.append, 0, {})
    writer.take(Keyframe(1, 80, 24, b"", "", 0))
    for time in times:
        writer.take(Output(1, b"x", time))
    for cols, rows in sizes:
        writer.take(Resized(1, cols, rows, times[-1]))
    events = list(CastReader(lines).events())
    at = [e.at for e in events if isinstance(e, Printed)]
    assert at == pytest.approx([time / 1000 for time in times], abs=1e-6)
    told = [(80, 24), *((e.cols, e.rows) for e in events if isinstance(e, Sized))]
    assert told[-1] == [(80, 24), *sizes][-1]


@given(lines=st.lists(st.text(max_size=40) | st.sampled_from(('{"version":3}', "[1]", "[1,2,3]"))))
def test_the_reader_reads_or_says_no(lines: list[str]) -> None:
    with suppress(NotACast):
        list(CastReader(line + "\n" for line in lines).events())
