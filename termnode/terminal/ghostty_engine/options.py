"""Creating a native terminal, with every option that the rules of an engine ask for."""

from __future__ import annotations

from typing import Final

from termnode.terminal.ghostty_engine.library import NULL, CData, check, ffi, lib, set_option
from termnode.terminal.ghostty_engine.sink import MAX_CLIPBOARD, MAX_EVENT_TEXT

CONTINUATION_BYTES: Final = 64 * 1024
"""How much of an unfinished sequence is kept so that a snapshot can be taken inside it."""

MAX_APC_BYTES: Final = 64 * 1024

_SETTINGS: Final[tuple[tuple[str, str, CData], ...]] = (
    # Without default colors, OSC 10 and 11 go unanswered and programs wait for a time-out.
    ("COLOR_FOREGROUND", "GhosttyColorRgb", {"r": 0xE5, "g": 0xE5, "b": 0xE5}),
    ("COLOR_BACKGROUND", "GhosttyColorRgb", {"r": 0, "g": 0, "b": 0}),
    # A shape no program can ask for: tells "never set" (DECSCUSR 0) from "steady block" (2).
    (
        "DEFAULT_CURSOR_STYLE",
        "GhosttyTerminalCursorStyle",
        lib.GHOSTTY_TERMINAL_CURSOR_STYLE_BLOCK_HOLLOW,
    ),
    # No pictures: a text service has no use for the memory and the files they need. The library
    # takes none from files or shared memory unless told to.
    ("KITTY_IMAGE_STORAGE_LIMIT", "uint64_t", 0),
    ("GLYPH_PROTOCOL", "bool", False),
    # A program that can make the terminal type its title can type anything.
    ("TITLE_REPORT", "bool", False),
    ("APC_MAX_BYTES", "size_t", MAX_APC_BYTES),
    ("UNKNOWN_MAX_BYTES", "size_t", MAX_EVENT_TEXT),
    ("CLIPBOARD_WRITE_MAX_BYTES", "size_t", MAX_CLIPBOARD),
    ("CONTINUATION_MAX_BYTES", "size_t", CONTINUATION_BYTES),
)


def new_terminal(cols: int, rows: int, allocator: CData = NULL) -> CData:
    """A native terminal that frees itself; LibraryError when memory is short."""
    out = ffi.new("GhosttyTerminal *")
    check(lib.ghostty_terminal_new(allocator, out, cols, rows), "terminal_new")
    return own_terminal(out[0])


def own_terminal(terminal: CData) -> CData:
    """Free ``terminal`` when the returned object goes away or is released."""
    return ffi.gc(terminal, lib.ghostty_terminal_free)


def configure(terminal: CData) -> None:
    """Set the fixed options."""
    for name, ctype, value in _SETTINGS:
        set_option(terminal, name, ffi.new(f"{ctype} *", value))


_PAGE_BYTES: Final = 512 * 1024
"""The library drops history by pages of about this size."""


def limit_scrollback(terminal: CData, lines: int, cols: int) -> None:
    """Keep ``lines`` rows of ``cols`` cells or somewhat more; fewer only if they are costly.

    By bytes: the library's limit by lines costs four fifths of its speed. A row takes 8 bytes per
    cell and a few more; many styles and links take from the margin. A page is kept even where no
    lines are wanted: without any history nobody can say how many rows went by.
    """
    size = lines * (cols * 10 + 16) + _PAGE_BYTES
    set_option(terminal, "SCROLLBACK_MAX_BYTES", ffi.new("size_t *", size))
