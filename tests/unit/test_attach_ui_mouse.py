"""The mouse in a view: for the program where it asked, else for panes, text, borders and tabs."""

from __future__ import annotations

import pytest

from termnode.attach.ui.copying.mode import CopyMode
from termnode.attach.ui.effects import Copy
from termnode.attach.ui.geometry import Moved, border_at, drag
from termnode.terminal.engine import Modes
from termnode.view.messages import Do, Done, Key, Mouse, Pasted, PlacedPane
from termnode.workspace.model import Workspace
from termnode.workspace.tree import Direction
from tests.support.attach_ui import ONE, TWO, Person, row, tab

STACKED = (
    PlacedPane(1, 0, 0, 80, 11, hidden=False),
    PlacedPane(2, 0, 12, 80, 11, hidden=False),
)
LINES = [row(f"word {n}, more") for n in range(123)]


def with_mouse(mouse: int = 1002) -> Person:
    person = Person(TWO)
    person.told(person.state(2, cols=39, modes=Modes(mouse=mouse, mouse_sgr=True)))
    person.take()
    return person


def scrolled(*, alternate: bool = False) -> Person:
    person = Person()
    modes = Modes(alternate=alternate)
    person.told(person.state(lines=LINES[100:], base=100, modes=modes))
    person.take()
    return person


def done(person: Person) -> None:
    for asked in person.sent(Do):
        person.told(Done(asked.req, 0, {}))


def test_a_program_that_asked_has_it_in_its_own_cells() -> None:
    person = with_mouse()
    person.mouse("move", 50, 3)
    person.mouse("wheel-up", 50, 3, "left", "ctrl")
    assert person.items() == [
        (2, Mouse("move", "left", 9, 3, ())),
        (2, Mouse("wheel-up", "left", 9, 3, ("ctrl",))),
    ]


def test_a_press_selects_its_pane_first() -> None:
    person = with_mouse()
    person.mouse("press", 50, 3)
    effects = person.effects.copy()
    assert person.verbs() == [("term.pane.select", {"id": 2})]
    person.effects = effects
    assert person.items() == [(2, Mouse("press", "left", 9, 3))]


def test_a_button_is_the_program_s_until_it_is_released() -> None:
    person = with_mouse()
    person.mouse("press", 50, 3)
    person.take()
    person.mouse("drag", 3, 40)
    person.mouse("release", 3, 40)
    person.mouse("drag", 3, 3)
    assert person.items() == [
        (2, Mouse("drag", "left", 0, 22)),
        (2, Mouse("release", "left", 0, 22)),
    ]


@pytest.mark.parametrize("held", ["shift", "mode"])
def test_shift_and_copy_mode_keep_it_from_the_program(held: str) -> None:
    person = with_mouse()
    person.told(person.layout(TWO, 2))
    if held == "mode":
        person.command("[")
    modifiers = ("shift",) if held == "shift" else ()
    person.mouse("press", 50, 3, "left", *modifiers)
    person.mouse("drag", 52, 3, "left", *modifiers)
    assert person.items() == []
    assert 2 in person.ui.copies


def test_a_larger_tab_is_understood_by_its_offset() -> None:
    person = with_mouse()
    person.ui.offset = (20, 2)
    person.mouse("move", 30, 3)
    assert person.items() == [(2, Mouse("move", "left", 9, 5))]


# -- the wheel ------------------------------------------------------------------------------------


def test_the_wheel_enters_copy_mode_and_leaves_it_at_the_end() -> None:
    person = scrolled()
    person.mouse("wheel-down", 3, 3)
    assert not person.ui.copies
    person.mouse("wheel-up", 3, 3)
    person.mouse("wheel-up", 3, 3)
    assert person.ui.copies[1].top == 90
    person.mouse("wheel-down", 3, 3)
    person.mouse("wheel-down", 3, 3)
    assert not person.ui.copies


def test_copy_mode_that_a_key_began_stays() -> None:
    person = scrolled()
    person.command("[")
    person.mouse("wheel-down", 3, 3)
    assert person.ui.copies


def test_on_the_alternate_screen_the_wheel_is_arrows() -> None:
    person = scrolled(alternate=True)
    person.mouse("wheel-up", 3, 3)
    person.mouse("wheel-down", 3, 3)
    assert person.items() == [(1, Key("Up"))] * 3 + [(1, Key("Down"))] * 3


# -- text -----------------------------------------------------------------------------------------


def test_a_drag_selects_and_copies() -> None:
    person = scrolled()
    person.mouse("press", 5, 2)
    assert not person.ui.copies
    person.mouse("drag", 6, 2)
    person.mouse("drag", 3, 3)
    assert [(m.start, m.end) for m in person.ui.copies[1].marks(102)] == [(5, 80)]
    person.mouse("release", 3, 3)
    assert Copy("102, more\nword") in person.take()
    assert not person.ui.copies


def test_a_drag_beyond_the_edge_scrolls() -> None:
    person = scrolled()
    person.mouse("press", 5, 2)
    person.ui.offset = (0, -1)  # as if there were a row above the tab
    person.mouse("drag", 5, 0)
    copy = person.ui.copies[1]
    assert isinstance(copy, CopyMode)
    assert copy.top == 99


def test_two_presses_copy_a_word() -> None:
    person = scrolled()
    for action in ("press", "release", "press", "release"):
        person.mouse(action, 2, 4)
        person.passes(0.1)
    assert Copy("word") in person.take()


def test_slow_or_distant_presses_are_no_pair() -> None:
    person = scrolled()
    for x, pause in ((2, 1.0), (2, 0.1), (3, 0.1)):
        person.mouse("press", x, 4)
        person.mouse("release", x, 4)
        person.passes(pause)
    assert not any(isinstance(effect, Copy) for effect in person.take())


def test_the_middle_button_pastes_where_it_is_pressed() -> None:
    person = Person(TWO)
    person.controller._core.buffers.add("x")
    person.mouse("press", 50, 3, "middle")
    assert person.items() == [(2, Pasted("x"))]


# -- borders --------------------------------------------------------------------------------------


def test_a_border_is_dragged_one_resize_at_a_time() -> None:
    person = Person(TWO)
    person.answers = False
    person.mouse("press", 40, 5)
    for x in (42, 45, 50):
        person.mouse("drag", x, 5)
    (asked,) = person.sent(Do)
    assert dict(asked.body) == {"pane": 1, "cols": 42}
    person.told(Done(asked.req, 0, {}))
    assert person.verbs() == [("term.pane.resize", {"pane": 1, "cols": 50})]
    person.mouse("release", 50, 5)
    person.mouse("drag", 60, 5)
    assert person.verbs() == []


def test_a_border_between_upper_and_lower() -> None:
    person = Person(STACKED)
    person.mouse("press", 70, 11)
    person.mouse("drag", 70, 5)
    assert person.verbs() == [("term.pane.resize", {"pane": 1, "rows": 5})]


def test_no_border_is_dragged_to_nothing() -> None:
    person = Person(STACKED)
    person.mouse("press", 70, 11)
    person.mouse("drag", 70, 0)
    assert person.verbs() == [("term.pane.resize", {"pane": 1, "rows": 1})]


def there(space: Workspace) -> list[PlacedPane]:
    places = space.places(1).items()
    found = [PlacedPane(n, r.x, r.y, r.cols, r.rows, hidden=False) for n, r in places]
    return sorted(found, key=lambda pane: pane.x)


def comes_along(split: int, which: int, *, careful: bool = True) -> bool:
    """Whether the border after pane number ``which`` from the left comes to where it is dragged."""
    space = Workspace(80, 23)
    space.add_tab()
    space.split(1, Direction.HORIZONTAL)
    space.split(split, Direction.HORIZONTAL)
    panes = there(space)
    border = border_at(panes, panes[which].x + panes[which].cols, 3)
    assert border is not None
    to = border.place - 2
    moved = drag(panes, border, to) if careful else Moved(border.first.id, "cols",
                                                          to - border.first.x)  # fmt: skip
    space.resize_pane(moved.pane, cols=moved.size)
    now = there(space)[which]
    return now.x + now.cols == to


def test_the_right_one_of_three_in_a_row_is_resized() -> None:
    cases = [(split, which) for split in (1, 2) for which in (0, 1)]
    assert all(comes_along(split, which) for split, which in cases)
    assert not all(comes_along(split, which, careful=False) for split, which in cases)


def test_a_pane_that_goes_while_its_border_is_held() -> None:
    person = Person(TWO)
    person.mouse("press", 40, 5)
    person.told(person.layout(ONE))
    person.mouse("drag", 45, 5)
    assert person.verbs() == []


# -- tabs -----------------------------------------------------------------------------------------


def test_tabs_are_clicked_and_wheeled() -> None:
    person = Person(tabs=(tab(1), tab(2, (5,))))
    person.ui.tab_spans = ((0, 6, 1), (6, 12, 2))
    person.mouse("press", 7, 23)
    person.mouse("wheel-down", 0, 23)
    person.mouse("press", 40, 23)
    person.mouse("drag", 7, 23)
    assert person.verbs() == [("term.tab.select", {"id": 2})] * 2


def test_without_a_status_line_the_last_row_is_the_pane_s() -> None:
    person = Person((PlacedPane(1, 0, 0, 80, 24, hidden=False),))
    person.told(person.state(rows=24, modes=Modes(mouse=1000)))
    person.ui.status_row = -1
    person.mouse("press", 7, 23)
    assert person.items() == [(1, Mouse("press", "left", 7, 23))]


def test_prompts_and_help_keep_the_mouse() -> None:
    for opened in ("?", ","):
        person = with_mouse()
        person.command(opened)
        person.take()
        person.mouse("press", 50, 3)
        assert person.items() == []
