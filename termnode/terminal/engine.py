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
CELL_PIXELS: Final = (8, 16)
"""Width and height of a cell, as told to programs that ask for pixels."""

MAX_TITLE: Final = 1_024
"""Characters of a title; the rest is cut."""

MAX_REPLY_BYTES: Final = 4_096
"""Unsent answers to device queries; once full, further queries go unanswered."""

MAX_EVENTS: Final = 256
"""Events not yet taken; once full, the oldest of the kind that has most is dropped."""


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
    line: int | None = None
    """Of a PROMPT_MARK: the line the cursor stood in, as ``Engine.scrolled`` numbers them.

    None on the alternate screen.
    """
    column: int | None = None
    """Of a PROMPT_MARK: the cell it stood at; the width of the screen when a wrap was pending."""


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
    """As with a real terminal, the one set last counts, until it is reset."""
    mouse_sgr: bool = False
    """Reports are to be in the SGR form. Told only as far as reports are wanted at all."""
    mouse_pixels: bool = False
    """With ``mouse_sgr``: in pixels (1016) of cells 8 wide and 16 high, counted from 1."""
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

    @property
    def scrolled(self) -> int:
        """The number of the line in the first row of the main screen; row ``y`` has ``y`` more.

        Rises by one with each row that goes from the top into history, so a row keeps its number.
        A number that was given never comes to name another row of history: when rows were laid out
        anew (another width), or more went by between two looks than history holds, it rises beyond
        all numbers given. A resize that takes rows back from history lowers it. While the alternate
        screen is up it is the main screen's, as it was left.
        """

    @property
    def erasures(self) -> int:
        """Rises when everything on the screen may have been wiped at once.

        That is: ED (or DECSED) 2, 3 or 22, ED 0 with the cursor in the first cell, RIS, and each
        change of screens.
        """

    @property
    def main_erasures(self) -> int:
        """As ``erasures``, but only what wiped the main screen; a change of screens does not."""

    def text(self, top: int = 0, count: int | None = None) -> list[str]:
        """Rows from ``top`` (0 = first screen row, negative = history) as text.

        At most ``count`` (default: to the end of the screen); out-of-range rows are left out.
        Trailing blanks are removed. No control character, no padding cell of a wide character.
        """

    def wrapped(self, top: int = 0, count: int | None = None) -> list[bool]:
        """For the same rows: whether the row's text goes on in the next row (soft wrap)."""

    def runs(self, top: int = 0, count: int | None = None) -> list[Sequence[Run]]:
        """The same rows as styled runs; trailing blank cells of the plain style are left out."""

    def looks(self, top: int = 0, count: int | None = None) -> Sequence[object]:
        """For the same rows: a value each to compare. Cheaper than runs.

        Equal values of one engine mean equal text in equal styles, links left out.
        """

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
