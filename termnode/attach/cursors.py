"""Where the person's cursor is, and which part of a tab is shown so that it is seen."""

from __future__ import annotations

from typing import Final

from termnode.attach.model import Model
from termnode.attach.places import offset
from termnode.attach.ui.state import Ui
from termnode.terminal.engine import Cursor

NOWHERE: Final = Cursor(0, 0, visible=False)


def _target(model: Model, ui: Ui) -> Cursor:
    """The cursor in the active pane: the program's, or that of copy mode."""
    screen = model.active_screen
    if screen is None:
        return NOWHERE
    copy = ui.copies.get(screen.told.pane)
    return screen.cursor if copy is None else Cursor(*copy.cursor)


def corner(model: Model, ui: Ui, room: tuple[int, int]) -> tuple[int, int]:
    """Which cell of the tab is shown first: where the tab is larger, the cursor is in view."""
    layout, place = model.layout, model.active
    if layout is None or place is None:
        return 0, 0
    cursor = _target(model, ui)
    return (
        offset(room[0], layout.cols, place.x + min(cursor.x, place.cols - 1)),
        offset(room[1], layout.rows, place.y + min(cursor.y, place.rows - 1)),
    )


def cursor_in(model: Model, ui: Ui, room: tuple[int, int]) -> Cursor:
    """The cursor where it is in the view; invisible when its cell is not in it."""
    place, cursor = model.active, _target(model, ui)
    if place is None or place.hidden or cursor.x >= place.cols or cursor.y >= place.rows:
        return NOWHERE
    x, y = place.x + cursor.x - ui.offset[0], place.y + cursor.y - ui.offset[1]
    if not (0 <= x < room[0] and 0 <= y < room[1]):
        return NOWHERE
    return Cursor(x, y, cursor.visible, cursor.shape)
