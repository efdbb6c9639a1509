"""What lies between a command's marks: both ends kept, counted, without what the shell adds."""

from __future__ import annotations

import pytest

from termnode.service.shells.slicer import KEPT, Slice, Slicer

SWITCH_ON, SWITCH_OFF = b"\x1b[?2004h", b"\x1b[?2004l"
ZSH = b"\x1b[1m\x1b[7m%\x1b[27m\x1b[1m\x1b[0m" + b" " * 39 + b"\r \r"
FISH_BEGIN = SWITCH_OFF + b"\x1b]0;printf abc /tmp\x07\x1b[30m\x1b(B\x1b[m\r"
FISH_END = "\x1b[2m⏎\x1b(B\x1b[m".encode() + b" " * 39 + "\r⏎ \r\x1b[K".encode()


def sliced(kind: str, *data: bytes, cols: int = 40, kept: int = KEPT) -> Slice:
    """The output of one command."""
    slicer = Slicer(kind, kept)
    slicer.begin()
    for each in data:
        slicer.put(each)
    found = slicer.end(cols)
    assert found is not None
    return found


def test_only_what_a_command_wrote_is_taken() -> None:
    slicer = Slicer("bash")
    slicer.put(b"prompt")
    assert slicer.end(80) is None
    slicer.begin()
    slicer.put(b"one")
    slicer.begin()  # a second part of the same command
    slicer.put(b"two")
    assert slicer.end(80) == Slice(b"onetwo", b"", 6)
    slicer.put(b"prompt")
    assert slicer.end(80) is None


@pytest.mark.parametrize("size", [1, 3, 1_000])
def test_both_ends_are_kept_and_all_is_counted(size: int) -> None:
    data = bytes(range(256)) * 4
    parts = [data[at : at + size] for at in range(0, len(data), size)]
    assert sliced("bash", *parts, kept=10) == Slice(data[:10], data[-10:], len(data))
    assert sliced("bash", *parts, kept=600) == Slice(data[:600], data[600:], len(data))
    assert sliced("bash", *parts, kept=512) == Slice(data[:512], data[512:], len(data))


def test_memory_is_bounded_whatever_comes() -> None:
    slicer = Slicer("bash", 100)
    slicer.begin()
    for _ in range(1_000):
        slicer.put(b"x" * 77)
        assert len(slicer._head) + len(slicer._tail) <= 3 * 100 + 77
    slicer.put(b"y" * 100_000)
    assert len(slicer._tail) <= 2 * 100
    assert slicer.end(80) == Slice(b"x" * 100, b"y" * 100, 177_000)


@pytest.mark.parametrize("kind", ["bash", "zsh", "fish"])
def test_switches_of_bracketed_paste_are_left_out(kind: str) -> None:
    found = sliced(kind, b"a" + SWITCH_ON, b"b\x1b[?20", b"04lc\r\n")
    assert found == Slice(b"abc\r\n", b"", 5)


@pytest.mark.parametrize(
    "text", [b"", b"abc", b"hi\r\n", b"ab   ", b"x\x1b[31m red\x1b[0m", "é⏎".encode()]
)
@pytest.mark.parametrize(
    ("kind", "begin", "end"),
    [
        ("bash", b"", b""),
        ("zsh", b"", ZSH),
        ("zsh", b"", ZSH.replace(b"%", b"#")),
        ("zsh", b"", b" " * 40 + b"\r\r"),
        ("zsh", b"", b"\x1b[31m<<\x1b[39m" + b" " * 38 + b"\r  \r"),
        ("fish", FISH_BEGIN, FISH_END),
        ("fish", b"\x1b]0;t\x07", FISH_END),
        ("fish", FISH_BEGIN, b""),
    ],
)
def test_what_a_shell_writes_itself_is_left_out(
    kind: str, begin: bytes, end: bytes, text: bytes
) -> None:
    assert sliced(kind, begin + text + end) == Slice(text, b"", len(text))
    cut = len(begin + text) // 2
    found = sliced(kind, begin + text + end, kept=max(1, cut))
    if found.count == len(found.head + found.tail):
        assert found.head + found.tail == text


def test_a_sign_behind_much_output_is_left_out_too() -> None:
    found = sliced("zsh", b"a" * 100_000 + ZSH)
    assert found.count == 100_000
    assert found.head == b"a" * KEPT
    assert found.tail == b"a" * (KEPT - len(ZSH))


@pytest.mark.parametrize("kind", ["bash", "zsh", "fish"])
def test_output_that_looks_a_little_like_a_sign_stays(kind: str) -> None:
    for text in (b"50%", b"bar  \r", b"  \r \r", b"\xe2\x8f\x8e", b"~ \r~ \r", b"spin\r\x1b[K"):
        assert sliced(kind, text) == Slice(text, b"", len(text))
