"""Control sequences: one table from key (prefix, intermediates, final) to what it does.

Whatever is not in the table, or in the table of reports, is swallowed. Counts of 0 mean 1, as
ECMA-48 and the VT510 manual have it; all counts are cut where the screen ends.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Final

from termnode.terminal.engine import EventKind
from termnode.terminal.pyte_engine.screen import PyteScreen

Params = tuple[int, ...]
Handler = Callable[[PyteScreen, Params], None]

MAX_COUNT: Final = 32
"""Parameters that count; the rest are left out."""

MAX_VALUE: Final = 65_535
MAX_TITLES: Final = 10
"""Titles a program may put aside."""


@lru_cache(maxsize=2_048)
def numbers(params: str) -> Params:
    """Parameters as numbers from 0 to MAX_VALUE; sub-parameters after a colon are left out."""
    if not params:
        return ()
    parts = params.split(";", MAX_COUNT)[:MAX_COUNT]
    return tuple(_number(part.partition(":")[0]) for part in parts)


def _number(text: str) -> int:
    digits = text.lstrip("0")
    if len(digits) > 5:
        return MAX_VALUE
    return min(int(digits or "0"), MAX_VALUE)


def at(params: Params, index: int) -> int:
    """Parameter ``index``, 0 when it is missing."""
    return params[index] if index < len(params) else 0


def count(params: Params) -> int:
    """The first parameter as a count: at least 1."""
    return (params[0] or 1) if params else 1


def _next_lines(screen: PyteScreen, params: Params) -> None:
    screen.cursor_down(count(params))
    screen.carriage_return()


def _previous_lines(screen: PyteScreen, params: Params) -> None:
    screen.cursor_up(count(params))
    screen.carriage_return()


def _scroll_down(screen: PyteScreen, params: Params) -> None:
    # With more parameters it is an old mouse tracking function, not a scroll.
    if len(params) < 2:
        screen.scroll_down(count(params), *screen.bounds())


def _save(screen: PyteScreen, params: Params) -> None:
    # With parameters these are left and right margins, which we do not have.
    if not params:
        screen.save_cursor()


def _restore(screen: PyteScreen, params: Params) -> None:
    if not params:
        screen.restore_cursor()


def _save_modes(screen: PyteScreen, params: Params) -> None:
    for number in params:
        screen.save_mode(number)


def _restore_modes(screen: PyteScreen, params: Params) -> None:
    for number in params:
        if number in screen.saved_modes:
            screen.set_private(number, screen.saved_modes[number])


def _shape(screen: PyteScreen, params: Params) -> None:
    shape = at(params, 0)
    if shape <= 6:
        screen.cursor_shape = shape


def _kitty_set(screen: PyteScreen, params: Params) -> None:
    flags, old = at(params, 0) & 31, screen.kitty[-1]
    how = at(params, 1) or 1
    merged = {1: flags, 2: old | flags, 3: old & ~flags}
    screen.kitty[-1] = merged.get(how, old)


def _key_option(screen: PyteScreen, params: Params) -> None:
    # XTMODKEYS; without parameters all of the options are as at the start.
    if not params or params[0] == 4:
        level = at(params, 1)
        screen.modify_other_keys = level if level <= 2 else 0


def _key_option_off(screen: PyteScreen, params: Params) -> None:
    if at(params, 0) == 4:
        screen.modify_other_keys = 0


def _window(screen: PyteScreen, params: Params) -> None:
    what = at(params, 0)
    if at(params, 1) == 1:  # the icon's name alone
        return
    if what == 22:
        screen.titles.append(screen.title)
        del screen.titles[:-MAX_TITLES]
    elif what == 23 and screen.titles:
        screen.set_title(screen.titles.pop())
        screen.outbox.event(EventKind.TITLE, screen.title)


HANDLERS: Final[Mapping[str, Handler]] = {
    "@": lambda s, p: s.insert_characters(count(p)),
    "A": lambda s, p: s.cursor_up(count(p)),
    "B": lambda s, p: s.cursor_down(count(p)),
    "C": lambda s, p: s.cursor_forward(count(p)),
    "D": lambda s, p: s.cursor_back(count(p)),
    "E": _next_lines,
    "F": _previous_lines,
    "G": lambda s, p: s.cursor_to_column(count(p)),
    "H": lambda s, p: s.cursor_position(at(p, 0), at(p, 1)),
    "I": lambda s, p: s.tab_forward(count(p)),
    "J": lambda s, p: s.erase_in_display(at(p, 0)),
    "?J": lambda s, p: s.erase_in_display(at(p, 0)),
    "K": lambda s, p: s.erase_in_line(at(p, 0)),
    "?K": lambda s, p: s.erase_in_line(at(p, 0)),
    "L": lambda s, p: s.insert_lines(count(p)),
    "M": lambda s, p: s.delete_lines(count(p)),
    "P": lambda s, p: s.delete_characters(count(p)),
    "S": lambda s, p: s.scroll_up(count(p), *s.bounds()),
    "T": _scroll_down,
    "X": lambda s, p: s.erase_characters(count(p)),
    "Z": lambda s, p: s.tab_back(count(p)),
    "`": lambda s, p: s.cursor_to_column(count(p)),
    "a": lambda s, p: s.cursor_forward(count(p)),
    "b": lambda s, p: s.repeat(count(p)),
    "d": lambda s, p: s.cursor_to_line(count(p)),
    "e": lambda s, p: s.cursor_down_anywhere(count(p)),
    "f": lambda s, p: s.cursor_position(at(p, 0), at(p, 1)),
    "g": lambda s, p: s.clear_tab_stop(at(p, 0)),
    "h": lambda s, p: s.set_mode(*p),
    "l": lambda s, p: s.reset_mode(*p),
    "?h": lambda s, p: s.set_mode(*p, private=True),
    "?l": lambda s, p: s.reset_mode(*p, private=True),
    "r": lambda s, p: s.set_margins(at(p, 0), at(p, 1)),
    "s": _save,
    "u": _restore,
    "?s": _save_modes,
    "?r": _restore_modes,
    " q": _shape,
    "!p": lambda s, _: s.soft_reset(),
    ">u": lambda s, p: s.kitty_push(at(p, 0)),
    "<u": lambda s, p: s.kitty_pop(count(p)),
    "=u": _kitty_set,
    ">m": _key_option,
    ">n": _key_option_off,
}

WINDOW: Final[Handler] = _window
"""``CSI t``: title stack; its queries are reports."""
