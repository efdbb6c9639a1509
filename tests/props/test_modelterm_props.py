"""Whatever a program shows and whatever a command line is: what the model and the person read."""

from __future__ import annotations

import shlex
import unicodedata
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from termnode.modelterm import command_line, has_credential
from termnode.modelterm.screen import Look, Row, Since, changed_rows, render
from termnode.modelterm.styles import row_of

RUN: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {"text": st.text(max_size=12)},
    optional={
        "bold": st.booleans(), "reverse": st.booleans(),
        "fg": st.one_of(st.none(), st.integers(0, 255), st.just("#012345")),
        "bg": st.one_of(st.none(), st.integers(0, 255)),
    },
)  # fmt: skip
ROW: st.SearchStrategy[Row] = st.lists(RUN, max_size=4).map(row_of)
ROWS = st.one_of(
    st.lists(ROW, min_size=1, max_size=40), st.lists(st.just(()), min_size=1, max_size=9)
)


def look(rows: list[Row]) -> Look:
    return Look("t1", "x", "running", 80, tuple(rows), (1, 1), full_screen=False, revision=9)


def numbers(text: str) -> list[int]:
    """Those of all rows given, folded ones too."""
    found: list[int] = []
    for line in text.split("\n")[2:]:
        number, _, rest = line.partition("|")
        if number.strip() == "~":
            first, _, last = rest.split()[0].partition("-")
            found += range(int(first), int(last) + 1)
        else:
            found.append(int(number))
    return found


@given(ROWS, st.booleans())
def test_each_row_is_given_once_under_its_own_number(rows: list[Row], style: bool) -> None:
    text = render(look(rows), style=style)
    assert numbers(text) == list(range(1, len(rows) + 1))
    assert all(unicodedata.category(char) not in {"Cc", "Cs"} for char in text if char != "\n")
    assert len(text.split("\n")) <= len(rows) + 2


@given(ROWS, st.data())
def test_since_gives_exactly_the_rows_that_differ(rows: list[Row], data: st.DataObject) -> None:
    which = data.draw(st.sets(st.integers(0, len(rows) - 1)))
    other: list[Row] = [(("other", "bold"),) if n in which else row for n, row in enumerate(rows)]
    differ = [n + 1 for n in range(len(rows)) if rows[n] != other[n]]
    since = Since(3, tuple(rows))
    assert list(changed_rows(look(other), since) or ()) == differ
    assert numbers(render(look(other), since=since)) == differ


@given(st.lists(st.text(st.characters(exclude_characters="\0"), max_size=20), max_size=5))
def test_a_command_line_is_printable_and_no_two_are_shown_alike(words: list[str]) -> None:
    line = command_line(words)
    assert line.isprintable()
    if all(word.isprintable() and "$'" not in word for word in words) and "$'" not in line:
        assert shlex.split(line) == words
    has_credential(words)
