"""The tasks around events: sending them, telling of quiet panes, and who is told of which input."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

import pytest
import trio
import trio.testing

from brokerd.client import Bus, ErrorCode, Refusal
from termnode.control.verbs import find
from termnode.lanes.calls import Call, Reply, Sealed, Ticket
from termnode.lanes.sealing import seal
from termnode.service.events.hub import Events
from termnode.service.events.pane_watch import QUIET_S, PaneWatch
from termnode.service.events.places import Places
from termnode.service.events.pump import RETRY_S, ROOM, SHARE, EventPump
from termnode.service.events.subscribing import subscribe
from termnode.service.events.subscriptions import Subscriber
from termnode.service.events.telling import Telling, shown
from termnode.service.events.throttle import BELLS, MARKS, Hearing
from termnode.service.live_pane import LivePane
from termnode.terminal.commands import CommandEnded, PromptReady
from termnode.terminal.engine import Event, EventKind
from termnode.workspace.model import Workspace
from termnode.workspace.tree import Direction
from tests.support.lane import Local

ALL: dict[str, Any] = {"stop": False}
CANARY = "canary7Q"


class FakeTerminal:
    """A screen that changes when it is told to."""

    def __init__(self) -> None:
        self.revision = 0
        self.last_output: float | None = None
        self.final = False
        self._lot = trio.lowlevel.ParkingLot()

    async def changed(self, since: int) -> int:
        await trio.lowlevel.checkpoint()
        while self.revision <= since and not self.final:
            await self._lot.park()
        return self.revision

    def writes(self) -> None:
        self.last_output = trio.current_time()
        self.resized()

    def resized(self) -> None:
        self.revision += 1
        self._lot.unpark_all()


@dataclass
class FakeLive:
    """What `Telling` and `PaneWatch` use of a pane."""

    id: int
    terminal: FakeTerminal = field(default_factory=FakeTerminal)
    hearing: Hearing = field(default_factory=Hearing)
    held: trio.Event = field(default_factory=trio.Event)
    told_title: str = ""
    duration_ms: int = 5

    def exit_body(self) -> Mapping[str, object]:
        return {"code": 0}


class FakeBus:
    """A bus whose send queue is as full as it is said to be."""

    broker_epoch = "e"

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []
        self.queued = 0
        self.connected = True
        self.replaced = trio.Event()

    def statistics(self) -> SimpleNamespace:
        return SimpleNamespace(queued_messages=self.queued)

    def send_event(self, connection: str, command: str, body: Mapping[str, object]) -> bool:
        assert command == "term.event"
        if self.connected:
            self.sent.append(dict(body))
        return self.connected

    async def wait_epoch_change(self, epoch: str) -> str:
        await self.replaced.wait()
        self.replaced = trio.Event()
        return self.broker_epoch


class Lab:
    """A workspace with one pane, what is published about it, and a clock that jumps."""

    def __init__(self) -> None:
        self.events = Events(wall_ms=lambda: 0, is_open=lambda: True)
        self.pump = EventPump(self.events)
        self.bus = FakeBus()
        self.workspace = Workspace(80, 24)
        self.workspace.add_tab()
        self.fake = FakeLive(1)
        self.live = cast(LivePane, self.fake)
        self.found: dict[int, LivePane] = {1: self.live}
        self.telling = Telling(self.events, self.workspace, self.found.get, trio.current_time)
        self.telling.look()

    def subscribe(self, pid: int = 0, **asked: object) -> None:
        who = Subscriber("a", "e", pid or os.getpid())
        self.events.subscribe(who, {**ALL, **asked})

    def published(self) -> list[dict[str, Any]]:
        """Everything that is known, without what every event has."""
        got: list[dict[str, Any]] = []
        self.events.subscribe(Subscriber("all", "e", 1), {**ALL, "after": 0})

        def send(connection: str, body: Mapping[str, object]) -> bool:
            if connection == "all":
                got.append(dict(body))
            return True

        self.events.deliver(send, 10_000, 10_000)
        self.events.subscribe(Subscriber("all", "e", 1), {"stop": True})
        common = {"seq", "time", "previous"}
        return [{k: v for k, v in each.items() if k not in common} for each in got]

    def kinds(self) -> list[str]:
        return [each["kind"] for each in self.published()]


def run(body: Callable[[Lab, trio.Nursery], Awaitable[None]]) -> None:
    """With the pump and the tasks of the pane, on a clock that jumps to what is due next."""

    async def main() -> None:
        async with trio.open_nursery() as nursery:
            lab = Lab()
            watch = PaneWatch(lab.telling, lab.pump.until_wanted, trio.current_time)
            nursery.start_soon(lab.pump.run, cast(Bus, lab.bus))
            nursery.start_soon(watch.run, lab.live)
            await trio.testing.wait_all_tasks_blocked()
            await body(lab, nursery)
            nursery.cancel_scope.cancel()

    trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0))


# -- quiet -------------------------------------------------------------------------------------


def test_quiet_is_told_once_after_each_burst_and_not_of_what_was_before() -> None:
    async def body(lab: Lab, _nursery: trio.Nursery) -> None:
        lab.fake.terminal.writes()
        await trio.sleep(60)
        lab.subscribe(kinds=["quiet"])
        await trio.sleep(60)
        assert lab.published() == [], "it was quiet before anybody asked"
        for _ in range(5):
            lab.fake.terminal.writes()
            await trio.sleep(0.9 * QUIET_S)
        assert lab.published() == [], "it has not stopped"
        await trio.sleep(60)
        (told,) = lab.published()
        assert (told["kind"], told["pane"], told["idle_ms"]) == ("quiet", 1, 1000)
        lab.fake.terminal.resized()
        await trio.sleep(60)
        assert lab.kinds() == ["quiet"], "a new size is no output"
        lab.fake.terminal.writes()
        await trio.sleep(60)
        assert lab.kinds() == ["quiet", "quiet"]

    run(body)


def test_output_that_goes_on_while_somebody_subscribes_is_a_burst() -> None:
    async def body(lab: Lab, _nursery: trio.Nursery) -> None:
        lab.fake.terminal.writes()
        await trio.sleep(0.5)
        lab.subscribe(kinds=["quiet"])
        await trio.sleep(60)
        assert lab.kinds() == ["quiet"]

    run(body)


def test_nobody_is_told_of_quiet_who_did_not_ask() -> None:
    async def body(lab: Lab, _nursery: trio.Nursery) -> None:
        lab.subscribe(kinds=["bell"])
        lab.fake.terminal.writes()
        await trio.sleep(60)
        assert lab.published() == []

    run(body)


# -- what a program says -------------------------------------------------------------------------


def test_what_is_held_is_told_a_second_later() -> None:
    async def body(lab: Lab, _nursery: trio.Nursery) -> None:
        for _ in range(3 * BELLS):
            lab.telling.heard(lab.live, Event(EventKind.BELL))
        assert lab.kinds() == ["bell"] * BELLS
        await trio.sleep(1.5)
        assert lab.kinds() == ["bell"] * (BELLS + 1)
        assert lab.published()[-1]["dropped"] == 2 * BELLS - 1
        lab.telling.heard(lab.live, Event(EventKind.BELL))
        assert lab.kinds() == ["bell"] * (BELLS + 2)

    run(body)


def test_an_end_is_told_after_everything_that_was_held() -> None:
    async def body(lab: Lab, _nursery: trio.Nursery) -> None:
        for _ in range(MARKS + 1):
            lab.telling.heard(lab.live, PromptReady(7))
        lab.telling.ended(lab.live)
        *prompts, ended = lab.published()
        assert {each["revision"] for each in prompts} == {7}
        assert len(prompts) == MARKS + 1
        assert ended["exit"] == {"code": 0}

    run(body)


def test_other_titles_are_told_and_what_is_not_for_others_is_not() -> None:
    async def body(lab: Lab, _nursery: trio.Nursery) -> None:
        for title in ("one", "one", "t\x1bw\u202eo", "x" * 900):
            lab.telling.heard(lab.live, Event(EventKind.TITLE, title))
        for kind in (EventKind.CLIPBOARD, EventKind.CWD, EventKind.NOTIFY):
            lab.telling.heard(lab.live, Event(kind, CANARY))
        lab.telling.heard(lab.live, CommandEnded(None, 12, 3))
        assert [each.get("title") for each in lab.published()] == ["one", "two", "x" * 256, None]
        last = lab.published()[-1]
        assert last == {
            "kind": "command", "pane": 1, "generation": 1, "duration_ms": 12, "revision": 3,
        }  # fmt: skip

    run(body)


def test_a_program_that_is_no_longer_in_its_pane_says_nothing() -> None:
    async def body(lab: Lab, _nursery: trio.Nursery) -> None:
        lab.found[1] = cast(LivePane, FakeLive(1))
        lab.telling.heard(lab.live, Event(EventKind.BELL))
        lab.found.clear()
        lab.telling.heard(lab.live, Event(EventKind.BELL))
        lab.telling.ended(lab.live)
        assert lab.published() == []

    run(body)


def test_a_title_is_shown_without_anything_that_does_not_print() -> None:
    assert shown("a\x1b]2;b\x07\u200f\ud800\n" + "ä" * 999) == "a]2;b" + "ä" * 251


# -- what callers do -------------------------------------------------------------------------------


def settled(verb: str, args: dict[str, Any], reply: Reply | None) -> tuple[Ticket, Sealed]:
    spec = find(verb)
    assert spec is not None
    ticket = Ticket(spec, args, Call(Local(), verb, b""), ("uid", 1000), 0.0, pane=1)
    unknown = Reply.refused(Refusal(ErrorCode.UNKNOWN_OUTCOME, "?"))
    return ticket, seal(spec, args, reply or unknown)


def refused(code: ErrorCode, **details: object) -> Reply:
    return Reply.refused(Refusal(code, "no", **details))


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (Reply.ok(pane=1, outcome="written", bytes=3), {"outcome": "written", "bytes": 3}),
        (Reply.ok(pane=1, outcome="received", received=3), None),
        (
            refused(ErrorCode.EXPIRED, written_bytes=2, bytes=3),
            {"outcome": "EXPIRED", "bytes": 2},
        ),
        (refused(ErrorCode.RESOURCE_LIMIT), None),
        (None, {"outcome": "UNKNOWN_OUTCOME"}),
    ],
)
def test_input_is_told_when_some_of_it_may_have_been_written(
    reply: Reply | None, told: dict[str, Any] | None
) -> None:
    async def body(lab: Lab, _nursery: trio.Nursery) -> None:
        args = {"text": CANARY, "request_id": CANARY}
        ticket, sealed = settled("term.type", args, reply)
        lab.telling.settled(ticket, reply, sealed)
        about = {
            "kind": "input", "verb": "term.type", "who": "uid 1000 pid 4242", "pane": 1,
            "generation": 1, "revision": 0,
        }  # fmt: skip
        assert lab.published() == ([] if told is None else [{**about, **told}])
        assert CANARY not in repr(lab.published())

    run(body)


def test_the_layout_is_told_of_when_it_was_changed() -> None:
    async def body(lab: Lab, _nursery: trio.Nursery) -> None:
        new = lab.workspace.split(1, Direction("h")).opened
        for reply in (refused(ErrorCode.NOT_FOUND), None, Reply.ok(id=new, tab=1)):
            ticket, sealed = settled("term.pane.split", {}, reply)
            lab.telling.settled(ticket, reply, sealed)
        (told,) = lab.published()
        assert (told["pane"], told["panes"], told["verb"]) == (new, [1, new], "term.pane.split")
        ticket, sealed = settled("term.tab.rename", {}, Reply.ok(id=1, title="t"))
        lab.telling.settled(ticket, Reply.ok(id=1, title="t"), sealed)
        assert lab.published()[-1] == {"kind": "layout", "verb": "term.tab.rename"}

    run(body)


def test_places_are_compared_with_the_look_before() -> None:
    workspace = Workspace(80, 24)
    places = Places(workspace)
    assert places.moved() == frozenset()
    first = workspace.add_tab().opened
    assert places.moved() == {first}
    second = workspace.split(1, Direction("h")).opened
    workspace.add_tab()
    assert places.moved() == {1, second, 3}
    assert places.moved() == frozenset()
    workspace.close_pane(1)
    assert places.moved() == {1, second}


# -- sending ---------------------------------------------------------------------------------------


def test_events_go_out_a_few_at_a_time_and_all_of_them() -> None:
    async def body(lab: Lab, _nursery: trio.Nursery) -> None:
        lab.subscribe()
        for _ in range(10 * SHARE):
            lab.events.publish("bell", 1)
        await trio.testing.wait_all_tasks_blocked()
        assert len(lab.bus.sent) == SHARE
        await trio.sleep(5)
        assert [each["seq"] for each in lab.bus.sent] == list(range(1, 10 * SHARE + 1))

    run(body)


def test_no_event_takes_the_room_of_replies() -> None:
    async def body(lab: Lab, _nursery: trio.Nursery) -> None:
        lab.subscribe()
        lab.bus.queued = ROOM + 1
        lab.events.publish("bell", 1)
        await trio.sleep(10)
        assert lab.bus.sent == []
        lab.bus.queued = ROOM
        await trio.sleep(2 * RETRY_S)
        assert len(lab.bus.sent) == 1

    run(body)


def test_a_new_broker_ends_the_subscriptions_of_the_old_one() -> None:
    async def body(lab: Lab, _nursery: trio.Nursery) -> None:
        lab.subscribe()
        lab.bus.connected = False
        lab.events.publish("bell", 1)
        await trio.sleep(1)
        assert lab.events.statistics()["failed"] >= 1
        lab.bus.broker_epoch = "f"
        lab.bus.replaced.set()
        await trio.sleep(2)
        assert lab.events.statistics()["subscriptions"] == 0
        lab.bus.connected = True
        await trio.sleep(2)
        assert lab.bus.sent == []

    run(body)


async def none_left(lab: Lab) -> None:
    """Until every subscription has ended; the caller's deadline ends the wait."""
    while True:
        if not lab.events.pids():
            return
        await trio.lowlevel.checkpoint()


def test_the_end_of_a_process_is_seen_and_one_that_asks_too_late_is_gone_at_once() -> None:
    async def main(first: subprocess.Popen[bytes], second: subprocess.Popen[bytes]) -> None:
        with trio.fail_after(30):
            async with trio.open_nursery() as nursery:
                lab = Lab()
                nursery.start_soon(lab.pump.run, cast(Bus, lab.bus))
                for child in (first, second):
                    lab.subscribe(child.pid)
                    await trio.testing.wait_all_tasks_blocked()
                    assert lab.events.pids() == {child.pid}
                    child.kill()
                    await none_left(lab)
                lab.subscribe(second.pid)
                await none_left(lab)
                nursery.cancel_scope.cancel()

    sleeper = [sys.executable, "-c", "input()"]
    with (
        subprocess.Popen(sleeper, stdin=subprocess.PIPE) as first,
        subprocess.Popen(sleeper, stdin=subprocess.PIPE) as second,
    ):
        try:
            trio.run(main, first, second)
        finally:
            first.kill()
            second.kill()


def test_a_caller_whom_the_broker_would_not_deliver_to_is_refused() -> None:
    for caller in (None, Local(), Local(unix_uid=os.geteuid())):
        with pytest.raises(Refusal) as raised:
            subscribe(caller, cast(Any, None), ALL)
        assert raised.value.code is ErrorCode.UNSUPPORTED
