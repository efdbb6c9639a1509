"""Marks in raw output, cut anywhere: the same ones at the same places, no byte lost or made."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from termnode.service.shells import marks
from termnode.service.shells.marks import MAX_MARK, Mark, MarkScanner
from termnode.service.shells.slicer import Slicer

NONCE = "0123456789abcdef"

Part = tuple[bytes, Mark | None]


def real(letter: str, status: int, generation: int, op: str | None, end: bytes) -> Part:
    """A mark as a shell writes it."""
    if letter != "D":
        return f"\x1b]133;{letter};n={NONCE}".encode() + end, Mark(letter)
    body = f"D;{status};n={NONCE};g={generation};op={op or ''}".encode()
    return b"\x1b]133;" + body + end, Mark("D", status, generation, op)


ends = st.sampled_from([b"\x07", b"\x1b\\"])
ops = st.none() | st.text("abcdef0123456789-", min_size=1, max_size=36)
real_marks = st.builds(
    real, st.sampled_from("ABCD"), st.integers(0, 255), st.integers(0, 2**63 - 1), ops, ends
)
junk = st.one_of(
    st.binary(max_size=40),
    st.sampled_from(
        [
            b"\x1b]133;A\x07",
            b"\x1b]133;D;0;n=\x07",
            b"\x1b]133;D;0;n=0123456789abcde\x07",
            f"\x1b]133;D;0;n={NONCE[::-1]}\x07".encode(),
            f"\x1b]133;D;0;n={NONCE}\x18".encode(),
            f"{NONCE}\x1b]133;D;0;n=1\x07".encode(),
            b"\x1b]133;",
            b"\x1b]133",
            b"\x1b]13\x1b]133;C",
            b"\x1b\x1b",
            b"\x1b]0;t\x07",
            b"x" * 700,
        ]
    ),
).map(lambda data: (data, None))
streams = st.lists(st.one_of(real_marks, junk), max_size=12)
cuts = st.lists(st.integers(1, 50), max_size=30)


def slices(data: bytes, sizes: list[int]) -> list[bytes]:
    """The data in pieces of these sizes, and the rest."""
    found = []
    for size in sizes:
        found.append(data[:size])
        data = data[size:]
    return [*found, data]


def found_in(parts: list[bytes]) -> tuple[list[tuple[int, Mark]], bytes, int]:
    """Marks with where in the output they stand, the output, and the most that was held back."""
    scanner, found, text, most = MarkScanner(NONCE), list[tuple[int, Mark]](), b"", 0
    for part in parts:
        for each in scanner.feed(part):
            if isinstance(each, Mark):
                found.append((len(text), each))
            else:
                text += each
        most = max(most, len(scanner._held))
    return found, text + scanner.finish(), most


def check(stream: list[Part], sizes: list[int]) -> None:
    """Against the parts that the stream was made of.

    Junk in front of a mark cannot swallow it: a mark begins with an escape, which ends all else.
    """
    data = b"".join(each for each, _ in stream)
    found, text, most = found_in(slices(data, sizes))
    expected, plain = list[tuple[int, Mark]](), b""
    for each, mark in stream:
        if mark is None:
            plain += each
        else:
            expected.append((len(plain), mark))
    assert found == expected
    assert text == plain
    assert most <= MAX_MARK


@given(streams, cuts)
def test_marks_and_output_are_parted(stream: list[Part], sizes: list[int]) -> None:
    check(stream, sizes)


def test_the_check_fails_without_the_nonce(monkeypatch: pytest.MonkeyPatch) -> None:
    any_nonce = marks._pattern(b"@").pattern.replace(b"n=@", rb"n=[0-9a-f]*")
    monkeypatch.setattr(marks, "_pattern", lambda _: re.compile(any_nonce))
    with pytest.raises(AssertionError):
        check([(f"{NONCE}\x1b]133;D;0;n={NONCE[::-1]}\x07".encode(), None)], [])


def test_the_check_fails_when_nothing_is_held_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(marks, "_unfinished_from", lambda data, _: len(data))
    with pytest.raises(AssertionError):
        check([real("C", 0, 0, None, b"\x07")], [5])


@given(st.lists(st.binary(max_size=60), max_size=30), st.integers(1, 40))
def test_a_slice_is_the_ends_of_the_output(parts: list[bytes], kept: int) -> None:
    data = b"".join(parts)
    slicer = Slicer("bash", kept)
    slicer.begin()
    for part in parts:
        slicer.put(part)
    found = slicer.end(80)
    assert found is not None
    if b"\x1b[?2004" in data:
        return
    assert found.count == len(data)
    if len(data) <= 2 * kept:
        assert found.head + found.tail == data
    else:
        assert (found.head, found.tail) == (data[:kept], data[-kept:])
