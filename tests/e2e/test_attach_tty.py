"""A program that borrows the person's terminal: however it ends or stops, all is as it was."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import termios
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import trio

from termnode.attach.tty import Tty
from termnode.attach.tty_device import NoTerminal, open_terminal
from termnode.attach.tty_protocols import fences
from tests.support.attached import Attached, stopped
from tests.support.private_tmux import private_tmux
from tests.support.programs import need
from tests.support.termnode_process import eventually

ROOT = Path(__file__).parents[2]

BORROWER = """
import os, subprocess, sys, trio
from termnode.attach import tty_device, tty_protocols
from termnode.attach.keys import InputParser, ReplyEvent, TextEvent
from termnode.attach.tty import Tty

sys.excepthook = lambda *_: None
for word in sys.argv[1:]:
    exec(word)

class Over(Exception): pass

async def main(tty):
    parser, child = InputParser(erase=tty.erase), subprocess.Popen(["sleep", "600"])
    painted, last = 0, ""
    def paint(event=None):
        nonlocal painted, last
        painted, last = painted + 1, str(event or last)
        cols, rows = tty.size()
        lines = [f"borrowed {os.getpid()} child {child.pid}", f"{cols}x{rows} times {painted}",
                 f"kitty {tty.kitty} sync {tty.synchronized}", last]
        lines = [line[:cols - 1] for line in lines][:rows]
        setting = "\\x1b]2;ours\\x1b\\\\\\x1b[?25l\\x1b[4 q\\x1b[?7l\\x1b[1;31m"
        setting += "\\x1b]8;;http://x\\x1b\\\\\\x1b[2J\\x1b[H"
        tty.write_frame((setting + "\\r\\n".join(lines)).encode())
    async def sizes():
        async for _ in tty.sizes():
            paint()
    async def drained():
        while True:
            await tty.drained()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(sizes)
        nursery.start_soon(drained)
        paint()
        while data := await tty.read():
            for event in parser.feed(data, trio.current_time()):
                if isinstance(event, ReplyEvent):
                    tty.hear(event.data)
                elif event == TextEvent("q"):
                    nursery.cancel_scope.cancel()
                elif event == TextEvent("x"):
                    raise Over
                elif event == TextEvent("e"):
                    sys.exit(7)
            paint(event)
        nursery.cancel_scope.cancel()

tty = Tty()
if "at once" not in sys.argv:
    tty.enter()
    trio.run(main, tty)
else:
    tty.enter()
# Nothing leaves it but the end of the process.
"""

BEFORE = b"\x1b[31mmine\x1b[m \xe6\x97\xa5\xe6\x9c\xac\x1b]0;the title\x07\r\n$"
UNUSUAL = (
    b"\x1b[?2004h\x1b[?1004h\x1b[?1000h\x1b[?1006h\x1b[?1h\x1b[?25l\x1b[?7l\x1b[3 q\x1b[>9u"
    + BEFORE
)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    path = tmp_path / "home"
    path.mkdir()
    return path


@contextmanager
def borrower(
    home: Path, *words: str, before: bytes = BEFORE, made: type[Attached] = Attached
) -> Iterator[Attached]:
    argv = [sys.executable, "-c", BORROWER, *words]
    terminal = made(argv, environment(home), home, before=before)
    try:
        yield terminal
    finally:
        terminal.close()


def environment(home: Path) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"], "HOME": str(home), "PYTHONPATH": str(ROOT), "PS1": "ready> ",
        "LC_ALL": "C.UTF-8",
    }  # fmt: skip


def found(terminal: Attached) -> tuple[object, ...]:
    """All that must be as it was."""
    return (*terminal.state(), terminal.title)


def word_after(terminal: Attached, word: str) -> str:
    text = " ".join(terminal.screen()).split()
    return text[text.index(word) + 1]


def in_use(terminal: Attached) -> None:
    """Wait until the terminal has answered, and is used with all that it can do."""
    terminal.until("kitty True")


ENDS: dict[str, tuple[Callable[[Attached], None], int]] = {
    "leave": (lambda terminal: terminal.type("q"), 0),
    "exception": (lambda terminal: terminal.type("x"), 1),
    "exit": (lambda terminal: terminal.type("e"), 1),
    "TERM": (lambda terminal: terminal.kill(signal.SIGTERM), -signal.SIGTERM),
    "HUP": (lambda terminal: terminal.kill(signal.SIGHUP), -signal.SIGHUP),
    "INT": (lambda terminal: terminal.kill(signal.SIGINT), -signal.SIGINT),
    "QUIT": (lambda terminal: terminal.kill(signal.SIGQUIT), -signal.SIGQUIT),
}


@pytest.mark.parametrize("before", [BEFORE, UNUSUAL], ids=["usual", "unusual"])
@pytest.mark.parametrize("end", ENDS)
def test_the_terminal_is_as_it_was_found(home: Path, end: str, before: bytes) -> None:
    how, code = ENDS[end]
    with borrower(home, before=before) as terminal:
        was = found_before(terminal)
        in_use(terminal)
        now = found(terminal)
        assert [a == b for a, b in zip(was, now, strict=True)] == [False] * 5, (was, now)
        assert terminal.modes.mouse == 1002
        assert terminal.modes.bracketed_paste
        assert terminal.modes.focus_events
        how(terminal)
        assert terminal.ended() == code
        eventually(lambda: found(terminal) == was, "it is as it was", 5)


def found_before(terminal: Attached) -> tuple[object, ...]:
    return (*terminal.before, "the title")


BROKEN = {
    "attributes": "tty_device.Device.set_back = lambda *_: None",
    "sequences": "tty_protocols.Borrowed.restore = lambda *_, **__: b''",
    "found modes": "tty_protocols.Borrowed._hear_mode = lambda *_: None",
    "title": "tty_protocols._ALTERNATE = b'\\x1b[?1049h'",
}


@pytest.mark.parametrize("guard", BROKEN)
def test_the_check_sees_what_is_not_given_back(home: Path, guard: str) -> None:
    before = UNUSUAL if guard == "found modes" else BEFORE
    with borrower(home, BROKEN[guard], before=before) as terminal:
        eventually(lambda: terminal.shows("borrowed") or terminal.process.poll(), "it is there")
        eventually(lambda: terminal.modes.kitty_flags & 4, "it is in use")
        terminal.kill(signal.SIGTERM)
        terminal.ended()
        assert found(terminal) != found_before(terminal)


def test_the_end_of_another_process_changes_nothing(home: Path) -> None:
    with borrower(home) as terminal:
        in_use(terminal)
        os.kill(int(word_after(terminal, "child")), signal.SIGKILL)
        terminal.type("a")
        terminal.until("TextEvent(text='a')")
        assert terminal.modes.alternate


def test_answers_that_come_after_the_end_are_typed_to_nobody(home: Path) -> None:
    with borrower(home, "'at once'", "at once") as terminal:
        terminal.ended()
        eventually(lambda: fences(bytes(terminal.written)) == 0, "no answer was echoed")
        assert found(terminal) == found_before(terminal)


class Mute(Attached):
    """A terminal that answers nothing."""

    def _feed(self, data: bytes) -> None:
        with self._lock:
            self._engine.feed(data)
            self._engine.take_replies()


def test_a_terminal_that_answers_nothing_is_waited_for_nowhere(home: Path) -> None:
    with borrower(home, made=Mute) as terminal:
        terminal.until("kitty False sync False")
        terminal.type("a")
        terminal.until("TextEvent(text='a')")
        assert terminal.modes.kitty_flags == 0
        terminal.type("q")
        assert terminal.ended() == 0
        eventually(lambda: found(terminal) == found_before(terminal), "it is as it was", 5)


def test_a_console_is_asked_nothing(home: Path) -> None:
    with borrower(home, "os.environ['TERM'] = 'linux'") as terminal:
        terminal.until("borrowed")
        terminal.type("q")
        assert terminal.ended() == 0
        assert b"$p" not in terminal.written
        assert b"\x1b[c" not in terminal.written


def test_sizes_are_told(home: Path) -> None:
    with borrower(home) as terminal:
        terminal.until("80x24")
        for cols, rows in ((100, 30), (3, 2), (81, 25)):
            terminal.resize(cols, rows)
        terminal.until("81x25")


# -- stopping, under a shell with job control ----------------------------------------------------


@contextmanager
def under_bash(home: Path) -> Iterator[tuple[Attached, tuple[object, ...], int]]:
    """A borrower that a shell has started: the terminal, what it was before, and the process."""
    need("bash")
    script = home / "borrower.py"
    script.write_text(BORROWER)
    shell = ["bash", "--norc", "--noprofile", "-i"]
    terminal = Attached(shell, {**environment(home), "HISTFILE": ""}, home)
    try:
        terminal.until("ready>")
        terminal.type(f"clear; {sys.executable} borrower.py\r")
        in_use(terminal)
        yield terminal, terminal.state(), int(word_after(terminal, "borrowed"))
        terminal.type("q")
        eventually(lambda: not terminal.modes.alternate, "it has left")
        terminal.until("ready>")
        assert_sane(terminal)
    finally:
        terminal.close()


def assert_sane(terminal: Attached) -> None:
    """At bash's prompt, with nothing of the borrower's left."""
    eventually(lambda: terminal.modes.bracketed_paste, "bash reads a line")
    modes = terminal.modes
    assert (modes.mouse, modes.focus_events, modes.kitty_flags) == (0, False, 0)
    assert not modes.alternate
    assert terminal.cursor.visible
    terminal.type("stty -a | tr '\\n' ' ' > settings; echo do''ne\r")
    terminal.until("done")
    assert "borrowed" not in " ".join(terminal.screen())


def settings(home: Path) -> str:
    return (home / "settings").read_text()


@pytest.mark.parametrize("by", [signal.SIGTSTP, signal.SIGSTOP])
def test_a_stop_and_going_on(home: Path, by: int) -> None:
    with under_bash(home) as (terminal, ours, process):
        os.kill(process, by)
        eventually(lambda: stopped(process), "it is stopped")
        if by == signal.SIGTSTP:
            terminal.until("Stopped")
            assert_sane(terminal)
            assert " icanon" in settings(home)
        terminal.type("clear; fg\r")
        eventually(lambda: in_front(terminal, process), "it is in front again")
        terminal.until("kitty True")
        eventually(lambda: alike(terminal, ours), "all is as before the stop")
        terminal.type("a")
        terminal.until("TextEvent(text='a')")


def in_front(terminal: Attached, process: int) -> bool:
    return os.tcgetpgrp(terminal.master) == os.getpgid(process)


def alike(terminal: Attached, ours: tuple[object, ...]) -> bool:
    now = terminal.state()
    return now[0] == ours[0] and now[3] == ours[3]


def test_in_the_background_it_waits_for_its_turn(home: Path) -> None:
    with under_bash(home) as (terminal, ours, process):
        os.kill(process, signal.SIGTSTP)
        terminal.until("Stopped")
        terminal.type("clear; bg; echo back''ground\r")
        terminal.until("background")
        eventually(lambda: stopped(process), "it is stopped for it may not set the terminal")
        assert_sane(terminal)
        terminal.type("clear; fg\r")
        terminal.until("kitty True")
        eventually(lambda: alike(terminal, ours), "all is as before the stop")


def test_ended_while_stopped_in_the_background(home: Path) -> None:
    with under_bash(home) as (terminal, _ours, process):
        os.kill(process, signal.SIGTSTP)
        terminal.until("Stopped")
        os.kill(process, signal.SIGTERM)
        os.kill(process, signal.SIGCONT)
        eventually(lambda: not Path(f"/proc/{process}").exists(), "it has ended")
        assert_sane(terminal)
        terminal.type("clear\r")


# -- inside tmux ----------------------------------------------------------------------------------

FLAGS = "alternate_on mouse_any_flag mouse_button_flag mouse_sgr_flag cursor_flag wrap_flag"


@pytest.mark.parametrize("end", ["q", signal.SIGTERM], ids=["leave", "TERM"])
def test_in_tmux(home: Path, end: str | int) -> None:
    need("tmux", "bash")
    script = home / "borrower.py"
    script.write_text(BORROWER)
    with private_tmux() as tmux:

        def state() -> tuple[object, ...]:
            flags = " ".join(f"#{{{flag}}}" for flag in FLAGS.split())
            ask = ("display-message", "-p", f"{flags} #{{cursor_x}},#{{cursor_y}} #{{pane_title}}")
            tty = tmux.run("display-message", "-p", "#{pane_tty}").strip()
            stty = subprocess.run(["stty", "-a", "-F", tty], capture_output=True, check=True).stdout
            return tmux.run("capture-pane", "-p", "-e"), tmux.run(*ask), stty

        code = f"{sys.executable} {script}; printf over; read line"
        tmux.start(["bash", "-c", f"printf '\\33[32mmine\\33[m\\n'; read line; {code}"], 80, 24,
                   environment(home))  # fmt: skip
        eventually(lambda: "mine" in tmux.screen(), "it is there")
        before = state()
        tmux.keys("\n")
        eventually(lambda: any("kitty False" in row for row in tmux.screen()), "it is in use")
        now = state()
        assert [a == b for a, b in zip(before, now, strict=True)] == [False] * 3
        if isinstance(end, str):
            tmux.keys(end)
        else:
            os.kill(int(" ".join(tmux.screen()).split()[1]), end)
        eventually(lambda: any(row.endswith("over") for row in tmux.screen()), "it has ended")
        after = state()
        assert after[2] == before[2]
        assert str(after[1]).split()[:6] == str(before[1]).split()[:6]
        assert str(after[1]).split()[7:] == str(before[1]).split()[7:], "the title"
        assert str(after[0]).splitlines()[0] == str(before[0]).splitlines()[0]
        assert not any("borrowed" in row or ";" in row for row in tmux.screen())


# -- the descriptor -------------------------------------------------------------------------------


@pytest.fixture
def pair() -> Iterator[tuple[int, int]]:
    master, slave = os.openpty()
    yield master, slave
    os.close(master)
    os.close(slave)


def test_the_flags_of_who_else_has_the_terminal_stay(pair: tuple[int, int]) -> None:
    fd = open_terminal(pair[1])
    assert not os.get_blocking(fd)
    assert os.get_blocking(pair[1])
    assert os.fstat(fd).st_rdev == os.fstat(pair[1]).st_rdev
    os.close(fd)


def test_no_terminal_is_said() -> None:
    with open("/dev/null", "rb") as nothing, pytest.raises(NoTerminal):
        open_terminal(nothing.fileno())
    code = "from termnode.attach.tty import *\ntry: Tty()\nexcept NoTerminal: print('none')"
    done = subprocess.run(
        [sys.executable, "-c", code], stdin=subprocess.DEVNULL, capture_output=True, check=True,
        cwd=ROOT, text=True, timeout=60,
    )  # fmt: skip
    assert done.stdout == "none\n"


def test_a_terminal_that_takes_nothing_stops_nobody(pair: tuple[int, int]) -> None:
    before = termios.tcgetattr(pair[1])

    async def use(tty: Tty) -> bool:
        tty.write_frame(b"x" * (1 << 20))
        stuck = tty.busy
        tty.ring()
        os.write(pair[0], b"typed")
        assert await tty.read() == b"typed"
        seen = b""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(tty.drained)
            while seen.count(b"x") < 1 << 20:
                await trio.lowlevel.wait_readable(pair[0])
                seen += os.read(pair[0], 65536)
        assert stuck
        return tty.busy

    with Tty(open_terminal(pair[1]), {"TERM": "xterm"}) as tty:
        assert not trio.run(use, tty)
        tty.write_frame(b"y" * (1 << 20))
        assert tty.busy, "left in the middle of a frame"
    assert termios.tcgetattr(pair[1]) == before


def test_a_terminal_that_is_gone_is_an_end(pair: tuple[int, int]) -> None:
    master, slave = os.openpty()
    with Tty(open_terminal(slave), {"TERM": "xterm"}) as tty:
        os.close(slave)
        os.close(master)
        assert trio.run(tty.read) == b""
        tty.write_frame(b"x")
        assert not tty.busy


def test_handlers_are_as_they_were(pair: tuple[int, int]) -> None:
    numbers = (signal.SIGHUP, signal.SIGTERM, signal.SIGINT, signal.SIGCONT, signal.SIGTSTP)
    before = [signal.getsignal(number) for number in numbers]
    with Tty(open_terminal(pair[1]), {"TERM": "xterm"}):
        assert [signal.getsignal(number) for number in numbers] != before
    assert [signal.getsignal(number) for number in numbers] == before
