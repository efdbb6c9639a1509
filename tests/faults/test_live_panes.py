"""What happens to panes and programs while another one is being started, ends, or is closed."""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace

import pytest
import trio
import trio.testing

from brokerd.client import ErrorCode, Refusal, connect
from termnode.control import posture
from termnode.lanes.calls import Answer, Call
from termnode.panehost.client import HostBusy
from termnode.service.config import Config
from termnode.service.input.keyboard import type_text
from termnode.service.keeping.instance import InstanceFiles
from termnode.service.live_pane import LivePane
from termnode.service.main import _Service
from termnode.service.mutations import pane_close, pane_restart, pane_split, tab_new
from termnode.terminal.engine import Engine
from tests.support.broker_process import BrokerProcess, short_directory
from tests.support.lane import Local

WITHIN = 40.0
SLEEPER = ["sleep", "600"]


@asynccontextmanager
async def parts(**changes: float) -> AsyncIterator[_Service]:
    """A service's programs and workspace, without a bus; its limits as given."""
    with short_directory() as directory, trio.fail_after(WITHIN):
        config = Config(
            name="term",
            directory=directory,
            cwd="/",
            environment={"PATH": os.environ["PATH"]},
            shell="/bin/sh",
        )
        files = InstanceFiles(directory, "term")
        posture.write(files.posture, posture.Posture.OPEN)
        service = _Service(replace(config, **changes), files)  # type: ignore[arg-type]
        async with trio.open_nursery() as nursery:
            await nursery.start(service.host.run)
            await nursery.start(service.panes.run)
            yield service
            nursery.cancel_scope.cancel()


async def until(true: Callable[[], object]) -> None:
    """Look again and again, letting everybody else run; the caller's deadline ends it."""
    while not true():
        with trio.move_on_after(0.002):
            await trio.sleep_forever()


@asynccontextmanager
async def slow_host(service: _Service) -> AsyncIterator[None]:
    """The pane host does nothing inside the block, and goes on after it."""
    pid = service.host.current().process.pid
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def refusal(
    work: Callable[[], Awaitable[object]], into: list[Refusal]
) -> Callable[[], Awaitable[None]]:
    """A task that notes the refusal it ends with."""

    async def run() -> None:
        with pytest.raises(Refusal) as raised:
            await work()
        into.append(raised.value)

    return run


def test_a_pane_that_goes_while_it_is_started_anew_leaves_no_program() -> None:
    async def body() -> None:
        async with parts() as service:
            state, panes = service.state, service.panes
            await tab_new(state, {"argv": SLEEPER, "remain": 600})
            opened = await tab_new(state, {"argv": ["true"], "remain": 1})
            pane = opened["pane"]
            assert isinstance(pane, int)
            await until(lambda: (found := panes.get(pane)) and found.ended)
            refused: list[Refusal] = []
            async with trio.open_nursery() as nursery, slow_host(service):
                nursery.start_soon(refusal(lambda: pane_restart(state, {"pane": pane}), refused))
                await until(lambda: pane not in state.workspace.panes)
            assert refused[0].code is ErrorCode.NOT_FOUND
            assert panes.get(pane) is None, "nobody could ever close that program"

    trio.run(body)


def test_sizes_are_right_when_a_pane_goes_while_another_is_started() -> None:
    async def body() -> None:
        async with parts() as service:
            state, panes = service.state, service.panes
            first = (await tab_new(state, {"argv": SLEEPER, "remain": 600}))["pane"]
            short = {"pane": first, "dir": "h", "argv": ["true"], "remain": 1}
            gone = await pane_split(state, short)
            ended = state.live(gone["id"])  # type: ignore[arg-type]
            await until(lambda: ended.ended)
            async with trio.open_nursery() as nursery, slow_host(service):
                again = {"pane": first, "dir": "v", "argv": SLEEPER, "remain": 600}
                nursery.start_soon(pane_split, state, again)
                await until(lambda: gone["id"] not in state.workspace.panes)
            tab = state.workspace.tab()
            for pane, size in state.workspace.sizes(tab.id).items():
                live = state.live(pane)
                assert (live.terminal.cols, live.terminal.rows) == size
            assert len(panes._live) == 2

    trio.run(body)


def test_a_split_that_fails_leaves_the_active_pane_and_all_sizes() -> None:
    async def body() -> None:
        async with parts() as service:
            state = service.state
            first = (await tab_new(state, {"argv": SLEEPER, "remain": 600}))["pane"]
            assert isinstance(first, int)
            more = {"pane": first, "dir": "h", "argv": SLEEPER, "remain": 600}
            second = (await pane_split(state, more))["id"]
            assert state.workspace.active_pane == second
            bad = {**more, "argv": ["/no/such/program"]}
            with pytest.raises(Refusal):
                await pane_split(state, bad)
            with pytest.raises(Refusal):
                await tab_new(state, bad)
            assert state.workspace.active_pane == second
            for pane, size in state.workspace.sizes(1).items():
                assert (state.live(pane).terminal.cols, state.live(pane).terminal.rows) == size

    trio.run(body)


def test_a_program_without_an_emulator_is_hung_up() -> None:
    made: list[int] = []

    def broken(cols: int, rows: int, scrollback: int = 0) -> Engine:
        made.append(len(os.listdir("/proc/self/fd")))
        raise MemoryError

    async def body() -> None:
        async with parts() as service:
            host = service.host.current()
            service.panes._make_engine = broken
            with pytest.raises(MemoryError):
                await tab_new(service.state, {"argv": SLEEPER, "remain": 600})
            assert len(os.listdir("/proc/self/fd")) == made[0] - 1, "the master is closed"
            assert not host._exchange.exits, "the host was told to end the program"
            assert not service.state.workspace.panes

    trio.run(body)


def test_a_pane_closed_in_the_moment_of_its_end_gives_no_notice() -> None:
    async def body() -> None:
        async with parts() as service:
            state = service.state
            opened = await tab_new(state, {"argv": ["cat"], "remain": 600})
            live = state.live(opened["pane"])  # type: ignore[arg-type]
            report = live.terminal.report_exit

            async def closed_right_after(status) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
                await report(status)
                await pane_close(state, {"pane": live.id})  # has no checkpoint

            live.terminal.report_exit = closed_right_after  # type: ignore[method-assign]
            live.terminal.write(b"\x04")
            await until(lambda: live.ended is not None)
            await tab_new(state, {"argv": SLEEPER, "remain": 600})  # the service goes on

    trio.run(body)


def test_a_stuck_host_stops_other_mutations_for_a_while_only() -> None:
    async def body() -> None:
        async with parts(spawn_timeout_s=0.2) as service:
            state = service.state
            async with slow_host(service):
                with pytest.raises(Refusal) as raised:
                    await tab_new(state, {"argv": SLEEPER, "remain": 600})
            assert raised.value.code is ErrorCode.UNKNOWN_OUTCOME
            assert not state.workspace.panes
        async with parts(spawn_timeout_s=30) as service:
            await tab_new(service.state, {"argv": SLEEPER, "remain": 600})

    trio.run(body)


def overfill(live: LivePane) -> None:
    """Ask the host for signals until it takes no more."""
    with suppress(HostBusy):
        while True:
            live.host.signal(live.pid, signal.SIGCONT)


@pytest.mark.parametrize("full", [True, False])
def test_a_pane_is_closed_although_its_host_is_stuck(full: bool) -> None:
    async def body() -> None:
        async with parts(hangup_grace_s=0.1) as service:
            opened = await tab_new(service.state, {"argv": SLEEPER, "remain": 600})
            live = service.state.live(int(str(opened["pane"])))
            process = os.pidfd_open(live.pid)
            async with slow_host(service):
                if full:
                    overfill(live)
                    await trio.testing.wait_all_tasks_blocked()  # what the socket takes is gone
                    overfill(live)
                await pane_close(service.state, {"pane": live.id})
                await trio.lowlevel.wait_readable(process)
            os.close(process)

    trio.run(body)


def test_input_that_waits_is_discarded_when_the_posture_is_seen_to_be_strict() -> None:
    async def body() -> None:
        async with parts(write_deadline_s=600) as service:
            state = service.state
            deaf = ["sh", "-c", "stty raw -echo; echo deaf; sleep 600"]
            opened = await tab_new(state, {"argv": deaf, "remain": 600})
            live = state.live(opened["pane"])  # type: ignore[arg-type]
            await until(lambda: live.terminal.engine.text()[0] == "deaf")
            assert isinstance(_ask_info(service), Answer)
            text = {"text": "x" * 4_000, "enter": False}
            waiting = [await type_text(state, text) for _ in range(15)]
            posture.write(
                posture.file_path(service.config.directory, "term"), posture.Posture.STRICT
            )
            assert isinstance(_ask_info(service), Answer)
            with pytest.raises(Refusal) as raised:
                await waiting[-1]()
            assert raised.value.code is ErrorCode.CANCELLED

    trio.run(body)


def _ask_info(service: _Service) -> object:
    return service.lane.admit(Call(Local(), "INFO", b"{}"), 0.0)


def test_a_host_that_cannot_be_started_for_a_moment_ends_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def body() -> None:
        async with parts() as service:
            old = service.host.current()
            limits = resource.getrlimit(resource.RLIMIT_NOFILE)
            resource.setrlimit(resource.RLIMIT_NOFILE, (3, limits[1]))
            try:
                os.kill(old.process.pid, signal.SIGKILL)
                await until(lambda: "cannot be started now" in caplog.text)
            finally:
                resource.setrlimit(resource.RLIMIT_NOFILE, limits)
            await until(lambda: service.host._host is not old)
            await tab_new(service.state, {"argv": SLEEPER, "remain": 600})

    trio.run(body)


def test_a_broker_that_goes_away_before_the_name_is_registered_ends_nothing() -> None:
    async def body(broker: BrokerProcess) -> None:
        async with parts() as service, connect(broker.directory) as bus:
            await trio.to_thread.run_sync(broker.kill)
            await until(lambda: not bus.connected)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(trio.to_thread.run_sync, broker.start)
                await nursery.start(service.dispatcher.run, bus, "term")
                assert bus.statistics().names == ("term",)
                nursery.cancel_scope.cancel()

    with short_directory() as directory:
        broker = BrokerProcess(directory / "r")
        try:
            broker.start()
            trio.run(body, broker)
        finally:
            broker.close()
