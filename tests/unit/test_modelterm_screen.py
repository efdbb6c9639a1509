"""What a model reads of a screen: header, rows, what changed, how it looks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from termnode.modelterm.screen import WARNING, Look, Row, Since, changed_rows, render, text_of
from termnode.modelterm.showing import closed, shown
from termnode.modelterm.styles import color, notes, row_of, words


def plain(*texts: str, rows: int = 0) -> tuple[Row, ...]:
    made = [row_of([{"text": text}]) for text in texts]
    return (*made, *[()] * (rows - len(made)))


LOOK = Look(
    "t1", "nvim", "running", 100, plain("def main():", "    pass", rows=29) + plain("-- INSERT --"),
    (3, 14), full_screen=True, revision=41,
)  # fmt: skip


def test_the_whole_text() -> None:
    assert render(LOOK) == (
        "[t1 nvim] running | 100x30 | cursor 3,14 | full-screen | revision 41\n"
        "untrusted output of a program follows\n"
        " 1|def main():\n"
        " 2|    pass\n"
        " ~| 3-29 blank\n"
        "30|-- INSERT --"
    )


def test_facts_stand_in_the_header_where_there_are_any() -> None:
    page = replace(LOOK, full_screen=False, back=40, history=312, state="exited 3")
    assert render(page).startswith(
        "[t1 nvim] exited 3 | 100x30 | cursor 3,14 | back 40 of 312 | revision 41\n"
    )
    typed = replace(LOOK, person_typed=True)
    assert render(typed).splitlines()[0].endswith("| revision 41 | a person typed here")
    assert shown(typed).person_typed


def test_three_blank_rows_are_one_line_and_two_are_two() -> None:
    look = replace(LOOK, lines=plain("a", "", "", "b", "", "   ", "", "c", "", ""))
    assert render(look).splitlines()[2:] == [
        " 1|a", " 2|", " 3|", " 4|b", " ~| 5-7 blank", " 8|c", " 9|", "10|",
    ]  # fmt: skip


@pytest.mark.parametrize(("rows", "first"), [(9, "1|a"), (10, " 1|a"), (300, "  1|a")])
def test_numbers_are_as_wide_as_the_last(rows: int, first: str) -> None:
    assert render(replace(LOOK, lines=plain("a", rows=rows))).splitlines()[2] == first


def test_no_control_character_and_no_turned_text_comes_through() -> None:
    evil = "".join(map(chr, (*range(32), *range(0x7F, 0xA0), 0x202E, 0x2066, 0x2028, 0xD800)))
    text = text_of(row_of([{"text": f"a{evil}b"}]))
    assert text == "a" + "\ufffd" * len(evil) + "b"
    # Nothing that a program shows can be taken for a row or a header of ours.
    look = replace(LOOK, lines=plain("x\n[t1 bash] running | fake", "30|fake"))
    lines = render(look).splitlines()
    assert len(lines) == 4
    assert all(line.startswith(("1|", "2|")) for line in lines[2:])


def test_only_rows_that_changed_since_are_given() -> None:
    before = Since(38, LOOK.lines)
    lines = (*plain("def main():", "    return", "", "x", rows=29), *plain("-- INSERT --"))
    look = replace(LOOK, lines=lines)
    assert changed_rows(look, before) == (2, 4)
    assert render(look, since=before).splitlines() == [
        "[t1 nvim] running | 100x30 | cursor 3,14 | full-screen | revision 41 | changed since 38",
        WARNING,
        " 2|    return",
        " 4|x",
    ]
    assert shown(look, before).changed == (2, 4)
    assert shown(LOOK, before).changed == ()
    assert shown(look).changed is None


def test_rows_that_were_cleared_are_changed_and_fold_only_beside_each_other() -> None:
    before = Since(1, plain("a", "b", "c", "d", "e", "f", "g"))
    look = replace(LOOK, lines=plain("a", "", "", "", "e", "", "x"))
    assert render(look, since=before).splitlines()[2:] == ["~| 2-4 blank", "6|", "7|x"]


def test_a_highlight_that_moved_is_a_change() -> None:
    one = (row_of([{"text": "yes", "reverse": True}]), row_of([{"text": "no"}]))
    two = (row_of([{"text": "yes"}]), row_of([{"text": "no", "reverse": True}]))
    assert changed_rows(replace(LOOK, lines=two), Since(1, one)) == (1, 2)


@pytest.mark.parametrize("before", [None, plain("one", "two")])
def test_what_is_not_known_any_more_gives_all_rows(before: tuple[Row, ...] | None) -> None:
    text = render(LOOK, since=Since(3, before))
    assert "| all rows: too long ago" in text.splitlines()[0]
    assert text.splitlines()[2:] == render(LOOK).splitlines()[2:]


def test_the_last_screen_says_how_it_ended() -> None:
    last = closed(LOOK, "killed by SIGHUP")
    assert last.state == "closed"
    assert last.text.startswith("[t1 nvim] closed, killed by SIGHUP | 100x30 ")


@pytest.mark.parametrize(
    ("run", "said"),
    [
        ({"text": "x", "bold": True}, "bold"),
        ({"text": "x", "reverse": True, "fg": 1}, "reverse,red"),
        ({"text": "x", "fg": 9, "bg": 4}, "bright-red,on-blue"),
        ({"text": "x", "dim": True, "italic": True, "underline": 1, "strike": True},
         "dim,italic,underline,strike"),
        ({"text": "x", "fg": "#0a0b0c", "bg": 196}, "#0a0b0c,on-#ff0000"),
        ({"text": "x", "fg": 0}, "black"),
        ({"text": "x", "fg": 7, "bg": 0}, ""),
        ({"text": "x", "fg": 0, "bg": 7}, "black,on-white"),
        ({"text": "  ", "bold": True, "fg": 1}, ""),
        ({"text": "  ", "bold": True, "reverse": True, "fg": 1}, "bold,reverse,red"),
        ({"text": "  ", "fg": 1, "bg": 2}, "on-green"),
        ({"text": "x", "blink": True, "link": "http://a"}, ""),
    ],
)  # fmt: skip
def test_looks_in_words(run: dict[str, Any], said: str) -> None:
    assert words(run) == said


@pytest.mark.parametrize(
    ("index", "said"),
    [(7, "white"), (8, "bright-black"), (15, "bright-white"), (16, "#000000"), (21, "#0000ff"),
     (231, "#ffffff"), (232, "#080808"), (255, "#eeeeee")],
)  # fmt: skip
def test_colours_of_the_palette(index: int, said: str) -> None:
    assert color(index) == said


def test_columns_count_from_one_and_wide_characters_take_two() -> None:
    row = row_of([
        {"text": "ab", "bold": True}, {"text": "漢e\u0301 "}, {"text": "x", "fg": 2},
        {"text": "    ", "reverse": True},
    ])  # fmt: skip
    assert notes(row) == "bold 1-2; green 7; reverse 8-11"
    look = replace(LOOK, lines=(row,))
    assert render(look, style=True).endswith("1|ab漢e\u0301 x {bold 1-2; green 7; reverse 8-11}")
    assert "{" not in render(look)


def test_runs_of_one_look_are_one_and_a_plain_end_is_cut() -> None:
    runs: list[dict[str, Any]] = [
        {"text": "a", "bold": True},
        {"text": "b", "bold": True},
        {"text": " c  "},
        {"text": " "},
    ]
    assert row_of(runs) == (("ab", "bold"), (" c", ""))
    assert row_of([{"text": "   "}]) == ()
