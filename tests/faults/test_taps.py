"""Who taps a real program's output is told every byte, its size and its end, and costs nobody."""

from __future__ import annotations

import trio

from termnode.service.viewing.watching_output import WatchedOutput
from termnode.terminal import engines
from termnode.terminal.pty_terminal import Terminal
from termnode.view.messages import Ended, Keyframe, Output, Resized
from tests.support.pty_lab import Lab, in_lab, until


def test_every_byte_and_the_end_are_told() -> None:
    async def test(lab: Lab) -> None:
        terminal = await lab.start(
            "sh", "-c", "read x; seq 20000; exit 4", engine=engines.make()(80, 24)
        )
        heard = bytearray()
        news = trio.Event()
        watched = WatchedOutput(1, terminal, lambda: 0, news.set)
        terminal.taps.add(heard.extend)
        watched.begin()
        (first,) = watched.take()
        assert isinstance(first, Keyframe)
        terminal.write(b"go\n")
        await lab.exit(terminal)
        await until_final(terminal)
        told = watched.take()
        data = b"".join(each.data for each in told if isinstance(each, Output))
        assert data == bytes(heard) == b"go\r\n" + b"".join(b"%d\r\n" % n for n in range(1, 20_001))
        assert told[-1] == Ended(1, "exited 4", 0)
        assert watched.over
        assert news.is_set()
        await terminal.close()

    in_lab(test)


async def until_final(terminal: Terminal) -> None:
    """A program that has ended, and nobody holds its terminal."""
    while not terminal.final:
        await terminal.changed(terminal.revision)


def test_a_size_is_told_without_output() -> None:
    async def test(lab: Lab) -> None:
        terminal = await lab.start("sleep", "600", engine=engines.make()(80, 24))
        wakes: list[int] = []
        watched = WatchedOutput(1, terminal, lambda: 0, lambda: wakes.append(1))
        watched.begin()
        watched.take()
        terminal.resize(90, 30)
        assert len(wakes) == 2
        size, screen = watched.take()
        assert size == Resized(1, 90, 30, 0)
        assert isinstance(screen, Keyframe)
        await terminal.close()
        assert watched.take() == [Ended(1, "exited", 0)]
        assert len(wakes) > 2

    in_lab(test)


def test_who_never_takes_does_not_hold_up_a_flood() -> None:
    async def test(lab: Lab) -> None:
        terminal = await lab.start("yes", engine=engines.make()(80, 24))
        watched = WatchedOutput(1, terminal, lambda: 0, lambda: None, 10_000)
        watched.begin()
        watched.take()
        await until(terminal, lambda: terminal.bytes_out > 2_000_000)
        assert watched._queued > 1_000_000
        assert not watched._queue
        (told,) = watched.take()
        assert isinstance(told, Keyframe)
        assert told.missed > 1_000_000
        await terminal.close()

    in_lab(test)
