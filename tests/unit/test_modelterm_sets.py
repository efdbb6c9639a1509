"""The end of a set, and openings that fail: nothing runs on unknown. Services are fakes."""

from __future__ import annotations

import os
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import trio
import trio.testing

from termnode.client import Exit, Screen, ServiceRestarted, ServiceUnavailable, Session
from termnode.client.errors import ResourceLimit
from termnode.modelterm import Settings, TermError, Terminals, keeper, open_terminals
from termnode.modelterm.home import Home, any_home
from tests.support.model_lab import settings


class Pane:
    """A program of a service that only notes whether it was hung up."""

    def __init__(self) -> None:
        self.fails: Exception | None = None
        self.person_inputs = 0
        self.alternate = False
        self.ended = False

    async def wait_quiet(self, *_: object, **_given: object) -> None:
        await trio.lowlevel.checkpoint()

    wait_change = wait_quiet

    async def screen(self, **_: object) -> Screen:
        await trio.lowlevel.checkpoint()
        if self.fails is not None:
            raise self.fails
        return Screen(
            1, 1, 7, 100, 30, alternate=self.alternate, person_inputs=self.person_inputs, history=9
        )

    async def end(self) -> Exit:
        await trio.lowlevel.checkpoint()
        self.ended = True
        return Exit()


class Service:
    """One service, and what its sessions did; ``gate`` holds up the start of a program, ``end``
    that of a session."""

    def __init__(self) -> None:
        self.panes: list[Pane] = []
        self.next = Pane()
        self.asked = trio.Event()
        self.gate = trio.Event()
        self.gate.set()
        self.end = trio.Event()
        self.end.set()
        self.fails_at_the_end: Exception | None = None
        self.held = 0

    @asynccontextmanager
    async def session(self, _settings: Settings) -> AsyncIterator[Home]:
        self.held += 1
        try:
            yield Home(cast(Session, self), Path("/"), private=False)
        finally:
            self.held -= 1
        await self.end.wait()
        if self.fails_at_the_end is not None:
            raise self.fails_at_the_end

    async def new_tab(self, *_: object, **_given: object) -> Any:  # noqa: ANN401  # a tab
        self.asked.set()
        await self.gate.wait()
        assert self.held, "the session is held until what was begun is undone"
        self.panes.append(self.next)
        return SimpleNamespace(info=SimpleNamespace(active_pane=len(self.panes) - 1))

    async def pane(self, number: int) -> Pane:
        return self.panes[number]


Lab = Callable[[], Service]


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Lab:
    """Makes services; the newest is the one that runs."""
    newest: list[Service] = []

    def session(given: Settings) -> Any:  # noqa: ANN401  # a context manager
        return newest[-1].session(given)

    monkeypatch.setattr(keeper, "running", session)
    monkeypatch.setattr(keeper, "any_home", session)

    def make() -> Service:
        newest.append(Service())
        return newest[-1]

    return make


def run(tmp_path: Path, body: Callable[[Settings], Any]) -> None:
    async def main() -> None:
        with trio.fail_after(60):
            await body(settings(tmp_path))

    trio.run(main)


def test_a_program_whose_first_screen_cannot_be_had_is_hung_up(
    tmp_path: Path, service: Lab
) -> None:
    async def body(given: Settings) -> None:
        there = service()
        async with open_terminals(given) as terminals:
            for error in (ResourceLimit("enough"), ServiceUnavailable("away"), OSError("other")):
                there.next = Pane()
                there.next.fails = error
                with pytest.raises((TermError, OSError)):
                    await terminals.open(["cat"])
                assert there.next.ended
            for _ in range(3):  # none of them has kept its place
                there.next = Pane()
                await terminals.open(["cat"])
                assert not there.next.ended
        assert all(pane.ended for pane in there.panes)

    run(tmp_path, body)


def test_a_program_that_is_just_being_started_does_not_outlive_its_set(
    tmp_path: Path, service: Lab
) -> None:
    async def body(given: Settings) -> None:
        there = service()
        there.gate = trio.Event()
        refused: list[TermError] = []

        async def opening(terminals: Terminals) -> None:
            with pytest.raises(TermError, match=r"^CANCELLED") as caught:
                await terminals.open(["cat"])
            refused.append(caught.value)

        async with trio.open_nursery() as nursery:  # of calls, which outlive the set
            async with open_terminals(given) as terminals:
                nursery.start_soon(opening, terminals)
                await there.asked.wait()
                nursery.start_soon(_open_later, there)
            there.gate.set()
            assert [pane.ended for pane in there.panes] == [True]
            assert there.held == 0
            await opening(terminals)
        assert len(refused) == 2
        assert len(there.panes) == 1

    run(tmp_path, body)


async def _open_later(there: Service) -> None:
    await trio.testing.wait_all_tasks_blocked()  # the set waits for what it has begun
    there.gate.set()


def test_a_lost_service_that_ends_late_takes_nothing_of_the_next(
    tmp_path: Path, service: Lab
) -> None:
    async def body(given: Settings) -> None:
        first = service()
        first.end = trio.Event()
        first.fails_at_the_end = ServiceUnavailable("its end went wrong too")
        async with open_terminals(given) as terminals:
            await terminals.open(["cat"])
            first.next.fails = ServiceRestarted("another has its name")
            second = service()
            with pytest.raises(TermError, match=r"^UNAVAILABLE"):
                await terminals.screen("t1")
            shown = await terminals.open(["cat"])
            first.end.set()
            await trio.testing.wait_all_tasks_blocked()
            assert (first.held, second.held) == (0, 1)
            assert (await terminals.screen(shown.id)).state == "running"
        assert second.next.ended

    run(tmp_path, body)


def test_a_look_that_was_refused_tells_nothing_and_loses_nothing(
    tmp_path: Path, service: Lab
) -> None:
    async def body(given: Settings) -> None:
        there = service()
        async with open_terminals(given) as terminals:
            await terminals.open(["cat"])
            there.next.person_inputs, there.next.alternate = 1, True
            with pytest.raises(TermError, match="full-screen"):
                await terminals.screen("t1", offset=1)
            assert (await terminals.screen("t1")).person_typed
            there.next.person_inputs, there.next.alternate = 2, False
            assert (await terminals.screen("t1", offset=1)).person_typed
            assert not (await terminals.screen("t1")).person_typed

    run(tmp_path, body)


def test_a_private_service_that_cannot_be_started_leaves_no_descriptor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **_given: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tempfile, "TemporaryFile", full)

    async def body(given: Settings) -> None:
        before = set(os.listdir("/proc/self/fd"))
        for _ in range(3):
            with pytest.raises(TermError, match="No space left"):
                async with any_home(given):
                    pass
        assert set(os.listdir("/proc/self/fd")) == before
        assert not list(given.place.iterdir())

    run(tmp_path, body)


def test_a_full_disk_is_said_and_takes_no_place(tmp_path: Path, service: Lab) -> None:
    async def body(given: Settings) -> None:
        service()
        given.place.rmdir()
        async with open_terminals(given) as terminals:
            with pytest.raises(TermError, match=r"^UNAVAILABLE: .*No such file"):
                await terminals.open(["cat"])
            given.place.mkdir()
            assert (await terminals.open(["cat"])).id == "t2"

    run(tmp_path, body)
