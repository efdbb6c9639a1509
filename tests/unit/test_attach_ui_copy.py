"""Copy mode: scrolling, pages, searching, selecting and copying."""

from __future__ import annotations

import pytest

from termnode.attach.config import Config
from termnode.attach.ui import buffers
from termnode.attach.ui.copying.flat import flat
from termnode.attach.ui.copying.mode import CopyMode
from termnode.attach.ui.copying.search import Pattern
from termnode.attach.ui.copying.selection import Selection
from termnode.attach.ui.effects import Copy
from termnode.terminal import engines
from termnode.terminal.engine import Cursor, Modes
from termnode.terminal.input.names import parse_key
from termnode.terminal.render.cells import width_of
from termnode.view.messages import Key, Page, PageWanted, PaneGone, Pasted, Row, Tabs
from tests.support.attach_ui import Person, row, tab

HISTORY = [row(f"line {number}") for number in range(400)]
ROWS = 23


def reader(
    lines: list[Row] | None = None, *, history: int = 377, config: Config | None = None
) -> Person:
    """In copy mode, with ``history`` lines above the screen; nothing of them served yet."""
    lines = HISTORY if lines is None else lines
    person = Person(config=config)
    screen = lines[history : history + ROWS]
    person.told(person.state(lines=screen, base=history, cursor=Cursor(0, len(screen) - 1)))
    person.command("[")
    return person


def mode(person: Person, pane: int = 1) -> CopyMode:
    found = person.ui.copies[pane]
    assert isinstance(found, CopyMode)
    return found


def shown(person: Person) -> list[str | None]:
    copy = mode(person)
    rows = [copy.row(copy.top + y) for y in range(copy.rows)]
    return [None if each is None else "".join(text for text, _, _ in each) for each in rows]


def copied(person: Person) -> list[str]:
    return [effect.text for effect in person.take() if isinstance(effect, Copy)]


def test_it_begins_with_the_screen_and_the_cursor_of_the_program() -> None:
    person = reader()
    assert shown(person) == [f"line {n}" for n in range(377, 400)]
    assert mode(person).cursor == (0, 22)
    assert mode(person).position == "[0/377]"


@pytest.mark.parametrize(
    ("keys", "top"),
    [
        (("C-y",), 376),
        (("C-u",), 366),
        (("PageUp",), 356),
        (("PageUp", "PageDown"), 377),
        (("g",), 0),
        (("g", "G"), 377),
        (("g", "C-d"), 11),
        (("g", "C-e", "C-e"), 2),
        (("g", "C-y", "k", "PageUp"), 0),
        (("H", "k", "k"), 375),
        (("C-e", "j", "PageDown"), 377),
    ],
)
def test_it_scrolls(keys: tuple[str, ...], top: int) -> None:
    person = reader()
    for key in keys:
        person.press(key)
        person.serve(HISTORY)
    assert mode(person).top == top
    assert shown(person) == [f"line {n}" for n in range(top, top + ROWS)]
    assert person.items() == []


@pytest.mark.parametrize(
    ("keys", "place"),
    [
        ("0", (22, 0)), ("$", (22, 14)), ("^", (22, 2)), ("0w", (22, 2)), ("0ww", (22, 5)),
        ("0www", (22, 6)), ("0e", (22, 4)), ("0ee", (22, 5)), ("0eee", (22, 10)),
        ("$b", (22, 12)), ("$bb", (22, 6)), ("$l", (22, 14)), ("0h", (22, 0)), ("0ll", (22, 2)),
        ("H", (0, 0)), ("M", (11, 0)), ("L", (22, 0)), ("{", (5, 0)), ("{{", (0, 0)),
        ("{}", (22, 0)), ("$k0", (21, 0)), ("$kkj", (21, 0)), ("Lk$wj", (22, 2)),
    ],
)  # fmt: skip
def test_it_moves(keys: str, place: tuple[int, int]) -> None:
    lines = [row("a")] * 23
    lines[5] = ()
    lines[22] = row("  foo-bar_1 baz")
    person = reader(lines, history=0)
    person.press(*keys)
    assert (mode(person).line, mode(person).x) == place


def test_wide_characters_are_stepped_over_as_one() -> None:
    lines = [row("a日本b", 6)] + [()] * 22
    person = reader(lines, history=0)
    person.press("g", "l", "l", "l")
    assert mode(person).x == 5
    person.press("h")
    assert mode(person).x == 3
    person.press("v", "h", "y")
    assert copied(person) == ["日本"]


def test_keys_of_copy_mode_can_be_changed() -> None:
    config = Config(copy_keys={parse_key("x"): "leave", parse_key("q"): None})
    person = reader(config=config)
    person.press("q")
    assert person.ui.copies
    person.press("x")
    assert not person.ui.copies


@pytest.mark.parametrize("key", ["q", "Escape", "C-c", "Enter", "y"])
def test_it_is_left(key: str) -> None:
    person = reader()
    person.press(key, "z")
    assert not person.ui.copies
    assert copied(person) == []


def test_the_program_goes_on_and_what_is_shown_stands_still() -> None:
    person = reader()
    person.told(person.state(lines=[row("new")] * ROWS, base=390, full=False))
    assert shown(person) == [f"line {n}" for n in range(377, 400)]
    person.press("r")
    assert shown(person) == ["new"] * ROWS


# -- pages ----------------------------------------------------------------------------------------


def test_only_what_is_near_is_asked_for_and_once() -> None:
    person = reader()
    (wanted,) = person.sent(PageWanted)
    assert (wanted.line, wanted.lines) == (277, 100)
    person.press("C-y", "C-y")
    assert person.sent(PageWanted) == []  # one at a time


def test_short_pages_come_together() -> None:
    person = reader()
    person.press("g")
    assert person.serve(HISTORY, most=7) > 3
    assert shown(person) == [f"line {n}" for n in range(ROWS)]


def test_lines_that_are_gone_are_empty() -> None:
    person = reader()
    person.press("g")
    person.serve(HISTORY[100:], first=100)
    assert shown(person) == [""] * ROWS
    assert person.sent(PageWanted) == []


def test_another_generation_has_nothing_for_it() -> None:
    person = reader()
    person.press("C-u")
    (wanted,) = person.sent(PageWanted)
    person.told(Page(wanted.req, 1, 2, 0, 400, ((wanted.line, row("other")),)))
    assert "other" not in shown(person)


def test_a_page_for_a_mode_that_was_left_is_passed_over() -> None:
    person = reader()
    (wanted,) = person.sent(PageWanted)
    person.press("q")
    person.told(Page(wanted.req, 1, 1, 0, 400, ()))
    assert not person.ui.copies


def test_a_pane_laid_out_anew_is_taken_up_as_far_from_the_end() -> None:
    person = reader()
    person.press("PageUp")
    person.serve(HISTORY)
    above = mode(person).last_top - mode(person).top
    anew = person.state(lines=[row("n")] * ROWS, base=1300, first=1000, cols=40)
    person.told(anew)
    copy = mode(person)
    assert (copy.lines.first, copy.lines.end, copy.cols) == (1000, 1323, 40)
    assert copy.last_top - copy.top == above


def test_a_higher_pane_shows_more() -> None:
    person = reader()
    person.told(person.state(base=370, rows=30, lines=[row("x")] * 30))
    assert mode(person).rows == 30
    assert mode(person).top <= mode(person).line < mode(person).top + 30


def test_the_other_screen_has_no_pages() -> None:
    person = reader()
    person.serve(HISTORY)
    person.told(person.state(lines=[row("x")] * ROWS, base=377, modes=Modes(alternate=True)))
    person.take()
    person.press("g")
    assert person.sent(PageWanted) == []


def test_a_pane_that_is_gone_is_in_no_mode() -> None:
    person = reader()
    person.told(PaneGone(1))
    assert not person.ui.copies
    person = reader()
    person.told(Tabs(2, (tab(2, (9,)),)))
    assert not person.ui.copies


# -- searching ------------------------------------------------------------------------------------


def search(person: Person, key: str, text: str) -> None:
    person.press(key, *text, "Enter")


def test_it_searches_back_through_pages_and_on() -> None:
    person = reader()
    search(person, "?", "line 1[0-9]$")
    assert "searching" in (person.ui.message or "")
    person.serve(HISTORY)
    assert mode(person).line == 19
    assert person.ui.message is None
    person.press("n")
    assert mode(person).line == 18
    person.press("N")
    assert mode(person).line == 19
    person.press("N")
    person.serve(HISTORY)
    assert mode(person).line == 10  # and round, from the other end
    assert "other end" in (person.ui.message or "")


def test_it_searches_forwards_in_one_line_too() -> None:
    person = reader([row("ab ab ab")] + [()] * 22, history=0)
    person.press("g")
    search(person, "/", "ab")
    assert mode(person).place == (0, 3)
    person.press("n", "n")
    assert mode(person).place == (0, 0)
    marks = mode(person).marks(0)
    assert [(mark.start, mark.end) for mark in marks] == [(0, 2), (3, 5), (6, 8)]


def test_what_is_not_there_is_not_found() -> None:
    person = reader()
    search(person, "/", "nowhere")
    person.serve(HISTORY)
    assert person.ui.message == "not found"
    assert mode(person).line == 399


def test_any_key_ends_a_search_that_waits() -> None:
    person = reader()
    search(person, "?", "line 1$")
    person.press("k")
    person.serve(HISTORY)
    assert mode(person).line == 398


def test_an_empty_pattern_repeats_the_last() -> None:
    person = reader([row("ab"), row("ab")] + [()] * 21, history=0)
    person.press("n")
    assert "nothing was searched" in (person.ui.message or "")
    person.press("g")
    search(person, "/", "ab")
    search(person, "/", "")
    assert mode(person).line == 0


@pytest.mark.parametrize(
    ("pattern", "found"),
    [("a(", ["a("]), ("B", ["B"]), ("b", ["b", "B"]), ("x*", []), ("[", ["["]), ("é", ["é", "É"])],
)
def test_patterns(pattern: str, found: list[str]) -> None:
    text = "a( b B [ é É"
    line = flat(row(text), width_of(engines.available()[0]))
    assert [text[start:end] for start, end in Pattern(pattern).spans(line)] == found
    assert Pattern("a(").plain
    assert not Pattern("a").plain


# -- selecting ------------------------------------------------------------------------------------


def test_a_selection_is_copied_and_pasted() -> None:
    person = reader()
    person.press("H", "w", "v", "j", "y")
    assert copied(person) == ["377\nline 3"]
    assert not person.ui.copies
    assert "copied 10 characters" in (person.ui.message or "")
    person.command("]")
    assert person.items() == [(1, Pasted("377\nline 3"))]


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        ("gVjy", "line 0\nline 1\n"),
        ("g$vjy", "0\nline 1"),
        ("gwvyy", "0"),
        ("gwvjoy", "0\nline 1"),
        ("gvGgy", "l"),
    ],
)
def test_kinds_of_selection(keys: str, text: str) -> None:
    person = reader()
    person.serve(HISTORY)
    for key in keys:
        person.press(key)
        effects = [each for each in person.effects if isinstance(each, Copy)]
        if not effects:
            person.serve(HISTORY)
    assert effects == [Copy(text)]


def test_a_rectangle() -> None:
    person = reader([row("abcdef"), row("a"), row("ghijkl")] + [()] * 20, history=0)
    person.press("g", "l", "C-v", "l", "l", "j", "j")
    assert [mode(person).marks(y)[0].start for y in range(3)] == [1, 1, 1]
    person.press("y")
    assert copied(person) == ["bcd\n\nhij"]


def test_the_selection_is_marked() -> None:
    person = reader()
    person.press("H", "w", "v", "j")
    spans = [[(mark.start, mark.end) for mark in mode(person).marks(n)] for n in range(377, 380)]
    assert spans == [[(5, 80)], [(0, 6)], []]
    person.press("Escape")
    assert mode(person).marks(377) == []
    assert person.ui.copies


def test_a_selection_waits_for_lines_that_have_not_come() -> None:
    person = reader()
    person.press("v", "g", "y")
    assert person.ui.copies
    wanted: list[str] = []
    for _ in range(20):
        for page in person.sent(PageWanted):
            numbers = range(page.line, page.line + page.lines)
            person.told(Page(page.req, 1, 1, 0, 400, tuple((n, HISTORY[n]) for n in numbers)))
            wanted += [each.text for each in person.effects if isinstance(each, Copy)]
    assert wanted == ["\n".join(f"line {n}" for n in range(399)) + "\nl"]


def test_rows_full_to_the_end_go_on_in_the_next() -> None:
    person = reader([row("x" * 80), row("yz")] + [()] * 21, history=0)
    person.press("g", "v", "j", "$", "y")
    assert copied(person) == ["x" * 80 + "yz"]
    person = reader([row("x" * 79), row("yz")] + [()] * 21, history=0)
    person.press("g", "v", "j", "$", "y")
    assert copied(person) == ["x" * 79 + "\nyz"]


def test_what_is_too_long_is_not_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(buffers, "MAX_BUFFER", 5)
    person = reader()
    person.press("V", "y")
    assert copied(person) == []
    assert "select fewer" in (person.ui.message or "")


def test_buffers_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = buffers.Buffers()
    for number in range(60):
        kept.add(str(number))
    assert len(kept.texts) == 50
    assert kept.newest() == "59"
    monkeypatch.setattr(buffers, "MAX_KEPT", 10)
    kept.add("x" * 9)
    assert len(kept.texts) == 1
    kept.drop(7)
    assert kept.listed() == ("      9 " + "x" * 9,)


def test_selection_spans_have_both_ends() -> None:
    selection = Selection(3, 5)
    assert selection.span(3, (3, 2), 80) == (2, 6)
    assert selection.span(2, (3, 2), 80) is None


def test_the_prefix_twice_is_a_key_of_copy_mode() -> None:
    person = reader()
    person.serve(HISTORY)
    person.command("C-b")
    assert mode(person).top == 356
    assert person.items() == []


def test_page_up_after_the_prefix_begins_a_page_up() -> None:
    person = Person()
    person.told(person.state(lines=HISTORY[377:], base=377))
    person.command("PageUp")
    assert mode(person).top == 356


def test_other_panes_take_their_keys() -> None:
    person = reader()
    person.press("q")
    person.does()
    person.press("Up")
    assert person.items() == [(1, Key("Up"))]


def test_a_pattern_that_is_no_re2_is_searched_as_text() -> None:
    person = reader([row("f(x"), row("f(")] + [()] * 21, history=0)
    person.press("g")
    search(person, "/", "f(")
    assert mode(person).line == 1
    assert "plain text" in (person.ui.message or "")
