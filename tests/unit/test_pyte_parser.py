"""The parser alone: what is asked of the screen for which bytes, however they are cut."""

from __future__ import annotations

import tracemalloc

import pytest

from termnode.terminal.pyte_engine.grammar import MAX_DCS, MAX_INTERMEDIATES, MAX_OSC, MAX_PARAMS
from termnode.terminal.pyte_engine.parser import Parser

Call = tuple[str, ...]


class Recorder:
    """Actions that note what was asked; neighboring text is one call."""

    def __init__(self) -> None:
        self.calls: list[Call] = []

    def draw(self, text: str) -> None:
        if self.calls and self.calls[-1][0] == "draw":
            text = self.calls.pop()[1] + text
        self.calls.append(("draw", text))

    def newline(self) -> None:
        self.control("\r")
        self.control("\n")

    def control(self, char: str) -> None:
        self.calls.append(("control", char))

    def rendition(self, params: str) -> None:
        self.calls.append(("m", params))

    def csi(self, key: str, params: str) -> None:
        self.calls.append(("csi", key, params))

    def escape(self, intermediates: str, final: str) -> None:
        self.calls.append(("esc", intermediates + final))

    def osc(self, text: str, end: str) -> None:
        self.calls.append(("osc", text, end))

    def dcs(self, text: str) -> None:
        self.calls.append(("dcs", text))


def calls(*chunks: bytes) -> list[Call]:
    recorder = Recorder()
    parser = Parser(recorder)
    for chunk in chunks:
        parser.feed(chunk)
    return recorder.calls


CASES: list[tuple[bytes, list[Call]]] = [
    (b"ab\x01cd", [("draw", "abcd")]),
    (b"a\r\nb", [("draw", "a"), ("control", "\r"), ("control", "\n"), ("draw", "b")]),
    (b"\x1b[1;2Hx", [("csi", "H", "1;2"), ("draw", "x")]),
    (b"\x1b[38:2::1:2:3m", [("m", "38:2::1:2:3")]),
    (b"\x1b[>4;2m\x1b[?1$p", [("csi", ">m", "4;2"), ("csi", "?$p", "1")]),
    (b"\x1b[1\n0G", [("control", "\n"), ("csi", "G", "10")]),
    (b"\x1b[3\x1b[4mx", [("m", "4"), ("draw", "x")]),
    (b"\x1b[3\x18X\x1b[3\x1aY", [("draw", "XY")]),
    (b"\x1b[3\x7f4m", [("m", "34")]),
    (b"\x1b[1<2mX", [("draw", "X")]),
    (b"\x1b[1 2qX", [("draw", "X")]),
    (b"\x1b(0\x1b#8\x1b7", [("esc", "(0"), ("esc", "#8"), ("esc", "7")]),
    (b"\x1b\xc3\xa9", [("draw", "é")]),
    (b"\x1b]2;T\xc3\xa9\x07", [("osc", "2;Té", "\x07")]),
    (b"\x1b]2;T\x1b\\", [("osc", "2;T", "\x1b\\")]),
    (b"\x1b]2;T\xc2\x9cX", [("osc", "2;T", "\x1b\\"), ("draw", "X")]),
    (b"\x1b]2;T\x18X\x1b]2;T\x1b[mY", [("draw", "X"), ("m", ""), ("draw", "Y")]),
    (b"\x1bP$qm\x1b\\", [("dcs", "$qm")]),
    (b"\x1bPa\x07b\x1b\\", [("dcs", "a\x07b")]),
    (b"\x1b_G;x\x1b\\\x1bXs\x1b\\\x1b^p\x1b\\\x1bkt\x1b\\X", [("draw", "X")]),
    (b"\xc2\x9b31mX\xc2\x85", [("m", "31"), ("draw", "X"), ("esc", "E")]),
    (b"a\x9b31m", [("draw", "a\ufffd31m")]),
    (b"a\xff\xed\xa0\x80b", [("draw", "a\ufffd\ufffd\ufffd\ufffdb")]),
    (b"\x1b!", []),
    (b"\x1b(B\xc2\x84", [("esc", "(B"), ("esc", "D")]),
    (b"\x1b!\xc2\x84", [("esc", "D")]),
]


@pytest.mark.parametrize(("data", "expected"), CASES)
def test_actions(data: bytes, expected: list[Call]) -> None:
    assert calls(data) == expected


@pytest.mark.parametrize(("data", "expected"), CASES)
def test_actions_however_the_bytes_are_cut(data: bytes, expected: list[Call]) -> None:
    assert calls(*(bytes([byte]) for byte in data)) == expected
    for cut in range(len(data)):
        assert calls(data[:cut], data[cut:]) == expected


def test_a_parser_without_memory_fails_the_cut() -> None:
    """The check above notices a parser that starts anew with each feed."""
    recorder = Recorder()
    for chunk in (b"\x1b[1", b";2Hx"):
        Parser(recorder).feed(chunk)
    assert recorder.calls != calls(b"\x1b[1;2Hx")


@pytest.mark.parametrize("cut", [1, 7, 4_096, 10**9])
@pytest.mark.parametrize(
    ("start", "filler", "end", "limit"),
    [
        (b"\x1b[", b"1", b"G", MAX_PARAMS),
        (b"\x1b[", b"1", b"m", MAX_PARAMS),
        (b"\x1b[1", b"!", b"p", MAX_INTERMEDIATES),
        (b"\x1b", b"(", b"B", MAX_INTERMEDIATES),
        (b"\x1b]", b"x", b"\x07", MAX_OSC),
        (b"\x1bP", b"x", b"\x1b\\", MAX_DCS),
    ],
)
def test_what_is_too_long_is_ignored_whole(
    start: bytes, filler: bytes, end: bytes, limit: int, cut: int
) -> None:
    def acted(size: int) -> int:
        data = start + filler * size + end + b"X"
        got = calls(*(data[i : i + cut] for i in range(0, len(data), cut)))
        assert got[-1] == ("draw", "X")
        return len(got) - 1

    assert acted(limit) == 1
    assert acted(limit + 1) == 0
    assert acted(3 * limit) == 0


@pytest.mark.parametrize("start", [b"\x1b]2;", b"\x1bPq", b"\x1b_G", b"\x1b["])
def test_an_endless_sequence_is_discarded_in_constant_memory(start: bytes) -> None:
    parser = Parser(Recorder())
    parser.feed(start)
    chunk = b"1" * 65_536
    for _ in range(4):
        parser.feed(chunk)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(100):
            parser.feed(chunk)
        assert tracemalloc.get_traced_memory()[0] - before < 100_000
    finally:
        tracemalloc.stop()
