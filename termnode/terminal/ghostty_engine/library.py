"""The C library, and the checks that let the rest of this package trust its memory layout.

Importing this module loads the library (about 150 ms): import it late. ``ffi`` and ``lib`` are
the raw interface; nothing outside this package touches them.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

from pyghostty import _ffi

CData: TypeAlias = Any
"""Something of C: cffi gives it no type that a checker could use."""

ffi: Final[CData] = _ffi.ffi
lib: Final[CData] = _ffi.lib

SUCCESS: Final[int] = lib.GHOSTTY_SUCCESS
NULL: Final[CData] = ffi.NULL

# The library passes two unions by value, which cffi cannot do. These twins have the same size and
# are passed the same way (in memory: they are larger than two registers).
ffi.cdef(
    """
    typedef struct { uint64_t word; uint64_t unused; } TermnodeWords;
    typedef struct { GhosttyTerminalScrollViewportTag tag; TermnodeWords value; } TermnodeScroll;
    """
)
_scroll_viewport: Final[CData] = _ffi.union_fn(
    "ghostty_terminal_scroll_viewport", "void(*)(GhosttyTerminal, TermnodeScroll)"
)
_grid_ref: Final[CData] = _ffi.union_fn(
    "ghostty_terminal_grid_ref", "GhosttyResult(*)(GhosttyTerminal, GhosttyPointS, GhosttyGridRef*)"
)

_track: Final[CData] = _ffi.union_fn(
    "ghostty_terminal_grid_ref_track",
    "GhosttyResult(*)(GhosttyTerminal, GhosttyPointS, GhosttyTrackedGridRef *)",
)
_set_tracked: Final[CData] = _ffi.union_fn(
    "ghostty_tracked_grid_ref_set",
    "GhosttyResult(*)(GhosttyTrackedGridRef, GhosttyTerminal, GhosttyPointS)",
)


class LibraryError(Exception):
    """The library refused a call that cannot fail in ordinary use: the engine counts as dead."""


def check(result: int, what: str) -> None:
    """Raise LibraryError unless ``result`` is success."""
    if result != SUCCESS:
        raise LibraryError(f"{what} failed in the terminal library ({result})")


def set_option(terminal: CData, name: str, value: CData) -> None:
    """Set one terminal option; ``value`` is a cffi pointer or callback."""
    option = getattr(lib, f"GHOSTTY_TERMINAL_OPT_{name}")
    check(lib.ghostty_terminal_set(terminal, option, value), name)


def get_value(terminal: CData, name: str, out: CData) -> CData:
    """Read one terminal datum into ``out`` (a cffi pointer of the right type); gives its value."""
    key = getattr(lib, f"GHOSTTY_TERMINAL_DATA_{name}")
    check(lib.ghostty_terminal_get(terminal, key, out), name)
    return out[0]


def string_bytes(value: CData, limit: int) -> bytes:
    """At most ``limit`` bytes of a borrowed GhosttyString, copied."""
    return bytes(ffi.buffer(value.ptr, min(value.len, limit))) if value.len else b""


def scroll_to(terminal: CData, row: int | None) -> None:
    """Show the screen from row ``row`` of history plus screen; None shows the live screen."""
    scroll = ffi.new("TermnodeScroll *")
    scroll.tag = lib.GHOSTTY_SCROLL_VIEWPORT_BOTTOM
    if row is not None:
        scroll.tag = lib.GHOSTTY_SCROLL_VIEWPORT_ROW
        scroll.value.word = row
    _scroll_viewport(terminal, scroll[0])


def grid_ref(terminal: CData, row: int, ref: CData) -> None:
    """Point ``ref`` at the first cell of row ``row``, counted from the oldest history row."""
    check(_grid_ref(terminal, screen_point(row)[0], ref), "grid_ref")


def screen_point(row: int, column: int = 0) -> CData:
    """A pointer to the place of a cell, its row counted from the oldest history row."""
    point = ffi.new("GhosttyPointS *")
    point.tag = lib.GHOSTTY_POINT_TAG_SCREEN
    point.value.x, point.value.y = column, row
    return point


def track(terminal: CData, point: CData) -> CData:
    """A reference that follows the cell at ``point`` of the screen in use.

    It frees itself when it is released or goes away, before or after the terminal.
    """
    out = ffi.new("GhosttyTrackedGridRef *")
    check(_track(terminal, point[0], out), "track")
    return ffi.gc(out[0], lib.ghostty_tracked_grid_ref_free)


def set_tracked(tracked: CData, terminal: CData, point: CData) -> None:
    """Make ``tracked`` follow another cell."""
    check(_set_tracked(tracked, terminal, point[0]), "track")


def owned(ctype: str, create: CData, free: CData) -> CData:
    """A new object of the library that is freed when it is released or goes away."""
    out = ffi.new(f"{ctype} *")
    check(create(NULL, out), ctype)
    return ffi.gc(out[0], free)
