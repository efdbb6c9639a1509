"""The native lane of a real service: every verb, both postures, targets, retries, what waits."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import trio

from brokerd.client import ErrorCode
from termnode.control.native.table import NATIVE
from tests.support.native_caller import (
    Answer,
    Fields,
    NativeCaller,
    native_caller,
    ready_targets,
    until,
)
from tests.support.termnode_process import Service, eventually, service

WITHIN_S = 90.0
NAME = "term"


@pytest.fixture(scope="module")
def shared() -> Iterator[Service]:
    """One service for those tests that leave it as they found it: pane 1 and nothing else."""
    with service() as running:
        yield running


def talk(
    running: Service, test: Callable[[NativeCaller, dict[int, Fields]], Awaitable[None]]
) -> None:
    """Run a test with a caller, and the targets of all panes, which are ready."""

    async def run() -> None:
        with trio.fail_after(WITHIN_S):
            async with native_caller(running) as me:
                await alone(me)
                await test(me, await ready_targets(me, NAME))

    trio.run(run)


def ok(answer: Answer) -> Fields:
    assert answer.rc == 0, answer
    return answer.body


def denied(*answers: Answer) -> None:
    """All of them in the same bytes, without details."""
    (raw,) = {answer.raw for answer in answers}
    assert json.loads(raw) == {"error_code": "FORBIDDEN", "message": "forbidden", "details": {}}


async def alone(me: NativeCaller) -> None:
    """Leave pane 1 alone, whatever an earlier test left behind."""
    listed: Any = (await me.bus.request(NAME, "term.panes", {})).body
    for pane in listed["panes"]:
        if pane["id"] != 1:
            await me.bus.request(NAME, "term.pane.close", {"pane": pane["id"]})


# -- every verb -----------------------------------------------------------------------------------


@pytest.mark.parametrize("posture", ["open", "strict"])
def test_every_verb_does_what_it_says(posture: str) -> None:
    with service() as running:

        async def body(me: NativeCaller, targets: dict[int, Fields]) -> None:
            await every_verb(running, me, targets[1], strict=posture == "strict")

        talk(running, body)


async def every_verb(running: Service, me: NativeCaller, one: Fields, *, strict: bool) -> None:
    asked: set[str] = set()

    async def read(verb: str, target: Fields, **own: object) -> Fields:
        asked.add(verb)
        return as_documented(verb, ok(await me.read(verb, target, **own)))

    async def act(verb: str, target: Fields, **own: object) -> Fields:
        asked.add(verb)
        layout = NATIVE[verb].layout or "property" in own
        named = await every_pane(me, one) if layout else {}
        return as_documented(verb, ok(await me.act(verb, target, named.values(), **own)))

    if strict:
        running.run("posture", "strict", "--name", NAME)
    session = await read("term.session", one)
    assert session["target"] == one
    assert session["request_epoch"] == me.epoch
    assert (session["policy"], session["binding"]) == ("default-open", "attached")
    assert [pane["target"] for pane in session["panes"]] == [one]
    assert session["tabs"][0]["panes"] == ["1"]
    limits = ("retention_seconds", "requests_per_actor", "instance_request_limit")
    assert [session[name] for name in limits] == [900, 1024, 4096]
    assert session == await read("term.list", one) == await read("term.tabs", one)
    assert session == await read("term.panes", one)
    assert session == await read("term.props.get", one, property="state")

    seen = await read("term.snapshot", one)
    assert seen == {"target": one, "foreground_generation": session["foreground_generation"]}
    assert "text" in await read("term.snapshot", one, contents=True)
    assert "text" in await read("term.props.get", one, property="contents")
    assert (await read("term.events", one, stop=True))["active"] is False

    await typing_verbs(me, one, asked)

    made = await act("term.pane.split", one, dir="h", title="beside")
    two = await target_of_new(me, one, int(made["pane_id"]))
    tab = await act("term.tab.new", one, background=True)
    three = await target_of_new(me, one, await pane_of_tab(me, one, tab["tab_id"]))

    assert await act("term.pane.select", one) == {"selected": one, "operation_id": last(me)}
    assert (await act("term.tab.select", three))["selected"] == three
    assert (await act("term.props.set", one, property="selected", value=True))["selected"] == one
    assert (await act("term.pane.resize", two, cols=20))["cols"] == 20
    assert (await act("term.pane.rename", two, title="named"))["title"] == "named"
    assert (await act("term.tab.rename", one, title="work"))["title"] == "work"
    laid = await act("term.tab.layout", one, layout="even-vertical")
    assert [each["id"] for each in laid["panes"]] == ["1", made["pane_id"]]
    assert (await act("term.pane.zoom", one))["zoomed"] is True
    other: dict[str, object] = {"with": made["pane_id"]}
    swapped = await act("term.pane.swap", one, **other)
    assert (swapped["target"], swapped["with"]) == (one, made["pane_id"])
    broken = await act("term.pane.break", two)
    joined = await act("term.pane.join", two, beside="1", dir="v")
    assert joined["tab"] != broken["tab"]

    ended = await act("term.pane.split", one, dir="v", argv=["sh", "-c", "read x"], remain=600)
    four = await target_of_new(me, one, int(ended["pane_id"]))
    seen = await read("term.snapshot", four)
    typed = {"text": "\r", "foreground_generation": seen["foreground_generation"]}
    waited: list[Fields] = []
    async with trio.open_nursery() as nursery:

        async def wait_for_end() -> None:
            waited.append(await read("term.wait", four, exit=True, timeout_ms=40_000))

        nursery.start_soon(wait_for_end)
        await act("term.type", four, **typed)
    assert (waited[0]["outcome"], waited[0]["exit"]) == ("exited", {"code": 0})
    assert (await act("term.pane.restart", four))["target"] == four
    denied(await me.read("term.session", four))
    four = await target_of_new(me, one, int(ended["pane_id"]))

    assert (await act("term.pane.close", four))["closed"] == four
    assert (await act("term.tab.close", three))["closed"] == three
    assert (await read("term.operation", three, operation_id=last(me)))["closed"] == three
    of_shell = {name for name, spec in NATIVE.items() if spec.forwarded is not None}
    assert asked == set(NATIVE) - of_shell  # those are in test_native_execute


def as_documented(verb: str, body: Fields) -> Fields:
    """It has no field that is not in the table; a property's are those of its verb."""
    known = {name for name, _ in NATIVE[verb].result}
    if verb not in {"term.props.get", "term.props.set", "term.operation"}:
        assert body.keys() <= known, (verb, body.keys() - known)
    return body


async def typing_verbs(me: NativeCaller, one: Fields, asked: set[str]) -> None:
    """All input, each with a foreground generation of its own reading."""
    inputs: list[tuple[str, Fields, str]] = [
        ("term.type", {"text": "echo typed", "enter": True}, "^typed"),
        ("term.props.set", {"property": "input", "value": "echo property\r"}, "^property"),
        ("term.keys", {"keys": ["e", "c", "h", "o", "Space", "k", "Enter"]}, "^k"),
        ("term.paste", {"text": "echo pasted\n"}, "^pasted"),
    ]
    for verb, own, shows in inputs:
        seen = await me.typing(one)
        sent = await me.act(verb, one, **own, foreground_generation=seen)
        answer = as_documented(verb, ok(sent))
        assert answer == {
            "status": "accepted",
            "outcome": "unknown",
            "request_id": last(me),
            "operation_id": last(me),
        }
        assert ok(await me.read("term.wait", one, until=shows))["outcome"] == "matched"
        later = ok(await me.read("term.operation", one, operation_id=last(me)))
        assert (later["status"], later["boundary"]) == ("completed", "pty_write")
        asked.add(verb)
    mouse: Fields = {
        "action": "click",
        "x": 1,
        "y": 1,
        "foreground_generation": await me.typing(one),
    }
    refused = await me.act("term.mouse", one, **mouse)
    assert refused.details["reason"] == "mouse_not_requested"
    asked |= {"term.mouse", "term.wait", "term.operation"}


async def every_pane(me: NativeCaller, by: Fields) -> dict[int, Fields]:
    """Targets of all panes as the native lane lists them."""
    return {pane: each["target"] for pane, each in (await me.panes(by)).items()}


async def target_of_new(me: NativeCaller, by: Fields, pane: int) -> Fields:
    """The target of a pane once it is control-ready, as a caller finds it."""

    async def ready() -> Fields | None:
        found = (await me.panes(by)).get(pane)
        return found["target"] if found is not None and found["ready"] else None

    found: Any = await until(ready)
    return dict(found)


async def pane_of_tab(me: NativeCaller, by: Fields, tab: int) -> int:
    """The only pane of a new tab, once it has a target."""

    async def listed() -> list[int]:
        return [pane for pane, each in (await me.panes(by)).items() if each["tab_id"] == tab]

    found: Any = await until(listed)
    (pane,) = found
    return int(pane)


def last(me: NativeCaller) -> str:
    return str(me.last_id)


# -- targets --------------------------------------------------------------------------------------


def test_what_is_no_live_target_is_denied_in_the_same_bytes(shared: Service) -> None:
    async def body(me: NativeCaller, targets: dict[int, Fields]) -> None:
        one = targets[1]
        generation = int(one["pane_generation"])
        wrong: list[Fields] = [
            {**one, "pane_id": "99"},
            {**one, "pane_generation": str(generation + 1)},
            {**one, "pane_generation": "0"},
            {**one, "incarnation": "f" * 32},
            {**one, "instance_id": "f" * 32},
        ]
        reads = [await me.read("term.snapshot", each, contents=True) for each in wrong]
        changes = [await me.act("term.pane.rename", each, title="x") for each in wrong[:3]]
        denied(*reads, *changes)
        session = ok(await me.read("term.session", one))
        assert session["request_high_water"] == "0", "a refusal spends nothing"

    talk(shared, body)


def test_a_changed_layout_is_not_touched_by_those_who_did_not_see_it(shared: Service) -> None:
    async def body(me: NativeCaller, targets: dict[int, Fields]) -> None:
        one = targets[1]
        before = me.change(one, [], on=True)
        made = ok(await me.act("term.pane.split", one, dir="v"))
        denied(await me.send("term.pane.zoom", {**before, "request_id": "3"}))
        all_of_them = await ready_targets(me, NAME, int(made["pane_id"]))
        ok(await me.act("term.pane.zoom", one, all_of_them.values(), on=True))
        stale = {**all_of_them[int(made["pane_id"])], "pane_generation": "77"}
        denied(await me.act("term.pane.zoom", one, [stale], on=True))

    talk(shared, body)


def test_what_is_no_request_says_what_is_wrong(shared: Service) -> None:
    async def body(me: NativeCaller, targets: dict[int, Fields]) -> None:
        one = targets[1]
        assert (await me.send("term.panes", b"{}")).details["field"] == "target"
        assert (await me.send("term.panes", b"[")).code == "INVALID_ARGUMENT"
        large = json.dumps({"target": one, "until": "x" * 8_200}).encode()
        assert (await me.send("term.wait", large)).details["limit"] == 8_192
        assert (await me.read("term.nothing", one)).code == "UNSUPPORTED"
        assert (await me.read("INFO", one)).code == "UNSUPPORTED"
        assert (await me.read("term.panes", one, pane=1)).code == "INVALID_ARGUMENT"
        assert (await me.send("term.pane.select", {"target": one})).code == "INVALID_ARGUMENT"

    talk(shared, body)


# -- retries --------------------------------------------------------------------------------------


def test_a_close_is_told_again_after_the_pane_is_gone(shared: Service) -> None:
    async def body(me: NativeCaller, targets: dict[int, Fields]) -> None:
        made = ok(await me.act("term.pane.split", targets[1], dir="v"))
        pane = int(made["pane_id"])
        all_of_them = await ready_targets(me, NAME, pane)
        close = me.change(all_of_them[pane], all_of_them.values())
        first = await me.send("term.pane.close", close)
        again = await me.send("term.pane.close", close)
        assert first.raw == again.raw
        assert ok(first)["closed"] == all_of_them[pane]
        other = await me.send("term.pane.close", {**close, "affected": []})
        assert other.details["reason"] == "request_mismatch"
        denied(await me.read("term.snapshot", all_of_them[pane]))
        kept = ok(await me.read("term.operation", all_of_them[pane], operation_id=last(me)))
        assert kept == first.body

    talk(shared, body)


def test_another_connection_has_other_ids(shared: Service) -> None:
    async def body(me: NativeCaller, targets: dict[int, Fields]) -> None:
        rename = me.change(targets[1], title="mine")
        ok(await me.send("term.pane.rename", rename))
        async with native_caller(shared) as other:
            refused = await other.send("term.pane.rename", rename)
            assert refused.code == "UNKNOWN_OUTCOME"
            asked = await other.read("term.operation", targets[1], operation_id=last(me))
            assert asked.code == "UNKNOWN_OUTCOME"
            ok(await other.act("term.pane.rename", targets[1], title=""))

    talk(shared, body)


def test_a_new_pane_runs_what_was_asked_for_with_its_environment(shared: Service) -> None:
    async def body(me: NativeCaller, targets: dict[int, Fields]) -> None:
        made = ok(
            await me.act(
                "term.tab.new",
                targets[1],
                argv=["sh", "-c", "echo from $WHERE in $PWD; read x"],
                cwd="/tmp",
                env={"WHERE": "here"},
                background=True,
            )
        )
        assert made["target"] is None
        pane = await pane_of_tab(me, targets[1], made["tab_id"])
        new = await target_of_new(me, targets[1], pane)
        shown = ok(await me.read("term.wait", new, until="^from here in /tmp"))
        assert shown["outcome"] == "matched"
        session = ok(await me.read("term.session", new))
        assert [tab["active"] for tab in session["tabs"]] == [True, False]
        nothing = {"dir": "h", "argv": ["/nothing/there"]}
        refused = await me.act("term.pane.split", new, targets.values(), **nothing)
        assert refused.code == "NOT_FOUND"

    talk(shared, body)


# -- what waits -----------------------------------------------------------------------------------


def host_of(running: Service) -> int:
    """The process of the service that forks."""
    for path in Path(f"/proc/{running.ready['pid']}/task").glob("*/children"):
        for child in path.read_text().split():
            if b"termnode.panehost" in Path(f"/proc/{child}/cmdline").read_bytes():
                return int(child)
    raise AssertionError("no pane host")


def test_a_long_wait_and_a_full_queue_hold_up_nobody_elses_verbs(shared: Service) -> None:
    """One caller waits, opens a pane that takes its time, and fills its share of the queue."""

    async def body(me: NativeCaller, targets: dict[int, Fields]) -> None:
        one, answers = targets[1], list[Answer]()

        async def keep(verb: str, fields: Fields) -> None:
            answers.append(await me.send(verb, fields))

        async with trio.open_nursery() as nursery, native_caller(shared) as other:
            wait = {"target": one, "until": "^never to be seen", "timeout_ms": 45_000}
            nursery.start_soon(keep, "term.wait", wait)
            os.kill(host_of(shared), signal.SIGSTOP)
            try:
                nursery.start_soon(keep, "term.pane.split", me.change(one, dir="v"))
                await until(lambda: has_begun(other))
                for number in range(33):
                    stale = me.change(one, text=str(number), foreground_generation="0")
                    nursery.start_soon(keep, "term.type", stale)
                await until(lambda: answered(answers, 1))
                assert answers[0].details["reason"] == "dispatch_queue_share"
                ok(await other.read("term.snapshot", one, contents=True))
                ok(await other.read("term.wait", one, quiet_ms=50, timeout_ms=20_000))
                assert len(answers) == 1, "the other caller was served before all the rest"
            finally:
                os.kill(host_of(shared), signal.SIGCONT)
            await until(lambda: answered(answers, 34))
            codes = sorted(answer.code for answer in answers)
            assert codes == ["RESOURCE_LIMIT", *["STALE_GENERATION"] * 32, "ok"]
            nursery.cancel_scope.cancel()

    talk(shared, body)


async def answered(answers: list[Answer], count: int) -> bool:
    return len(answers) >= count


async def has_begun(other: NativeCaller) -> bool:
    """Whether the pane that is being opened is there."""
    answer = await other.bus.request(NAME, "term.panes", {})
    listed: Any = (answer.body or {})["panes"]
    return len(listed) > 1


# -- postures, policies, people -------------------------------------------------------------------


def test_a_restricted_term_is_closed_to_those_without_a_record_in_strict_posture() -> None:
    with service(COSMIX_TERM_POLICY="restricted") as running:

        async def body(me: NativeCaller, targets: dict[int, Fields]) -> None:
            assert ok(await me.read("term.session", targets[1]))["policy"] == "restricted"
            running.run("posture", "strict", "--name", NAME)
            denied(
                await me.read("term.session", targets[1]),
                await me.act("term.pane.rename", targets[1], title="x"),
                await me.send("nothing", b"no json"),
            )
            running.run("posture", "open", "--name", NAME)
            ok(await me.read("term.session", targets[1]))

        talk(running, body)


def test_the_log_tells_who_asked_for_what(shared: Service) -> None:
    async def body(me: NativeCaller, targets: dict[int, Fields]) -> None:
        ok(await me.act("term.pane.rename", targets[1], title="s3cret"))
        await me.act("term.type", targets[1], text="s3cret", foreground_generation="0")
        reply = await me.bus.request(NAME, "term.log", {"limit": 2})
        assert reply.body is not None
        entries: Any = reply.body["entries"]
        assert [(each["verb"], each["outcome"]) for each in entries] == [
            ("term.pane.rename", "ok"),
            ("term.type", str(ErrorCode.STALE_GENERATION)),
        ]
        assert {each["principal"] for each in entries} == {f"uid {os.geteuid()} pid {os.getpid()}"}
        assert "s3cret" not in str(entries)
        ok(await me.act("term.pane.rename", targets[1], title=""))

    talk(shared, body)


def test_a_layout_change_makes_typing_stale(shared: Service) -> None:
    async def body(me: NativeCaller, targets: dict[int, Fields]) -> None:
        one = targets[1]
        seen = await me.typing(one)
        made = ok(await me.act("term.pane.split", one, dir="v", background=True))
        refused = await me.act("term.type", one, text=":", foreground_generation=seen)
        assert refused.code == "STALE_GENERATION"
        seen = await me.typing(one)
        named = await ready_targets(me, NAME, int(made["pane_id"]))
        ok(await me.act("term.pane.rename", one, named.values(), title="x"))
        ok(await me.act("term.type", one, text=":\r", foreground_generation=seen))
        ok(await me.act("term.pane.rename", one, named.values(), title=""))

    talk(shared, body)


def test_events_of_the_target_come_as_private_events(shared: Service) -> None:
    async def body(me: NativeCaller, targets: dict[int, Fields]) -> None:
        one = targets[1]
        with me.bus.private_events() as events:
            begun = ok(await me.read("term.events", one, kinds=["input", "layout"]))
            assert begun["active"]
            made = ok(await me.act("term.pane.split", one, dir="v", background=True))
            told = await anext(aiter(events))
            assert told.command == "term.event"
            assert told.body is not None
            assert (told.body["kind"], told.body["target"]) == ("layout", one)
            assert (told.body["pane"], told.body.get("panes")) == (1, None)
            sender = told.sender
            assert sender is not None
            assert sender.session is not None
            assert sender.session.record_id == me.record["record_id"]
            generation = await me.typing(one)
            ok(await me.act("term.type", one, text=":\r", foreground_generation=generation))
            told = await anext(aiter(events))
            assert told.body is not None
            assert (told.body["kind"], told.body["outcome"]) == ("input", "accepted")
            ok(await me.read("term.events", one, stop=True))
        assert made["target"] is None

    talk(shared, body)


def test_events_end_when_the_caller_may_not_read_any_more() -> None:
    with service(COSMIX_TERM_POLICY="restricted") as running:

        async def body(me: NativeCaller, targets: dict[int, Fields]) -> None:
            one = targets[1]
            with me.bus.private_events() as events:
                ok(await me.read("term.events", one, kinds=["layout"]))
                running.run("posture", "strict", "--name", NAME)
                denied(await me.read("term.snapshot", one))
                running.run("posture", "open", "--name", NAME)
                ok(await me.act("term.pane.rename", one, title="unseen"))
                ok(await me.read("term.events", one, kinds=["layout"]))
                ok(await me.act("term.pane.rename", one, title="seen"))
                told = await anext(aiter(events))
                assert told.body is not None
                log: Any = (await me.bus.request(NAME, "term.log", {})).body
                renames = [each for each in log["entries"] if each["verb"] == "term.pane.rename"]
                assert len(renames) == 2
                assert told.body["seq"] != told.body["previous"]
                assert len(events) == 0, "nothing of what happened in between"

        talk(running, body)


def test_a_term_that_lost_its_broker_serves_again_under_another_name(shared: Service) -> None:
    async def old_name() -> str:
        async with native_caller(shared) as me:
            return me.name

    before = trio.run(old_name)
    os.kill(int((shared.directory / "rt" / "broker.lock").read_text()), signal.SIGKILL)

    def renamed() -> bool:
        try:
            identity = shared.good("INFO")["identity"]
        except Exception:  # noqa: BLE001 - the broker is not there for a moment
            return False
        return bool(identity["state"] == "ready" and identity["name"] != before)

    eventually(renamed, "another record")

    async def body(me: NativeCaller, targets: dict[int, Fields]) -> None:
        assert me.name != before
        ok(await me.read("term.session", targets[1]))

    talk(shared, body)
