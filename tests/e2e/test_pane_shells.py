"""Panes of a running service get their verified sessions, lose them, and get them back."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import trio

from brokerd.client import BusError, ErrorCode, connect
from tests.support.broker_process import BrokerProcess, short_directory
from tests.support.termnode_process import Service, alive, eventually, service

WITHIN_S = 15.0
"""After a broker died, all panes are ready again by then."""


@pytest.fixture
def term() -> Iterator[Service]:
    with service() as running:
        yield running


def bindings(running: Service) -> dict[int, dict[str, Any]]:
    """What term.panes says of each pane's session."""
    return {pane["id"]: pane["binding"] for pane in running.good("term.panes")["panes"]}


def all_ready(running: Service) -> bool:
    """Whether every pane is, and verbs are answered."""
    try:
        return all(each["ready"] for each in bindings(running).values())
    except (BusError, AssertionError):
        return False


def five_panes(running: Service) -> list[int]:
    """The first pane and four more, all ready."""
    for _ in range(4):
        running.good("term.tab.new", {"background": True})
    eventually(lambda: all_ready(running), "five panes are ready")
    return list(bindings(running))


def children_of(pid: int) -> list[int]:
    """Its child processes."""
    lists = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(each) for found in lists for each in found.read_text().split()]


def zygote_of(running: Service) -> int | None:
    """The process that pane shells are forked from."""
    for pid in children_of(running.ready["pid"]):
        if b"termnode.paneshell" in Path(f"/proc/{pid}/cmdline").read_bytes():
            return pid
    return None


def sidecars_of(running: Service) -> set[int]:
    """The processes of the pane shells that the present zygote forked."""
    zygote = zygote_of(running)
    return set() if zygote is None else set(children_of(zygote))


def broker_pid(running: Service) -> int:
    """Of the live broker."""
    return int((running.directory / "rt" / "broker.lock").read_text())


def records(running: Service) -> list[dict[str, Any]]:
    """What session.list says to somebody of the same user."""

    async def ask() -> Any:  # noqa: ANN401
        async with connect(running.directory / "rt") as bus:
            reply = await bus.request("brokerd", "session.list", {})
            assert reply.body is not None
            return reply.body["records"]

    found: list[dict[str, Any]] = trio.run(ask)
    return found


@contextmanager
def broker_with(limit: str) -> Iterator[Path]:
    """A broker of another setting, in the directory that a service will find it in."""
    with short_directory() as directory:
        broker = BrokerProcess(directory / "rt", "--set", limit)
        try:
            broker.start()
            yield directory
        finally:
            broker.close()


def test_every_pane_of_a_service_is_bound_to_a_record_of_its_own(term: Service) -> None:
    panes = five_panes(term)
    identity = term.good("INFO")["identity"]
    assert (identity["state"], identity["policy"]) == ("ready", "default-open")
    listed = records(term)
    (parent,) = [each for each in listed if each["role"] == "term"]
    assert parent["name"] == identity["name"]
    bound = {
        int(each["pane_id"]): each
        for each in listed
        if each["role"] == "pane-shell" and each["state"] == "attached"
    }
    assert sorted(bound) == panes
    assert {each["parent_instance"] for each in bound.values()} == {parent["instance_id"]}
    assert len({each["record_id"] for each in bound.values()}) == 5
    for pane, binding in bindings(term).items():
        assert binding["generation"] == int(bound[pane]["pane_generation"])


def test_a_programs_environment_names_no_launch_descriptor(term: Service) -> None:
    eventually(lambda: all_ready(term), "the pane is ready")
    (pane,) = bindings(term)
    shell = term.good("term.panes")["panes"][0]["pid"]
    assert b"COSMIX_SESSION_FD" not in Path(f"/proc/{shell}/environ").read_bytes()
    held = [os.readlink(each) for each in Path(f"/proc/{shell}/fd").iterdir()]
    assert not [link for link in held if "cosmix-session" in link]
    for sidecar in sidecars_of(term):
        links = [os.readlink(each) for each in Path(f"/proc/{sidecar}/fd").iterdir()]
        assert not [link for link in links if "/dev/pt" in link or "cosmix-session" in link], pane


def test_a_killed_broker_costs_no_pane_its_session_for_long(term: Service) -> None:
    panes = five_panes(term)
    shells = [pane["pid"] for pane in term.good("term.panes")["panes"]]
    sidecars = sidecars_of(term)
    before = {pane: each["generation"] for pane, each in bindings(term).items()}
    first = term.good("INFO")["identity"]["name"]
    os.kill(broker_pid(term), signal.SIGKILL)

    def again() -> bool:
        try:
            return all_ready(term) and term.good("INFO")["identity"]["name"] != first
        except (BusError, AssertionError):
            return False

    eventually(again, "all panes are ready under the next broker", WITHIN_S)
    assert [pane["pid"] for pane in term.good("term.panes")["panes"]] == shells
    assert sidecars_of(term) == sidecars, "the same pane shells, with their same keys"
    after = {pane: each["generation"] for pane, each in bindings(term).items()}
    assert all(after[pane] > before[pane] for pane in panes)


def test_a_killed_pane_shell_is_started_again_under_another_record(term: Service) -> None:
    eventually(lambda: all_ready(term), "the pane is ready")
    (old,) = sidecars_of(term)
    (before,) = [each for each in records(term) if each["state"] == "attached" and each["pane_id"]]
    os.kill(old, signal.SIGKILL)
    eventually(lambda: sidecars_of(term) - {old} and all_ready(term), "another one is attached")
    (after,) = [each for each in records(term) if each["state"] == "attached" and each["pane_id"]]
    assert after["record_id"] != before["record_id"]
    assert int(after["pane_generation"]) > int(before["pane_generation"])
    ids = {each["record_id"] for each in records(term)}
    assert before["record_id"] not in ids, "the one before is revoked"


def test_a_killed_zygote_costs_no_pane(term: Service) -> None:
    eventually(lambda: all_ready(term), "the pane is ready")
    old = zygote_of(term)
    assert old is not None
    os.kill(old, signal.SIGKILL)
    eventually(lambda: zygote_of(term) not in {None, old}, "another zygote runs")
    term.good("term.tab.new", {"background": True})
    eventually(lambda: len(bindings(term)) == 2 and all_ready(term), "both panes are ready")


def test_a_closed_pane_ends_its_shell_and_its_record(term: Service) -> None:
    panes = five_panes(term)
    before = sidecars_of(term)
    term.good("term.pane.close", {"pane": panes[0]})
    eventually(lambda: len(sidecars_of(term)) == 4, "its pane shell has ended")
    assert sidecars_of(term) < before
    held = [each["pane_id"] for each in records(term) if each["state"] == "attached"]
    assert str(panes[0]) not in held


def test_a_program_that_ended_has_no_session_until_it_is_started_again(term: Service) -> None:
    eventually(lambda: all_ready(term), "the pane is ready")
    (pane,) = bindings(term)
    term.good("term.type", {"text": "exit", "enter": True})
    eventually(lambda: bindings(term)[pane]["state"] == "over", "its program has ended")
    assert not bindings(term)[pane]["ready"]
    eventually(lambda: not sidecars_of(term), "its pane shell has ended")
    term.good("term.pane.restart", {"pane": pane})
    eventually(lambda: all_ready(term), "it is ready again")
    assert bindings(term)[pane]["generation"] >= 2


def test_the_allocated_name_serves_the_native_lane_and_nothing_else(term: Service) -> None:
    eventually(lambda: all_ready(term), "the pane is ready")
    name = term.good("INFO")["identity"]["name"]

    async def ask() -> set[str]:
        async with connect(term.directory / "rt") as bus:
            replies = [await bus.request(name, verb, {}) for verb in ("INFO", "term.panes", "x.y")]
            return {reply.error.code if reply.error else "" for reply in replies}

    assert trio.run(ask) == {ErrorCode.INVALID_ARGUMENT}, "without a target nothing is done"


def test_a_service_that_ends_leaves_no_record_and_no_process() -> None:
    with service() as term:
        five_panes(term)
        other = Service(term.directory, "other")
        other.up()  # keeps the broker
        processes = [*sidecars_of(term), zygote_of(term), term.ready["pid"]]
        mine = term.good("INFO")["identity"]["name"]
        term.down()
        eventually(lambda: not any(alive(pid or 0) for pid in processes), "all have ended")
        left = records(other)
        assert mine not in {each["name"] for each in left}
        assert len([each for each in left if each["role"] == "term"]) == 1
        broker = broker_pid(other)
        other.down()
        eventually(lambda: not alive(broker), "the broker served nobody any more")


def test_a_killed_services_records_are_revoked_by_the_broker_in_time() -> None:
    with (
        broker_with("sessions.window_ms=300") as directory,
        service(directory=directory) as term,
    ):
        eventually(lambda: all_ready(term), "the pane is ready")
        assert len(records(term)) >= 2
        sidecars = sidecars_of(term)
        os.kill(term.ready["pid"], signal.SIGKILL)
        eventually(lambda: not any(map(alive, sidecars)), "pane shells end with their Term")
        eventually(lambda: records(term) == [], "nothing is left of it")


@pytest.mark.parametrize("policy", ["restricted", "wide-open"])
def test_the_policy_is_that_of_the_environment(policy: str) -> None:
    with service(COSMIX_TERM_POLICY=policy) as term:
        if policy == "restricted":
            eventually(lambda: all_ready(term), "the pane is ready")
            assert term.good("INFO")["identity"]["policy"] == "restricted"
            assert {each["policy"] for each in records(term)} == {"restricted"}
        else:
            identity = term.good("INFO")["identity"]
            assert identity["state"] == "off"
            assert "COSMIX_TERM_POLICY" in identity["problem"]
            assert policy not in identity["problem"]
            (binding,) = bindings(term).values()
            assert (binding["state"], binding["ready"]) == ("off", False)
            assert records(term) == []
            log = (term.directory / "rt" / "term.log").read_text()
            assert log.count("COSMIX_TERM_POLICY") == 1


def test_a_broker_that_has_no_room_for_another_term_costs_no_pane() -> None:
    with (
        broker_with("sessions.terms_per_uid=1") as directory,
        service(directory=directory, name="other") as other,
    ):
        eventually(lambda: all_ready(other), "the only Term that there is room for")
        with service(directory=directory) as term:
            said = eventually(
                lambda: term.good("INFO")["identity"].get("problem", "").startswith("RESOURCE"),
                "it says what is wrong",
            )
            assert said
            assert term.good("INFO")["identity"]["state"] == "starting"
            (pane,) = bindings(term)
            term.at_prompt(pane)
            assert not bindings(term)[pane]["ready"]
            other.down()
            eventually(lambda: all_ready(term), "there is room by now")
