"""Output on its way to who asked for it: in order, whole characters, bounded, losses counted."""

from __future__ import annotations

from collections.abc import Hashable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from termnode.service.shells import streams as streams_module
from termnode.service.shells.streams import LINGER_S, PIECE, STREAMS, WAITING, Piece, Streams

ME, OTHER = "me", "other"


def everybody(_owner: Hashable, _pane: int) -> bool:
    return True


def me(owner: Hashable, _pane: int) -> bool:
    return owner == ME


def taken(streams: Streams, now: float = 0.0, most: int = 1_000) -> list[Piece]:
    return streams.take(everybody, most, now)


def test_a_piece_says_whose_it_is_and_where_it_was() -> None:
    streams = Streams()
    streams.own(1, "7", ME, 3)
    streams.put(1, "7", b"one\n")
    assert taken(streams) == [Piece(1, "7", ME, 3, 0, 4, "one\n")]
    streams.put(1, "7", b"two")
    streams.put(1, "7", b" and")
    streams.end(1, "7", 0.0)
    assert taken(streams) == [Piece(1, "7", ME, 3, 4, 7, "two and", over=True)]
    assert len(streams) == 0


def test_the_end_is_told_also_of_a_silent_command() -> None:
    streams = Streams()
    streams.end(1, "7", 0.0)
    assert taken(streams) == []
    streams.own(1, "7", ME, 1)
    assert taken(streams) == [Piece(1, "7", ME, 1, 0, 0, "", over=True)]


def test_what_is_nobodys_is_told_to_nobody() -> None:
    streams = Streams()
    streams.put(1, "7", b"a person's")
    streams.end(1, "7", 0.0)
    assert taken(streams) == []
    assert taken(streams, LINGER_S) == []
    assert len(streams) == 0


def test_it_waits_for_who_wants_it_and_not_for_long_after_its_end() -> None:
    streams = Streams()
    streams.own(1, "7", OTHER, 1)
    streams.put(1, "7", b"x")
    assert streams.take(me, 9, 1e9) == []
    streams.end(1, "7", 100.0)
    assert streams.take(me, 9, 100.0 + LINGER_S - 1) == []
    assert len(taken(streams, 100.0 + LINGER_S - 1)) == 1
    streams.put(1, "8", b"x")
    streams.end(1, "8", 200.0)
    assert streams.take(me, 9, 200.0 + LINGER_S) == []
    assert len(streams) == 0


def test_the_oldest_output_is_lost_and_counted() -> None:
    streams = Streams()
    streams.own(1, "7", ME, 1)
    streams.put(1, "7", b"a" * 10)
    assert taken(streams)[0].size == 10
    streams.put(1, "7", b"b" * WAITING)
    streams.put(1, "7", b"c" * 5)
    first, *rest = taken(streams)
    assert (first.offset, first.lost, first.size) == (15, 5, PIECE)
    assert not any(each.lost for each in rest)
    assert rest[-1].offset + rest[-1].size == 15 + WAITING
    assert "".join(each.text for each in (first, *rest)) == "b" * (WAITING - 5) + "c" * 5


def test_each_has_its_turn() -> None:
    streams = Streams()
    for op in ("7", "8"):
        streams.own(1, op, ME, 1)
        streams.put(1, op, b"x" * 3 * PIECE)
    assert [each.op for each in taken(streams, most=4)] == ["7", "8", "7", "8"]
    streams.put(1, "9", b"y")
    streams.own(1, "9", ME, 1)
    assert [each.op for each in taken(streams, most=2)] == ["7", "8"]
    assert [each.op for each in taken(streams, most=2)] == ["9"]


def test_the_first_to_go_is_one_that_has_ended() -> None:
    streams = Streams()
    for op in range(STREAMS):
        streams.put(1, str(op), b"x")
        streams.own(1, str(op), ME, 1)
    streams.end(1, "5", 0.0)
    streams.put(2, "a", b"x")
    streams.own(2, "a", ME, 1)
    assert len(streams) == STREAMS
    streams.put(2, "b", b"x")
    gone = {str(each) for each in range(STREAMS)} - {each.op for each in taken(streams)}
    assert gone == {"5", "0"}


@given(st.text(), st.lists(st.integers(0, 400)), st.lists(st.booleans()))
def test_characters_are_told_whole_however_they_come(
    text: str, cuts: list[int], looks: list[bool]
) -> None:
    check_characters(text, cuts, looks)


def check_characters(text: str, cuts: list[int], looks: list[bool]) -> None:
    data = text.encode("utf-8", "replace")
    expected = data.decode()
    streams = Streams()
    streams.own(1, "7", ME, 1)
    pieces: list[Piece] = []
    ends = sorted({min(cut, len(data)) for cut in cuts} | {len(data)})
    for at, (begin, end) in enumerate(zip([0, *ends], ends, strict=False)):
        streams.put(1, "7", data[begin:end])
        if at < len(looks) and looks[at]:
            pieces += taken(streams)
    streams.end(1, "7", 0.0)
    pieces += taken(streams)
    assert "".join(each.text for each in pieces) == expected
    assert [each.over for each in pieces] == [False] * (len(pieces) - 1) + [True]
    at = 0
    for each in pieces:
        assert (each.offset, each.lost) == (at, 0)
        at += each.size
    assert at == len(data)


@given(st.lists(st.tuples(st.integers(0, 3 * WAITING), st.booleans()), max_size=8))
def test_offsets_add_up_whatever_is_lost(steps: list[tuple[int, bool]]) -> None:
    streams, told, at = Streams(), 0, 0
    streams.own(1, "7", ME, 1)
    for count, look in [*steps, (0, True)]:
        streams.put(1, "7", b"x" * count)
        told += count
        for each in taken(streams) if look else ():
            assert each.offset == at + each.lost
            at = each.offset + each.size
    assert at == told


def test_no_character_is_whole_without_the_check(monkeypatch: pytest.MonkeyPatch) -> None:
    def cut(data: bytes, *, final: bool) -> tuple[str, int]:
        del final
        return data.decode("utf-8", "replace"), len(data)

    monkeypatch.setattr(streams_module, "_text", cut)
    with pytest.raises(AssertionError):
        check_characters("é", [1], [True])
