"""The view's own line: tabs, who is here, who wrote last, how the service stands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from termnode.attach.looks import Looks
from termnode.attach.model import Model
from termnode.attach.runs import blanks, columns, cut, joined
from termnode.attach.ui.state import PromptView
from termnode.attach.words import clean, filled, fitted
from termnode.terminal.render.cells import Width
from termnode.terminal.render.cells import columns as columns_of
from termnode.view.messages import Interrupted, LastInput, Row, Run3, Status, TabInfo, Tabs

_TITLE_COLS: Final = 20
_WHO_COLS: Final = 40
_LEAST: Final = 3
"""Columns that tabs must have for there to be a right side."""

_RUNNING: Final = "running"

TabSpans = tuple[tuple[int, int, int], ...]
"""First column, column after the last, and id of each tab that is shown."""


class Facts(NamedTuple):
    """All that the status line depends on."""

    tabs: Tabs
    shown: int | None
    """The tab that this view shows, which need not be the active one."""
    status: Status | None
    state: str
    """Of the active pane's program."""
    read_only: bool
    prefix: bool
    copying: bool


class StatusLine(NamedTuple):
    """The line, and where its tabs are."""

    row: Row
    tabs: TabSpans


def facts(model: Model, *, read_only: bool, prefix: bool, copying: bool) -> Facts:
    """What there is to say now."""
    screen = model.active_screen
    shown = model.tabs.active if model.layout is None else model.layout.tab
    state = _RUNNING if screen is None else screen.told.state
    return Facts(model.tabs, shown, model.status, state, read_only, prefix, copying)


def status_line(known: Facts, cols: int, looks: Looks, width: Width) -> StatusLine:
    """Tabs to the left, always with the one that is shown; the rest to the right as far as fits."""
    labels = [_label(tab, known, looks, width) for tab in known.tabs.tabs]
    beside = cols - sum(label[1] for label in labels) - 1
    right = _right(known, max(cols // 2, beside), looks, width)
    room = max(cols - columns(right) - 1, 0)
    if room < _LEAST:
        room, right = cols, []
    left, spans = _tabs(known, labels, room, width)
    gap = blanks(cols - columns(left) - columns(right), looks.status)
    return StatusLine(joined(cut([*left, gap, *right], 0, cols, width), width), spans)


def message_line(text: str, cols: int, looks: Looks, width: Width) -> Row:
    """A message in place of the status line."""
    return joined([filled(text, cols, looks.message, width)], width)


def prompt_line(prompt: PromptView, cols: int, looks: Looks, width: Width) -> tuple[Row, int]:
    """The prompt in place of the status line, and the column of its cursor: always seen."""
    text = clean(prompt.text)
    at = columns_of(text[: prompt.cursor], width)
    total = max(columns_of(text, width), at + 1)
    start = max(0, at - cols + 1)
    run = filled(text, total, looks.message, width)
    padded = [run, blanks(max(cols - total + start, 0), looks.message)]
    return joined(cut(padded, start, start + cols, width), width), at - start


# -- tabs -----------------------------------------------------------------------------------------


def _tabs(
    known: Facts, labels: Sequence[Run3], room: int, width: Width
) -> tuple[list[Run3], TabSpans]:
    first = _first_shown(labels, _place(known), room)
    runs: list[Run3] = []
    spans = []
    at = 0
    for tab, label in list(zip(known.tabs.tabs, labels, strict=True))[first:]:
        if at >= room:
            break
        end = min(at + label[1], room)
        spans.append((at, end, tab.id))
        runs += cut([label], 0, end - at, width)
        at = end
    return runs, tuple(spans)


def _place(known: Facts) -> int:
    return next((at for at, tab in enumerate(known.tabs.tabs) if tab.id == known.shown), 0)


def _first_shown(labels: Sequence[Run3], shown: int, room: int) -> int:
    """The first of the tabs with which the shown one is seen whole, if it can be."""
    first = 0
    while first < shown and sum(label[1] for label in labels[first : shown + 1]) > room:
        first += 1
    return first


def _label(tab: TabInfo, known: Facts, looks: Looks, width: Width) -> Run3:
    marks = "".join(
        mark
        for mark, on in (
            ("*", tab.id == known.shown),
            ("Z", tab.zoomed),
            ("!", tab.bell),
            ("#", tab.activity and tab.id != known.shown),
        )
        if on
    )
    title = fitted(tab.title, _TITLE_COLS, None, width)
    style = looks.status
    if tab.id == known.shown:
        style = looks.active_tab
    elif tab.bell:
        style = looks.message
    name = f"{tab.id}:" if title[0] else str(tab.id)
    return f" {name}{title[0]}{marks} ", len(name) + title[1] + len(marks) + 2, style


# -- the right side -------------------------------------------------------------------------------


def _right(known: Facts, room: int, looks: Looks, width: Width) -> list[Run3]:
    """Cut at its end: what matters most comes first."""
    alert = _interrupted(known.status.interrupted) if known.status else ""
    runs = [fitted(f" {alert} ", room, looks.message, width)] if alert else []
    left = room - columns(runs)
    text = " | ".join(filter(None, _words(known, width)))
    if text and left > 3:
        runs.append(fitted(f" {text} ", left, looks.status, width))
    return runs


def _words(known: Facts, width: Width) -> Iterable[str]:
    status = known.status
    yield "^" if known.prefix else ""
    yield "copy" if known.copying else ""
    yield "read-only" if known.read_only else ""
    yield "" if known.state == _RUNNING else known.state
    if status is None:
        return
    yield "strict" if status.posture == "strict" else ""
    yield status.identity
    yield _last(status.last, width)
    yield f"{status.views} views" if status.views > 1 else ""
    yield "" if status.posture == "strict" else status.posture
    yield status.name


def _interrupted(told: Interrupted | None) -> str:
    return "" if told is None else f"interrupted: {told.who} ({told.verb}, pane {told.pane})"


def _last(told: LastInput | None, width: Width) -> str:
    if told is None:
        return ""
    return f"{fitted(told.who, _WHO_COLS, None, width)[0]} {told.verb} in {told.pane}"
