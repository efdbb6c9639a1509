"""The client of the native lane against the real gate: targets, ids, epochs, and a bad line."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from brokerd.client import ErrorCode, Refusal, Reply, forbidden
from brokerd.client.memory import MemoryBroker
from termnode.client.decode import decode
from termnode.client.errors import (
    BadReply,
    ConnectionLost,
    Forbidden,
    InvalidArgument,
    NotFound,
    ResourceLimit,
    ServiceRestarted,
    ServiceUnavailable,
    StaleGeneration,
    UnknownOutcome,
    WaitTimeout,
)
from termnode.client.link import open_link
from termnode.client.native_attempts import Numbers
from termnode.client.native_calls import affected_by, native_call
from termnode.client.native_replies import Accepted, Done, Looked, NativeSession
from termnode.client.native_term import name_of, term_of
from termnode.client.replies import Identity
from termnode.client.runner import Direct
from termnode.client.session import Session
from termnode.control.native.table import NATIVE
from termnode.control.native.targets import Target
from termnode.control.posture import Posture
from termnode.control.spec import U64_MAX
from tests.support.native_term import BROKEN, DROP, LATE, MUTE, TWICE, NativeTerm

Test = Callable[[NativeTerm, Session], Awaitable[None]]
PANE = Target("a" * 32, "b" * 32, 3, 1)


def on_a_term(test: Test) -> None:
    """In virtual time, with a session of the client."""

    async def main() -> None:
        term = NativeTerm(MemoryBroker())
        with trio.fail_after(3600):
            async with term.running(), open_link(term.memory.connect, "term") as link:
                await test(term, Session(Direct(link)))
        assert set(term.effects.values()) <= {1}, "nothing ran twice"

    trio.run(main, clock=MockClock(autojump_threshold=0))


def bodies(term: NativeTerm, verb: str) -> list[dict[str, Any]]:
    return [json.loads(raw) for _, command, raw in term.seen if command == verb]


# -- finding -----------------------------------------------------------------------------------


@pytest.mark.parametrize("posture", Posture)
def test_panes_are_found_by_the_brokers_records_in_either_posture(posture: Posture) -> None:
    async def test(term: NativeTerm, session: Session) -> None:
        term.posture_now = posture
        native = await session.native()
        panes = await native.panes()
        assert [pane.target for pane in panes] == [term.target(pane) for pane in (1, 2, 3)]
        pane = await native.pane(2)
        assert (pane.id, pane.info.tab_id, pane.foreground) == (2, 1, 1)
        assert (await native.info()).request_high_water == 0
        assert pane == panes[1]
        with pytest.raises(NotFound):
            await native.pane(9)

    on_a_term(test)


def test_a_service_that_is_not_ready_is_waited_for() -> None:
    async def test(term: NativeTerm, session: Session) -> None:
        term.state = "starting"
        with pytest.raises(ServiceUnavailable):
            await session.native(timeout=1)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(session.native)
            await trio.sleep(1)
            term.state = "ready"
        term.state = "off"
        start = trio.current_time()
        with pytest.raises(ServiceUnavailable):
            await session.native()
        assert trio.current_time() == start

    on_a_term(test)


def test_another_users_term_cannot_be_found() -> None:
    with pytest.raises(Forbidden):
        term_of("t0-x", [])
    for identity in (None, Identity("lost"), Identity("ready")):
        with pytest.raises(ServiceUnavailable):
            name_of(identity)


# -- input -------------------------------------------------------------------------------------


def test_input_names_its_target_its_generation_its_id_and_its_epoch() -> None:
    async def test(term: NativeTerm, session: Session) -> None:
        native = await session.native()
        pane = await native.pane(2)
        accepted = await pane.type("hi", enter=True)
        assert accepted.status == "accepted"
        assert (await pane.settled(accepted)).delivered_bytes_lower_bound == 3
        await pane.keys("Escape", "x")
        await pane.paste("text")
        await pane.mouse("click", 1, 2)
        (typed,) = bodies(term, "term.type")
        connection = term.seen[-1][0]
        assert typed == {
            "target": pane.target.to_json(), "foreground_generation": "1", "request_id": "1",
            "request_epoch": connection, "text": "hi", "enter": True,
        }  # fmt: skip
        assert [number for _, number in term.effects] == [1, 2, 3, 4]

    on_a_term(test)


def test_a_stale_generation_is_told_and_nothing_is_repeated() -> None:
    async def test(term: NativeTerm, session: Session) -> None:
        pane = await (await session.native()).pane(1)
        term.foreground = 2
        for _ in range(2):
            with pytest.raises(StaleGeneration):
                await pane.type("x")
        assert not term.effects
        await pane.type("x", refresh=True)
        assert pane.foreground == 2
        assert len(bodies(term, "term.type")) == 3

    on_a_term(test)


# -- a bad line --------------------------------------------------------------------------------


@pytest.mark.parametrize("what", [DROP, MUTE, TWICE, LATE])
def test_a_lost_answer_is_asked_for_with_the_very_bytes(what: str) -> None:
    async def test(term: NativeTerm, session: Session) -> None:
        pane = await (await session.native()).pane(1)
        term.plan.append(what)
        await pane.type("x")
        sent = [seen for seen in term.seen if seen[1] == "term.type"]
        assert len(sent) == (2 if what in {DROP, MUTE} else 1)
        assert len(set(sent)) == 1
        assert sum(term.effects.values()) == 1

    on_a_term(test)


def test_that_check_fails_for_a_caller_that_numbers_again(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(term: NativeTerm, session: Session) -> None:
        pane = await (await session.native()).pane(1)
        term.plan.append(MUTE)
        with pytest.raises(UnknownOutcome):
            await pane.type("x")
        await pane.type("x")
        assert sum(term.effects.values()) == 2

    monkeypatch.setattr("termnode.client.native_attempts.MUTATION_SENDS", 1)
    on_a_term(test)


def test_what_still_runs_is_waited_for() -> None:
    async def test(term: NativeTerm, session: Session) -> None:
        pane = await (await session.native()).pane(1)
        term.slow_s = 20
        await pane.type("x")
        assert sum(term.effects.values()) == 1
        term.slow_s = 100
        with pytest.raises(UnknownOutcome) as caught:
            await pane.type("y")
        assert caught.value.details == {"reason": "pending", "operation_id": "2"}

    on_a_term(test)


def test_after_three_losses_nobody_knows() -> None:
    async def test(term: NativeTerm, session: Session) -> None:
        pane = await (await session.native()).pane(1)
        term.plan.extend([MUTE] * 3)
        with pytest.raises(UnknownOutcome):
            await pane.type("x")
        await pane.type("y")
        assert [number for _, number in term.effects] == [1, 2]

    on_a_term(test)


@pytest.mark.parametrize(
    "code",
    [ErrorCode.FORBIDDEN, ErrorCode.RESOURCE_LIMIT, ErrorCode.UNAVAILABLE, ErrorCode.DISCONNECTED],
)
def test_a_refusal_of_the_second_sending_says_nothing_of_the_first(code: ErrorCode) -> None:
    async def test(term: NativeTerm, session: Session) -> None:
        pane = await (await session.native()).pane(1)
        term.plan.append(DROP)
        term.refuses = Refusal(code, "no")
        with pytest.raises(UnknownOutcome):
            await pane.type("x")
        with pytest.raises(Exception, match="no") as caught:
            await pane.type("x")
        assert not isinstance(caught.value, UnknownOutcome)

    on_a_term(test)


def test_another_broker_ends_all_that_was_bound_to_the_one_before() -> None:
    async def test(term: NativeTerm, session: Session) -> None:
        native = await session.native()
        pane = await native.pane(1)
        term.plan.append(BROKEN)
        with pytest.raises(UnknownOutcome):
            await pane.type("x")
        sent = len(term.seen)
        await trio.sleep(1)
        for ask in (pane.type("x"), pane.refresh(), native.panes(), native.wait_pane(2)):
            with pytest.raises(ServiceRestarted):
                await ask
        assert len(term.seen) == sent, "nothing was sent to another Term"
        assert sum(term.effects.values()) == 1

    on_a_term(test)


def test_ids_go_on_above_the_mark_that_a_refusal_tells() -> None:
    async def test(term: NativeTerm, session: Session) -> None:
        native = await session.native()
        pane = await native.pane(1)
        await native.call("term.pane.rename", pane, title="x", request_id="41", affected=[
            term.target(each).to_json() for each in (2, 3)
        ])  # fmt: skip
        with pytest.raises(UnknownOutcome) as caught:
            await pane.type("x")
        assert caught.value.details["request_high_water"] == "41"
        await pane.type("x")
        assert [number for _, number in term.effects] == [41, 42]

    on_a_term(test)


def test_ids_begin_above_what_the_term_says() -> None:
    numbers = Numbers("e" * 32)
    numbers.above(7)
    assert (numbers.take(), numbers.take()) == (8, 9)
    numbers.above(3)
    assert numbers.take() == 10
    numbers.above(U64_MAX)
    with pytest.raises(ResourceLimit):
        numbers.take()


def test_a_hundred_at_once_go_in_the_order_of_their_ids() -> None:
    async def test(term: NativeTerm, session: Session) -> None:
        pane = await (await session.native()).pane(1)
        async with trio.open_nursery() as nursery:
            for _ in range(100):
                nursery.start_soon(pane.type, "x")
        assert [number for _, number in term.effects] == list(range(1, 101))

    on_a_term(test)


def test_a_lost_read_is_asked_for_once_more() -> None:
    class Deaf(NativeTerm):
        deaf = 0

        def take(self, request: Any) -> None:  # noqa: ANN401  # a Request
            if self.deaf:
                self.deaf -= 1
                return
            super().take(request)

    async def main() -> None:
        term = Deaf(MemoryBroker())
        async with term.running(), open_link(term.memory.connect, "term") as link:
            pane = await (await Session(Direct(link)).native()).pane(1)
            term.deaf = 1
            await pane.refresh()
            term.deaf = 2
            with pytest.raises(ConnectionLost):
                await pane.refresh()

    trio.run(main, clock=MockClock(autojump_threshold=0))


# -- layout ------------------------------------------------------------------------------------


def test_layout_names_what_it_may_touch() -> None:
    async def test(term: NativeTerm, session: Session) -> None:
        native = await session.native()
        one, three = await native.pane(1), await native.pane(3)
        for ask in (
            one.select, one.close, one.close_tab, one.select_tab, one.break_out, one.zoom,
        ):  # fmt: skip
            await ask()
        await one.resize(cols=4)
        await one.rename("x")
        await one.rename_tab("x")
        await one.arrange("tiled")
        await one.swap(three)
        await one.join(three)
        await one.restart()
        named = bodies(term, "term.pane.close")[0]["affected"]
        assert named == [term.target(pane).to_json() for pane in (2, 3)]
        assert bodies(term, "term.pane.swap")[0]["with"] == "3"

    on_a_term(test)


def test_a_new_pane_is_there_when_it_is_ready() -> None:
    async def test(term: NativeTerm, session: Session) -> None:
        pane = await (await session.native()).pane(1)
        made = await pane.split("sh -c true", below=True)
        assert made.target == pane.target, "this Term opens nothing new"
        assert bodies(term, "term.pane.split")[0]["argv"] == ["sh", "-c", "true"]
        with pytest.raises(WaitTimeout):
            await (await session.native()).wait_pane(9, timeout=1)

    on_a_term(test)


def test_the_set_that_is_named_has_the_neighbours_too() -> None:
    def pane(number: int, tab: int, generation: int = 1) -> dict[str, object]:
        target = PANE._replace(pane_id=number, pane_generation=generation)
        return {"target": target.to_json(), "tab_id": str(tab), "cols": 1, "rows": 1}

    tabs = [
        {"id": str(tab), "active": tab == 5, "title": "", "cols": 1, "rows": 1}
        for tab in (1, 2, 3, 4, 5, 6)
    ]
    session = decode(NativeSession, {
        "instance_id": "a", "incarnation": "b", "target": PANE.to_json(), "policy": "",
        "request_epoch": "", "request_high_water": "0", "foreground_generation": "1",
        "retention_seconds": 1, "requests_per_actor": 1, "instance_request_limit": 1,
        "panes": [*(pane(tab, tab) for tab in range(1, 7)), pane(7, 3, 0)], "tabs": tabs,
    })  # fmt: skip
    assert [each.pane_id for each in affected_by(session, PANE)] == [2, 4, 5]
    assert [each.pane_id for each in affected_by(session, PANE, 1)] == [1, 2, 4, 5]


# -- looks, waits, words -----------------------------------------------------------------------


def test_looks_and_waits() -> None:
    async def test(term: NativeTerm, session: Session) -> None:
        native = await session.native()
        pane = await native.pane(1)
        shown = await pane.snapshot()
        assert (shown.text, shown.pane, shown.generation) == ("hello", 1, 1)
        with pytest.raises(WaitTimeout):
            await pane.wait(until="x", quiet=1, prompt=True, timeout=0)
        assert bodies(term, "term.wait")[0]["quiet_ms"] == 1000
        with pytest.raises(UnknownOutcome):
            await pane.operation(5)
        assert (await native.call("term.props.get", pane, property="contents"))["text"] == "hello"

    on_a_term(test)


def test_what_cannot_be_said_is_not_sent() -> None:
    async def test(term: NativeTerm, session: Session) -> None:
        pane = await (await session.native()).pane(1)
        sent = len(term.seen)
        for text in ("x" * 8_192, "\ud800"):
            with pytest.raises(InvalidArgument):
                await pane.paste(text)
        assert len(term.seen) == sent
        await pane.paste("x")
        assert not [number for _, number in term.effects if number < 1]

    on_a_term(test)


def test_a_term_that_is_no_more_is_no_other_users() -> None:
    async def test(term: NativeTerm, session: Session) -> None:
        native = await session.native()
        native.term = replace(native.term, name="t0-" + "a" * 22)
        with pytest.raises(ServiceRestarted):
            await native.panes()

    on_a_term(test)


def test_all_refusals_of_every_pane_are_a_refusal() -> None:
    async def test(term: NativeTerm, session: Session) -> None:
        native = await session.native()
        term.tabs.clear()
        with pytest.raises(Forbidden):
            await native.panes()

    on_a_term(test)


@pytest.mark.parametrize("value", ["01", "-1", -1, True, 1.0, "x"])
def test_numbers_are_canonical(value: object) -> None:
    body = {"target": PANE.to_json(), "foreground_generation": value}
    with pytest.raises(BadReply):
        decode(Looked, body)


def test_a_target_must_be_whole() -> None:
    with pytest.raises(BadReply):
        decode(Looked, {"target": {"pane_id": "1"}, "foreground_generation": "1"})
    assert decode(Accepted, {"status": "accepted", "operation_id": 4}).operation_id == 4


def test_every_verb_of_the_table_knows_whether_it_changes_anything() -> None:
    for spec in NATIVE.values():
        assert native_call(spec.name, Done, PANE).mutates == spec.mutates
    assert native_call("term.newer", Done, PANE).mutates


def test_a_refusal_keeps_its_kind() -> None:
    body = json.dumps(forbidden().body()).encode()
    with pytest.raises(Forbidden):
        native_call("term.type", Done, PANE).answer(Reply(10, body))
