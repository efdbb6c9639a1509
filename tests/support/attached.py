"""A program on a pseudo-terminal of its own, with an emulator that shows what it drew there."""

from __future__ import annotations

import contextlib
import fcntl
import os
import selectors
import signal
import struct
import subprocess
import termios
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from termnode.terminal import engines
from termnode.terminal.engine import PLAIN, Cursor, Engine, Modes, Run
from termnode.terminal.render.cells import clip, width_of
from tests.support.private_tmux import PrivateTmux
from tests.support.termnode_process import COMMAND, Service, eventually

KEPT_BYTES = 4 << 20
"""Of what was written to the terminal: the newest."""


FULL_SCREEN = """
import curses
def draw(screen, turn):
    rows, cols = screen.getmaxyx()
    screen.erase()
    for y in range(rows - 1):
        text = f"turn {turn} row {y} " + "\u2500" * 4
        screen.addnstr(y, (y * 3 + turn) % 7, text, max(cols - 8, 1), curses.A_BOLD)
    screen.addnstr(rows - 1, 0, "done" if turn == 19 else "....", cols - 1)
    screen.refresh()
def main(screen):
    curses.curs_set(0)
    for turn in range(20):
        draw(screen, turn)
    while screen.getch() != ord("q"):
        draw(screen, 19)
curses.wrapper(main)
"""
"""A program that draws its whole screen again and again, and for each new size."""


class PersonTerminal:
    """The person's terminal: an emulator that reads all the time and answers queries."""

    def __init__(self, cols: int = 80, rows: int = 24, engine: Engine | None = None) -> None:
        self.emulator = engines.chosen()
        self._engine = engine or engines.make()(cols, rows, 500)
        self.master, self.slave = os.openpty()
        os.set_blocking(self.master, False)
        self._lock = threading.Lock()
        self.written = bytearray()
        self._set_size(cols, rows)
        self._stop, self._wake = os.pipe()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        with selectors.DefaultSelector() as ready:
            for descriptor in (self.master, self._stop):
                ready.register(descriptor, selectors.EVENT_READ)
            while all(key.fd != self._stop for key, _events in ready.select()):
                with contextlib.suppress(BlockingIOError):
                    self._feed(os.read(self.master, 65536))

    def _feed(self, data: bytes) -> None:
        with self._lock:
            self._engine.feed(data)
            self.written += data
            del self.written[:-KEPT_BYTES]
            answer = self._engine.take_replies()
        if answer:
            with contextlib.suppress(BlockingIOError):
                os.write(self.master, answer)

    def _set_size(self, cols: int, rows: int) -> None:
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))

    def resize(self, cols: int, rows: int) -> None:
        """As when the person resizes the window: the kernel signals the program."""
        with self._lock:
            self._engine.resize(cols, rows)
            self._set_size(cols, rows)

    def type(self, keys: str | bytes) -> None:
        """Keys, as the terminal sends them."""
        os.write(self.master, keys if isinstance(keys, bytes) else keys.encode())

    def screen(self) -> list[str]:
        """The rows."""
        with self._lock:
            return self._engine.text()

    def shows(self, text: str) -> bool:
        """Whether a row has ``text`` in it."""
        return any(text in row for row in self.screen())

    def until(self, text: str) -> None:
        """Wait until a row has ``text`` in it."""
        try:
            eventually(lambda: self.shows(text), f"{text!r} is shown")
        except AssertionError:
            raise AssertionError(f"{text!r} is not shown: {self.screen()}") from None

    def part(self, x: int, y: int, cols: int, rows: int) -> list[str]:
        """The text of a rectangle of the screen, without trailing blanks."""
        return ["".join(text for text, _ in runs).rstrip() for runs in self.runs(x, y, cols, rows)]

    def runs(self, x: int, y: int, cols: int, rows: int) -> list[list[Run]]:
        """A rectangle of the screen, with styles."""
        with self._lock:
            found = self._engine.runs(y, rows)
        return [clip(row, x, x + cols, width_of(self.emulator)) for row in found]

    @property
    def cursor(self) -> Cursor:
        """Where the cursor is."""
        with self._lock:
            return self._engine.cursor

    @property
    def modes(self) -> Modes:
        """What the program has set."""
        with self._lock:
            return self._engine.modes

    @property
    def title(self) -> str:
        """The title of the window."""
        with self._lock:
            return self._engine.title

    def settings(self) -> str:
        """What ``stty -a`` says."""
        return subprocess.run(
            ["stty", "-a"], stdin=self.slave, capture_output=True, text=True, check=True
        ).stdout

    def state(self) -> tuple[str, list[str], Cursor, Modes]:
        """All that must be as it was found: stty, screen, cursor, modes."""
        settings = self.settings()
        with self._lock:
            return settings, self._engine.text(), self._engine.cursor, self._engine.modes

    def close(self) -> None:
        """Hang up."""
        os.write(self._wake, b".")
        self._reader.join()
        for descriptor in (self.master, self.slave, self._stop, self._wake):
            os.close(descriptor)
        self._engine.close()


class Attached(PersonTerminal):
    """A program that has the terminal as its controlling one."""

    def __init__(
        self,
        argv: Sequence[str],
        env: Mapping[str, str],
        cwd: Path,
        *,
        cols: int = 80,
        rows: int = 24,
        before: bytes = b"",
    ) -> None:
        super().__init__(cols, rows)
        if before:  # what the person had on the screen
            os.write(self.slave, before)
            last = [row for row in before.decode().split("\r\n") if row][-1]
            eventually(lambda: self.shows(last), "what stood there before is shown")
        self.before = self.state()
        self.process = subprocess.Popen(
            ["setsid", "--ctty", *argv],
            stdin=self.slave,
            stdout=self.slave,
            stderr=self.slave,
            env={"TERM": "xterm-256color", "COLORTERM": "truecolor", **env},
            cwd=cwd,
        )

    def kill(self, number: int) -> None:
        """Send it a signal."""
        self.process.send_signal(number)

    def ended(self) -> int:
        """Wait for its end; its exit code, or minus the signal that ended it."""
        return self.process.wait(60)

    def close(self) -> None:
        """End it, if it goes on, and hang up."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        super().close()


@contextlib.contextmanager
def attach(
    term: Service,
    *arguments: str,
    cols: int = 80,
    rows: int = 24,
    before: bytes = b"",
    command: str = "attach",
    env: Mapping[str, str] | None = None,
    shown: str | None = "",
    program: Sequence[str] = COMMAND,
) -> Iterator[Attached]:
    """``termnode attach`` on a terminal of its own, once its status line is there.

    ``shown`` is what to wait for: by default the service's name in the last row; None waits not.
    """
    name = ("--name", term.name)
    words = [*program, command, *name, *arguments]
    made = Attached(
        words,
        {**term.environment(), **(env or {})},
        term.directory,
        cols=cols,
        rows=rows,
        before=before,
    )
    try:
        if shown is not None:
            _until_drawn(made, shown or term.name)
        yield made
    finally:
        made.close()


def _until_drawn(view: Attached, words: str) -> None:
    def drawn() -> bool:
        assert view.process.poll() is None, f"it ended: {view.screen()}"
        return words in view.screen()[-1]

    eventually(drawn, "the view is drawn")


@contextlib.contextmanager
def on_terminal(
    argv: Sequence[str], env: Mapping[str, str], cwd: Path, cols: int = 80, rows: int = 24
) -> Iterator[Attached]:
    """Any program on a terminal of its own."""
    made = Attached(argv, env, cwd, cols=cols, rows=rows)
    try:
        yield made
    finally:
        made.close()


class Shown(Protocol):
    """What a view drew, wherever it is read from."""

    def part(self, x: int, y: int, cols: int, rows: int) -> list[str]:
        """The text of a rectangle of the screen, without trailing blanks."""

    def screen(self) -> list[str]:
        """The rows."""


@dataclass(frozen=True, slots=True)
class InTmux:
    """A view inside a private tmux."""

    tmux: PrivateTmux

    def part(self, x: int, y: int, cols: int, rows: int) -> list[str]:
        """The text of a rectangle of the screen, without trailing blanks."""
        width = width_of(engines.chosen())
        cut = [clip([(row, PLAIN)], x, x + cols, width) for row in self.screen()[y : y + rows]]
        return ["".join(text for text, _ in runs).rstrip() for runs in cut]

    def screen(self) -> list[str]:
        """The rows."""
        return self.tmux.screen()

    def until(self, text: str) -> None:
        """Wait until a row has ``text`` in it."""
        try:
            eventually(lambda: any(text in row for row in self.screen()), f"{text!r} is shown")
        except AssertionError:
            raise AssertionError(f"{text!r} is not shown: {self.screen()}") from None


def differences(term: Service, view: Shown) -> dict[int, tuple[list[str], list[str]]]:
    """Panes of the active tab that the view does not show as they are: theirs, and what is shown.

    The composition is made here from the verbs: each pane's own rows at its place.
    """
    panes = term.good("term.panes")["panes"]
    active = term.good("term.session")["active_tab"]
    hidden = {pane["id"] for pane in panes if pane.get("hidden")}
    found = {}
    for pane in panes:
        if pane["tab"] != active or pane["id"] in hidden:
            continue
        own = [row.rstrip() for row in term.screen(pane["id"])]
        shown = view.part(pane["x"], pane["y"], pane["cols"], pane["rows"])
        if own != shown:
            found[pane["id"]] = (own, shown)
    return found


def agrees(term: Service, view: Shown) -> None:
    """Wait until the view shows every pane as it is."""
    try:
        eventually(lambda: not differences(term, view), "the view shows what the panes show")
    except AssertionError:
        raise AssertionError(f"{differences(term, view)}\n" + "\n".join(view.screen())) from None


def prompted(term: Service, pane: int) -> None:
    """Wait until a pane that was just opened shows a shell's prompt."""
    asked = {"pane": pane}
    eventually(lambda: term.call("term.snapshot", asked)[0] == 0, "the pane's program is started")
    term.at_prompt(pane)


def stopped(pid: int) -> bool:
    """Whether a process is stopped by a signal."""
    stat = Path(f"/proc/{pid}/stat").read_text()
    return stat.rpartition(")")[2].split()[0] == "T"


@contextlib.contextmanager
def stopping(pid: int) -> Iterator[None]:
    """The process stands still inside the block."""
    os.kill(pid, signal.SIGSTOP)
    eventually(lambda: stopped(pid), "it is stopped")
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)
