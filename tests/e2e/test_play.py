"""``termnode play`` on a bare pseudo-terminal: what is seen, and that nothing of it stays."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pty
import select
import signal
import struct
import subprocess
import termios
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from termnode.terminal import engines
from tests.support.termnode_process import COMMAND, DEADLINE_S

HEAD = {"version": 3, "term": {"cols": 40, "rows": 6}}


class Person:
    """A terminal of 60 by 10 that a command runs on, and its screen."""

    def __init__(self, arguments: Sequence[str]) -> None:
        self.master, self.slave = pty.openpty()
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", 10, 60, 0, 0))
        self.before = termios.tcgetattr(self.slave)
        self.engine = engines.make()(60, 10)
        self.engine.feed(b"$ earlier\r\n")
        self.process = subprocess.Popen(
            [*COMMAND, *arguments], stdin=self.slave, stdout=self.slave, stderr=self.slave
        )

    def until(self, check: Callable[[], object], what: str) -> None:
        """Read until ``check`` holds."""
        while not check():
            ready, _, _ = select.select([self.master], [], [], DEADLINE_S)
            assert ready, (what, self.engine.text())
            self._take()

    def _take(self) -> None:
        self.engine.feed(os.read(self.master, 65_536))

    def shows(self, text: str) -> None:
        """Read until a row has ``text``."""
        self.until(lambda: any(text in row for row in self.engine.text()), text)

    def press(self, keys: bytes) -> None:
        os.write(self.master, keys)

    def end(self) -> int:
        """Wait for the end; then the terminal must be as it was."""
        pidfd = os.pidfd_open(self.process.pid)
        try:
            while pidfd not in (
                ready := select.select([self.master, pidfd], [], [], DEADLINE_S)[0]
            ):
                assert ready, self.engine.text()
                self._take()
        finally:
            os.close(pidfd)
        code = self.process.wait()
        while select.select([self.master], [], [], 0)[0]:
            self._take()
        assert termios.tcgetattr(self.slave) == self.before
        modes = self.engine.modes
        assert (modes.alternate, modes.autowrap, modes.mouse) == (False, True, 0)
        assert self.engine.cursor.visible
        assert self.engine.text()[0] == "$ earlier"
        return code

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.master)
        os.close(self.slave)
        self.engine.close()


@contextlib.contextmanager
def playing(path: Path, *options: str) -> Iterator[Person]:
    person = Person(["play", *options, str(path)])
    try:
        yield person
    finally:
        person.close()


def cast(path: Path, *events: object) -> Path:
    path.write_text("".join(json.dumps(each) + "\n" for each in (HEAD, *events)))
    return path


LONG = 3_600.0


def test_the_last_screen_stays_and_the_rest_is_as_before(tmp_path: Path) -> None:
    path = cast(
        tmp_path / "a.cast",
        [0, "o", "one\r\n"],
        [0.01, "r", "50x5"],
        [0.01, "o", "\x1b[?1003h\x1b[?2004h\x1b]2;title\x07\x1b[31mtwo\x1b[0m\x1b[?25l"],
        [0, "x", "1"],
    )
    with playing(path) as person:
        assert person.end() == 0
        assert person.engine.text()[1:3] == ["one", "two"]
        assert person.engine.title == ""
        assert not person.engine.modes.bracketed_paste


def test_pauses_can_be_shortened_and_a_playback_ended(tmp_path: Path) -> None:
    path = cast(tmp_path / "a.cast", [0, "o", "one"], [LONG, "o", " two"], [LONG, "o", " three"])
    with playing(path, "--idle-limit", "0.01", "--speed", "2") as person:
        assert person.end() == 0
        assert person.engine.text()[1] == "one two three"
    with playing(path) as person:
        person.shows("one")
        person.press(b"q")
        assert person.end() == 0
        assert person.engine.text()[1] == "one"


def test_space_halts_it_and_lets_it_go_on(tmp_path: Path) -> None:
    path = cast(tmp_path / "a.cast", [0, "o", "one"], [LONG, "o", " two"])
    with playing(path) as person:
        person.shows("one")
        person.press(b" ")
        person.press(b" ")
        person.press(b"\x03")
        assert person.end() == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_ends_it_and_the_terminal_is_left_as_it_was(
    tmp_path: Path, number: signal.Signals
) -> None:
    path = cast(tmp_path / "a.cast", [0, "o", "one\x1b[?25l"], [LONG, "o", "two"])
    with playing(path) as person:
        person.shows("one")
        person.process.send_signal(number)
        assert person.end() == 128 + number


def test_another_size_of_the_terminal_is_drawn_anew(tmp_path: Path) -> None:
    path = cast(tmp_path / "a.cast", [0, "o", "x" * 30 + "end"], [LONG, "o", "two"])
    with playing(path) as person:
        person.shows("end")
        person.engine.resize(20, 10)
        fcntl.ioctl(person.slave, termios.TIOCSWINSZ, struct.pack("HHHH", 10, 20, 0, 0))
        person.process.send_signal(signal.SIGWINCH)
        person.until(lambda: person.engine.text()[0] == "x" * 20, "cut")
        person.press(b"q")
        assert person.process.wait(DEADLINE_S) == 0


def test_what_is_no_recording_is_refused_with_a_reason(tmp_path: Path) -> None:
    path = tmp_path / "a.cast"
    for text, reason in (
        ("hello\n", "no recording"),
        ('{"version": 1}\n', "version 1"),
        ('{"version": 3}\n', "size"),
    ):
        path.write_text(text)
        with playing(path) as person:
            person.shows(reason)
            assert person.end() == 1
    with playing(tmp_path / "missing") as person:
        person.shows("No such file")
        assert person.end() == 1
    cast(path, [0, "o", "one"], ["soon", "o", "two"], [0, "o", "three"])
    with playing(path) as person:
        person.shows("line 3")
        assert person.end() == 1


def test_without_a_terminal_it_says_so(tmp_path: Path) -> None:
    path = cast(tmp_path / "a.cast", [0, "o", "one"])
    done = subprocess.run(
        [*COMMAND, "play", str(path)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )
    assert done.returncode == 2
    assert "terminal" in done.stderr
