"""Whether a typed text was seen: what is new, where the cursor is, and what stood there before."""

from __future__ import annotations

import pytest

from termnode.service.input.echo import (
    NEAR_ROWS,
    Echo,
    Line,
    Place,
    cursor_place,
    lines_near,
    shows,
)
from termnode.terminal import engines
from termnode.terminal.screen_log import ScreenLog

ALL = 1 << 20


def line(text: str, *fresh: tuple[int, int], starts: tuple[int, ...] = (0,)) -> Line:
    return Line(7, text, starts, fresh)


CASES = (
    # text, line, where the typing began, where the cursor is, seen
    ("ls", line("$ ls", (2, 4)), (7, 2), (7, 4), True),
    ("ls", line("$ ls"), (7, 4), (7, 4), False),  # what stood there before, and no cursor moved
    ("ls", line("$ ls"), (7, 2), (7, 4), True),  # a suggestion that became the text
    ("ls", line("$ ls -l"), (7, 2), (7, 4), True),
    ("ls", line("$ ls"), (6, 2), (7, 4), False),
    ("ls", line("$ l", (2, 3)), (7, 2), (7, 3), False),  # half of it
    ("ls ", line("$ ls ", (2, ALL)), (7, 2), (7, 5), True),
    ("ls ", line("$ ls", (2, ALL)), (7, 2), (7, 4), False),  # blanks at the end matter
    (" ", line("$  "), (7, 2), (7, 3), True),
    (" ", line("$ "), (7, 2), (7, 2), False),
    ("a", line("$ aaab", (4, 6)), (7, 2), (7, 3), True),  # among its like: which is new is unclear
    ("a", line("banana", (0, 6)), (7, 0), (9, 0), False),  # a letter of other output
    ("a", line("| a |", (2, 3)), (9, 9), (9, 9), True),  # an input box of the program's own
    ("one two", line("| one two |", (2, 9)), (9, 9), (9, 9), True),
    ("one two", line("one two | x", (8, 11)), (9, 9), (9, 9), False),
    ("abcd", line("$ abcd", (2, 6), starts=(0, 4)), (7, 2), (8, 2), True),  # wrapped
    ("abcd", line("$ abcd", starts=(0, 4)), (7, 2), (8, 2), True),
    ("ab", line("$ ab", (2, 4), starts=(0,)), (7, 2), (7, 4), True),  # up to the last column
    ("a", line("$ xab", (3, 4), starts=(0, 4)), (7, 3), (7, 4), True),  # the wrap is pending
    ("a", line(""), (7, 0), (7, 0), False),
)


@pytest.mark.parametrize(("text", "shown", "typed_at", "cursor", "seen"), CASES)
def test_seen(
    text: str, shown: Line, typed_at: tuple[int, int], cursor: tuple[int, int], seen: bool
) -> None:
    assert shows(shown, text, Place(*typed_at), Place(*cursor)) is seen


def test_numbers_that_began_anew_say_nothing_of_where_the_typing_began() -> None:
    assert not shows(line("$ ls"), "ls", None, Place(7, 4))
    assert shows(line("$ ls", (2, 4)), "ls", None, Place(7, 4))


def test_the_cases_tell_the_rules_apart() -> None:
    """Each rule is needed: without it a case comes out wrong."""
    for rule in ("fresh", "cursor"):
        wrong = [
            case
            for case in CASES
            if case[4]
            and not shows(
                line(case[1].text, *(() if rule == "fresh" else case[1].fresh)),
                case[0],
                None if rule == "cursor" else Place(*case[2]),
                Place(*case[3]),
            )
        ]
        assert wrong, rule


class Shown:
    """An emulator of 10 by 20 with what was printed before, and an Echo of ``text``."""

    def __init__(self, name: str, text: str, before: str) -> None:
        self.engine = engines.make(name)(10, 20)
        self.log = ScreenLog(0)
        self._revision = 0
        self.then(before)
        self._echo = Echo(text, self.engine, self.log)

    def then(self, output: str) -> None:
        self.engine.feed(output.encode())
        self._revision += 1
        self.log.sync(self.engine, self._revision)

    def seen(self, output: str) -> bool:
        self.then(output)
        return self._echo.seen(self.engine, self.log)


@pytest.mark.parametrize("name", engines.available())
@pytest.mark.parametrize(
    ("before", "output", "seen"),
    [
        ("$ ", "hello", True),
        ("$ abcdef", "hello", True),  # wrapped over two rows
        ("abcdefgh", "he\r\nllo", False),  # two rows that are not one line
        ("abcdefghhe\r\n", "llo", False),
        ("", "hello" + "\r\n" * NEAR_ROWS, True),
        ("", "hello" + "\r\n" * (NEAR_ROWS + 2), False),
        ("", "\r\n" * NEAR_ROWS + "hello\x1b[H", True),
        ("", "\r\n" * (NEAR_ROWS + 1) + "hello\x1b[H", False),
        ("\r\n" * 8, "\r\n" * (NEAR_ROWS + 1) + "hello\x1b[9H", False),
        ("\r\n" * 30, "hello", True),
    ],
)
def test_it_is_looked_for_in_lines_near_the_cursor(
    name: str, before: str, output: str, seen: bool
) -> None:
    shown = Shown(name, "hello", before)
    try:
        assert shown.seen(output) is seen
    finally:
        shown.engine.close()


@pytest.mark.parametrize("name", engines.available())
def test_only_rows_that_go_on_are_one_line(name: str) -> None:
    shown = Shown(name, "x", "one\r\n" + "a" * 12 + "\r\ntwo")
    try:
        lines = lines_near(shown.engine, shown.log, 0, 1)
        assert [line.text.rstrip() for line in lines[:3]] == ["one", "a" * 12, "two"]
        assert lines[1].starts == (0, 10)
    finally:
        shown.engine.close()


@pytest.mark.parametrize("name", engines.available())
@pytest.mark.parametrize(
    ("output", "before"),
    [("$  ", 3), ("日$  ", 4), ("日本", 2), ("日本\x1b[3G", 1), ("日本語日本", 5)],
)
def test_the_cursor_stands_behind_so_many_characters(name: str, output: str, before: int) -> None:
    """Wide ones count once; blanks count, also where the row leaves them out."""
    shown = Shown(name, "x", output)
    try:
        assert cursor_place(shown.engine, shown.log.base) == Place(shown.log.base, before)
    finally:
        shown.engine.close()
