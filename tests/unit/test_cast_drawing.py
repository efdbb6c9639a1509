"""What a playback draws: the recording's cells, and none of its sequences."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from termnode.cast.drawing import ENTER, LEAVE, Drawing
from termnode.terminal import engines
from termnode.terminal.engine import Engine


class Screen:
    """A person's terminal and a drawing on it."""

    def __init__(self, emulator: str, cols: int, rows: int) -> None:
        self.recorded = engines.make(emulator)(20, 4, 0)
        self.person = engines.make(emulator)(cols, rows)
        self.drawing = Drawing(self.recorded, cols, rows)
        self.bytes = b""
        self.person.feed(b"$ termnode play\r\n" + ENTER)

    def draw(self) -> list[str]:
        frame = self.drawing.frame()
        self.bytes += frame
        self.person.feed(frame)
        return self.person.text()


@pytest.fixture(params=engines.available())
def emulator(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def screen(emulator: str) -> Iterator[Screen]:
    made = Screen(emulator, 30, 6)
    yield made
    _close(made.recorded, made.person)


def _close(*engines_: Engine) -> None:
    for engine in engines_:
        engine.close()


def test_it_shows_what_the_recording_shows(screen: Screen) -> None:
    screen.drawing.feed("one\r\n\x1b[31mtwo 中\x1b[0m")
    assert screen.draw() == ["one", "two 中", "", "", "", ""]
    assert (screen.person.cursor.x, screen.person.cursor.y) == (6, 1)
    assert screen.person.runs()[1] == screen.recorded.runs()[1]
    screen.drawing.feed("\x1b[H\x1b[2Jnew\x1b[?25l")
    assert screen.draw()[:2] == ["new", ""]
    assert not screen.person.cursor.visible


def test_a_frame_has_the_changed_rows_alone(screen: Screen) -> None:
    screen.drawing.feed("one\r\ntwo\r\n")
    screen.draw()
    screen.drawing.feed("three")
    frame = screen.drawing.frame()
    assert b"three" in frame
    assert b"one" not in frame
    assert b"two" not in frame


def test_no_sequence_of_the_recording_reaches_the_terminal(screen: Screen) -> None:
    screen.drawing.feed(
        "\x1b]52;c;c2VjcmV0\x07\x1b]2;title\x07\x1b[?1003h\x1b[6n\x1b[>1u\x1bPq\x1b\\\x1b[?2004h"
        "\x1b]8;;http://h/\x07link\x1b]8;;\x07\x1b[5i\x07"
    )
    screen.draw()
    ours = re.compile(rb"\x1b\[[0-9;]*[HKJm]|\x1b\[\?25[hl]")
    assert b"\x1b" not in ours.sub(b"", screen.bytes)
    assert b"\x07" not in screen.bytes


def test_what_does_not_fit_is_cut_and_sizes_may_change(emulator: str) -> None:
    screen = Screen(emulator, 5, 2)
    screen.drawing.feed("abcdefgh\r\n1234中\r\nthird")
    assert screen.draw() == ["abcde", "1234"]
    assert not screen.person.cursor.visible
    screen.person.resize(30, 6)
    screen.drawing.fit(30, 6)
    assert screen.draw()[:3] == ["abcdefgh", "1234中", "third"]
    screen.drawing.resize(10, 3)
    screen.drawing.feed("\x1b[H\x1b[2Jsmall")
    assert screen.draw() == ["small", "", "", "", "", ""]
    _close(screen.recorded, screen.person)


def test_the_terminal_is_as_before_in_the_end_with_the_last_screen_below(screen: Screen) -> None:
    screen.drawing.feed("one\r\n\x1b[1mtwo\x1b[0m\x1b[?25l")
    screen.draw()
    screen.person.feed(LEAVE + screen.drawing.last_screen().encode())
    assert screen.person.text()[:4] == ["$ termnode play", "one", "two", ""]
    assert screen.person.cursor.visible
    assert screen.person.modes.autowrap
    assert not screen.person.modes.alternate
