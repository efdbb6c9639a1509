"""What /proc and the master tell about the programs on a terminal. Unknown is None."""

from __future__ import annotations

import fcntl
import os
import struct
import termios
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

MAX_SCANNED: Final = 8_192
"""Processes looked at for holders."""

MAX_HOLDERS: Final = 16
"""Holders named."""

MAX_FDS: Final = 64
"""Descriptors of one process looked at."""

_TIOCGPTN: Final = 0x80045430
"""Linux: the number of the slave of a master."""

_DEV_TTY: Final = os.makedev(5, 0)
"""/dev/tty, by which a process opens its controlling terminal."""

_NO_DEVICE: Final = -1

_NO_CHARACTER: Final = b"\0"
"""Set for a role that no character has."""


@dataclass(frozen=True, slots=True)
class Foreground:
    """The process group that reads the keys."""

    pgid: int
    command: str | None
    """Name of the group's leader as the kernel has it (15 bytes, chosen by the program); None
    when the leader has ended."""
    is_leader: bool
    """Whether it is the session leader: the pane's own program, such as a shell at its prompt."""


@dataclass(frozen=True, slots=True)
class LineDiscipline:
    """How the kernel treats input. Both False: a prompt or a full-screen program. Canonical without
    echo: a secret is asked for. A canonical line holds 4,095 bytes at most."""

    canonical: bool
    echo: bool
    line_ends: bytes = b"\n"
    """In canonical mode, what ends a line or throws it away."""


def foreground(master: int, leader: int) -> Foreground | None:
    """The foreground group of the terminal; None when it has none (any more)."""
    pgid = foreground_group(master)
    return None if pgid is None else Foreground(pgid, _command(pgid), pgid == leader)


def foreground_group(master: int) -> int | None:
    """The number of that group alone: one system call."""
    try:
        pgid = os.tcgetpgrp(master)
    except OSError:
        return None
    return pgid if pgid > 0 else None


def exists(pid: int) -> bool:
    """Whether there is a process of that number, whoever's it is."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def line_discipline(master: int) -> LineDiscipline | None:
    """The settings of the slave, which the master shares; None when there are none any more."""
    try:
        settings = termios.tcgetattr(master)
    except (OSError, ValueError, termios.error):  # ValueError: closed, -1
        return None
    flags = settings[3]
    canonical = bool(flags & termios.ICANON)
    ends = _line_ends(settings[0], flags, settings[6]) if canonical else b"\n"
    return LineDiscipline(canonical, bool(flags & termios.ECHO), ends)


def _line_ends(input_flags: int, flags: int, characters: Sequence[bytes | int]) -> bytes:
    """The control characters that do so, with a carriage return where the kernel makes it one."""
    roles = [termios.VEOF, termios.VEOL, termios.VEOL2, termios.VKILL]
    if flags & termios.ISIG and not flags & termios.NOFLSH:
        roles += [termios.VINTR, termios.VQUIT, termios.VSUSP]
    set_to = [characters[role] for role in roles]
    chosen = {each for each in set_to if isinstance(each, bytes) and each != _NO_CHARACTER}
    enter = {b"\r"} if input_flags & termios.ICRNL else set[bytes]()
    return b"".join({b"\n"} | enter | chosen)


def working_directory(pid: int) -> str | None:
    """The directory a process is in, if it may be known and still exists."""
    try:
        path = os.readlink(f"/proc/{pid}/cwd")
    except OSError:
        return None
    # The kernel marks a removed directory with this ending, which a real name may have as well.
    removed = path.endswith(" (deleted)") and not os.path.isdir(path)
    return None if removed else path


def set_window_size(master: int, cols: int, rows: int) -> None:
    """Tell the kernel, which tells the foreground group (SIGWINCH) when the size has changed."""
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))


def holders(master: int) -> list[int]:
    """Processes that have the slave open, at most MAX_HOLDERS.

    Looks at the standard descriptors of every process, and at more of those whose controlling
    terminal it is. A few milliseconds: not for hot paths.
    """
    slave = slave_of(master)
    return [] if slave is None else holders_of(slave)


def slave_of(master: int) -> os.stat_result | None:
    """What identifies the slave of a master; None when the master is closed."""
    path = slave_path(master)
    try:
        return None if path is None else os.stat(path)
    except OSError:
        return None


def slave_path(master: int) -> str | None:
    """Where the slave of a master is to be opened; None when the master is closed."""
    try:
        number = fcntl.ioctl(master, _TIOCGPTN, struct.pack("I", 0))
    except (OSError, ValueError):  # ValueError: closed, -1
        return None
    return f"/dev/pts/{struct.unpack('I', number)[0]}"


def holders_of(slave: os.stat_result) -> list[int]:
    """As ``holders``, for a slave: touches no descriptor of ours, so it may run in a thread."""
    found: list[int] = []
    for pid in _processes():
        if len(found) < MAX_HOLDERS and _holds(pid, slave):
            found.append(pid)
    return found


def _processes() -> Iterator[int]:
    names = (name for name in os.listdir("/proc") if name.isdigit())
    for name, _ in zip(names, range(MAX_SCANNED), strict=False):
        yield int(name)


def _holds(pid: int, slave: os.stat_result) -> bool:
    if _controlling_terminal(pid) != slave.st_rdev:
        return any(_is_open(pid, name, slave, _NO_DEVICE) for name in "012")
    return any(_is_open(pid, name, slave, _DEV_TTY) for name in _descriptors(pid))


def _is_open(pid: int, descriptor: str, slave: os.stat_result, alias: int) -> bool:
    """Whether a descriptor is the slave, or the device ``alias`` that stands for it."""
    with suppress(OSError):
        opened = os.stat(f"/proc/{pid}/fd/{descriptor}")
        same = (opened.st_dev, opened.st_ino) == (slave.st_dev, slave.st_ino)
        return same or opened.st_rdev == alias
    return False


def _descriptors(pid: int) -> list[str]:
    try:
        return os.listdir(f"/proc/{pid}/fd")[:MAX_FDS]
    except OSError:
        return []


def _controlling_terminal(pid: int) -> int | None:
    """Device number of a process's controlling terminal (field 7 of its stat)."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return int(file.read().rpartition(b")")[2].split()[4])
    except (OSError, ValueError, IndexError):
        return None


def _command(pid: int) -> str | None:
    try:
        with open(f"/proc/{pid}/comm", "rb") as file:
            return file.read().rstrip(b"\n").decode("utf-8", "replace")
    except OSError:
        return None
