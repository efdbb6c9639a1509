"""The gate of the native lane: every step, every refusal, and their order."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from brokerd.client import (
    MAX_REQUEST_BODY,
    RESTRICTED,
    ErrorCode,
    Json,
    Principal,
    Ref,
    Refusal,
    forbidden,
)
from termnode.control import posture as posture_file
from termnode.control.native import gate as module
from termnode.control.native.checks import checked_args
from termnode.control.native.decisions import Decision, Go, Need, Refuse, Told
from termnode.control.native.gate import Gate
from termnode.control.native.limits import LEASE_FRESH_MS, PERMIT_MS
from termnode.control.native.request import Ask, parse_request
from termnode.control.native.world import PaneFacts
from termnode.control.posture import Posture
from termnode.lanes.calls import Sealed
from tests.support.native_gate import (
    AMBIENT,
    MINE,
    NODE,
    NOW_MS,
    OTHER,
    OWN,
    OWN_RECORD,
    Rig,
    Who,
    body_for,
    child,
    encoded,
    said,
    target,
    term,
)

RENAME = "term.pane.rename"


def strict() -> Rig:
    rig = Rig()
    rig.world.stance = Posture.STRICT
    return rig


def restricted() -> Rig:
    rig = strict()
    rig.world.mine = replace(OWN, record=replace(OWN_RECORD, policy=RESTRICTED))
    return rig


def said_of(verb: str, body: object, principal: Who = AMBIENT, rig: Rig | None = None) -> str:
    return said((rig or Rig()).evaluate(principal, verb, body))


def go(decision: Decision[Sealed]) -> Go:
    assert isinstance(decision, Go), said(decision)
    return decision


# -- the order of the steps ---------------------------------------------------------------------

Fault = Callable[["Broken"], None]


class Broken:
    """A request that is good until faults are put into it."""

    def __init__(self) -> None:
        self.rig = Rig()
        self.principal: Who = AMBIENT
        self.verb = RENAME
        self.body: dict[str, Any] = body_for(RENAME)

    def said(self) -> str:
        return said_of(self.verb, self.body, self.principal, self.rig)

    def disconnect(self) -> None:
        self.rig.world.up = False

    def forget_the_caller(self) -> None:
        self.principal = None

    def be_another_user(self) -> None:
        self.rig.world.stance = Posture.STRICT
        if self.principal is not None:
            self.principal = replace(AMBIENT, unix_uid=1001)

    def be_malformed(self) -> None:
        self.body["target"]["pane_id"] = 1

    def be_of_an_earlier_term(self) -> None:
        self.body["target"]["incarnation"] = OTHER

    def have_no_generation(self) -> None:
        self.body["target"]["pane_generation"] = "0"

    def be_no_verb(self) -> None:
        self.verb = "term.nothing"

    def let_the_own_lease_end(self) -> None:
        self.rig.world.mine = replace(OWN, remaining_ms=0)

    def have_used_the_id(self) -> None:
        go_before = Rig().evaluate(AMBIENT, RENAME, body_for(RENAME, title="before"))
        self.rig.perform(go(go_before))

    def lose_the_pane(self) -> None:
        self.rig.world.facts[1] = PaneFacts(1, ready=False, tab=1)

    def leave_a_neighbour_out(self) -> None:
        self.body["affected"] = []

    def be_from_another_connection(self) -> None:
        self.body["request_epoch"] = OTHER

    def have_a_bad_field(self) -> None:
        self.body["title"] = 7


FAULTS: tuple[tuple[Fault, str], ...] = (
    (Broken.disconnect, "DISCONNECTED"),
    (Broken.forget_the_caller, "FORBIDDEN"),
    (Broken.be_another_user, "FORBIDDEN"),
    (Broken.be_malformed, "INVALID_ARGUMENT target"),
    (Broken.be_of_an_earlier_term, "UNKNOWN_OUTCOME another_incarnation"),
    (Broken.have_no_generation, "FORBIDDEN"),
    (Broken.be_no_verb, "UNSUPPORTED unknown_verb"),
    (Broken.let_the_own_lease_end, "FORBIDDEN"),
    (Broken.have_used_the_id, "CONFLICT request_mismatch"),
    (Broken.lose_the_pane, "FORBIDDEN"),
    (Broken.leave_a_neighbour_out, "FORBIDDEN"),
    (Broken.be_from_another_connection, "UNKNOWN_OUTCOME stale_request_epoch"),
    (Broken.have_a_bad_field, "INVALID_ARGUMENT title"),
)
"""In the order of specs/control.md: of two, the first one is what the caller hears."""


def wrong_orders() -> list[tuple[str, ...]]:
    """Of each fault alone, and of each two: those that are not answered as they must be."""
    wrong: list[tuple[str, ...]] = []
    for at, (first, expected) in enumerate(FAULTS):
        for second, _ in ((None, ""), *FAULTS[at + 1 :]):
            broken = Broken()
            first(broken)
            if second is not None:
                second(broken)
            got = broken.said()
            if got != expected:
                wrong.append((first.__name__, getattr(second, "__name__", ""), got))
    return wrong


def test_a_request_without_a_fault_goes() -> None:
    assert Broken().said() == "go"


def test_each_fault_is_refused_and_of_two_the_first() -> None:
    assert wrong_orders() == []


def _nothing(*_: object) -> None:
    return None


STEPS: tuple[tuple[object, str, object], ...] = (
    (Gate, "_check_connection", _nothing),
    (Gate, "_principal", lambda _gate, who: who or AMBIENT),
    (Gate, "_admit", lambda gate, _: (gate._world.own(), gate._world.posture())),
    (module, "check_continuity", _nothing),
    (module, "check_capability", _nothing),
    (module, "check_own_lease", _nothing),
    (Gate, "_earlier", _nothing),
    (Gate, "_check_pane", _nothing),
    (Gate, "_check_affected", _nothing),
    (module, "check_epoch", _nothing),
    (module, "checked_args", lambda *_: {}),
)


@pytest.mark.parametrize(("owner", "name", "without"), STEPS, ids=[each[1] for each in STEPS])
def test_a_gate_without_a_step_fails_that_table(
    owner: object, name: str, without: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owner, name, without)
    assert wrong_orders()


# -- 1 to 3 -------------------------------------------------------------------------------------


def test_without_a_connection_every_cached_lease_goes() -> None:
    rig = strict()
    need = rig.evaluate(child(), "term.snapshot", body_for("term.snapshot"))
    assert isinstance(need, Need)
    rig.lease(need)
    rig.world.up = False
    assert said_of("term.snapshot", body_for("term.snapshot"), child(), rig) == "DISCONNECTED"
    rig.world.up = True
    assert said_of("term.snapshot", body_for("term.snapshot"), child(), rig) == "need"


@pytest.mark.parametrize("principal", [None, NODE])
@pytest.mark.parametrize("rig", [Rig(), strict()])
def test_whoever_is_no_local_process_is_refused_in_both_postures(principal: Who, rig: Rig) -> None:
    assert said_of("term.session", body_for("term.session"), principal, rig) == "FORBIDDEN"


STRANGERS = {
    "another user": replace(AMBIENT, unix_uid=1001),
    "root": replace(AMBIENT, unix_uid=0),
    "another machine's name": replace(AMBIENT, owner_node="there"),
    "another broker": replace(AMBIENT, broker_epoch=OTHER),
    "another Term": term(record_id=OTHER),
    "this Term before": term(incarnation=OTHER),
    "a child of another Term": child(instance=OTHER),
    "a child of this Term before": child(incarnation=OTHER),
}


@pytest.mark.parametrize("who", STRANGERS)
def test_strict_knows_its_own_and_open_all_local_ones(who: str) -> None:
    body = body_for("term.session")
    assert said_of("term.session", body, STRANGERS[who], strict()) == "FORBIDDEN"
    assert said_of("term.session", body, STRANGERS[who]) == "go"


def test_restricted_lets_no_ambient_caller_in_but_the_term_and_its_panes() -> None:
    body = body_for("term.session")
    assert said_of("term.session", body, AMBIENT, strict()) == "go"
    assert said_of("term.session", body, AMBIENT, restricted()) == "FORBIDDEN"
    assert said_of("term.session", body, term(), restricted()) == "go"
    assert said_of("term.session", body, child(), restricted()) == "need"


def test_a_policy_that_nobody_knows_is_none_that_lets_in() -> None:
    rig = strict()
    for policy in ("", "DEFAULT-OPEN", "open"):
        rig.world.mine = replace(OWN, record=replace(OWN_RECORD, policy=policy))
        assert said_of("term.session", body_for("term.session"), AMBIENT, rig) == "FORBIDDEN"


@pytest.mark.parametrize("stance", list(Posture))
def test_without_a_record_of_its_own_it_serves_nobody(stance: Posture) -> None:
    rig = Rig()
    rig.world.mine, rig.world.stance = None, stance
    assert said_of("term.session", b"rubbish", AMBIENT, rig) == "FORBIDDEN"


def test_an_odd_posture_file_means_strict(tmp_path: Path) -> None:
    rig = restricted()
    path = tmp_path / "term.posture"
    posture_file.write(path, Posture.OPEN)
    rig.world.stance = posture_file.read(path)
    assert said_of("term.session", body_for("term.session"), AMBIENT, rig) == "go"
    for odd in ("", "open ", "OPEN", "strict", "0"):
        path.write_text(odd)
        rig.world.stance = posture_file.read(path)
        assert said_of("term.session", body_for("term.session"), AMBIENT, rig) == "FORBIDDEN"


# -- 4 and 5 ------------------------------------------------------------------------------------

BAD_TARGETS: tuple[Json, ...] = (
    None,
    "target",
    [],
    {},
    {**target(), "more": 1},
    {key: value for key, value in target().items() if key != "pane_id"},
    *({**target(), key: bad} for key in ("instance_id", "incarnation")
      for bad in (None, 1, "", "0" * 31, "0" * 33, "A" * 32, "g" * 32, "\u0660" * 32)),
    *({**target(), key: bad} for key in ("pane_id", "pane_generation")
      for bad in (None, 1, 1.0, True, "", "01", "+1", "-1", "1 ", "1_0", "\u0661", str(2**64))),
)  # fmt: skip


@pytest.mark.parametrize("bad", BAD_TARGETS, ids=repr)
def test_a_malformed_target(bad: Json) -> None:
    body = {"target": bad}
    assert said_of("term.session", body) == "INVALID_ARGUMENT target"
    assert said_of("term.nothing", body) == "INVALID_ARGUMENT target"
    named = body_for(RENAME, affected=())
    assert said_of(RENAME, {**named, "affected": [bad]}) == "INVALID_ARGUMENT affected"


def test_numbers_go_up_to_the_last_u64() -> None:
    last = str(2**64 - 1)
    request = parse_request("term.session", encoded({"target": target(pane_id=last)}))
    assert request.target.pane_id == 2**64 - 1
    assert request.target.to_json() == target(pane_id=last)


@pytest.mark.parametrize(
    "raw",
    [
        b"", b" ", b"null", b"[]", b"1", b"{", b"\xff", b'{"a":NaN}',
        b'{"target":1,"target":1}', b'{"target":' + b"[" * 20 + b"]" * 20 + b"}",
        b'{"text":"\\ud800"}',
    ],
)  # fmt: skip
def test_what_is_no_strict_object(raw: bytes) -> None:
    assert said_of("term.session", raw) == "INVALID_ARGUMENT body"


def test_the_size_of_a_body_is_exact() -> None:
    raw = encoded(body_for("term.type", text="x"))
    fits = raw + b" " * (MAX_REQUEST_BODY - len(raw))
    assert said_of("term.type", fits) == "go"
    assert said_of("term.type", fits + b" ") == "INVALID_ARGUMENT body"


@pytest.mark.parametrize(
    ("verb", "extra"),
    [
        ("term.session", "request_id"),
        ("term.session", "pane"),
        ("term.snapshot", "affected"),
        ("term.type", "affected"),
        ("term.type", "confirm"),
        ("term.paste", "operation"),
        ("term.pane.close", "pane"),
        ("term.pane.close", "foreground_generation"),
        ("term.tab.select", "id"),
        ("term.operation", "request_id"),
        ("term.nothing", "anything"),
        ("term.props.get", "text"),
        ("term.props.set", "text"),
    ],
)
def test_fields_that_a_verb_does_not_take(verb: str, extra: str) -> None:
    body = body_for(verb) if verb != "term.nothing" else {"target": target()}
    refused = Rig().evaluate(AMBIENT, verb, {**body, extra: "secret-value"})
    assert said(refused) == "INVALID_ARGUMENT unknown_field"
    assert isinstance(refused, Refuse)
    assert "secret-value" not in json.dumps(refused.refusal.body())
    assert extra == "request_id" or extra not in refused.refusal.message.split()


@pytest.mark.parametrize(
    ("field", "bad"),
    [
        ("request_id", 1), ("request_id", "01"), ("request_id", None), ("request_id", "r-1"),
        ("request_epoch", ""), ("request_epoch", "C" * 32), ("request_epoch", 5),
        ("foreground_generation", 1), ("foreground_generation", "-1"),
    ],
)  # fmt: skip
def test_what_is_around_a_verbs_own_fields(field: str, bad: Json) -> None:
    body = {**body_for("term.type"), field: bad}
    assert said_of("term.type", body) == f"INVALID_ARGUMENT {field}"


def test_affected_is_bounded_and_names_a_pane_once() -> None:
    many: list[Json] = [{"x": 1}] * 129
    assert said_of(RENAME, body_for(RENAME, affected=()) | {"affected": many}) == (
        "INVALID_ARGUMENT affected"
    )
    twice = body_for(RENAME, affected=(2, 2))
    assert said_of(RENAME, twice) == "go"
    assert said_of(RENAME, body_for(RENAME, affected=(1, 2))) == "go"
    twice["affected"][1]["pane_generation"] = "9"
    assert said_of(RENAME, twice) == "INVALID_ARGUMENT affected"
    itself = body_for(RENAME, affected=(1, 2))
    itself["affected"][0]["pane_generation"] = "9"
    assert said_of(RENAME, itself) == "INVALID_ARGUMENT affected"


PROPERTIES: tuple[tuple[str, dict[str, Json], str], ...] = (
    ("term.props.get", {"property": "state"}, "term.session"),
    ("term.props.get", {"property": "contents"}, "term.snapshot"),
    ("term.props.set", {"property": "selected", "value": True}, "term.pane.select"),
    ("term.props.set", {"property": "input", "value": "ls\n"}, "term.type"),
)


@pytest.mark.parametrize(("verb", "own", "stands_for"), PROPERTIES)
def test_a_property_is_the_verb_that_it_stands_for(
    verb: str, own: dict[str, Json], stands_for: str
) -> None:
    around = body_for(stands_for)
    body = {key: around[key] for key in around.keys() - {"text", "enter"}} | own
    decision = go(Rig().evaluate(AMBIENT, verb, body))
    assert decision.spec.name == stands_for
    assert decision.request.command == verb
    assert decision.args.get("contents", False) is (own["property"] == "contents")
    assert decision.args.get("text") == ("ls\n" if own["property"] == "input" else None)


@pytest.mark.parametrize(
    ("verb", "own"),
    [
        ("term.props.get", {"property": "selected"}),
        ("term.props.get", {"property": "title"}),
        ("term.props.set", {"property": "state", "value": True}),
        ("term.props.set", {"property": "selected", "value": False}),
        ("term.props.set", {"property": "selected", "value": 1}),
        ("term.props.set", {"property": "selected"}),
        ("term.props.set", {"property": "input", "value": True}),
        ("term.props.set", {"property": "input"}),
    ],
)
def test_other_properties_are_unsupported(verb: str, own: dict[str, Json]) -> None:
    body = {"target": target(), **own}
    assert said_of(verb, body) == "UNSUPPORTED unknown_property"
    assert said_of(verb, {**body, "property": 3}) == "INVALID_ARGUMENT property"


def test_a_property_takes_what_its_verb_takes() -> None:
    selected = body_for("term.props.set", foreground_generation="1")
    assert said_of("term.props.set", selected) == "INVALID_ARGUMENT unknown_field"
    typed = body_for("term.type", text=None, enter=None, property="input", value="x")
    assert said_of("term.props.set", typed) == "go"
    without = {key: value for key, value in typed.items() if key != "foreground_generation"}
    assert said_of("term.props.set", without) == "INVALID_ARGUMENT foreground_generation"


# -- 6 to 10 ------------------------------------------------------------------------------------


@pytest.mark.parametrize("field", ["instance_id", "incarnation"])
def test_ids_of_an_earlier_term_are_an_unknown_outcome_for_ambient_callers(field: str) -> None:
    for verb in ("term.type", "term.operation", "term.tab.close"):
        body = body_for(verb)
        body["target"][field] = OTHER
        assert said_of(verb, body) == "UNKNOWN_OUTCOME another_incarnation"
        assert said_of(verb, body, AMBIENT, strict()) == "UNKNOWN_OUTCOME another_incarnation"
        assert said_of(verb, body, child(), strict()) == "FORBIDDEN"
        assert said_of(verb, body, term()) == "FORBIDDEN"
    read = body_for("term.session")
    read["target"][field] = OTHER
    assert said_of("term.session", read) == "FORBIDDEN"


def test_a_pane_shell_has_its_own_pane_and_its_own_capabilities() -> None:
    body = body_for("term.session")
    assert said_of("term.session", body, child(), strict()) == "need"
    assert said_of("term.session", body, child(2, 2), strict()) == "FORBIDDEN"
    assert said_of("term.session", body, child(1, 2), strict()) == "FORBIDDEN"
    assert said_of("term.session", body, child(capabilities=("input",)), strict()) == "FORBIDDEN"


def test_contents_take_the_place_of_state_and_a_program_comes_on_top() -> None:
    shows, metadata = body_for("term.snapshot", contents=True), body_for("term.snapshot")
    reader = child(capabilities=("read_contents",))
    assert said_of("term.snapshot", shows, reader, strict()) == "need"
    assert said_of("term.snapshot", metadata, reader, strict()) == "FORBIDDEN"
    stater = child(capabilities=("read_state",))
    assert said_of("term.snapshot", shows, stater, strict()) == "FORBIDDEN"
    assert said_of("term.snapshot", metadata, stater, strict()) == "need"
    plain, program = body_for("term.tab.new"), body_for("term.tab.new", argv=["true"])
    manager = term(capabilities=("manage_layout",))
    assert said_of("term.tab.new", plain, manager, strict()) == "go"
    assert said_of("term.tab.new", program, manager, strict()) == "FORBIDDEN"
    assert said_of("term.tab.new", program, term(), strict()) == "go"


@pytest.mark.parametrize("odd", [0, "", None, [], 1])
def test_an_odd_contents_needs_what_contents_need(odd: Json) -> None:
    body = {**body_for("term.snapshot"), "contents": odd}
    stater = child(capabilities=("read_state",))
    assert said_of("term.snapshot", body, stater, strict()) == "FORBIDDEN"
    assert said_of("term.snapshot", body) == "INVALID_ARGUMENT contents"


@pytest.mark.parametrize("verb", ["term.tab.new", "term.pane.split"])
def test_a_pane_shell_opens_nothing_outside_its_grant(verb: str) -> None:
    rig = strict()
    rig.world.tabs = [[1]]
    assert said_of(verb, body_for(verb, affected=()), child(), rig) == "FORBIDDEN"
    assert said_of(verb, body_for(verb, affected=()), term(), rig) == "go"
    rig.world.stance = Posture.OPEN
    assert said_of(verb, body_for(verb, affected=()), child(), rig) == "go"


def test_a_bound_caller_needs_a_lease_that_was_checked_a_moment_ago() -> None:
    rig = strict()
    body = body_for("term.session")
    need = rig.evaluate(child(), "term.session", body)
    assert isinstance(need, Need)
    assert need.ref.record_id == "b" * 32
    rig.lease(need)
    assert said_of("term.session", body, child(), rig) == "go"
    rig.now_ms += LEASE_FRESH_MS - 1
    assert said_of("term.session", body, child(), rig) == "go"
    rig.now_ms += 1
    assert said_of("term.session", body, child(), rig) == "need"
    assert said_of("term.session", body, child(binding=2), rig) == "need"


def test_a_lease_that_is_over_does_not_do() -> None:
    rig = strict()
    need = rig.evaluate(child(), "term.session", body_for("term.session"))
    assert isinstance(need, Need)
    rig.lease(need, remaining_ms=100)
    rig.now_ms += 99
    assert said_of("term.session", body_for("term.session"), child(), rig) == "go"
    rig.now_ms += 1
    assert said_of("term.session", body_for("term.session"), child(), rig) == "need"


def test_open_posture_and_the_term_itself_ask_for_no_lease() -> None:
    assert said_of("term.session", body_for("term.session"), child()) == "go"
    assert said_of("term.session", body_for("term.session"), term(), strict()) == "go"


def test_a_permit_ends_with_the_first_right_that_ends() -> None:
    rig = strict()
    body = body_for("term.session")
    assert go(rig.evaluate(AMBIENT, "term.session", body)).permit_until_ms == NOW_MS + PERMIT_MS
    need = rig.evaluate(child(), "term.session", body)
    assert isinstance(need, Need)
    rig.lease(need, remaining_ms=700)
    allowed = go(rig.evaluate(child(), "term.session", body))
    assert (allowed.permit_until_ms, allowed.caller) == (NOW_MS + 700, need.ref)
    rig.world.mine = replace(OWN, remaining_ms=300)
    assert go(rig.evaluate(child(), "term.session", body)).permit_until_ms == NOW_MS + 300


# -- 11 -----------------------------------------------------------------------------------------


def test_a_repeat_gets_the_recorded_reply_even_when_the_pane_is_gone() -> None:
    rig = Rig()
    body = body_for("term.pane.close")
    rig.perform(go(rig.evaluate(AMBIENT, "term.pane.close", body)), Sealed(0, b"closed", "ok"))
    del rig.world.facts[1]
    told = rig.evaluate(AMBIENT, "term.pane.close", body)
    assert isinstance(told, Told)
    assert told.reply == Sealed(0, b"closed", "ok")
    spaced = encoded(body).replace(b":", b": ")
    assert said_of("term.pane.close", spaced, AMBIENT, rig) == "CONFLICT request_mismatch"
    other = replace(AMBIENT, connection_id=OTHER)
    assert said_of("term.pane.close", body, other, rig) == "FORBIDDEN"


def test_the_same_bytes_under_another_verb_are_another_request() -> None:
    rig = Rig()
    body = body_for("term.tab.close")
    rig.perform(go(rig.evaluate(AMBIENT, "term.tab.close", body)))
    assert said_of("term.pane.close", body, AMBIENT, rig) == "CONFLICT request_mismatch"


def test_a_bound_caller_gets_what_is_recorded_after_it_connected_anew() -> None:
    rig = Rig()
    body = body_for("term.type")
    rig.perform(go(rig.evaluate(child(), "term.type", body)))
    resumed = replace(child(binding=2), connection_id=OTHER)
    assert said_of("term.type", body, resumed, rig) == "told"
    never_arrived = body_for("term.type", request_id="2")
    assert said_of("term.type", never_arrived, resumed, rig) == (
        "UNKNOWN_OUTCOME stale_request_epoch"
    )
    afresh = body_for("term.type", request_id="2", request_epoch=OTHER)
    assert said_of("term.type", afresh, resumed, rig) == "go"


def test_while_it_runs_a_repeat_is_pending() -> None:
    rig = Rig()
    body = body_for("term.type", request_id="7")
    first = go(rig.evaluate(AMBIENT, "term.type", body))
    rig.ledger.reserve(first.actor, 7, first.request.digest, first.target, "term.type", now=rig.now)
    told = rig.evaluate(AMBIENT, "term.type", body)
    assert isinstance(told, Told)
    assert (told.reply, told.body) == (None, {"status": "pending", "operation_id": "7"})
    asked = body_for("term.operation", operation_id="7")
    assert rig.evaluate(AMBIENT, "term.operation", asked) == told
    lower = body_for("term.type", request_id="6")
    assert said_of("term.type", lower, AMBIENT, rig) == "UNKNOWN_OUTCOME retired_request_id"


def test_an_operation_is_told_to_its_actor_on_its_target() -> None:
    rig = Rig()
    rig.perform(go(rig.evaluate(AMBIENT, "term.type", body_for("term.type"))))
    asked = body_for("term.operation")
    assert said_of("term.operation", asked, AMBIENT, rig) == "told"
    assert said_of("term.operation", {"target": target()}, AMBIENT, rig) == (
        "INVALID_ARGUMENT operation_id"
    )
    assert said_of("term.operation", {**asked, "target": target(2)}, AMBIENT, rig) == "FORBIDDEN"
    other = replace(AMBIENT, connection_id=OTHER)
    assert said_of("term.operation", asked, other, rig).startswith("UNKNOWN_OUTCOME")
    assert said_of("term.operation", asked, replace(AMBIENT, unix_uid=7), rig).startswith("UNKN")


# -- 12 and 13 ----------------------------------------------------------------------------------


def test_a_pane_must_be_there_ready_and_of_that_generation() -> None:
    for facts in (None, PaneFacts(1, ready=False, tab=1), PaneFacts(2, ready=True, tab=1)):
        rig = Rig()
        rig.world.facts.pop(1)
        if facts is not None:
            rig.world.facts[1] = facts
        for verb in ("term.session", "term.type", "term.wait", "term.tab.close"):
            assert said_of(verb, body_for(verb), AMBIENT, rig) == "FORBIDDEN"


def test_only_a_restart_may_act_on_a_pane_whose_program_has_ended() -> None:
    rig = Rig()
    rig.world.facts[1] = PaneFacts(1, ready=False, tab=1, ended=True)
    assert said_of("term.pane.restart", body_for("term.pane.restart"), AMBIENT, rig) == "go"
    assert said_of("term.pane.close", body_for("term.pane.close"), AMBIENT, rig) == "FORBIDDEN"
    rig.world.facts[1] = PaneFacts(1, ready=False, tab=1)
    assert said_of("term.pane.restart", body_for("term.pane.restart"), AMBIENT, rig) == "FORBIDDEN"
    rig.world.facts[1] = PaneFacts(2, ready=False, tab=1, ended=True)
    assert said_of("term.pane.restart", body_for("term.pane.restart"), AMBIENT, rig) == "FORBIDDEN"


def test_every_affected_pane_is_named_and_live_at_its_generation() -> None:
    body = body_for("term.pane.close")
    rig = Rig()
    rig.world.facts[2] = PaneFacts(2, ready=False, tab=1)
    assert said_of("term.pane.close", body, AMBIENT, rig) == "go"
    assert said_of("term.pane.close", body_for("term.pane.close", affected=()), AMBIENT) == (
        "FORBIDDEN"
    )
    rig.world.facts[2] = PaneFacts(3, ready=True, tab=1)
    assert said_of("term.pane.close", body, AMBIENT, rig) == "FORBIDDEN"
    del rig.world.facts[2]
    assert said_of("term.pane.close", body, AMBIENT, rig) == "FORBIDDEN"


def test_more_may_be_named_if_that_is_allowed() -> None:
    more = body_for(RENAME, affected=(2, 3))
    assert said_of(RENAME, more) == "go"
    gone = Rig()
    del gone.world.facts[3]
    assert said_of(RENAME, more, AMBIENT, gone) == "go"
    more["affected"][1]["incarnation"] = OTHER
    assert said_of(RENAME, more) == "FORBIDDEN"


def test_the_second_pane_is_named_and_live() -> None:
    for verb, field in (("term.pane.swap", "with"), ("term.pane.join", "beside")):
        assert said_of(verb, body_for(verb)) == "go"
        far = body_for(verb, affected=(2, 3)) | {field: "3"}
        assert said_of(verb, far) == "go"
        assert said_of(verb, body_for(verb) | {field: "3"}) == "FORBIDDEN"
        assert said_of(verb, body_for(verb, affected=(2, 4)) | {field: "4"}) == "FORBIDDEN"
        for bad in (2, "02", ""):
            assert said_of(verb, body_for(verb) | {field: bad}) == f"INVALID_ARGUMENT {field}"
        missing = body_for(verb)
        del missing[field]
        assert said_of(verb, missing) == f"INVALID_ARGUMENT {field}"


def test_closing_needs_terminate_on_what_goes_and_layout_on_the_rest() -> None:
    def may(verb: str, *capabilities: str) -> str:
        return said_of(verb, body_for(verb), term(capabilities=capabilities), strict())

    assert may("term.tab.close", "terminate") == "go"
    assert may("term.tab.close", "manage_layout") == "FORBIDDEN"
    assert may("term.pane.close", "terminate") == "FORBIDDEN"
    assert may("term.pane.close", "manage_layout", "terminate") == "go"
    assert may("term.pane.select", "terminate") == "FORBIDDEN"
    assert may("term.pane.select", "manage_layout") == "go"


# -- 14 and 15 ----------------------------------------------------------------------------------

NEVER_WITHOUT_EPOCH = ("term.pane.restart",)
ONE_SHOT = ("term.type", "term.keys", "term.tab.new", "term.pane.close", RENAME)


def test_the_epoch_may_be_left_out_in_open_posture_by_callers_without_a_record() -> None:
    for verb in ONE_SHOT:
        body = body_for(verb, request_epoch=None)
        assert said_of(verb, body) == "go"
        assert said_of(verb, body, child()) == "INVALID_ARGUMENT request_epoch"
        assert said_of(verb, body, term()) == "INVALID_ARGUMENT request_epoch"
        assert said_of(verb, body, AMBIENT, strict()) == "INVALID_ARGUMENT request_epoch"
    for verb in NEVER_WITHOUT_EPOCH:
        body = body_for(verb, request_epoch=None)
        assert said_of(verb, body) == "INVALID_ARGUMENT request_epoch"
    program = body_for("term.tab.new", request_epoch=None, argv=["true"])
    assert said_of("term.tab.new", program) == "INVALID_ARGUMENT request_epoch"


def test_an_epoch_of_another_connection_is_an_unknown_outcome() -> None:
    for principal in (AMBIENT, term()):
        body = body_for("term.type", request_epoch=OTHER)
        assert said_of("term.type", body, principal) == "UNKNOWN_OUTCOME stale_request_epoch"


@pytest.mark.parametrize("chosen", [None, "0"])
def test_a_mutation_names_its_request(chosen: str | None) -> None:
    for verb in ("term.type", "term.pane.close", "term.pane.restart"):
        body = body_for(verb, request_id=chosen)
        assert said_of(verb, body) == "INVALID_ARGUMENT request_id"


def test_input_names_the_foreground_generation() -> None:
    for verb in ("term.type", "term.keys", "term.paste", "term.mouse"):
        body = body_for(verb, foreground_generation=None)
        assert said_of(verb, body) == "INVALID_ARGUMENT foreground_generation"
    assert go(Rig().evaluate(AMBIENT, "term.type", body_for("term.type"))).request.foreground == 1


@pytest.mark.parametrize(
    ("verb", "changed", "field"),
    [
        ("term.type", {"text": "\u20ac"}, "text"),
        ("term.type", {"text": None}, "text"),
        ("term.keys", {"keys": ["Nope"]}, "unknown_key"),
        ("term.pane.resize", {"cols": None}, "cols"),
        ("term.wait", {"quiet_ms": None}, "nothing"),
        ("term.snapshot", {"since": 0}, "not_together"),
        ("term.snapshot", {"lines": 3}, "not_together"),
        ("term.snapshot", {"format": "html"}, "not_together"),
        ("term.snapshot", {"command": True}, "not_together"),
        ("term.snapshot", {"contents": True, "since": 1, "line": 1}, "not_together"),
        ("term.events", {"kinds": ["nope"]}, "kinds"),
        ("term.pane.join", {"dir": "up"}, "dir"),
    ],
)
def test_own_fields(verb: str, changed: dict[str, Json], field: str) -> None:
    body = {**body_for(verb), **changed}
    body = {name: value for name, value in body.items() if value is not None}
    assert said_of(verb, body) == f"INVALID_ARGUMENT {field}"


def test_what_goes_has_its_own_fields_checked_with_defaults() -> None:
    found = go(Rig().evaluate(AMBIENT, "term.pane.swap", body_for("term.pane.swap")))
    assert found.args == {"with": 2}
    assert found.request.other == 2
    shown = go(
        Rig().evaluate(AMBIENT, "term.snapshot", body_for("term.snapshot", contents=True, since=3))
    )
    assert shown.args == {"contents": True, "format": "text", "since": 3, "command": False}
    assert checked_args.__module__.endswith("native.checks")


# -- the confused deputy ------------------------------------------------------------------------


def test_the_affected_set_is_of_the_moment_of_the_last_evaluation() -> None:
    rig = Rig()
    ask = Ask(AMBIENT, "term.tab.close", encoded(body_for("term.tab.close")))
    assert said(rig.again(ask)) == "go"
    rig.world.tabs[0].append(4)
    rig.world.facts[4] = PaneFacts(4, ready=True, tab=1)
    assert said(rig.again(ask)) == "FORBIDDEN"
    assert rig.ledger.statistics() == Rig().ledger.statistics()


def test_an_id_of_a_pane_that_is_given_again_is_another_pane() -> None:
    rig = Rig()
    ask = Ask(AMBIENT, "term.type", encoded(body_for("term.type")))
    assert said(rig.again(ask)) == "go"
    rig.world.facts[1] = PaneFacts(2, ready=True, tab=1)
    assert said(rig.again(ask)) == "FORBIDDEN"
    record = replace(OWN_RECORD, incarnation=OTHER)
    rig.world.mine = replace(OWN, record=record)
    assert said(rig.again(ask)) == "UNKNOWN_OUTCOME another_incarnation"


def test_a_posture_that_turns_strict_is_heeded_at_the_next_evaluation() -> None:
    rig = restricted()
    rig.world.stance = Posture.OPEN
    ask = Ask(AMBIENT, "term.type", encoded(body_for("term.type")))
    assert said(rig.again(ask)) == "go"
    rig.world.stance = Posture.STRICT
    assert said(rig.again(ask)) == "FORBIDDEN"


Denial: TypeAlias = tuple[str, Who, str, dict[str, Any], Callable[[Rig], None]]


def denials() -> list[Denial]:
    """Why something may be denied: rig, caller, verb, body, and what else is done to the world."""

    def gone(rig: Rig) -> None:
        del rig.world.facts[1]

    def unready(rig: Rig) -> None:
        rig.world.facts[1] = PaneFacts(1, ready=False, tab=1)

    def leaseless(rig: Rig) -> None:
        rig.world.mine = replace(OWN, remaining_ms=0)

    def nameless(rig: Rig) -> None:
        rig.world.mine = None

    def private(rig: Rig) -> None:
        rig.world.mine = replace(OWN, record=replace(OWN_RECORD, policy=RESTRICTED))

    typed, closed = body_for("term.type"), body_for("term.tab.close")
    absent = body_for("term.type", target=target(9))
    stale = body_for("term.type", target=target(pane_generation="8"))
    zero = body_for("term.type", target=target(pane_generation="0"))
    return [
        ("no stamp", None, "term.type", typed, _nothing),
        ("a node", NODE, "term.type", typed, _nothing),
        *((who, STRANGERS[who], "term.type", typed, _nothing) for who in STRANGERS),
        ("restricted", AMBIENT, "term.type", typed, private),
        ("no such pane", AMBIENT, "term.type", absent, _nothing),
        ("a stale generation", AMBIENT, "term.type", stale, _nothing),
        ("no generation", AMBIENT, "term.type", zero, _nothing),
        ("the pane is gone", AMBIENT, "term.type", typed, gone),
        ("it is not ready", AMBIENT, "term.type", typed, unready),
        ("the own lease is over", AMBIENT, "term.type", typed, leaseless),
        ("no record", AMBIENT, "term.type", typed, nameless),
        ("another pane's shell", child(2, 2), "term.type", typed, _nothing),
        ("an earlier shell", child(1, 9), "term.type", typed, _nothing),
        ("no capability", child(capabilities=("read_state",)), "term.type", typed, _nothing),
        ("opens a tab", child(), "term.tab.new", body_for("term.tab.new"), _nothing),
        ("an unnamed pane", AMBIENT, "term.tab.close", closed | {"affected": []}, _nothing),
        ("an earlier term", child(), "term.type", body_for(
            "term.type", target=target(incarnation=OTHER)), _nothing),
    ]  # fmt: skip


@pytest.mark.parametrize("denial", denials(), ids=[each[0] for each in denials()])
def test_denials_are_the_same_bytes_and_leave_no_trace(denial: Denial) -> None:
    _, principal, verb, body, change = denial
    rig = strict()
    rig.leases.begin(child_ref(), rig.now_ms)
    change(rig)
    before = (rig.ledger.statistics(), rig.leases.statistics())
    decision = rig.evaluate(principal, verb, body)
    assert isinstance(decision, Refuse)
    assert encoded(decision.refusal.body()) == encoded(forbidden().body())
    assert decision.refusal.rc == forbidden().rc
    assert (rig.ledger.statistics(), rig.leases.statistics()) == before
    rig.ledger.verify()


def child_ref() -> Ref:
    need = strict().evaluate(child(), "term.session", body_for("term.session"))
    assert isinstance(need, Need)
    return need.ref


def test_ambient_ownership_is_a_documented_hole_of_default_open() -> None:
    """A program in a pane that connects by itself is no pane shell but its user."""
    inside: Principal = replace(AMBIENT, connection_id="5" * 32, peer_pid=77)
    body = body_for("term.tab.close", request_epoch="5" * 32)
    assert said_of("term.tab.close", body, inside, strict()) == "go"
    assert said_of("term.tab.close", body, inside, restricted()) == "FORBIDDEN"


def test_a_refusal_is_a_decision_and_other_errors_are_not_hidden(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuses(*_: object) -> None:
        raise Refusal(ErrorCode.BUSY, "busy")

    def breaks(*_: object) -> None:
        raise RuntimeError("a fault of the service")

    monkeypatch.setattr(module, "check_epoch", refuses)
    assert said_of("term.type", body_for("term.type")) == "BUSY"
    monkeypatch.setattr(module, "check_epoch", breaks)
    with pytest.raises(RuntimeError):
        said_of("term.type", body_for("term.type"))


def test_the_very_bytes_make_the_digest() -> None:
    raw = encoded(body_for("term.type"))
    assert parse_request("term.type", raw).digest == parse_request("term.type", raw).digest
    assert parse_request("term.type", raw).digest != parse_request("term.type", raw + b" ").digest
    assert parse_request("term.session", encoded(body_for("term.session"))).digest == b""
    assert MINE in raw.decode()
