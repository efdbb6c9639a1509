"""term.events on a real service: who is told of what, and what it takes to lose nothing."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio

from brokerd.wire import RESPONSE
from tests.support.raw_bus import RawPeer
from tests.support.termnode_process import Service
from tests.support.termnode_process import plain_service as service
from tests.support.told import Body, Told, told

WITHIN = 60.0
CANARY = "canary7Q"


@pytest.fixture(scope="module")
def term() -> Iterator[Service]:
    with service("--size", "80x24") as running:
        yield running


def within(body: Callable[[], Awaitable[None]]) -> None:
    async def run() -> None:
        with trio.fail_after(WITHIN):
            await body()

    trio.run(run)


def rt(term: Service) -> Path:
    return term.directory / "rt"


def of(pane: int) -> Callable[[Body], bool]:
    return lambda body: body.get("pane") == pane


async def script(one: Told, text: str, **more: object) -> int:
    """A new tab that runs this; its pane."""
    opened = await one.good("term.tab.new", argv=["sh", "-c", text], **more)
    pane: int = opened["pane"]
    return pane


def test_each_subscriber_gets_what_it_asked_for_and_nobody_else_anything(term: Service) -> None:
    async def body() -> None:
        directory = rt(term)
        async with (
            told(directory, kinds=["exit"]) as exits,
            told(directory, kinds=["layout"]) as layouts,
            told(directory, ask=False) as third,
        ):
            pane = await script(third, "exit 3")
            ended = await exits.until(of(pane))
            assert (ended["kind"], ended["exit"], ended["generation"]) == ("exit", {"code": 3}, 1)
            assert ended["duration_ms"] >= 0
            assert ended["revision"] > 0
            opened = await layouts.until(of(pane))
            assert (opened["kind"], opened["verb"]) == ("layout", "term.tab.new")
            assert pane in opened["panes"]
            assert {each["kind"] for each in exits.seen} == {"exit"}
            assert {each["kind"] for each in layouts.seen} == {"layout"}
            assert (exits.lost, layouts.lost) == (False, False)
            await third.flush()
            assert len(third.stream) == 0
            await third.good("term.pane.close", pane=pane)

    within(body)


def test_a_subscription_to_one_pane_is_not_told_of_another(term: Service) -> None:
    async def body() -> None:
        async with told(rt(term), ask=False) as one:
            mine = await script(one, "read x; exit 1")
            await one.ask(pane=mine, kinds=["exit", "input"])
            other = await script(one, "read x; exit 2")
            for pane in (other, mine):
                await one.good("term.type", pane=pane, text="x", enter=True)
            await one.kind("exit")
            assert {each["pane"] for each in one.seen} == {mine}
            assert not one.lost
            for pane in (other, mine):
                await one.good("term.pane.close", pane=pane)

    within(body)


MARKED = r"""
printf '\033]133;A\007mine$ \033]133;B\007'
read line
printf '\033]133;C\007out\n\033]133;D;3\007'
printf '\033]133;A\007mine$ \033]133;B\007'
read line
"""


def test_prompts_and_commands_are_told_by_the_shells_own_marks(term: Service) -> None:
    async def body() -> None:
        async with told(rt(term), kinds=["prompt", "command"]) as one:
            pane = await script(one, MARKED)
            first = await one.until(of(pane))
            assert first["kind"] == "prompt"
            await one.good("term.type", pane=pane, text="go", enter=True)
            command = await one.until(of(pane))
            assert (command["kind"], command["status"]) == ("command", 3)
            assert command["duration_ms"] >= 0
            second = await one.until(of(pane))
            assert second["kind"] == "prompt"
            assert second["revision"] >= command["revision"] >= first["revision"]
            snapshot = await one.good("term.snapshot", pane=pane)
            assert snapshot["revision"] >= second["revision"]
            await one.good("term.pane.close", pane=pane)

    within(body)


def test_a_title_is_cut_and_has_no_control_characters(term: Service) -> None:
    async def body() -> None:
        async with told(rt(term), kinds=["title"]) as one:
            text = r"printf '\033]2;work\007\033]2;work\007\033]2;'; printf 'x%.0s' $(seq 600); "
            pane = await script(one, text + r"printf '\033\\'; read x")
            assert (await one.until(of(pane)))["title"] == "work"
            assert (await one.until(of(pane)))["title"] == "x" * 256, "the same one is not another"
            await one.good("term.pane.close", pane=pane)

    within(body)


def test_a_storm_of_bells_is_ten_a_second_and_the_rest_is_counted(term: Service) -> None:
    async def body() -> None:
        async with told(rt(term), kinds=["bell", "exit"]) as one:
            storm = "i=0; while [ $i -lt 3000 ]; do printf '\\a.'; i=$((i+1)); done; exit 0"
            pane = await script(one, storm)
            await one.until(lambda each: each["kind"] == "exit" and each["pane"] == pane)
            bells = [each for each in one.seen if each["kind"] == "bell"]
            assert len(bells) >= 10
            for at in range(len(bells) - 11):
                assert bells[at + 11]["time"] - bells[at]["time"] >= 990
            # The emulator itself may count many at a time as one.
            assert len(bells) < sum(1 + each.get("dropped", 0) for each in bells) <= 3_000
            assert not one.lost
            await one.good("term.pane.close", pane=pane)

    within(body)


def test_quiet_is_told_once_for_each_burst(term: Service) -> None:
    async def body() -> None:
        async with told(rt(term), kinds=["quiet", "input"]) as one:
            pane = await script(one, "stty -echo; echo one; read x; echo two; read x")
            first = await one.until(of(pane))
            assert (first["kind"], first["pane"]) == ("quiet", pane)
            assert first["idle_ms"] >= 1_000
            await one.good("term.type", pane=pane, text="x", enter=True)
            kinds = [(await one.until(of(pane)))["kind"] for _ in range(2)]
            assert kinds == ["input", "quiet"]
            await one.good("term.pane.close", pane=pane)

    within(body)


def test_the_layout_is_told_of_also_when_a_pane_goes_by_itself(term: Service) -> None:
    async def body() -> None:
        async with told(rt(term), ask=False) as one:
            pane = (await one.good("term.tab.new"))["pane"]
            await one.ask(pane=pane, kinds=["layout"])
            script = {"argv": ["sh", "-c", "read x"], "remain": 0}
            new = (await one.good("term.pane.split", pane=pane, dir="v", **script))["id"]
            split = await one.next()
            assert (split["verb"], split["pane"]) == ("term.pane.split", new)
            assert split["panes"] == [pane, new], "the one that was asked about is smaller now"
            await one.good("term.type", pane=new, text="x", enter=True)
            gone = await one.next()
            assert (gone["verb"], gone["pane"], gone["panes"]) == ("expired", new, [pane, new])
            await one.good("term.pane.close", pane=pane)
            closed = await one.next()
            assert (closed["verb"], closed["pane"]) == ("term.pane.close", pane)
            assert "generation" not in closed

    within(body)


def test_a_refused_change_of_the_layout_is_no_event(term: Service) -> None:
    async def body() -> None:
        async with told(rt(term), kinds=["layout"]) as one:
            reply = await one.bus.request("term", "term.pane.close", {"pane": 9_999})
            assert not reply.ok
            await one.flush()
            assert len(one.stream) == 0

    within(body)


def test_who_typed_is_told_and_never_what(term: Service) -> None:
    async def body() -> None:
        async with told(rt(term), ask=False) as typist, told(rt(term), kinds=["input"]) as one:
            pane = await script(typist, "read x; read x")
            await typist.good("term.type", pane=pane, text=CANARY, enter=True)
            event = await one.until(of(pane))
            assert (event["verb"], event["outcome"]) == ("term.type", "written")
            assert event["bytes"] == len(CANARY) + 1
            info = (await one.bus.request("brokerd", "session.hello", {})).body or {}
            assert event["who"].startswith(f"uid {info['uid']} pid ")
            assert CANARY not in repr(one.seen)
            repeat = {"pane": pane, "text": CANARY, "enter": True, "request_id": CANARY}
            for _ in range(2):
                await typist.good("term.type", **repeat)
            await one.until(of(pane))
            await one.flush()
            assert len(one.stream) == 0, "a repeat types nothing"
            await typist.good("term.pane.close", pane=pane)

    within(body)


def test_what_a_subscriber_did_not_take_is_seen_and_sent_again(term: Service) -> None:
    async def body() -> None:
        async with (
            told(rt(term), kinds=["layout"]) as other,
            told(rt(term), kinds=["layout"], capacity=8) as slow,
        ):
            pane = (await other.good("term.tab.new"))["pane"]
            first = await slow.until(of(pane))
            for _ in range(40):  # and the slow one takes none of them
                await other.good("term.pane.select", id=pane)
            await other.until(lambda body: body["seq"] == first["seq"] + 40)
            await slow.flush()
            assert len(slow.stream) == 8
            noticed = [(await slow.next(), slow.lost)[1] for _ in range(8)]
            await other.good("term.pane.select", id=pane)
            assert (await slow.next())["seq"] == first["seq"] + 41
            assert [*noticed, slow.lost] == [False] * 8 + [True]
            async with told(rt(term), kinds=["layout"], after=first["seq"]) as again:
                assert again.reply["missed"] == 0
                for _ in range(41):
                    assert (await again.next())["kind"] == "layout"
                assert not again.lost
            await other.good("term.pane.close", pane=pane)

    within(body)


def test_the_reply_comes_before_the_events_that_are_sent_again(term: Service) -> None:
    opened = term.good("term.tab.new")
    with RawPeer.open(rt(term) / "bus.sock") as peer:
        peer.hello()
        peer.verb("broker.subscribe", b'{"service":"term"}')
        peer.ask("term", b'{"kinds":["layout"],"after":0}', command="term.events")
        header, body, _ = peer.receive()
        assert (header.type, json.loads(body)["active"]) == (RESPONSE, True)
        header, body, _ = peer.receive()
        assert (header.command, json.loads(body)["kind"]) == ("term.event", "layout")
    term.good("term.pane.close", {"pane": opened["pane"]})


def test_everything_that_is_known_is_sent_again_and_the_rest_is_counted() -> None:
    async def body(term: Service) -> None:
        async with told(rt(term), ask=False) as one:
            before = (await one.ask(stop=True))["seq"]  # of few events
            for _ in range(1_100):
                await one.good("term.pane.select", id=1)
            await one.ask(after=0)
            missed = one.reply["seq"] - before - 1_024
            assert missed <= one.reply["missed"] < missed + 10
            last = await one.until(lambda each: each["seq"] == one.reply["seq"])
            assert not one.lost
            assert [each["seq"] for each in one.seen] == list(
                range(last["seq"] - 1_023, last["seq"] + 1)
            )

    with service() as term:
        within(partial(body, term))


def test_stop_and_another_subscription_hold_from_the_reply_on(term: Service) -> None:
    async def body() -> None:
        async with told(rt(term), kinds=["layout"]) as one:
            pane = (await one.good("term.tab.new"))["pane"]
            await one.until(of(pane))
            assert (await one.ask(stop=True))["active"] is False
            await one.good("term.pane.select", id=pane)
            await one.flush()
            assert len(one.stream) == 0
            await one.ask(kinds=["exit"])
            await one.good("term.pane.close", pane=pane)
            await one.flush()
            assert len(one.stream) == 0

    within(body)


def test_strict_posture_ends_subscriptions_for_good() -> None:
    async def body(term: Service) -> None:
        async with (
            told(rt(term), kinds=["layout"]) as one,
            told(rt(term), ask=False) as other,
        ):
            pane = await script(one, "read x")
            assert (await one.until(of(pane)))["kind"] == "layout"
            await trio.to_thread.run_sync(partial(term.run, "posture", "strict"))
            reply = await one.bus.request("term", "term.events", {})
            assert reply.error is not None
            assert reply.error.code == "FORBIDDEN"
            while len(one.stream):  # told before the posture turned
                await one.next()
            await trio.to_thread.run_sync(partial(term.run, "posture", "open"))
            await other.good("term.pane.select", id=pane)
            await other.flush()
            await one.flush()
            assert len(one.stream) == 0
            await one.ask()
            await other.good("term.pane.select", id=pane)
            assert (await one.kind("layout"))["verb"] == "term.pane.select"

    with service() as term:
        within(partial(body, term))


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ({"pane": 9_999}, "NOT_FOUND"),
        ({"kinds": ["text"]}, "INVALID_ARGUMENT"),
        ({"kinds": []}, "INVALID_ARGUMENT"),
        ({"after": -1}, "INVALID_ARGUMENT"),
    ],
)
def test_what_cannot_be_subscribed_to_is_refused(
    term: Service, asked: dict[str, Any], code: str
) -> None:
    rc, answer = term.call("term.events", asked)
    assert (rc, answer["error_code"]) == (10, code)


def test_a_pane_started_anew_goes_on_counting_its_revisions(term: Service) -> None:
    async def body() -> None:
        async with told(rt(term), kinds=["exit"]) as one:
            pane = await script(one, "echo hi")
            first = await one.until(of(pane))
            await one.good("term.pane.restart", pane=pane)
            second = await one.until(of(pane))
            assert (first["generation"], second["generation"]) == (1, 2)
            assert second["revision"] > first["revision"]
            await one.good("term.pane.close", pane=pane)

    within(body)
