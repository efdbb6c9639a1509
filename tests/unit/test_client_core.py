"""The client's core: its calls and replies against the verb table, and nothing that runs twice."""

from __future__ import annotations

import inspect
import math
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Any, get_type_hints

import pytest
import trio
from trio.testing import MockClock

from brokerd.client import RC_OK, Bus, ErrorCode, Refusal, Reply, Request
from brokerd.client.memory import MemoryBroker
from brokerd.principal import PeerCredentials
from termnode.client import errors, generate, requests, watching
from termnode.client.anchors import KEPT, LAST_INPUT, Anchors
from termnode.client.caller import PATIENCE_S, Caller
from termnode.client.calls import Call, by_name, call
from termnode.client.decode import decode
from termnode.client.errors import (
    BadReply,
    ConnectionLost,
    InvalidArgument,
    NotFound,
    Refused,
    ResourceLimit,
    ServiceRestarted,
    ServiceUnavailable,
    SessionClosed,
    UnknownOutcome,
    WaitTimeout,
)
from termnode.client.following import Taking
from termnode.client.link import MUTATIONS, READS, Link, open_link
from termnode.client.pane_replies import PaneInfo, Swapped
from termnode.client.program import argv_of, pattern_of
from termnode.client.replies import Exit, Size
from termnode.client.seen import Subscribed, Typed, Waited
from termnode.client.served import Served
from termnode.client.stream import Stream
from termnode.control.spec import Kind, VerbSpec
from termnode.control.verbs import BY_NAME, TABLE

# -- the verb table ----------------------------------------------------------------------------


def builders() -> dict[str, Callable[..., Call[Any]]]:
    """By the verb that they name in their docstring."""
    found = {
        function.__doc__: function
        for module in (requests, watching)
        for _, function in inspect.getmembers(module, inspect.isfunction)
        if function.__module__ == module.__name__
    }
    return {verb: function for verb, function in found.items() if verb}


def plain(name: str) -> str:
    return name.removesuffix("_")


def mismatches(spec: VerbSpec, build: Callable[..., Call[Any]]) -> list[str]:
    """In what a builder and its reply differ from the table."""
    taken = {plain(name): each for name, each in inspect.signature(build).parameters.items()}
    wrong = [f"fields {sorted(taken)}"] if set(taken) != {f.name for f in spec.fields} else []
    empty = inspect.Parameter.empty
    for each in spec.fields:
        if each.name in taken:
            default = empty if each.required else each.default
            if taken[each.name].default is not default and taken[each.name].default != default:
                wrong.append(f"default of {each.name}")
    made = build(**{name: 1 for name, each in taken_raw(build).items() if each.default is empty})
    if made.verb != spec.name or made.kind is not spec.kind:
        wrong.append("verb or kind")
    results = {plain(each.name) for each in fields(made.result)}
    if results != {name for name, _ in spec.result}:
        wrong.append(f"result {sorted(results ^ {name for name, _ in spec.result})}")
    return wrong


def taken_raw(build: Callable[..., Call[Any]]) -> Mapping[str, inspect.Parameter]:
    return inspect.signature(build).parameters


def test_there_is_a_builder_for_every_verb_and_no_other() -> None:
    assert set(builders()) == set(BY_NAME)


@pytest.mark.parametrize("spec", TABLE, ids=lambda spec: spec.name)
def test_builders_and_replies_are_the_tables(spec: VerbSpec) -> None:
    assert mismatches(spec, builders()[spec.name]) == []


def test_a_builder_that_is_not_is_found() -> None:
    def resize(*, cols: int = 80) -> Call[Typed]:
        return call("term.resize", Typed, cols=cols)

    assert len(mismatches(BY_NAME["term.resize"], resize)) == 4


def test_entries_of_lists_are_the_tables() -> None:
    words = dict(BY_NAME["term.panes"].result)["panes"]
    named = set(words.replace(",", " ").replace(":", " ").split())
    assert {each.name for each in fields(PaneInfo)} <= named | {"command", "cwd"}


def test_every_error_code_has_its_exception() -> None:
    assert set(Refused.by_code) == {str(code) for code in ErrorCode}
    for code, kind in Refused.by_code.items():
        error = kind("it is so", {"written_bytes": 3, "bytes": 7})
        assert (error.code, error.remedy != "") == (code, True)
        assert str(error).startswith("it is so (3 of 7 bytes were written) [")
    assert isinstance(WaitTimeout("late", 7), TimeoutError)
    assert str(errors.TermnodeError("why")) == "why"


# -- replies -----------------------------------------------------------------------------------


def test_a_reply_may_have_fields_that_are_new() -> None:
    assert decode(Size, {"cols": 1, "rows": 2, "depth": 3}) == Size(1, 2)
    assert decode(Swapped, {"id": 1, "tab": 2, "with": 3}).with_ == 3


@pytest.mark.parametrize("body", [{"cols": 1}, {"cols": True, "rows": 2}, {"cols": "1", "rows": 2}])
def test_a_reply_that_breaks_its_promise_is_no_reply(body: dict[str, object]) -> None:
    with pytest.raises(BadReply):
        decode(Size, body)


def test_what_is_inside_is_checked_too() -> None:
    body: dict[str, Any] = {"id": 1, "tab": 1, "active": True, "generation": 1, "x": 0, "y": 0}
    body |= {"cols": 2, "rows": 1, "state": "exited", "exit": {"code": 3}, "held_by": [7]}
    info = decode(PaneInfo, body)
    assert (info.exit, info.held_by) == (Exit(3), (7,))
    for wrong in ({"exit": 3}, {"held_by": 7}, {"held_by": ["7"]}, {"exit": {"code": "3"}}):
        with pytest.raises(BadReply):
            decode(PaneInfo, {**body, **wrong})


def test_all_reply_types_can_be_read() -> None:
    for build in builders().values():
        needed = {name: 1 for name, each in taken_raw(build).items() if each.default is each.empty}
        assert get_type_hints(build(**needed).result)


# -- who is asked how often --------------------------------------------------------------------

ME = PeerCredentials(os.geteuid(), os.getegid(), 50)
ANOTHER = PeerCredentials(os.geteuid(), os.getegid(), 51)


@dataclass
class Fake:
    """A service that remembers request ids; ``plan`` says what becomes of the next mutations."""

    memory: MemoryBroker
    ran: list[str] = field(default_factory=list)
    asked: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list)
    known: dict[str, object] = field(default_factory=dict)
    kill: int = 0
    """After so many more requests the broker dies before the answer is out."""
    silent: int = 0
    """So many requests are never answered."""
    waiting: int = 0
    most: int = 0
    room: int = 64
    refuses: Refusal | None = None
    deaf: bool = False
    """It says nothing to INFO."""
    slow: float = 0.0
    """Seconds for each mutation and read."""
    running: int = 0
    busiest: int = 0

    async def handle(self, request: Request) -> tuple[int, dict[str, object]]:
        if request.command == "INFO":
            await trio.sleep(math.inf if self.deaf else 0)
            return RC_OK, {}
        body = request.body()
        self.asked.append((request.command, body))
        if "request_id" in body and body["request_id"] not in self.known:
            self.known[str(body["request_id"])] = True
            self.ran.append(request.command)
        if self.kill:
            self.kill -= 1
            self.memory.kill()
            self.memory.restart()
        if self.silent:
            self.silent -= 1
            await trio.sleep_forever()
        if self.refuses:
            raise self.refuses
        if request.command == "term.wait":
            return RC_OK, await self.wait(body)
        self.running += 1
        self.busiest = max(self.busiest, self.running)
        await trio.sleep(self.slow)
        self.running -= 1
        return RC_OK, {"cols": 1, "rows": 2}

    async def wait(self, body: Mapping[str, Any]) -> dict[str, object]:
        if self.waiting >= self.room:
            raise Refusal(ErrorCode.RESOURCE_LIMIT, "full", reason="waits", limit=self.room)
        self.waiting += 1
        self.most = max(self.most, self.waiting)
        await trio.sleep(body["timeout_ms"] / 1000)
        self.waiting -= 1
        return {"pane": 1, "generation": 1, "outcome": "deadline", "revision": len(self.asked)}


Test = Callable[[Fake, Bus], Awaitable[None]]


@asynccontextmanager
async def served(fake: Fake, peer: PeerCredentials = ME) -> AsyncIterator[None]:
    async with (
        fake.memory.connect(peer=peer) as bus,
        bus.serve("term", fake.handle, concurrency=200),
    ):
        yield


def in_memory(test: Test) -> None:
    """With a fake service, in virtual time."""

    async def main() -> None:
        fake = Fake(MemoryBroker())
        with trio.fail_after(3600):
            async with served(fake), fake.memory.connect() as bus:
                await test(fake, bus)

    trio.run(main, clock=MockClock(autojump_threshold=0))


RESIZE = requests.resize(cols=1, rows=2)


async def asker(bus: Bus) -> Caller:
    caller = Caller(bus, Served("term"))
    await caller.find()
    return caller


def test_a_mutation_has_an_id_of_its_own_and_a_read_has_none() -> None:
    async def test(fake: Fake, bus: Bus) -> None:
        caller = await asker(bus)
        for _ in range(2):
            assert await caller.ask(RESIZE) == Size(1, 2)
        await caller.ask(call("term.look", Size))
        ids = [body.get("request_id") for _, body in fake.asked]
        assert None not in ids[:2]
        assert (ids[0] != ids[1], ids[2]) == (True, None)

    in_memory(test)


def lost_once(**how: int) -> Test:
    async def test(fake: Fake, bus: Bus) -> None:
        caller = await asker(bus)
        fake.kill, fake.silent = how.get("kill", 0), how.get("silent", 0)
        assert await caller.ask(RESIZE) == Size(1, 2)
        assert fake.ran == ["term.resize"]
        assert len(fake.asked) == 2
        assert fake.asked[0] == fake.asked[1]

    return test


@pytest.mark.parametrize("how", ["kill", "silent"])
def test_a_lost_answer_is_asked_for_once_more_and_nothing_runs_twice(how: str) -> None:
    in_memory(lost_once(**{how: 1}))


def test_that_check_fails_for_a_caller_with_other_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    class Forgetful(dict[str, object]):
        def __contains__(self, _key: object) -> bool:
            return False

    async def test(fake: Fake, bus: Bus) -> None:
        fake.known = Forgetful()
        await lost_once(kill=1)(fake, bus)

    with pytest.raises(AssertionError):
        in_memory(test)


@pytest.mark.parametrize("how", ["kill", "silent"])
def test_after_two_losses_nobody_knows_what_became_of_a_mutation(how: str) -> None:
    async def test(fake: Fake, bus: Bus) -> None:
        caller = await asker(bus)
        setattr(fake, how, 2)
        with pytest.raises(UnknownOutcome):
            await caller.ask(RESIZE)
        assert len(fake.asked) == 2
        setattr(fake, how, 2)
        with pytest.raises(ConnectionLost):
            await caller.ask(call("term.look", Size))
        assert await caller.ask(RESIZE) == Size(1, 2), "it goes on"

    in_memory(test)


def test_a_service_that_was_replaced_is_never_asked_again() -> None:
    """It has forgotten the request ids, and its panes are other ones."""

    async def main() -> None:
        memory = MemoryBroker()
        first, second = Fake(memory), Fake(memory)
        async with memory.connect() as bus, trio.open_nursery() as nursery:
            async with served(first):
                caller = await asker(bus)
                first.silent = 1
                failed = partial(raises, UnknownOutcome, caller, RESIZE)
                nursery.start_soon(failed)
                await trio.testing.wait_all_tasks_blocked(0.01)
            async with served(second, ANOTHER):
                await trio.sleep(60)
                with pytest.raises(ServiceRestarted):
                    await caller.ask(RESIZE)
            assert (len(first.asked), second.asked) == (1, [])

    trio.run(main, clock=MockClock(autojump_threshold=0))


async def raises(kind: type[Exception], caller: Caller, asked: Call[Size]) -> None:
    with pytest.raises(kind):
        await caller.ask(asked)


def test_nobody_there_is_said_at_once_and_a_broker_has_ten_seconds() -> None:
    async def main() -> None:
        memory = MemoryBroker()
        async with memory.connect() as bus:
            with pytest.raises(ServiceUnavailable):
                await asker(bus)
            fake = Fake(memory)
            async with served(fake):
                caller = await asker(bus)
                memory.kill()
                began = trio.current_time()
                with pytest.raises(ServiceUnavailable):
                    await caller.ask(RESIZE)
                assert trio.current_time() - began == pytest.approx(PATIENCE_S)
                memory.restart()
                assert await caller.ask(RESIZE) == Size(1, 2)
            began = trio.current_time()
            with pytest.raises(ServiceUnavailable):
                await caller.ask(RESIZE)
            assert trio.current_time() - began < 1, "under a broker that lives it does not return"

    trio.run(main, clock=MockClock(autojump_threshold=0))


def test_what_cannot_be_said_is_not_sent() -> None:
    async def test(fake: Fake, bus: Bus) -> None:
        caller = await asker(bus)
        for text in ("\ud800", float("nan")):
            with pytest.raises(InvalidArgument):
                await caller.ask(call("term.type", Size, Kind.MUTATION, text=text))
        assert fake.asked == []

    in_memory(test)


@pytest.mark.parametrize("code", [ErrorCode.RESOURCE_LIMIT, ErrorCode.FORBIDDEN])
def test_a_refusal_of_the_second_attempt_says_nothing_of_the_first(code: ErrorCode) -> None:
    async def test(fake: Fake, bus: Bus) -> None:
        caller = await asker(bus)
        fake.refuses = Refusal(code, "not now")
        with pytest.raises(Refused) as caught:
            await caller.ask(RESIZE)
        assert caught.value.code == code
        fake.kill = 1
        with pytest.raises(UnknownOutcome):
            await caller.ask(RESIZE)
        fake.refuses = Refusal(ErrorCode.NOT_FOUND, "replayed")
        fake.kill = 1
        with pytest.raises(NotFound):
            await caller.ask(RESIZE)

    in_memory(test)


def test_the_brokers_own_word_is_not_taken_for_another_service() -> None:
    async def test(fake: Fake, bus: Bus) -> None:
        caller = await asker(bus)
        caller._answered(Reply(10, b'{"error_code":"RESOURCE_LIMIT","message":"","details":{}}'))
        assert await caller.ask(RESIZE) == Size(1, 2)

    in_memory(test)


def asked_many_times_at_once(asked: Call[Size], most: int) -> None:
    """More than the broker, or the service, takes of anybody at a time."""

    async def test(fake: Fake, link: Link) -> None:
        fake.slow = 0.01
        async with trio.open_nursery() as nursery:
            for _ in range(1_000):
                nursery.start_soon(link.ask, asked)
        assert (len(fake.asked), fake.busiest) == (1_000, most)

    linked(test)


@pytest.mark.parametrize(
    ("asked", "most"), [(RESIZE, MUTATIONS), (call("term.look", Size), READS)], ids=["does", "asks"]
)
def test_a_thousand_at_once_take_turns(asked: Call[Size], most: int) -> None:
    asked_many_times_at_once(asked, most)


def test_that_check_fails_without_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Link, "_room", lambda _link, _call: trio.CapacityLimiter(1))
    with pytest.raises(ResourceLimit):
        in_one_error(partial(asked_many_times_at_once, RESIZE, MUTATIONS))


def in_one_error(work: Callable[[], None]) -> None:
    """Of many errors of one type, the first."""
    try:
        work()
    except ExceptionGroup as group:
        raise group.exceptions[0] from None


def test_a_deaf_service_is_waited_for_as_long_as_was_said() -> None:
    async def main() -> None:
        fake = Fake(MemoryBroker(), deaf=True)
        async with served(fake):
            began = trio.current_time()
            with pytest.raises(ServiceUnavailable):
                async with open_link(fake.memory.connect, "term", timeout=3.0):
                    pass
            assert trio.current_time() - began == pytest.approx(3.0)

    trio.run(main, clock=MockClock(autojump_threshold=0))


def test_a_verb_by_its_name_is_what_the_table_says() -> None:
    assert by_name("term.panes", {}).kind is Kind.READ
    assert by_name("term.type", {"text": "x", "pane": None}).body == {"text": "x"}
    assert by_name("term.newer", {}).kind is Kind.MUTATION, "it may do something"
    waits = [by_name("term.wait", given).timeout for given in ({}, {"timeout_ms": 40_000})]
    assert waits == [45.0, 55.0], "the answer comes after the wait"


def test_a_process_that_ended_is_doubted_until_its_name_answers() -> None:
    with subprocess.Popen(["sleep", "1000"]) as process:
        one = Served("term")
        one.heard(process.pid)
        doubts = [one.ended()]
        process.kill()
        process.wait()
        doubts.append(one.ended())
        one.heard(process.pid)
        doubts.append(one.ended())  # it had said that before
        one.heard(process.pid, in_doubt=True)
        doubts.append(one.ended())  # the number is another process's here
        replaced = [one.replaced]
        one.heard(process.pid + 1)
        replaced.append(one.replaced)
        one.close()
    assert doubts == [False, True, True, False]
    assert replaced == [False, True]


# -- waits -------------------------------------------------------------------------------------


def linked(test: Callable[[Fake, Link], Awaitable[None]], room: int = 64) -> None:
    async def main() -> None:
        fake = Fake(MemoryBroker(), room=room)
        with trio.fail_after(36_000):
            async with served(fake), open_link(fake.memory.connect, "term") as link:
                await test(fake, link)

    trio.run(main, clock=MockClock(autojump_threshold=0))


def test_a_long_wait_is_several_and_goes_on_from_where_it_was() -> None:
    async def test(fake: Fake, link: Link) -> None:
        began = trio.current_time()
        answer = await link.wait(watching.wait(until="x", after=5), 100.0)
        assert answer.outcome == "deadline"
        assert answer.elapsed_ms == pytest.approx(100_000, abs=5)
        assert trio.current_time() - began == pytest.approx(100, abs=0.01)
        asked = [(body["timeout_ms"], body["after"]) for _, body in fake.asked]
        assert [after for _, after in asked] == [5, 1, 2, 3, 4, 5, 6]
        seconds = [ms / 1000 for ms, _ in asked]
        assert seconds == pytest.approx([2, 2, 4, 8, 16, 32, 36], abs=0.01)

    linked(test)


def test_a_wait_outlives_the_broker() -> None:
    async def test(fake: Fake, link: Link) -> None:
        fake.kill = 2
        answer = await link.wait(watching.wait(changed=True), 2.0)
        assert answer.outcome == "deadline"
        assert len(fake.asked) == 3

    linked(test)


@pytest.mark.parametrize("room", [64, 20])
def test_more_waits_than_the_service_takes_take_turns(room: int) -> None:
    """Also where other callers leave less room than that."""

    async def test(fake: Fake, link: Link) -> None:
        async with trio.open_nursery() as nursery:
            for number in range(100):
                asked = watching.wait(until=f"w{number}", pane=1)
                nursery.start_soon(link.wait, asked, 60.0)
            await trio.sleep(20)
            assert len({body["until"] for _, body in fake.asked}) == 100, "each had its turn"
        assert fake.most <= room

    linked(test, room)


def a_wait_that_must_queue_looks_at_once() -> None:
    """Else it would not see what is there now and gone when it is its turn."""

    async def test(fake: Fake, link: Link) -> None:
        async with trio.open_nursery() as nursery:
            for number in range(100):
                nursery.start_soon(link.wait, watching.wait(until=f"w{number}"), None)
            await trio.sleep(0.5)
            asked = {body["until"] for _, body in fake.asked}
            nursery.cancel_scope.cancel()
        assert len(asked) == 100

    linked(test)


def test_a_wait_that_must_queue_looks_at_once() -> None:
    a_wait_that_must_queue_looks_at_once()


def test_that_check_fails_without_first_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Link, "_crowded", lambda _link: False)
    with pytest.raises(AssertionError):
        a_wait_that_must_queue_looks_at_once()


def test_a_refusal_ends_a_wait() -> None:
    async def test(fake: Fake, link: Link) -> None:
        fake.refuses = Refusal(ErrorCode.NOT_FOUND, "no such pane")
        with pytest.raises(NotFound):
            await link.wait(watching.wait(changed=True), 10.0)

    linked(test)


@dataclass
class Telling(Fake):
    """A service that sends events to whoever asked last."""

    bus: Bus | None = None
    subscriber: str = ""

    async def handle(self, request: Request) -> tuple[int, dict[str, object]]:
        if request.command != "term.events":
            return await super().handle(request)
        body = request.body()
        self.asked.append((request.command, body))
        self.subscriber = request.from_connection
        if self.refuses:
            raise self.refuses
        return RC_OK, {"seq": body.get("after", 0), "active": not body.get("stop")}

    def tell(self, seq: int, previous: int) -> None:
        assert self.bus is not None
        body = {"seq": seq, "previous": previous, "time": 0, "kind": "bell"}
        self.bus.send_event(self.subscriber, "term.event", body)


def told(test: Callable[[Telling, Link], Awaitable[None]]) -> None:
    async def main() -> None:
        memory = MemoryBroker()
        fake = Telling(memory)
        with trio.fail_after(3600):
            async with memory.connect(peer=os_peer()) as bus, bus.serve("term", fake.handle):
                fake.bus = bus
                async with open_link(memory.connect, "term") as link:
                    await test(fake, link)

    trio.run(main, clock=MockClock(autojump_threshold=0))


async def opened(link: Link, asked: Call[Subscribed]) -> Stream:
    stream = Stream(asked)
    await link.open_stream(stream)
    return stream


def os_peer() -> PeerCredentials:
    """Events go to the same user only."""
    return PeerCredentials(os.geteuid(), os.getegid(), 50)


def test_a_stream_asks_again_for_what_it_missed_and_stops_what_it_began() -> None:
    async def test(fake: Telling, link: Link) -> None:
        stream = await opened(link, watching.events(kinds=["bell"]))
        fake.tell(1, 0)
        assert await stream.next(5, Taking()) is not None
        assert await stream.next(1, Taking()) is None
        fake.tell(3, 2)
        assert await stream.next(1, Taking()) is None
        fake.memory.restart()
        await trio.sleep(1)
        fake.tell(2, 1)
        assert await stream.next(1, Taking())
        stream.close()
        with pytest.raises(SessionClosed):
            await stream.next(None, Taking())
        await trio.sleep(1)
        asked = [(body.get("after"), body["stop"]) for _, body in fake.asked]
        assert asked == [(None, False), (1, False), (1, False), (None, True)]

    told(test)


def test_an_event_whose_reader_was_interrupted_is_given_again() -> None:
    async def test(fake: Telling, link: Link) -> None:
        stream = await opened(link, watching.events(kinds=["bell"]))
        for seq in (1, 2, 3, 4):
            fake.tell(seq, seq - 1)
        interrupted, other, idle = Taking(), Taking(), Taking(given_up=True)
        taken = [await stream.next(5, interrupted), await stream.next(-1, other)]
        interrupted.given_up = other.arrived = True
        taken += [await stream.next(0, Taking(arrived=True)) for _ in range(3)]
        assert [event and event.seq for event in taken] == [1, 2, 1, 3, 4]
        assert await stream.next(0, idle) is None, "nor is there any that it could be given"
        assert await stream.next(0, Taking()) is None

    told(test)


def test_what_ends_a_stream_is_said_to_its_reader() -> None:
    async def test(fake: Telling, link: Link) -> None:
        stream = await opened(link, watching.events(pane=7))
        fake.refuses = Refusal(ErrorCode.NOT_FOUND, "the pane is gone")
        fake.tell(3, 2)
        with pytest.raises(NotFound):
            await stream.next(None, Taking())
        with pytest.raises(NotFound):
            await opened(link, watching.events(pane=7))
        fake.refuses = None
        assert await link.ask(RESIZE) == Size(1, 2), "the session goes on"

    told(test)


def test_a_link_that_is_over_says_so() -> None:
    async def main() -> None:
        fake = Fake(MemoryBroker())
        async with served(fake):
            async with open_link(fake.memory.connect, "term") as link:
                await link.find(1)
            for asked in (
                link.ask(RESIZE),
                link.wait(watching.wait(changed=True), 1.0),
                opened(link, watching.events()),
            ):
                with pytest.raises(SessionClosed):
                    await asked

    trio.run(main, clock=MockClock(autojump_threshold=0))


# -- small parts -------------------------------------------------------------------------------


def test_anchors_are_of_the_last_input_and_bounded() -> None:
    anchors = Anchors()
    assert anchors.of(1, LAST_INPUT) is None
    anchors.sent(1, 7)
    assert [anchors.of(1, after) for after in (LAST_INPUT, None, 3)] == [7, None, 3]
    assert anchors.change(1, LAST_INPUT) == 7
    anchors.changed(1, 9)
    assert [anchors.change(1, after) for after in (LAST_INPUT, None, 3)] == [9, None, 3]
    assert anchors.of(1, LAST_INPUT) == 7, "other waits count from the input"
    anchors.sent(1, 11)
    assert anchors.change(1, LAST_INPUT) == 11
    for pane in range(2, KEPT + 2):
        anchors.sent(pane, 1)
    assert anchors.of(1, LAST_INPUT) is None


def test_programs_are_words() -> None:
    assert argv_of(None) is None
    assert argv_of(["a b", "c"]) == ["a b", "c"]
    assert argv_of("tail -f 'a b'") == ["tail", "-f", "a b"]


def test_the_plain_classes_are_made_from_the_others() -> None:
    assert generate.stale() == []


def test_a_plain_class_that_is_not_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    made = generate.without_async("async def f() -> None:\n    await g()\n")
    assert made == "def f() -> None:\n    g()\n"
    monkeypatch.setattr(generate, "render", lambda module: f"another {module}")
    assert generate.stale() == list(generate.MODULES)


QUIET = """
import sys, threading
import termnode.{package}
heavy = {{"zmq", "re2", "pyte", "ptyprocess", "termnode.service"}} & set(sys.modules)
assert not heavy, heavy
assert threading.active_count() == 1
"""


@pytest.mark.parametrize("package", ["sync", "client", "aio"])
def test_an_import_loads_little_and_starts_nothing(package: str) -> None:
    subprocess.run([sys.executable, "-c", QUIET.format(package=package)], check=True, timeout=60)


def test_waited_is_what_a_wait_gives() -> None:
    assert watching.wait(exit_=True).result is Waited


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ("a.b", "a.b"),
        (re.compile("a.b"), "a.b"),
        (re.compile("x", re.IGNORECASE | re.DOTALL), "(?is)x"),
    ],
)
def test_compiled_patterns_are_taken(given: str | re.Pattern[str], sent: str) -> None:
    assert pattern_of(given) == sent


def test_remedies_name_methods() -> None:
    said = str(NotFound("there is no such pane: term.panes lists them"))
    assert said == "there is no such pane: session.panes lists them [NOT_FOUND]"
