"""The filter in front of the native library: what it takes out, and that cuts never matter."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from termnode.terminal.ghostty_engine.prefilter import HELD_MAX, Action, Piece, Prefilter

SWITCHED = Action.SCREENS_MAY_HAVE_CHANGED
REWRITES: list[tuple[bytes, list[Piece]]] = [
    (b"plain \x1b[31mred", [b"plain \x1b[31mred"]),
    (b"a\x7fb", [b"ab"]),
    (b"a\x1b[!pb", [b"a", Action.SOFT_RESET, b"b"]),
    (b"\x1b[?6n", [Action.EXTENDED_CURSOR_REPORT]),
    (b"\x1b[22t\x1b[23;2t", [Action.PUSH_TITLE, Action.POP_TITLE]),
    (b"\x1b[22;1ta", [b"a"]),
    (b"\x1b[22;0;0t", [Action.PUSH_TITLE]),
    (b"\x1b[18t", [b"\x1b[18t"]),
    (b"a\x1b[1$}b\x1b[0$}", [b"a", b"b"]),
    (b"\x1bkname\x1b\\", [b"\x1b^", b"name\x1b\\"]),
    (b"\x1b]133;A\x07", [Action.NOTE_PROMPT, b"\x1b]7133;", b"A\x07"]),
    (b"\x1bc", [Action.NUMBER_LINES, b"\x1bc", Action.FULL_RESET]),
    (b"\x1b[J", [Action.WIPING_BELOW, b"\x1b[J"]),
    (b"\x1b[?02;1J", [b"\x1b[?02;1J"]),
    (b"\x1b[1J", [b"\x1b[1J"]),
    (b"\x1b[3J", [Action.NUMBER_LINES, b"\x1b[3J", Action.HISTORY_WIPED]),
    (b"\x1b[?25;047h", [Action.NUMBER_LINES, b"\x1b[?25;047h", SWITCHED]),
    (b"\x1b[?1047;25l", [Action.NUMBER_LINES, b"\x1b[?1047;25l", SWITCHED]),
    (b"\x1b[?1049h", [Action.NUMBER_LINES, b"\x1b[?1049h", SWITCHED, Action.ALTERNATE_WIPED]),
    (b"\x1b[?1049r", [Action.NUMBER_LINES, b"\x1b[?1049r", SWITCHED, Action.ALTERNATE_WIPED]),
    (b"\x1b[?1049l", [Action.NUMBER_LINES, b"\x1b[?1049l", SWITCHED]),
    (b"\x1b[?2004;25h\x1b[?10490h", [b"\x1b[?2004;25h\x1b[?10490h"]),
    (b"\x1b[?40h", []),
    (b"\x1b[?40;25h\x1b[?40l", [b"\x1b[?25h", b"\x1b[?40l"]),
    (b"\x1b[>4;2m", [b"\x1b[>4;2m", Action.OTHER_KEYS_2]),
    (b"\x1b[>4m", [b"\x1b[>4m", Action.OTHER_KEYS_OFF]),
    (b"\x1b[>5m", [b"\x1b[>5m"]),
]


@pytest.mark.parametrize(("data", "pieces"), REWRITES)
def test_pieces(data: bytes, pieces: list[Piece]) -> None:
    assert list(Prefilter().pieces(data)) == pieces


def test_ordinary_output_is_not_copied() -> None:
    data = b"some \x1b[1moutput\x1b[m\r\n" * 100
    (piece,) = Prefilter().pieces(data)
    assert piece is data


@pytest.mark.parametrize(
    "begun",
    [
        b"\x1b",
        b"\x1b[",
        b"\x1b[22;0",
        b"\x1b[1$",
        b"\x1b]13",
        b"\x1b[>4;2",
        b"\x1b[?1049",
        b"\x1b[?" + b"1;" * 18,
    ],
)
def test_a_begun_sequence_is_held(begun: bytes) -> None:
    prefilter = Prefilter()
    assert list(prefilter.pieces(b"text" + begun)) == [b"text"]
    assert prefilter.held == begun
    assert len(begun) <= HELD_MAX


@pytest.mark.parametrize("tail", [b"\x1b[31", b"\x1b]2;title"])
def test_what_cannot_matter_is_not_held(tail: bytes) -> None:
    prefilter = Prefilter()
    shown = b"".join(p for p in prefilter.pieces(tail) if isinstance(p, bytes))
    assert shown + prefilter.held == tail
    assert prefilter.held in (b"", b"\x1b[31")


def joined(pieces: list[Piece]) -> list[Piece]:
    """Neighbouring bytes as one."""
    whole: list[Piece] = []
    for piece in pieces:
        if whole and isinstance(piece, bytes) and isinstance(whole[-1], bytes):
            whole[-1] += piece
        else:
            whole.append(piece)
    return whole


fragments = st.sampled_from(
    [
        b"\x1b",
        b"[",
        b"]",
        b"133",
        b";",
        b"22",
        b"t",
        b"$",
        b"}",
        b"?6n",
        b"?",
        b"1049",
        b"3",
        b"J",
        b"h",
        b"!p",
        b">4",
        b"m",
        b"k",
        b"x",
    ]
)


@given(data=st.lists(fragments, max_size=30).map(b"".join), cut=st.integers(0, 60))
def test_a_cut_changes_nothing(data: bytes, cut: int) -> None:
    whole, parts = Prefilter(), Prefilter()
    expected = joined([*whole.pieces(data), *whole.pieces(b"\x1b\x1b")])
    first = list(parts.pieces(data[:cut]))
    second = list(parts.pieces(data[cut:]))
    assert joined([*first, *second, *parts.pieces(b"\x1b\x1b")]) == expected


@given(data=st.binary(max_size=200))
def test_what_is_held_is_bounded(data: bytes) -> None:
    prefilter = Prefilter()
    list(prefilter.pieces(b"\x1b[" + b"1" * 30 + data))
    assert len(prefilter.held) <= HELD_MAX
