"""Marks of an integrated shell in raw output: found with the nonce only, whole, and in bounds."""

from __future__ import annotations

import pytest

from termnode.service.shells.human import Typing
from termnode.service.shells.marks import MAX_MARK, MAX_OP, Mark, MarkScanner
from termnode.terminal.commands import CommandEnded, Commands

NONCE = "0123456789abcdef"
N = f"n={NONCE}".encode()


def scanned(*slices: bytes) -> list[bytes | Mark]:
    """All that is found, with the rest at the end; text that meets is joined."""
    scanner = MarkScanner(NONCE)
    found: list[bytes | Mark] = [each for data in slices for each in scanner.feed(data)]
    found.append(scanner.finish())
    joined: list[bytes | Mark] = []
    for each in found:
        last = joined[-1] if joined else None
        if isinstance(each, bytes) and isinstance(last, bytes):
            joined[-1] = last + each
        elif each:
            joined.append(each)
    return joined


@pytest.mark.parametrize("end", [b"\x07", b"\x1b\\"])
def test_every_kind_of_mark_is_read(end: bytes) -> None:
    data = b"a\x1b]133;A;%s%sp\x1b]133;B;%s%sls\r\n\x1b]133;C;%s%sout" % (
        N,
        end,
        N,
        end,
        N,
        end,
    ) + b"\x1b]133;D;130;%s;g=7;op=ab-1%s" % (N, end)
    assert scanned(data) == [
        b"a",
        Mark("A"),
        b"p",
        Mark("B"),
        b"ls\r\n",
        Mark("C"),
        b"out",
        Mark("D", 130, 7, "ab-1"),
    ]


def test_a_mark_in_two_slices_is_one_wherever_it_is_cut() -> None:
    data = b"x\x1b]133;D;0;%s;g=2;op=\x1b\\y" % N
    for at in range(len(data) + 1):
        assert scanned(data[:at], data[at:]) == [b"x", Mark("D", 0, 2, None), b"y"]
    assert scanned(*[data[n : n + 1] for n in range(len(data))])[1] == Mark("D", 0, 2, None)


@pytest.mark.parametrize(
    "data",
    [
        b"\x1b]133;D;0\x07",
        b"\x1b]133;D;0;n=\x07",
        b"\x1b]133;D;0;n=0123456789abcdeX\x07",
        b"\x1b]133;D;0;n=0123456789abcdef0\x07",
        b"\x1b]133;D;0;xn=0123456789abcdef\x07",
        b"\x1b]133;E;%s\x07" % N,
        b"\x1b]133;AB;%s\x07" % N,
        b"\x1b]1337;A;%s\x07" % N,
        b"\x1b]133;A;%s\x18\x07" % N,
        b"\x1b]133;A;%s\x1b[m\x07" % N,
        b"\x1b]133;A;%s;%s\x07" % (N, b"x" * (MAX_MARK + 1)),
        N,
        b"\x1b",
        b"\x1b]133;A;%s" % N,
    ],
)
def test_anything_else_is_output(data: bytes) -> None:
    assert scanned(data) == [data]
    assert scanned(data, b"more", b"\x1b]133;A;%s\x07" % N)[-1] == Mark("A")


def test_what_a_mark_does_not_say_soundly_is_not_known() -> None:
    said = b"x;%s;g=x;op=%s" % (N, b"o" * (MAX_OP + 1))
    assert scanned(b"\x1b]133;D;%s\x07" % said) == [Mark("D")]


def test_no_more_than_a_mark_is_held_back() -> None:
    scanner = MarkScanner(NONCE)
    fed = held = 0
    for data in (b"\x1b]133;A;" + b"x" * MAX_MARK, b"y" * 10_000, b"\x1b]133;" * 10_000, b"\x1b"):
        fed += len(data)
        fed -= sum(len(each) for each in scanner.feed(data) if isinstance(each, bytes))
        held = max(held, fed)
    assert held <= MAX_MARK


def typing_after(*marks: tuple[str, int]) -> Typing:
    """With these marks read, each after so many bytes typed."""
    typing = Typing()
    for letter, count in marks:
        typing.mark(letter, count)
    return typing


PROMPT = (("D", 5), ("A", 5), ("B", 5))


@pytest.mark.parametrize(
    ("marks", "shown"),
    [
        ((), False),
        ((("B", 0),), False),
        (PROMPT[:1], False),
        (PROMPT[:2], False),
        (PROMPT, True),
        ((*PROMPT, ("A", 6), ("B", 6)), True),
        ((*PROMPT, ("C", 7)), False),
        ((*PROMPT, ("C", 7), ("B", 7)), False),
        ((*PROMPT, ("C", 7), ("D", 9)), False),
        ((*PROMPT, ("C", 7), ("D", 9), ("B", 9)), True),
        ((*PROMPT, ("D", 9)), False),
    ],
)
def test_a_prompt_is_shown_by_the_first_b_after_a_command(
    marks: tuple[tuple[str, int], ...], shown: bool
) -> None:
    assert typing_after(*marks).shown is shown


def test_typing_counts_from_the_end_of_a_command() -> None:
    assert typing_after(*PROMPT).untouched(5)
    assert not typing_after(*PROMPT).untouched(6)
    drawn_again = typing_after(*PROMPT, ("A", 6), ("B", 6))
    assert not drawn_again.untouched(6)
    assert typing_after(*PROMPT, ("C", 7), ("D", 9), ("B", 10)).untouched(9)
    assert not typing_after(*PROMPT, ("C", 7)).untouched(7)


def test_a_press_is_nothing_that_was_typed() -> None:
    typing = Typing()
    typing.pressed(2)
    assert not typing.untouched(2)
    typing.mark("D", 0)
    typing.mark("B", 0)
    typing.pressed(2)
    assert typing.untouched(2)
    assert not typing.untouched(3)


def test_a_prompt_after_a_command_without_end_counts_as_its_end() -> None:
    typing = Typing()
    typing.mark("C", 3)
    typing.mark("A", 4)
    typing.mark("B", 4)
    assert typing.shown
    assert typing.untouched(4)


def test_the_screen_takes_no_mark_for_its_own_shell_without_the_nonce() -> None:
    commands = Commands()
    commands.nonce = NONCE
    about = (None, None, 1, 0.0)
    assert commands.mark(f"C;n={NONCE}", *about) == []
    for forged in ("D;0", "D;0;n=", "D;0;n=1", f"D;0;g={NONCE}", f"D;0;xn={NONCE}"):
        assert commands.mark(forged, *about) == ()
        assert commands.phase == "running"
    (ended, _) = commands.mark(f"D;3;n={NONCE};g=2;op=1", *about)
    assert isinstance(ended, CommandEnded)
    assert ended.status == 3
