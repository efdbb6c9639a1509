"""Processes of a service are killed at the worst moment: nothing hangs, and nothing is lost that
does not have to be."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import trio
import trio.testing

from brokerd.client import BrokerLost, BusError, ErrorCode, connect
from tests.support.termnode_process import Service, alive, eventually, service
from tests.support.told import told


@pytest.fixture
def term() -> Iterator[Service]:
    with service() as running:
        yield running


def broker_pid(running: Service) -> int | None:
    """The live broker's pid, from its lock file."""
    with contextlib.suppress(OSError, ValueError):
        return int((running.directory / "rt" / "broker.lock").read_text())
    return None


def child_with(running: Service, word: str) -> int:
    """The service's child whose command line has ``word``."""
    # Each thread has its own list: what started the child may be a worker thread.
    lists = Path(f"/proc/{running.ready['pid']}/task").glob("*/children")
    for pid in (int(text) for each in lists for text in each.read_text().split()):
        if word.encode() in Path(f"/proc/{pid}/cmdline").read_bytes():
            return pid
    raise AssertionError(f"no child of the service runs {word}")


def panes(running: Service) -> list[tuple[int, int]]:
    """Pane ids and the pids in them."""
    return [(p["id"], p["pid"]) for p in running.good("term.panes")["panes"]]


def served(running: Service) -> bool:
    """Whether verbs are answered now."""
    try:
        return running.call("term.tabs")[0] == 0
    except BusError:
        return False


def test_a_killed_broker_costs_no_pane_and_no_caller_hangs(term: Service) -> None:
    running = panes(term)
    old = broker_pid(term)
    assert old is not None

    async def body() -> None:
        with trio.fail_after(60):
            async with connect(term.directory / "rt") as bus:
                epoch = bus.broker_epoch
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(_pending_wait_fails, bus)
                    await _until_waiting(bus)
                    os.kill(old, signal.SIGKILL)
                assert await bus.wait_epoch_change(epoch) != epoch
                while True:
                    reply = await bus.request("term", "term.tabs", {})
                    if reply.ok:
                        break
                    assert reply.error is not None
                    assert reply.error.code == ErrorCode.UNAVAILABLE

    trio.run(body)
    assert broker_pid(term) not in {None, old}
    assert panes(term) == running
    pane = term.at_prompt(running[0][0])
    term.good("term.type", {"pane": pane, "text": "echo still-$((1+1))", "enter": True})
    term.wait("^still-2$", pane)


async def _pending_wait_fails(bus) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
    with pytest.raises(BrokerLost):
        await bus.request("term", "term.wait", {"until": "never", "timeout_ms": 45_000}, timeout=60)


async def _until_waiting(bus) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
    """The wait before this request has been sent: the bus keeps the order of one connection."""
    await trio.testing.wait_all_tasks_blocked()
    assert (await bus.request("term", "term.tabs", {})).ok


def test_a_broker_killed_again_and_again_is_started_again(term: Service) -> None:
    for _ in range(3):
        old = eventually(lambda: broker_pid(term), "a broker runs")
        assert old is not None
        os.kill(old, signal.SIGKILL)
        eventually(lambda: served(term), "verbs are answered again")
    assert len(panes(term)) == 1


def test_a_killed_service_leaves_no_program_and_can_be_started_again(term: Service) -> None:
    host = child_with(term, "termnode.panehost")
    shell = panes(term)[0][1]
    broker = broker_pid(term)
    os.kill(term.ready["pid"], signal.SIGKILL)
    eventually(lambda: not alive(shell), "the shell is hung up")
    eventually(lambda: not alive(host), "the pane host ends")
    term.up()
    assert broker_pid(term) == broker, "the broker that was there is used"
    assert served(term)


def test_down_clears_up_after_a_killed_service(term: Service) -> None:
    broker = broker_pid(term)
    assert broker is not None
    os.kill(term.ready["pid"], signal.SIGKILL)
    eventually(lambda: not alive(term.ready["pid"]), "it is dead")
    term.run("down")
    eventually(lambda: not alive(broker), "the broker it had started is gone too")
    assert list((term.directory / "rt").iterdir()) == []
    term.run("down", check=3)


def test_a_removed_directory_leaves_no_broker_behind(term: Service) -> None:
    broker = broker_pid(term)
    assert broker is not None
    shutil.rmtree(term.directory / "rt")
    os.kill(term.ready["pid"], signal.SIGTERM)
    eventually(lambda: not alive(term.ready["pid"]), "the service ends")
    eventually(lambda: not alive(broker), "so does the broker that nobody can find any more")


def test_a_killed_pane_host_costs_no_program(term: Service) -> None:
    (pane, shell), *_ = panes(term)
    term.at_prompt(pane)
    os.kill(child_with(term, "termnode.panehost"), signal.SIGKILL)

    def new_tab() -> bool:
        return term.call("term.tab.new", {"argv": ["sleep", "600"]})[0] == 0

    eventually(new_tab, "a new host starts programs")
    assert alive(shell)
    term.good("term.type", {"pane": pane, "text": "echo alive-$((1+1))", "enter": True})
    term.wait("^alive-2$", pane)
    term.good("term.type", {"pane": pane, "text": "exit", "enter": True})
    ended = eventually(
        lambda: term.good("term.snapshot", {"pane": pane}).get("exit"), "its end is noticed"
    )
    assert ended == {"unknown": True}, "nobody can tell the status of an orphan, so nobody does"


@pytest.mark.parametrize("end", ["close", "down"])
def test_a_deaf_program_of_a_dead_pane_host_is_killed_too(term: Service, end: str) -> None:
    opened = term.good("term.tab.new", {"argv": ["sh", "-c", DEAF]})
    term.wait("deaf", opened["pane"])
    os.kill(child_with(term, "termnode.panehost"), signal.SIGKILL)
    eventually(lambda: term.call("term.tab.new", {"argv": ["true"]})[0] == 0, "a new host is there")
    if end == "close":
        term.good("term.pane.close", {"pane": opened["pane"]})
    else:
        term.run("down")
    eventually(lambda: not alive(opened["pid"]), "it is killed all the same")


DEAF = "trap '' HUP TERM; echo deaf; while :; do sleep 600; done"


def test_a_program_that_ignores_the_hang_up_is_killed(term: Service) -> None:
    opened = term.good("term.tab.new", {"argv": ["sh", "-c", DEAF]})
    term.wait("deaf", opened["pane"])
    term.good("term.pane.close", {"pane": opened["pane"]})
    eventually(lambda: not alive(opened["pid"]), "SIGKILL follows the grace")


WAITER = """
import sys, trio, trio.testing
from brokerd.client import connect
async def main():
    async with connect(sys.argv[1]) as bus, trio.open_nursery() as nursery:
        nursery.start_soon(bus.request, "term", "term.wait", {"until": "never"})
        await trio.testing.wait_all_tasks_blocked()
        await bus.request("term", "term.tabs", {})  # comes after the wait: the order is kept
        print("waiting", flush=True)
trio.run(main)
"""


def test_a_wait_ends_with_the_process_that_asked(term: Service) -> None:
    with child(term, WAITER, b"waiting\n"):
        pass

    def outcomes() -> list[str]:
        entries = term.good("term.log")["entries"]
        return [e["outcome"] for e in entries if e["verb"] == "term.wait"]

    assert eventually(outcomes, "the wait has ended") == ["CANCELLED"]


SUBSCRIBER = """
import sys, trio
from contextlib import AsyncExitStack
from brokerd.client import connect
async def main():
    async with AsyncExitStack() as stack:
        for _ in range(64):
            bus = await stack.enter_async_context(connect(sys.argv[1]))
            await stack.enter_async_context(bus.subscribe_service("term"))
            assert (await bus.request("term", "term.events", {})).ok
        print("subscribed", flush=True)
        await trio.sleep_forever()
trio.run(main)
"""


@contextlib.contextmanager
def child(term: Service, script: str, ready: bytes) -> Iterator[subprocess.Popen[bytes]]:
    """A client of the service in a process of its own, once it has said that it is ready."""
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(term.directory / "rt")],
        env=term.environment(),
        stdout=subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        with process.stdout:
            assert process.stdout.readline() == ready
        yield process
    finally:
        process.kill()
        process.wait()


def test_subscriptions_end_with_the_process_that_asked(term: Service) -> None:
    with child(term, SUBSCRIBER, b"subscribed\n") as process:
        rc, answer = term.call("term.events")
        assert (rc, answer["error_code"]) == (10, "RESOURCE_LIMIT")
        process.kill()
        eventually(lambda: term.call("term.events")[0] == 0, "there is room again")


def test_subscribers_that_are_stopped_delay_nobody(term: Service) -> None:
    async def body() -> None:
        with trio.fail_after(60):
            async with told(term.directory / "rt", stop=True) as one:
                pane = (await one.good("term.tab.new"))["pane"]
                for _ in range(400):  # more than the broker keeps for a peer
                    await one.good("term.pane.select", id=pane)

    with child(term, SUBSCRIBER, b"subscribed\n") as process:
        os.kill(process.pid, signal.SIGSTOP)
        trio.run(body)
        term.at_prompt(panes(term)[-1][0])


def test_events_of_the_time_without_a_broker_are_sent_again_when_asked_for(term: Service) -> None:
    pane, shell = panes(term)[0]

    async def body() -> None:
        with trio.fail_after(60):
            async with told(term.directory / "rt", kinds=["exit"]) as one:
                epoch = one.bus.broker_epoch
                last = one.reply["seq"]
                old = broker_pid(term)
                assert old is not None
                os.kill(old, signal.SIGKILL)
                os.kill(shell, signal.SIGKILL)
                await one.bus.wait_epoch_change(epoch)
                while not (await one.bus.request("term", "INFO", {})).ok:
                    await trio.lowlevel.checkpoint()
                await one.ask(kinds=["exit"], after=last)
                ended = await one.kind("exit")
                assert ended["pane"] == pane
                assert ended["exit"] == {"signal": signal.SIGKILL, "core": False}
                assert one.reply["missed"] == 0

    trio.run(body)


def test_the_service_ends_while_a_pane_floods(term: Service) -> None:
    opened = term.good("term.tab.new", {"argv": ["yes"]})
    term.wait("^y$", opened["pane"])
    term.run("down")
    assert not alive(term.ready["pid"])
    eventually(lambda: not alive(opened["pid"]), "the flooding program is gone")


def test_an_end_is_noticed_on_the_topic_unless_switched_off() -> None:
    with service() as loud, service(TERM_NOTIFY="0") as quiet:
        assert trio.run(_notice_of, loud, 4) == {"code": 4}
        assert trio.run(_notice_of, quiet, 4) is None


async def _notice_of(running: Service, code: int) -> object:
    """The exit in the notice about a program; None when there was no notice."""
    with trio.fail_after(60):
        async with (
            connect(running.directory / "rt") as bus,
            bus.subscribe("interact.notify") as events,
        ):
            body = {"argv": ["sh", "-c", f"exit {code}"]}
            pane = ((await bus.request("term", "term.tab.new", body)).body or {})["pane"]
            if running.extra.get("TERM_NOTIFY") == "0":
                await _no_event(bus, events, pane)
                return None
            async for event in events:
                assert isinstance(event.value, dict)
                assert event.value["pane"] == pane
                assert event.value["category"] == "transfer.complete"
                assert event.value["dedupe_key"] == f"term-pane-{pane}"
                return event.value["exit"]
    raise AssertionError("the topic ended")


async def _no_event(bus, events, pane: object) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
    """The program has ended, and the topic still has no value: it would have come first."""
    while ((await bus.request("term", "term.snapshot", {"pane": pane})).body or {})[
        "state"
    ] != "exited":
        await trio.lowlevel.checkpoint()
    await bus.publish("interact.notify", {"pane": "marker"})
    async for event in events:
        assert event.value == {"pane": "marker"}
        return
