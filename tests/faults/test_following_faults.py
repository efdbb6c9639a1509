"""``termnode events --follow`` when it, its reader, the broker or the service stops or dies."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio

from brokerd.client import connect
from tests.support.termnode_process import COMMAND, Service, alive, eventually
from tests.support.termnode_process import plain_service as service

NEVER_S = 1e6
SOON_S = 0.2

FOLLOW = (
    "import sys; from termnode.cli import following, main;"
    "following.ASK_AGAIN_S = float(sys.argv.pop(1)); sys.exit(main.main())"
)


class Follower:
    """A follower whose output goes to a file; ``ask_again_s`` is when silence is too long."""

    def __init__(self, term: Service, ask_again_s: float, *options: str) -> None:
        self.path = term.directory / "events"
        self.term = term
        with self.path.open("wb") as out:
            self.process = subprocess.Popen(
                [sys.executable, "-c", FOLLOW, str(ask_again_s), "events", "--follow", "--json",
                 *options],
                env=term.environment(), stdout=out, stderr=subprocess.PIPE,
            )  # fmt: skip

    def told(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.path.read_bytes().splitlines(keepends=True)
                if line.endswith(b"\n")]  # fmt: skip

    def seqs(self) -> list[int]:
        return [event["seq"] for event in self.told() if "seq" in event]

    def subscribed(self) -> bool:
        """Whether the service has counted its subscription."""
        log = self.term.good("term.log", {"limit": 50})["entries"]
        who = f"uid {os.geteuid()} pid {self.process.pid}"
        return any(each["verb"] == "term.events" and each["principal"] == who for each in log)


@contextmanager
def follower(term: Service, ask_again_s: float, *options: str) -> Iterator[Follower]:
    made = Follower(term, ask_again_s, *options)
    try:
        eventually(made.subscribed, "the follower has subscribed")
        yield made
    finally:
        made.process.kill()
        made.process.communicate()


@pytest.fixture
def term() -> Iterator[Service]:
    with service() as started:
        yield started


def broker_of(term: Service) -> int:
    """The live broker's pid, once one has written it into the lock file."""
    lock = term.directory / "rt" / "broker.lock"

    def pid() -> str:
        return lock.read_text().strip() if lock.exists() else ""

    return int(eventually(pid, "there is a broker"))


def another_broker(term: Service, than: int) -> bool:
    return broker_of(term) != than


def renamed(term: Service, count: int) -> None:
    """So many events."""

    async def rename() -> None:
        async with connect(term.directory / "rt") as bus:
            for number in range(count):
                body = {"pane": 1, "title": f"{number}"}
                assert (await bus.request(term.name, "term.pane.rename", body)).ok

    trio.run(rename)


def test_one_that_stands_still_harms_nobody_and_is_told_what_it_missed(term: Service) -> None:
    with follower(term, SOON_S, "--kind", "layout") as stopped:
        before = broker_of(term)
        stopped.process.send_signal(signal.SIGSTOP)
        renamed(term, 2_500)
        assert broker_of(term) == before
        assert alive(before)
        stopped.process.send_signal(signal.SIGCONT)
        renamed(term, 1)
        eventually(lambda: len(stopped.seqs()) + missed(stopped) == 2_501, "all are told or missed")
        assert missed(stopped) > 0
        assert stopped.seqs() == sorted(set(stopped.seqs()))


def missed(one: Follower) -> int:
    """How many it says that it can no longer be told."""
    return sum(event.get("missed", 0) for event in one.told())


def test_a_broker_that_is_killed_costs_no_event(term: Service) -> None:
    with follower(term, NEVER_S, "--kind", "layout") as one:
        for _ in range(2):
            renamed(term, 1)
            broker = broker_of(term)
            os.kill(broker, signal.SIGKILL)
            eventually(partial(another_broker, term, broker), "there is another broker")
            eventually(
                lambda: term.run("call", "term.session", check=None).returncode == 0, "it answers"
            )
            renamed(term, 1)
        eventually(lambda: len(one.seqs()) == 4, "all are told")


def test_all_events_of_a_service_that_took_the_place_of_a_killed_one_are_told(
    term: Service,
) -> None:
    with follower(term, SOON_S, "--kind", "layout") as one:
        renamed(term, 3)
        eventually(lambda: len(one.seqs()) == 3, "those of the first service are told")
        os.kill(term.ready["pid"], signal.SIGKILL)
        eventually(lambda: not alive(term.ready["pid"]), "it is dead")
        term.up()
        renamed(term, 5)  # more than the first one's: its numbers must not hide any
        eventually(lambda: len(one.seqs()) == 8, "those of the second are told too")
        assert one.seqs() == sorted(set(one.seqs()))


@pytest.mark.parametrize("command", ["events --after 0", "events --follow --after 0"])
def test_a_reader_that_has_had_enough_is_no_error(term: Service, command: str) -> None:
    renamed(term, 500)
    line = f'"$@" {command} | head -n 1; echo "${{PIPESTATUS[0]}}"'
    done = subprocess.run(
        ["bash", "-c", line, "bash", *COMMAND],
        env=term.environment(), capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert done.stderr == ""
    assert done.stdout.splitlines()[1:] == ["0"]


def test_a_disk_that_is_full_is_said_in_one_line(term: Service) -> None:
    renamed(term, 1)
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*COMMAND, "events"],
            env=term.environment(), stdout=full, stderr=subprocess.PIPE, timeout=60, check=False,
        )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr.decode().splitlines() == [
        "termnode: the output could not be written: no space is left"
    ]
