"""Caps of the global lane, what it notes, and what it never repeats."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from brokerd.client import Json
from termnode.control.posture import Posture
from termnode.control.verbs import BY_NAME, TABLE
from termnode.lanes.calls import Admitted, Answer, Join, Reply
from tests.support.lane import BODIES, Local, Remote, Rig, code, details

CANARY = "canary7Q"


def test_mutations_over_the_cap_are_refused_and_spend_no_id() -> None:
    rig = Rig(mutations_waiting=2)
    tickets = [rig.ticket("term.tab.new") for _ in range(3)]
    sealed = rig.answer("term.tab.new", {"request_id": "r"})
    assert (code(sealed), details(sealed)["limit"]) == ("RESOURCE_LIMIT", 3)
    assert isinstance(rig.admit("term.tabs"), Admitted)
    assert isinstance(rig.admit("term.wait", BODIES["term.wait"]), Admitted)
    rig.settle(tickets[0])
    assert isinstance(rig.admit("term.tab.new", {"request_id": "r"}), Admitted)


def test_waits_over_the_cap_are_refused() -> None:
    rig = Rig(waits=1)
    ticket = rig.ticket("term.wait", BODIES["term.wait"])
    assert code(rig.answer("term.wait", BODIES["term.wait"])) == "RESOURCE_LIMIT"
    rig.settle(ticket)
    assert isinstance(rig.admit("term.wait", BODIES["term.wait"]), Admitted)


def test_a_subscription_takes_no_place_of_a_wait_or_a_mutation_and_is_noted() -> None:
    rig = Rig(waits=1, mutations_waiting=0)
    rig.ticket("term.wait", BODIES["term.wait"])
    rig.ticket("term.tab.new")
    ticket = rig.ticket("term.events", {**BODIES["term.events"], "request_id": CANARY})
    assert rig.lane.statistics()["subscriptions"] == 1
    rig.settle(ticket, Reply.ok(seq=4, active=True))
    assert rig.lane.statistics()["subscriptions"] == 0
    (noted,) = rig.audit.tail(1)
    assert (noted["verb"], noted["outcome"], noted["pane"]) == ("term.events", "ok", 1)
    assert not leaks(noted)


def test_joined_calls_over_the_cap_are_refused_and_counted_off() -> None:
    rig = Rig(joined=1)
    body: dict[str, Json] = {"request_id": "r"}
    ticket = rig.ticket("term.tab.new", body)
    assert isinstance(rig.admit("term.tab.new", body), Join)
    assert code(rig.answer("term.tab.new", body)) == "RESOURCE_LIMIT"
    assert len(rig.settle(ticket).calls) == 2
    assert rig.lane.statistics()["joined"] == 0


def test_the_defaults_are_those_of_the_contract() -> None:
    rig = Rig()
    for _ in range(65):  # one runs and 64 wait
        rig.ticket("term.tab.new")
    assert code(rig.answer("term.tab.new")) == "RESOURCE_LIMIT"
    for _ in range(64):
        rig.ticket("term.wait", BODIES["term.wait"])
    assert code(rig.answer("term.wait", BODIES["term.wait"])) == "RESOURCE_LIMIT"


def test_the_last_128_replies_are_kept() -> None:
    rig = Rig()
    for number in range(129):
        rig.settle(rig.ticket("term.tab.close", {"request_id": f"r-{number}"}))
    assert isinstance(rig.admit("term.tab.close", {"request_id": "r-1"}), Answer)
    assert isinstance(rig.admit("term.tab.close", {"request_id": "r-0"}), Admitted)


def test_the_audit_says_who_what_where_and_how_long() -> None:
    rig = Rig()
    ticket = rig.ticket("term.type", {"text": CANARY, "request_id": CANARY})
    rig.now += 0.25
    rig.settle(ticket, Reply.ok(pane=4))
    assert rig.audit.tail() == [
        {
            "seq": 1,
            "time": 100_250,
            "principal": "uid 1000 pid 4242",
            "verb": "term.type",
            "pane": 4,
            "outcome": "ok",
            "duration_ms": 250,
            "request_id": True,
            "replayed": False,
        }
    ]


def test_refusals_are_in_the_audit_and_unknown_verbs_have_no_name() -> None:
    rig = Rig()
    rig.answer("term.tabs", principal=None)
    rig.answer(f"term.{CANARY}", principal=Remote())
    rig.answer("term.tab.select", {"id": "1", "request_id": "r"}, principal=Local(peer_pid=None))
    rig.answer("term.tab.select", {"id": "1"})
    noted = [(e["principal"], e["verb"], e["outcome"], e["request_id"]) for e in rig.audit.tail()]
    assert noted == [
        ("unstamped", "term.tabs", "FORBIDDEN", False),
        ("node there", "unknown", "UNSUPPORTED", False),
        ("uid 1000", "term.tab.select", "INVALID_ARGUMENT", True),
        ("uid 1000 pid 4242", "term.tab.select", "INVALID_ARGUMENT", False),
    ]


def test_panes_by_id_or_pane_field_are_noted() -> None:
    rig = Rig()
    for verb, body, result, pane in (
        ("term.pane.select", {"id": 3}, {}, 3),
        ("term.pane.split", {"dir": "h", "pane": 3}, {"id": 5}, 5),
        ("term.tab.close", {"id": 3}, {"id": 3}, None),
        ("term.snapshot", {"pane": 6}, {}, 6),
    ):
        rig.settle(rig.ticket(verb, body), Reply(0, result))  # type: ignore[arg-type]
        assert rig.audit.tail(1)[0].get("pane") == pane


WRONG: tuple[Json, ...] = (CANARY, f"\x1b{CANARY}", [CANARY], {CANARY: CANARY}, {f"{CANARY}=": ""})


def hostile_bodies() -> list[tuple[str, dict[str, Json]]]:
    """For every verb: each field with each wrong value, and an unknown field."""
    bodies: list[tuple[str, dict[str, Json]]] = []
    for spec in TABLE:
        good = BODIES[spec.name]
        bodies.append((spec.name, {**good, CANARY: 1}))
        names = [*(field.name for field in spec.fields), "request_id"]
        bodies += [(spec.name, {**good, name: value}) for name in names for value in WRONG]
    return bodies


def leaks(text: object) -> bool:
    return CANARY in repr(text)


def answers_with_the_canary(ask: Callable[[Rig, str, dict[str, Json]], object]) -> int:
    """How many of the hostile calls gave a text with the canary in it."""
    found = 0
    for verb, body in hostile_bodies():
        for posture in Posture:
            rig = Rig(posture=posture)
            found += leaks(ask(rig, verb, body)) or leaks(rig.audit.tail())
    return found


def refusal_of(rig: Rig, verb: str, body: dict[str, Json]) -> object:
    verdict = rig.admit(verb, body)
    return verdict.reply.raw if isinstance(verdict, Answer) else None


def test_no_refusal_and_no_audit_entry_repeats_what_the_caller_sent() -> None:
    assert answers_with_the_canary(refusal_of) == 0


def test_that_check_finds_a_lane_that_repeats_a_value() -> None:
    def echoing(rig: Rig, verb: str, body: dict[str, Json]) -> object:
        return (refusal_of(rig, verb, body), body)

    assert answers_with_the_canary(echoing) == 2 * len(hostile_bodies())


@pytest.mark.parametrize("raw", [f'{{"{CANARY}"', f'{{"id":"{CANARY}","id":1}}', f'"{CANARY}"'])
def test_malformed_bodies_are_not_repeated_either(raw: str) -> None:
    for verb in (*BY_NAME, CANARY):
        assert not leaks(refusal_of_raw(verb, raw.encode()))


def refusal_of_raw(verb: str, raw: bytes) -> bytes:
    return Rig().answer(verb, raw).raw
