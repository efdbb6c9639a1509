"""One case of the emulator conformance suite: what is fed, and what must come out.

Expected values follow xterm, ECMA-48 and the VT510 manual; where modern terminals differ with good
reason, a case lists the alternatives.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from termnode.terminal.engine import PLAIN, Engine, EngineFactory, Event, Style


class Resize(NamedTuple):
    """A step that changes the size instead of feeding bytes."""

    cols: int
    rows: int


@dataclass(frozen=True, kw_only=True)
class Expected:
    """What must hold after the steps; None asks nothing."""

    cols: int = 20
    rows: int = 5
    lines: Mapping[int, str | tuple[str, ...]] | None = None
    """Text of screen rows, or allowed alternatives."""
    holds: Callable[[list[str]], bool] | None = None
    """Any other rule for the screen's rows."""
    history: Sequence[str] | None = None
    cursor: tuple[int, int] | None = None
    visible: bool | None = None
    replies: bytes | None = None
    """Pattern that all replies together match; without it there must be none."""
    title: str | None = None
    modes: Mapping[str, int | bool] | None = None
    looks: Mapping[tuple[int, int], Mapping[str, object]] | None = None
    """Style fields of the n-th character (not cell) of a row."""
    events: Sequence[Event] | None = None


class Case:
    """A named case: steps, then expectations."""

    def __init__(self, name: str, *steps: bytes | Resize, **expected: object) -> None:
        self.name = name
        self.steps = steps
        self.expected = Expected(**expected)  # type: ignore[arg-type]  # checked at collection

    def __repr__(self) -> str:
        return self.name


def run(case: Case, make: EngineFactory) -> list[str]:
    """Run ``case`` and say what differs; an empty list means that it passes."""
    engine = make(case.expected.cols, case.expected.rows)
    try:
        for step in case.steps:
            if isinstance(step, Resize):
                engine.resize(step.cols, step.rows)
            else:
                engine.feed(step)
        return list(_differences(case.expected, engine))
    finally:
        engine.close()


def _differences(expected: Expected, engine: Engine) -> Iterator[str]:
    yield from _lines(expected, engine.text())
    yield from _looks(expected, engine)
    yield from _modes(expected, engine)
    if not re.fullmatch(expected.replies or b"", replies := engine.take_replies(), re.DOTALL):
        yield f"replies {replies!r}"
    if expected.title is not None and engine.title != expected.title:
        yield f"title {engine.title!r}"
    if expected.history is not None:
        history = engine.text(-engine.history_len, engine.history_len)
        if history != list(expected.history):
            yield f"history {history}"
    if expected.events is not None and (events := engine.take_events()) != list(expected.events):
        yield f"events {events}"


def _lines(expected: Expected, lines: list[str]) -> Iterator[str]:
    for y, wanted in (expected.lines or {}).items():
        allowed = wanted if isinstance(wanted, tuple) else (wanted,)
        if lines[y] not in allowed:
            yield f"row {y} {lines[y]!r}, not {wanted!r}"
    if expected.holds and not expected.holds(lines):
        yield f"rows {lines}"


def _looks(expected: Expected, engine: Engine) -> Iterator[str]:
    for (x, y), fields in (expected.looks or {}).items():
        style = style_at(engine, x, y)
        for field, wanted in fields.items():
            if getattr(style, field) != wanted:
                yield f"{field} of character {x} in row {y}: {getattr(style, field)}"


def style_at(engine: Engine, index: int, y: int) -> Style:
    """The style of the ``index``-th character of row ``y``; plain past the end."""
    (runs,) = engine.runs(y, 1)
    for text, style in runs:
        if index < len(text):
            return style
        index -= len(text)
    return PLAIN


def _modes(expected: Expected, engine: Engine) -> Iterator[str]:
    cursor, modes = engine.cursor, engine.modes
    if expected.cursor is not None and (cursor.x, cursor.y) != expected.cursor:
        yield f"cursor at {cursor.x},{cursor.y}"
    if expected.visible is not None and cursor.visible != expected.visible:
        yield f"cursor visible: {cursor.visible}"
    for mode, wanted in (expected.modes or {}).items():
        if getattr(modes, mode) != wanted:
            yield f"mode {mode}: {getattr(modes, mode)}"
