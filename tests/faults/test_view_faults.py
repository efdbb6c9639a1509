"""What goes wrong around views: stopped ones, killed ones, a dead broker, a service that ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

import pytest

from brokerd.client import broker_pid
from termnode.service.viewing.connection import stopped
from termnode.view.messages import Bye, Reason
from tests.support.termnode_process import Service, alive, eventually, service
from tests.support.view_client import Viewer, viewer

PROGRAM = """
import sys
from pathlib import Path
from tests.support.termnode_process import Service
from tests.support.view_client import Viewer
view = Viewer(Service(Path(sys.argv[1])))
view.attach(80, 24)
view.until(lambda: view.layout is not None, "attached")
print("attached", flush=True)
while not view.ended:
    view.read(1.0)
    if any(sys.argv[2] in row for row in view.rows()):
        print("seen", flush=True)
        break
view.until(lambda: view.bye, "bye", 60)
"""


@contextmanager
def view_process(made: Service, until: str = "never") -> Iterator[subprocess.Popen[str]]:
    """A view in a process of its own, attached."""
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(PROGRAM), str(made.directory), until],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    try:
        assert line_of(process.stdout) == "attached"
        yield process
    finally:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


def line_of(stream: IO[str] | None) -> str:
    assert stream is not None
    return stream.readline().strip()


def flood(made: Service, pane: int) -> None:
    made.good("term.type", {"text": "yes flood\n", "pane": pane})
    made.wait("^flood$", pane)


def test_a_stopped_view_delays_nobody_and_sees_the_newest_when_it_goes_on() -> None:
    with service() as made, viewer(made) as other:
        made.at_prompt(1)
        with view_process(made, "all-is-2-well") as process:
            process.send_signal(signal.SIGSTOP)
            flood(made, 1)
            seen = other.states[1].revision
            other.until(lambda: other.states[1].revision > seen + 100, "the other is told")
            made.good("term.session")
            other.press(*[])
            made.good("term.keys", {"keys": ["C-c"], "pane": 1})
            other.enter("clear; echo all-is-$((1+1))-well")
            other.shows("all-is-2-well")
            process.send_signal(signal.SIGCONT)
            assert line_of(process.stdout) == "seen"


def test_a_stopped_process_is_told_from_one_that_only_does_not_read() -> None:
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        assert not stopped(process.pid)
        process.send_signal(signal.SIGSTOP)
        eventually(lambda: stopped(process.pid), "it is seen to be stopped")
        process.send_signal(signal.SIGCONT)
        eventually(lambda: not stopped(process.pid), "it is seen to go on")
    finally:
        process.kill()
        process.communicate()
    assert not stopped(process.pid)


def test_what_a_view_is_told_in_a_flood_is_bounded() -> None:
    with service() as made, viewer(made) as view:
        made.at_prompt(1)
        flood(made, 1)
        lines = made.good("term.snapshot", {"pane": 1})["revision"]
        start, messages = view.bytes, view.received
        view.until(lambda: view.states[1].revision > lines + 2_000, "a long flood")
        frames = view.received - messages
        assert view.bytes - start < frames * 4_096
        made.good("term.keys", {"keys": ["C-c"], "pane": 1})


def test_a_killed_view_is_forgotten() -> None:
    with service() as made, viewer(made) as other:
        with view_process(made) as process:
            other.until(lambda: other.status and other.status.views == 2, "it is there")
            process.kill()
            other.until(lambda: other.status and other.status.views == 1, "it is forgotten")
        other.enter("echo on-$((1+1))")
        other.shows("on-2")


def test_a_running_view_that_reads_nothing_is_let_go() -> None:
    with service() as made, viewer(made) as view, viewer(made) as other:
        made.at_prompt(1)
        view.acknowledges = False
        flood(made, 1)
        assert view.until_bye() == Bye(Reason.SLOW)
        other.until(lambda: other.status and other.status.views == 1, "it is gone")


@pytest.mark.parametrize("number", [signal.SIGSTOP, signal.SIGKILL])
def test_without_a_broker_a_person_goes_on(number: signal.Signals) -> None:
    with service() as made, viewer(made) as view:
        made.at_prompt(1)
        broker = broker_pid(made.directory / "rt")
        assert broker
        os.kill(broker, number)
        try:
            view.enter("echo still-$((1+1))")
            view.shows("still-2")
            assert view.do("term.pane.split", dir="v").rc == 0
        finally:
            with suppress(ProcessLookupError):
                os.kill(broker, signal.SIGCONT)


def files(made: Service) -> set[str]:
    return set(os.listdir(made.directory / "rt"))


def test_a_service_that_ends_says_so_and_removes_the_socket() -> None:
    with service() as made, viewer(made) as view:
        assert "term.view" in files(made)
        made.run("down")
        assert view.until_bye() == Bye(Reason.ENDED)
        assert "term.view" not in files(made)


def test_a_stopped_view_does_not_keep_a_service_from_ending() -> None:
    with service() as made:
        made.at_prompt(1)
        with view_process(made) as process:
            process.send_signal(signal.SIGSTOP)
            flood(made, 1)
            made.run("down")
            assert not alive(made.ready["pid"])
            assert "term.view" not in files(made)


def test_a_killed_service_closes_its_views_and_leaves_a_socket_that_is_cleared_up() -> None:
    with service() as made:
        with viewer(made) as view:
            os.kill(made.ready["pid"], signal.SIGKILL)
            view.messages.clear()

            def over() -> bool:
                view.read()
                return view.ended

            eventually(over, "the connection ends")
            assert view.bye is None
        assert "term.view" in files(made)
        made.up()
        with viewer(made) as view:
            made.at_prompt(1)
            view.enter("echo again-$((1+1))")
            view.shows("again-2")
        os.kill(made.ready["pid"], signal.SIGKILL)
        eventually(lambda: not alive(made.ready["pid"]), "it is gone")
        made.run("down")
        assert "term.view" not in files(made)


def test_many_connections_that_say_nothing_keep_nobody_out_for_long() -> None:
    with service() as made:
        opened = made.good("term.view.open")
        silent = [Viewer(made, opened["path"], "x") for _ in range(80)]
        try:

            def attaches() -> bool:
                view = Viewer(made)
                try:
                    view.attach()
                    while not view.ended and view.layout is None:
                        view.read(1.0)
                    return view.layout is not None
                except OSError:
                    return False
                finally:
                    view.close()

            eventually(attaches, "a person gets in")
        finally:
            for each in silent:
                each.close()
