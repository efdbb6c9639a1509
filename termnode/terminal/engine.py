"""What the rest of the program knows of a terminal emulator, whichever one runs a pane.

An engine is fed the bytes that a program wrote and keeps the screen. It never raises on any
bytes, its state never depends on how the bytes were cut, it makes no calls out, and all it keeps is
bounded. Columns come from the engine's own width rule: nothing else may measure text. One task uses
an engine at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Protocol

DEFAULT_SCROLLBACK: Final = 5_000
"""Lines of history per pane."""

MAX_COLS: Final = 1_000
MAX_ROWS: Final = 500
MAX_TITLE: Final = 1_024
"""Characters of a title; the rest is cut."""

MAX_REPLY_BYTES: Final = 4_096
"""Unsent answers to device queries; once full, further queries go unanswered."""

MAX_EVENTS: Final = 256
"""Events not yet taken; the oldest are dropped."""


class EventKind(StrEnum):
    """What a program did besides drawing. Logs keep the kind alone (seed, "Input")."""

    BELL = "bell"
    TITLE = "title"
    CWD = "cwd"
    CLIPBOARD = "clipboard"
    PROMPT_MARK = "prompt-mark"
    NOTIFY = "notify"


@dataclass(frozen=True, slots=True)
class Event:
    """One event; ``text`` is untrusted program output (OSC payload) and is never logged."""

    kind: EventKind
    text: str = ""


@dataclass(frozen=True, slots=True)
class Cursor:
    """Zero-based cell of the cursor, always inside the screen; ``shape`` is DECSCUSR's number."""

    x: int
    y: int
    visible: bool = True
    shape: int = 0
    pending_wrap: bool = False


@dataclass(frozen=True, slots=True)
class Modes:
    """The modes that matter to whoever sends input or shows the screen."""

    alternate: bool = False
    app_cursor: bool = False
    app_keypad: bool = False
    bracketed_paste: bool = False
    focus_events: bool = False
    mouse: int = 0
    """0, or 9, 1000, 1002, 1003: what the program asked to be told."""
    mouse_sgr: bool = False
    synchronized: bool = False
    autowrap: bool = True
    reverse: bool = False
    kitty_flags: int = 0
    modify_other_keys: int = 0


Color = None | int | tuple[int, int, int]
"""Default, palette index 0-255, or RGB."""


@dataclass(frozen=True, slots=True)
class Style:
    """How a cell looks. Equal styles are equal objects by value."""

    fg: Color = None
    bg: Color = None
    bold: bool = False
    dim: bool = False
    italic: bool = False
    underline: int = 0
    """0 none, 1 single, 2 double, 3 curly, 4 dotted, 5 dashed."""
    underline_color: Color = None
    blink: bool = False
    reverse: bool = False
    conceal: bool = False
    strike: bool = False
    overline: bool = False
    link: str | None = None


PLAIN: Final = Style()

Run = tuple[str, Style]
"""Text of neighbouring cells with one style. A wide character counts once; gaps are spaces."""


class Engine(Protocol):
    """A terminal emulator. ``feed`` never raises; every other method is cheap and bounded."""

    name: str
    cols: int
    rows: int

    def feed(self, data: bytes) -> None:
        """Take program output, in any chunking."""

    def take_replies(self) -> bytes:
        """Answers to device queries for the program, at most MAX_REPLY_BYTES; clears them."""

    def take_events(self) -> list[Event]:
        """Events since the last call, at most MAX_EVENTS; clears them."""

    def resize(self, cols: int, rows: int) -> None:
        """Change the size (1..MAX_COLS, 1..MAX_ROWS, else ValueError); rows go to history first."""

    @property
    def cursor(self) -> Cursor:
        """Where the cursor is and how it looks."""

    @property
    def modes(self) -> Modes:
        """The modes the program has set."""

    @property
    def title(self) -> str:
        """The title the program gave, without control characters."""

    @property
    def history_len(self) -> int:
        """Rows of scrollback, at most the scrollback limit (engines may keep a little more)."""

    def text(self, top: int = 0, count: int | None = None) -> list[str]:
        """Rows from ``top`` (0 = first screen row, negative = history) as text.

        At most ``count`` (default: to the end of the screen); out-of-range rows are left out.
        Trailing blanks are removed. No control character, no padding cell of a wide character.
        """

    def wrapped(self, top: int = 0, count: int | None = None) -> list[bool]:
        """For the same rows: whether the row's text goes on in the next row (soft wrap)."""

    def runs(self, top: int = 0, count: int | None = None) -> list[Sequence[Run]]:
        """The same rows as styled runs; trailing blank cells of the plain style are left out."""

    def take_dirty(self) -> frozenset[int]:
        """Screen rows changed since the last call (all rows after a resize or screen switch)."""

    def close(self) -> None:
        """Free what the engine holds; later calls are errors of the caller."""


class EngineFactory(Protocol):
    """Makes an engine of a size, with at most ``scrollback`` lines of history."""

    def __call__(self, cols: int, rows: int, scrollback: int = DEFAULT_SCROLLBACK) -> Engine:
        """May raise ImportError where the engine is not installed."""


def check_size(cols: int, rows: int) -> None:
    """Raise ValueError unless the size is within 1..MAX_COLS by 1..MAX_ROWS."""
    if not (1 <= cols <= MAX_COLS and 1 <= rows <= MAX_ROWS):
        raise ValueError(f"a terminal has 1-{MAX_COLS} columns and 1-{MAX_ROWS} rows")


def row_range(top: int, count: int | None, rows: int, history: int) -> range:
    """The row numbers that ``top`` and ``count`` name on a screen of ``rows`` above ``history``."""
    first = max(top, -history)
    last = rows if count is None else min(rows, max(first, top + max(count, 0)))
    return range(first, max(first, last))
