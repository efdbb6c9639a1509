"""How each message travels: its type's name, its keys and their bounds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from termnode.terminal.engine import MAX_COLS, MAX_ROWS, MAX_TITLE, Cursor, Modes
from termnode.view import messages as m
from termnode.view.codec import (
    BODY,
    BOOLEAN,
    BadFrame,
    Codec,
    Fields,
    integer,
    need,
    optional,
    raw,
    record,
    row,
    sequence,
    strings,
    text,
    word,
)
from termnode.view.items import ITEM, MAX_ITEMS
from termnode.view.wire_style import STYLE

MAX_RUN: Final = 65_536
"""Characters of one run: a thousand cells with the marks that join them."""

MAX_PAGE: Final = 500
"""Lines of one `PageWanted` and `Page`."""

MAX_DATA: Final = 512 * 1024
"""Bytes of one `Output` and `Keyframe`."""

MAX_QUESTION: Final = 65_536

_ID: Final = integer(0, 2**63 - 1)
_COUNT: Final = _ID
_COLS: Final = integer(1, MAX_COLS)
_ROWS: Final = integer(1, MAX_ROWS)
_AT: Final = integer(0, 65_535)
_SMALL: Final = integer(0, 65_535)
_WORD: Final = text(64)
_WHO: Final = text(256)
_TITLE: Final = text(MAX_TITLE)
_V: Final = integer(m.VERSION, m.VERSION)

RUN: Final = row(text(MAX_RUN), _SMALL, STYLE)
LINE: Final = row(_COUNT, sequence(RUN, MAX_COLS + 1))

_CURSOR: Final = record(Cursor, _AT, _AT, BOOLEAN, _SMALL)
_MODES: Final = record(
    Modes,
    *[BOOLEAN] * 5,  # alternate, app_cursor, app_keypad, bracketed_paste, focus_events
    _SMALL,  # mouse
    *[BOOLEAN] * 5,  # mouse_sgr, mouse_pixels, synchronized, autowrap, reverse
    _SMALL,  # kitty_flags
    _SMALL,  # modify_other_keys
)
_TAB: Final = record(m.TabInfo, _ID, _TITLE, sequence(_ID, 1_024), _ID, BOOLEAN, BOOLEAN, BOOLEAN)
_PLACED: Final = record(m.PlacedPane, _ID, _AT, _AT, _COLS, _ROWS, BOOLEAN)
_LAST: Final = record(m.LastInput, _ID, _WHO, _WORD, _COUNT)
_INTERRUPTED: Final = record(m.Interrupted, _ID, _WHO, _WORD)


@dataclass(frozen=True, slots=True)
class Shape:
    """A message's type on the wire, how to make it, and its fields by name."""

    name: str
    make: Callable[..., m.Message]
    fields: Fields

    def unpack(self, values: Mapping[str, Any]) -> m.Message:
        """The message of these fields, all of them and no others. Raises BadFrame."""
        need(values.keys() == self.fields.keys(), "a message has other fields")
        return self.make(
            **{name: codec.unpack(values[name]) for name, codec in self.fields.items()}
        )


def _shape(kind: str, cls: Callable[..., m.Message], /, **fields: Codec) -> Shape:
    return Shape(kind, cls, fields)


FROM_VIEW: Final = (
    _shape(
        "attach",
        m.Attach,
        token=text(128),
        cols=_COLS,
        rows=_ROWS,
        read_only=BOOLEAN,
        tab=optional(_ID),
        env=strings(64, 4_096),
        watch=optional(_ID),
        v=_V,
    ),
    _shape("ack", m.Ack, n=_COUNT),
    _shape("input", m.Input, pane=_ID, items=sequence(ITEM, MAX_ITEMS)),
    _shape("size", m.Size, cols=_COLS, rows=_ROWS),
    _shape("do", m.Do, req=_ID, verb=_WORD, body=BODY),
    _shape("page", m.PageWanted, req=_ID, pane=_ID, line=_COUNT, lines=integer(1, MAX_PAGE)),
    _shape("answer", m.Answer, ask=_ID, yes=BOOLEAN),
    _shape("detach", m.Detach),
)
"""What a view may send."""

FROM_SERVICE: Final = (
    _shape(
        "welcome",
        m.Welcome,
        service=_WHO,
        pid=_ID,
        view=_ID,
        posture=_WORD,
        emulator=_WORD,
        read_only=BOOLEAN,
        v=_V,
    ),
    _shape("tabs", m.Tabs, active=optional(_ID), tabs=sequence(_TAB, 1_024)),
    _shape(
        "layout",
        m.Layout,
        tab=_ID,
        cols=_SMALL,  # a tab that its panes need more room for is larger than any terminal
        rows=_SMALL,
        panes=sequence(_PLACED, 1_024),
        zoomed=optional(_ID),
        active=_ID,
    ),
    _shape(
        "pane",
        m.PaneState,
        pane=_ID,
        generation=_COUNT,
        cols=_COLS,
        rows=_ROWS,
        base=_COUNT,
        first=_COUNT,
        lines=sequence(LINE, MAX_ROWS),
        cursor=_CURSOR,
        modes=_MODES,
        title=_TITLE,
        state=_WORD,
        full=BOOLEAN,
        revision=_COUNT,
    ),
    _shape("gone", m.PaneGone, pane=_ID),
    _shape(
        "status",
        m.Status,
        views=_COUNT,
        last=optional(_LAST),
        interrupted=optional(_INTERRUPTED),
        posture=_WORD,
        name=_WHO,
        identity=_WORD,
    ),
    _shape("bell", m.Bell, pane=_ID),
    _shape(
        "page",
        m.Page,
        req=_ID,
        pane=_ID,
        generation=_COUNT,
        first=_COUNT,
        end=_COUNT,
        lines=sequence(LINE, MAX_PAGE),
    ),
    _shape("done", m.Done, req=_ID, rc=_SMALL, body=BODY),
    _shape("ask", m.Asked, ask=_ID, title=_WHO, text=text(MAX_QUESTION)),
    _shape("asked", m.AskedGone, ask=_ID),
    _shape("bye", m.Bye, reason=word(m.Reason)),
    _shape("output", m.Output, pane=_ID, data=raw(MAX_DATA), time_ms=_COUNT),
    _shape("resized", m.Resized, pane=_ID, cols=_COLS, rows=_ROWS, time_ms=_COUNT),
    _shape(
        "keyframe",
        m.Keyframe,
        pane=_ID,
        cols=_COLS,
        rows=_ROWS,
        ansi=raw(MAX_DATA),
        title=_TITLE,
        time_ms=_COUNT,
        missed=_COUNT,
    ),
    _shape("ended", m.Ended, pane=_ID, state=_WORD, time_ms=_COUNT),
)
"""What the service may send."""

BY_CLASS: Final[Mapping[Any, Shape]] = {shape.make: shape for shape in (*FROM_VIEW, *FROM_SERVICE)}


def unpack(shapes: Mapping[str, Shape], values: Any) -> m.Message:  # noqa: ANN401
    """The message that a decoded map is. Raises BadFrame."""
    need(isinstance(values, dict) and isinstance(values.get("t"), str), "a frame has no type")
    shape = shapes.get(values.pop("t"))
    if shape is None:
        raise BadFrame("a frame of an unknown type")
    return shape.unpack(values)
