"""How much of a line a terminal in canonical mode was given, over several writes."""

from __future__ import annotations

import os
import pty
import termios
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from termnode.service.input.lines import Span, measure
from termnode.terminal.processes import line_discipline

ENDS = b"\n\r\x03"
Measure = Callable[[int, bytes, bytes], Span]


def byte_by_byte(begun: int, data: bytes, ends: bytes) -> Span:
    longest = begun
    for byte in data:
        begun = 0 if byte in ends else begun + 1
        longest = max(longest, begun)
    return Span(longest, begun)


@given(st.integers(0, 5), st.lists(st.sampled_from(b"ab" + ENDS)).map(bytes))
def test_lines_are_measured_as_byte_by_byte(begun: int, data: bytes) -> None:
    assert measure(begun, data, ENDS) == byte_by_byte(begun, data, ENDS)


@given(st.lists(st.lists(st.sampled_from(b"ab\n")).map(bytes)))
def test_in_parts_it_is_the_same_line(parts: list[bytes]) -> None:
    whole = measure(0, b"".join(parts), b"\n")
    begun = longest = 0
    for part in parts:
        span = measure(begun, part, b"\n")
        begun, longest = span.begun, max(longest, span.longest)
    assert Span(longest, begun) == whole


@pytest.fixture
def terminal() -> Iterator[int]:
    master, slave = pty.openpty()
    yield master
    os.close(master)
    os.close(slave)


def changed(terminal: int, change: Callable[[list[object]], None]) -> bytes:
    """What ends a line when the settings were changed so."""
    settings = termios.tcgetattr(terminal)
    change(settings)
    termios.tcsetattr(terminal, termios.TCSANOW, settings)
    found = line_discipline(terminal)
    assert found is not None
    return bytes(sorted(found.line_ends))


def test_line_ends_follow_the_settings(terminal: int) -> None:
    assert changed(terminal, lambda _: None) == b"\x03\x04\n\r\x15\x1a\x1c"

    def no_enter(settings: list[object]) -> None:
        flags = settings[0]
        assert isinstance(flags, int)
        settings[0] = flags & ~termios.ICRNL

    assert changed(terminal, no_enter) == b"\x03\x04\n\x15\x1a\x1c"

    def no_signals(settings: list[object]) -> None:
        flags = settings[3]
        assert isinstance(flags, int)
        settings[3] = flags & ~termios.ISIG

    assert changed(terminal, no_signals) == b"\x04\n\x15"

    def another_kill(settings: list[object]) -> None:
        characters = settings[6]
        assert isinstance(characters, list)
        characters[termios.VKILL] = b"@"
        characters[termios.VEOF] = b"\0"

    assert changed(terminal, another_kill) == b"\n@"

    def raw(settings: list[object]) -> None:
        flags = settings[3]
        assert isinstance(flags, int)
        settings[3] = flags & ~termios.ICANON

    assert changed(terminal, raw) == b"\n"
