"""A model holds what was last told, the very objects, and no more than one tab shows."""

from __future__ import annotations

from termnode.attach.model import MAX_PANES, Model
from termnode.terminal.engine import Cursor, Modes
from termnode.view.messages import Bell, Layout, Line, PaneGone, PaneState, PlacedPane, Status, Tabs


def told(
    *lines: Line,
    pane: int = 1,
    base: int = 0,
    rows: int = 3,
    full: bool = False,
    generation: int = 1,
) -> PaneState:
    return PaneState(
        pane, generation, 10, rows, base, 0, lines, Cursor(0, 0), Modes(), "", "running", full, 1
    )


def line(number: int, text: str) -> Line:
    return number, ((text, len(text), None),)


def layout(*panes: int, active: int = 1) -> Layout:
    placed = tuple(PlacedPane(pane, 0, 0, 10, 3, hidden=False) for pane in panes)
    return Layout(1, 10, 3, placed, None, active)


def texts(model: Model, pane: int = 1) -> list[str]:
    screen = model.panes[pane]
    return ["".join(run[0] for run in screen.row(y)) for y in range(screen.told.rows)]


def test_lines_stay_until_they_are_told_anew() -> None:
    model = Model()
    model.apply(told(line(0, "a"), line(1, "b"), full=True))
    kept = model.panes[1].row(0)
    model.apply(told(line(1, "B")))
    assert texts(model) == ["a", "B", ""]
    assert model.panes[1].row(0) is kept


def test_a_full_one_and_a_new_program_begin_anew() -> None:
    model = Model()
    model.apply(told(line(0, "a"), full=True))
    model.apply(told(line(1, "b"), full=True))
    assert texts(model) == ["", "b", ""]
    model.apply(told(line(0, "c"), generation=2))
    assert texts(model) == ["c", "", ""]


def test_what_left_the_screen_is_forgotten() -> None:
    model = Model()
    model.apply(told(*(line(n, str(n)) for n in range(3)), full=True))
    model.apply(told(line(3, "3"), base=1))
    assert texts(model) == ["1", "2", "3"]
    assert model.panes[1].line(0) == ()
    model.apply(told(base=1, rows=2))
    assert model.panes[1].row(2) == ()
    model.apply(told(line(90, "x"), base=1, rows=2))
    assert model.panes[1].line(90) == ()


def test_panes_that_are_not_in_the_layout_are_forgotten() -> None:
    model = Model()
    model.apply(layout(1, 2))
    model.apply(told(full=True))
    model.apply(told(pane=2, full=True))
    model.apply(layout(2, active=2))
    assert list(model.panes) == [2]
    assert model.active == PlacedPane(2, 0, 0, 10, 3, hidden=False)
    assert model.active_screen is model.panes[2]
    model.apply(PaneGone(2))
    model.apply(PaneGone(2))
    assert model.panes == {}
    assert model.active_screen is None


def test_an_empty_model_has_nothing_active() -> None:
    model = Model()
    assert model.active is None
    assert model.active_screen is None
    model.apply(layout(1, active=7))
    assert model.active is None


def test_the_rest_is_the_newest() -> None:
    model = Model()
    status = Status(1, None, None, "open", "term")
    for message in (Tabs(3, ()), status, Bell(1)):
        model.apply(message)
    assert (model.tabs, model.status) == (Tabs(3, ()), status)


def test_no_more_screens_than_may_be() -> None:
    model = Model()
    for pane in range(MAX_PANES + 5):
        model.apply(told(pane=pane, full=True))
    assert len(model.panes) == MAX_PANES
    model.apply(told(line(0, "still told"), pane=0))
    assert texts(model, 0)[0] == "still told"
