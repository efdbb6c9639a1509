"""Every number of the primitives, in one table (specs/modelterm.md)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """What ends in ``_s`` is in seconds, in ``_bytes`` and ``_chars`` a size; the rest are counts.

    Tests set other values where a `Settings` is made, never by patching.
    """

    open: int = 3
    """Terminals of a set at a time."""
    cols: int = 100
    rows: int = 30
    """Of a terminal that nobody gave a size."""
    min_cols: int = 2
    max_cols: int = 500
    min_rows: int = 2
    max_rows: int = 300
    argv: int = 256
    """Words of a command line."""
    type_bytes: int = 16_384
    keys: int = 200
    key_chars: int = 32
    """Of one name of a key."""
    pattern_chars: int = 1_024
    write_s: float = 5.0
    """In which nothing of what was typed is read by the program: then the rest is given up."""
    first_output_s: float = 1.0
    """For which an opened program that shows nothing at all is waited for."""
    open_quiet_s: float = 0.3
    open_most_s: float = 10.0
    type_quiet_s: float = 0.15
    type_most_s: float = 2.0
    wait_quiet_s: float = 0.5
    wait_s: float = 10.0
    """How long a wait lasts when nobody says."""
    wait_min_s: float = 0.1
    wait_max_s: float = 60.0
    offset: int = 1_000_000
    """Rows back in history that can be asked for."""
    shown: int = 8
    """Screens of a terminal that are remembered, to tell what changed since."""
    closed: int = 64
    """Closed terminals of which it is remembered how they ended."""
    close_s: float = 8.0
    """For a program to end after SIGHUP, and SIGKILL 2 s later."""
    end_s: float = 15.0
    """For the whole set to close."""
    start_s: float = 30.0
    """For a private service to be ready."""
    connect_s: float = 5.0
    """For a running service to answer."""
    tmux_s: float = 5.0
    """For a tmux server to end."""
    tmux_sockets: int = 16
    """Sockets in the private directory that are looked at."""
    title_chars: int = 200
    """Of a command line in a tab's title."""
    name_chars: int = 24
    """Of a program's name in a header."""
    log_bytes: int = 64 << 20
    """Of a call log; then nothing more is written to it."""
    same_calls: int = 4
    """The same call so many times in a row is a loop."""
    terminal_calls: int = 150
    """Successful terminal calls with no other tool between."""


DEFAULTS = Limits()
