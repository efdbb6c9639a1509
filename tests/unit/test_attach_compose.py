"""What the view adds to the panes: borders, status line, prompts, boxes, copy mode."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import pytest

from termnode.attach.compose import Composer, Frame, compose
from termnode.attach.places import offset, tab_room
from termnode.attach.ui.state import Box, Colours, Mark, PromptView, Ui
from termnode.terminal.engine import Style
from termnode.view.messages import Interrupted, LastInput, Row, Status, TabInfo, Tabs
from termnode.workspace.tree import Direction
from tests.support.screen_lab import ScreenLab, frame_grid

ACTIVE, BORDER = Style(fg=2), Style(fg=8)


@pytest.fixture
def lab() -> Iterator[ScreenLab]:
    made = ScreenLab("pyte", 20, 5)
    yield made
    made.close()


def shown(lab: ScreenLab, ui: Ui | None = None, cols: int = 20, rows: int = 6) -> Frame:
    lab.tell()
    return compose(lab.model, ui or Ui(), cols, rows)


def lines(frame: Frame) -> list[str]:
    return ["".join(run[0] for run in row) for row in frame.lines]


def styles(lab: ScreenLab, frame: Frame, cells: str) -> dict[tuple[int, int], Style]:
    """The styles of the cells that show one of these characters."""
    return {
        (x, y): style
        for y, row in enumerate(frame_grid(frame, lab.width))
        for x, (text, style) in enumerate(row)
        if text in cells and text
    }


# -- borders --------------------------------------------------------------------------------------


def test_borders_join(lab: ScreenLab) -> None:
    lab.workspace.split(1, Direction.HORIZONTAL)
    lab.workspace.split(2, Direction.VERTICAL)
    lab.workspace.split(1, Direction.VERTICAL)
    lab.workspace.split(3, Direction.HORIZONTAL)
    assert [line[:20] for line in lines(shown(lab))[:5]] == [
        "         │",
        "         │",
        "─────────┼────┬─────",
        "         │    │",
        "         │    │",
    ]


def test_one_pane_has_no_border(lab: ScreenLab) -> None:
    lab.workspace.split(1, Direction.HORIZONTAL)
    lab.workspace.zoom(2)
    frame = shown(lab)
    assert lines(frame)[:5] == [""] * 5
    assert lab.model.layout is not None
    assert lab.model.layout.zoomed == 2


def test_the_active_pane_is_marked(lab: ScreenLab) -> None:
    for pane, direction in ((1, Direction.HORIZONTAL), (2, Direction.VERTICAL)):
        lab.workspace.split(pane, direction)
    lab.workspace.focus(3)  # bottom right
    marks = styles(lab, shown(lab), "│─├┼┤")
    assert {at for at, style in marks.items() if style == ACTIVE} == {
        *((x, 2) for x in range(9, 20)),
        (9, 3),
        (9, 4),
    }
    lab.workspace.focus(1)  # left
    marks = styles(lab, shown(lab), "│─├┼┤")
    assert {at for at, style in marks.items() if style == ACTIVE} == {(9, y) for y in range(5)}


def test_of_two_panes_each_has_half_of_the_border(lab: ScreenLab) -> None:
    lab.workspace.split(1, Direction.HORIZONTAL)
    for pane, rows in ((1, {0, 1, 2}), (2, {3, 4})):
        lab.workspace.focus(pane)
        marks = styles(lab, shown(lab), "│")
        assert {y for (_, y), style in marks.items() if style == ACTIVE} == rows
        assert {y for (_, y), style in marks.items() if style == BORDER} == {*range(5)} - rows


def test_a_tab_that_is_smaller_is_framed(lab: ScreenLab) -> None:
    frame = shown(lab, cols=23, rows=8)
    assert lines(frame)[4:7] == [" " * 20 + "│··", "─" * 20 + "┘··", "·" * 23]
    assert shown(lab, cols=20, rows=6).lines[:5] == ((),) * 5


# -- a tab that is larger -------------------------------------------------------------------------


def test_a_larger_tab_is_shown_where_its_cursor_is(lab: ScreenLab) -> None:
    lab.feed_text("abcdefghijklmnopqrst\r\n2\r\n3\r\n4\r\n5")
    ui = Ui()
    frame = shown(lab, ui, 8, 4)
    assert (ui.offset, lines(frame)[:3]) == ((0, 2), ["3", "4", "5"])
    lab.feed_text("\x1b[1;20H")
    frame = shown(lab, ui, 8, 4)
    assert (ui.offset, lines(frame)[0]) == ((12, 0), "mnopqrst")
    assert (frame.cursor.x, frame.cursor.y) == (7, 0)


@pytest.mark.parametrize("room", [1, 2, 3, 7])
def test_the_cursor_is_always_in_the_part_that_is_shown(room: int) -> None:
    for length in range(1, 30):
        for cursor in range(length):
            first = offset(room, length, cursor)
            assert first <= cursor < first + room
            assert 0 <= first <= max(0, length - room)


def test_the_room_of_a_tab() -> None:
    assert tab_room(80, 24) == (80, 23)
    assert tab_room(1, 1) == (1, 1)


# -- the status line ------------------------------------------------------------------------------

TABS = Tabs(
    1,
    (
        TabInfo(1, "edit", (1,), 1, zoomed=True, bell=False, activity=True),
        TabInfo(2, "bell", (2,), 2, zoomed=False, bell=True, activity=False),
        TabInfo(3, "busy", (3,), 3, zoomed=False, bell=False, activity=True),
    ),
)
STATUS = Status(2, LastInput(1, "uid 7 pid 8", "term.keys", 10), None, "open", "term")


def with_status(lab: ScreenLab, status: Status = STATUS) -> None:
    lab.tell()
    lab.model.apply(TABS)
    lab.model.apply(status)


def status_line(lab: ScreenLab, ui: Ui, cols: int = 100) -> str:
    return lines(compose(lab.model, ui, cols, 6))[5]


def test_the_status_line_says_what_there_is(lab: ScreenLab) -> None:
    with_status(lab)
    ui = Ui()
    text = status_line(lab, ui)
    assert text.startswith(" 1:edit*Z  2:bell!  3:busy# ")
    assert text.endswith(" uid 7 pid 8 term.keys in 1 | 2 views | open | term ")
    assert len(text) == 100
    assert [text[start:end] for start, end, _ in ui.tab_spans] == [
        " 1:edit*Z ",
        " 2:bell! ",
        " 3:busy# ",
    ]
    assert [tab for _, _, tab in ui.tab_spans] == [1, 2, 3]
    assert ui.status_row == 5


def test_what_matters_most_comes_first(lab: ScreenLab) -> None:
    with_status(
        lab,
        replace(STATUS, posture="strict", interrupted=Interrupted(1, "uid 7 pid 9", "term.type")),
    )
    ui = Ui(read_only=True, prefix=True, message="not now")
    text = status_line(lab, ui, 160)
    alert = " interrupted: uid 7 pid 9 (term.type, pane 1) "
    assert text.index(alert) < text.index(" ^ | read-only | strict | uid 7 ")
    assert "not now" not in text
    assert "interrupted: uid" in status_line(lab, ui, 60)


def test_trouble_with_the_identity_is_shown(lab: ScreenLab) -> None:
    with_status(lab, replace(STATUS, identity="identity lost"))
    assert " identity lost | uid 7 " in status_line(lab, Ui(), 160)
    with_status(lab, STATUS)
    assert "identity" not in status_line(lab, Ui(), 160)


def test_the_shown_tab_is_always_seen(lab: ScreenLab) -> None:
    lab.tell()
    many = tuple(
        TabInfo(n, f"tab number {n}", (n,), n, zoomed=False, bell=False, activity=False)
        for n in range(1, 21)
    )
    layout = lab.model.layout
    assert layout is not None
    for tab in (1, 7, 20):
        lab.model.apply(Tabs(tab, many))
        lab.model.apply(replace(layout, tab=tab))
        ui = Ui()
        assert f" {tab}:tab number {tab}* " in status_line(lab, ui, 60)
        assert all(0 <= start < end <= 60 for start, end, _ in ui.tab_spans)


def test_titles_are_made_safe_and_short(lab: ScreenLab) -> None:
    lab.tell()
    title = "\x1b]0;\u202e日本語日本語日本語日本語"
    tab = TabInfo(1, title, (1,), 1, zoomed=False, bell=False, activity=False)
    lab.model.apply(Tabs(1, (tab,)))
    text = status_line(lab, Ui())
    assert text.startswith(" 1: ]0; 日本語日本語日…* ")
    assert text.isprintable()


def test_a_tab_without_a_title_is_its_number(lab: ScreenLab) -> None:
    lab.tell()
    tabs = tuple(replace(tab, title="") for tab in TABS.tabs)
    lab.model.apply(replace(TABS, tabs=tabs))
    ui = Ui()
    assert status_line(lab, ui).startswith(" 1*Z  2!  3# ")
    assert ui.tab_spans == ((0, 5, 1), (5, 9, 2), (9, 13, 3))


def test_a_message_and_a_prompt_take_its_place(lab: ScreenLab) -> None:
    with_status(lab)
    ui = Ui(message="no room")
    assert status_line(lab, ui, 20) == "no room" + " " * 13
    assert ui.tab_spans == ()
    ui.prompt = PromptView("rename: 日本 abcdefghijkl", 10)
    frame = compose(lab.model, ui, 20, 6)
    assert (lines(frame)[5], frame.cursor.x, frame.cursor.y) == ("rename: 日本 abcdefg", 12, 5)
    ui.prompt = PromptView("rename: 日本 abcdefghijkl", 23)
    frame = compose(lab.model, ui, 20, 6)
    assert (lines(frame)[5], frame.cursor.x) == (": 日本 abcdefghijkl ", 19)


def test_a_view_of_one_row_is_the_tabs(lab: ScreenLab) -> None:
    lab.feed_text("prompt")
    ui = Ui()
    assert lines(shown(lab, ui, 20, 1)) == ["prompt"]
    assert ui.status_row == -1
    ui.message = "said"
    assert lines(shown(lab, ui, 20, 1)) == ["said" + " " * 16]


def test_an_ended_program_is_told(lab: ScreenLab) -> None:
    with_status(lab)
    screen = lab.model.active_screen
    assert screen is not None
    lab.model.apply(replace(screen.told, state="exited 3", lines=()))
    assert " exited 3 | uid 7" in status_line(lab, Ui())


# -- boxes ----------------------------------------------------------------------------------------


def test_a_box_is_in_the_middle_and_above_everything(lab: ScreenLab) -> None:
    lab.feed_text("\r\n".join(["x" * 20] * 5))
    ui = Ui(boxes=[Box("help", ("one", "two 日"), "q")])
    frame = shown(lab, ui)
    assert lines(frame) == [
        "x┌─ help ────────┐xx",
        "x│ one           │xx",
        "x│ two 日        │xx",
        "x│ q             │xx",
        "x└───────────────┘xx",
        lines(frame)[5],
    ]
    assert not frame.cursor.visible


def test_a_box_that_is_too_long_shows_the_part_that_is_asked_for(lab: ScreenLab) -> None:
    many = tuple(f"line {n}" for n in range(30))
    ui = Ui(boxes=[Box("t", many, "f", top=7)])
    text = lines(shown(lab, ui))
    assert [line.strip("│ ") for line in text[1:4]] == ["line 7", "line 8", "line 9"]
    assert "8-10/30" in text[5]
    ui.boxes = [Box("t", many, "f", top=99)]
    assert "line 29" in lines(shown(lab, ui))[3]
    ui.boxes = [Box("t", many, "f", selected=20)]
    assert "line 20" in lines(shown(lab, ui))[1]


def test_long_lines_are_wrapped_at_spaces(lab: ScreenLab) -> None:
    ui = Ui(boxes=[Box("t", ("a long line that wraps 日本語日本語日本語",))])
    text = [line.strip("│ ") for line in lines(shown(lab, ui, 20, 8))]
    assert text[2:5] == ["a long line that", "wraps", "日本語日本語日本"]


def test_a_question_has_the_last_rows_to_itself(lab: ScreenLab) -> None:
    lab.feed_text("\r\n".join(["x" * 20] * 5) + "\x1b[H")
    ui = Ui(boxes=[Box("Allow?", ("all of it",), "C-b y: yes", question=True)])
    frame = shown(lab, ui)
    assert lines(frame) == [
        "x" * 20,
        "x" * 20,
        "┌─ Allow? ─────────┐",
        "│ all of it        │",
        "│ C-b y: yes       │",
        "└──────────────────┘",
    ]
    assert frame.cursor.visible
    lab.feed_text("\x1b[4H")
    assert not shown(lab, ui).cursor.visible


def test_the_whole_text_of_a_long_question_can_be_read(lab: ScreenLab) -> None:
    """Quickly: a text may be as long as a message."""
    words = " ".join(f"w{n} 日" for n in range(9_000))
    seen = ""
    ui = Ui()
    composer = Composer()
    lab.tell()
    for top in range(10):
        ui.boxes = [Box("t", tuple(words.split(" w8 ", 1)), "f", top=top, question=True)]
        seen += "".join(lines(composer.compose(lab.model, ui, 400, 200)))
    assert "w0 日" in seen
    assert "w8999 日" in seen


# -- copy mode ------------------------------------------------------------------------------------


@dataclass
class Copy:
    """Lines 10 to 19 of a history."""

    top: int = 12
    cursor: tuple[int, int] = (3, 1)
    position: str = "[8/20]"
    marks_of: tuple[Mark, ...] = ()

    def row(self, line: int) -> Row | None:
        text = f"old line 日本 {line}"
        return ((text, len(text) + 2, None),) if 10 <= line < 16 else None

    def marks(self, line: int) -> Sequence[Mark]:
        return self.marks_of if line == self.top else ()


def test_a_pane_in_copy_mode_shows_its_history(lab: ScreenLab) -> None:
    lab.feed_text("the screen")
    frame = shown(lab, Ui(copies={1: Copy()}))
    assert lines(frame)[:5] == [
        "old line 日本 [8/20]",
        "old line 日本 13",
        "old line 日本 14",
        "old line 日本 15",
        "",
    ]
    assert (frame.cursor.x, frame.cursor.y) == (3, 1)


def test_marks_take_whole_characters(lab: ScreenLab) -> None:
    picked = Style(reverse=True)
    copy = Copy(position="", marks_of=(Mark(10, 12, picked), Mark(15, 999, picked)))
    row = shown(lab, Ui(copies={1: copy})).lines[0]
    assert row == (
        ("old line ", 9, None),
        ("日本", 4, picked),
        (" 1", 2, None),
        ("2    ", 5, picked),
    )


def test_a_line_that_has_not_come_is_the_panes_own(lab: ScreenLab) -> None:
    lab.feed_text("the screen")
    assert lines(shown(lab, Ui(copies={1: Copy(top=0, position="")})))[0] == "the screen"


# -- what is kept ---------------------------------------------------------------------------------


def test_rows_that_were_not_told_anew_are_not_composed_anew(
    lab: ScreenLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab.feed_text("\r\n".join("abcd"))
    lab.tell()
    composer, ui = Composer(), Ui()
    before = composer.compose(lab.model, ui, 20, 6)
    composed: list[int] = []
    real = Composer._runs

    def counting(self: Composer, *args: object) -> object:
        composed.append(1)
        return real(self, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(Composer, "_runs", counting)
    lab.feed_text("!")
    lab.tell()
    after = composer.compose(lab.model, ui, 20, 6)
    assert len(composed) == 1
    same = [one is other for one, other in zip(before.lines, after.lines, strict=True)]
    assert same == [True, True, True, False, True, True]


def test_other_colours_are_seen_at_once(lab: ScreenLab) -> None:
    lab.workspace.split(1, Direction.VERTICAL)
    lab.tell()
    composer, ui = Composer(), Ui()
    composer.compose(lab.model, ui, 20, 6)
    ui.colours = Colours(active_border=5)
    frame = composer.compose(lab.model, ui, 20, 6)
    assert Style(fg=5) in styles(lab, frame, "─").values()


def test_a_screen_in_reverse_is_shown_so(lab: ScreenLab) -> None:
    lab.feed_text("\x1b[?5ha\x1b[7mb")
    row = shown(lab).lines[0]
    assert row == (("a", 1, Style(reverse=True)), ("b", 1, Style()), (" " * 18, 18, row[2][2]))
    assert row[2][2] == Style(reverse=True)
