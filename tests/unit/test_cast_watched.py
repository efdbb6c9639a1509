"""The output that waits for one connection: from a keyframe on, bounded, ended once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from termnode.service.viewing.watching_output import WatchedOutput
from termnode.terminal import engines
from termnode.terminal.exit_report import ExitReport
from termnode.terminal.taps import TAIL
from termnode.view.frames import Decoder, encode
from termnode.view.messages import Ended, Keyframe, Output, Resized
from termnode.view.shapes import MAX_DATA
from tests.support.watched_pane import Pane

LIMIT = 1_000


class Watch:
    """A pane that is watched, and how often its writer was woken."""

    def __init__(self, cols: int = 20, rows: int = 4) -> None:
        self.pane = Pane(engines.make("pyte")(cols, rows))
        self.wakes = 0
        self.now = 7
        self.output = WatchedOutput(3, self.pane, lambda: self.now, self._wake, LIMIT)
        self.output.begin()

    def _wake(self) -> None:
        self.wakes += 1

    def begun(self) -> Watch:
        """After the first keyframe."""
        self.output.take()
        return self


@pytest.fixture
def watch() -> Iterator[Watch]:
    made = Watch()
    yield made
    made.pane.engine.close()


def test_the_first_message_is_a_keyframe_of_what_is_there_when_it_is_taken(watch: Watch) -> None:
    assert watch.wakes == 1
    watch.pane.feed(b"before")
    (first,) = watch.output.take()
    assert isinstance(first, Keyframe)
    assert b"before" in first.ansi
    assert (first.cols, first.rows, first.time_ms, first.missed) == (20, 4, 7, 0)
    assert watch.output.take() == []


def test_output_comes_as_it_was_with_its_time(watch: Watch) -> None:
    watch.begun().pane.feed(b"\x1b[31mone")
    watch.now = 9
    watch.pane.feed(b"two")
    assert watch.wakes == 3
    assert watch.output.take() == [Output(3, b"\x1b[31mone", 7), Output(3, b"two", 9)]


def test_who_does_not_take_is_owed_a_keyframe_and_costs_no_more(watch: Watch) -> None:
    watch.begun()
    for _ in range(50):
        watch.pane.feed(b"x" * 100)
    assert not watch.output._queue
    (told,) = watch.output.take()
    assert isinstance(told, Keyframe)
    assert told.missed == 5_000
    watch.pane.feed(b"on")
    assert watch.output.take() == [Output(3, b"on", 7)]


def test_sizes_that_nobody_takes_are_bounded_too(watch: Watch) -> None:
    watch.begun()
    for number in range(500):
        watch.pane.resize(20 + number % 2, 4)
        assert len(watch.output._queue) <= LIMIT
    assert isinstance(watch.output.take()[-1], Keyframe)


def test_a_new_size_is_told_in_its_place_and_then_the_screen(watch: Watch) -> None:
    watch.begun().pane.feed(b"narrow")
    watch.pane.resize(40, 4)
    watch.pane.feed(b"wide")
    before, size, after, screen = watch.output.take()
    assert [before, size, after] == [Output(3, b"narrow", 7), Resized(3, 40, 4, 7),
                                     Output(3, b"wide", 7)]  # fmt: skip
    assert isinstance(screen, Keyframe)
    assert b"narrowwide" in screen.ansi


def test_the_end_is_told_once_and_then_nobody_listens(watch: Watch) -> None:
    watch.begun().pane.feed(b"bye")
    watch.pane.exit, watch.pane.final = ExitReport(3, None, core=False), True
    watch.pane.taps.nudge()
    assert watch.output.take() == [Output(3, b"bye", 7), Ended(3, "exited 3", 7)]
    assert watch.output.over
    assert not watch.pane.taps
    assert watch.output.take() == []


@pytest.mark.parametrize(
    ("report", "state"),
    [(None, "exited"), (ExitReport(0, None, core=False), "exited 0"),
     (ExitReport(None, 9, core=True), "signal 9")],
)  # fmt: skip
def test_how_it_ended(watch: Watch, report: ExitReport | None, state: str) -> None:
    watch.pane.exit, watch.pane.final = report, True
    assert watch.output.take()[-1] == Ended(3, state, 7)


def test_a_closed_terminal_is_not_read(watch: Watch) -> None:
    watch.pane.closed = watch.pane.final = True
    assert watch.output.take() == [Ended(3, "exited", 7)]


def test_only_the_end_of_a_slice_is_kept(watch: Watch) -> None:
    watch.pane.feed(b"x" * 100_000)
    assert len(watch.pane.taps.recent) == TAIL


def test_the_largest_screen_goes_through_the_protocol() -> None:
    watch = Watch(1_000, 500)
    watch.pane.feed("".join(f"\x1b[3{n % 7}m中" for n in range(250_000)).encode())
    told = watch.output.take()
    decoder = Decoder()
    read = [message for each in told for message in decoder.feed(encode(each))]
    assert read == told
    assert isinstance(told[0], Keyframe)
    assert len(told) > 1
    parts = [m.ansi if isinstance(m, Keyframe) else m.data for m in told
             if isinstance(m, Keyframe | Output)]  # fmt: skip
    assert max(map(len, parts)) <= MAX_DATA
    again = engines.make("pyte")(1_000, 500)
    for part in parts:
        again.feed(part)
    assert again.text() == watch.pane.engine.text()
    again.close()
    watch.pane.engine.close()
