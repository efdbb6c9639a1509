"""The order of checks, replies and records of the global lane (specs/global-lane.md)."""

from __future__ import annotations

import json

import pytest

from brokerd.client import MAX_RESPONSE_BODY, ErrorCode, Json, Principal, Refusal
from termnode.control.posture import Posture
from termnode.control.spec import Kind
from termnode.control.verbs import BY_NAME, HELP, INFO, TABLE
from termnode.lanes.calls import Admitted, Answer, Join, Reply
from tests.support.lane import BODIES, Local, Remote, Rig, code, decoded, details

MUTATIONS = [spec.name for spec in TABLE if spec.mutates]
OTHERS = [spec.name for spec in TABLE if not spec.mutates and spec.name not in {INFO, HELP}]


def with_id(verb: str, request_id: str = "r-1") -> dict[str, Json]:
    return {**BODIES[verb], "request_id": request_id}


def test_every_verb_of_the_table_is_exercised_here() -> None:
    assert set(BODIES) == set(BY_NAME)
    assert set(MUTATIONS) | set(OTHERS) | {INFO, HELP} == set(BY_NAME)


@pytest.mark.parametrize("verb", MUTATIONS + OTHERS)
def test_a_valid_call_is_admitted_and_its_reply_delivered_once(verb: str) -> None:
    rig = Rig()
    ticket = rig.ticket(verb, BODIES[verb])
    assert ticket.spec is BY_NAME[verb]
    settled = rig.settle(ticket, Reply.ok(pane=7))
    assert settled.calls == (ticket.call,)
    assert (settled.reply.rc, decoded(settled.reply)) == (0, {"pane": 7})
    assert rig.lane.statistics() == {
        "reads": 0, "mutations": 0, "waits": 0, "subscriptions": 0, "joined": 0, "pending": 0,
        "done": 0,
    }  # fmt: skip
    with pytest.raises(ValueError, match="already settled"):
        rig.settle(ticket)


@pytest.mark.parametrize("verb", ["INFO", "info", "HELP", "help"])
@pytest.mark.parametrize("posture", list(Posture))
def test_info_and_help_are_answered_at_once_in_both_postures(verb: str, posture: Posture) -> None:
    body = decoded(Rig(posture=posture).answer(verb))
    assert isinstance(body["verbs"], list)
    assert len(body["verbs"]) == len(TABLE)
    if verb.upper() == INFO:
        assert (body["posture"], body["service"]) == (posture, "term")


REFUSED = [verb for verb in (*MUTATIONS, *OTHERS) if not BY_NAME[verb].always]


@pytest.mark.parametrize("verb", [*REFUSED, "Info", "term.nothing", ""])
def test_strict_posture_refuses_all_else_alike(verb: str) -> None:
    rig = Rig(posture=Posture.STRICT)
    # Alike: a good body, a bad one and one that is too large give the same bytes.
    replies = {rig.answer(verb, body).raw for body in (BODIES.get(verb), b"{", b" " * 9000)}
    assert len(replies) == 1
    assert json.loads(replies.pop()) == {
        "error_code": "FORBIDDEN", "message": "forbidden", "details": {},
    }  # fmt: skip


def test_a_view_is_asked_for_in_strict_posture_too_but_by_no_other_machine() -> None:
    rig = Rig(posture=Posture.STRICT)
    rig.ticket("term.view.open")
    refused = rig.answer("term.view.open", principal=Remote())
    assert refused.raw == rig.answer("term.tabs").raw


def test_no_stamp_is_refused_before_posture_is_read() -> None:
    rig = Rig()
    for verb in (*BODIES, "term.nothing"):
        assert code(rig.answer(verb, principal=None)) == "FORBIDDEN"
    assert rig.asked_posture == 0


def test_a_stamp_without_uid_or_machine_is_no_principal() -> None:
    rig = Rig()
    assert code(rig.answer("term.tabs", principal=Local(unix_uid=None))) == "FORBIDDEN"
    assert code(rig.answer("term.tabs", principal=Remote(owner_node=""))) == "FORBIDDEN"


def test_another_machine_gets_everything_in_open_and_nothing_in_strict() -> None:
    rig = Rig()
    assert isinstance(rig.admit("term.tabs", principal=Remote()), Admitted)
    rig.posture = Posture.STRICT
    for verb in (INFO, HELP, "term.tabs"):
        assert code(rig.answer(verb, principal=Remote())) == "FORBIDDEN"


def test_the_brokers_principal_is_a_caller() -> None:
    principal = Principal(
        owner_node="here", unix_uid=0, unix_gid=0, peer_pid=1, broker_epoch="0" * 32,
        connection_id="1" * 32,
    )  # fmt: skip
    rig = Rig()
    assert rig.ticket("term.tabs", principal=principal).scope == ("uid", 0)


@pytest.mark.parametrize("verb", ["term.nothing", "Info", "TERM.TABS", "term.tabs ", ""])
def test_an_unknown_verb_is_unsupported_whatever_its_body(verb: str) -> None:
    assert code(Rig().answer(verb, b"not json")) == "UNSUPPORTED"


def test_a_body_of_the_limit_passes_and_one_byte_more_does_not() -> None:
    rig = Rig()
    body = b'{"text":"' + b"a" * 8181 + b'"}'
    assert len(body) == 8192
    assert isinstance(rig.admit("term.type", body), Admitted)
    assert details(rig.answer("term.type", body + b" ")) == {"field": "body", "limit": 8192}


ONE_OF_SEVERAL = {"term.wait": "until", "term.pane.resize": "cols"}
"""Verbs that take one of several fields at least, and the one that their refusal names."""


@pytest.mark.parametrize("verb", list(BODIES))
def test_an_empty_body_will_do_only_without_required_fields(verb: str) -> None:
    needed = [field.name for field in BY_NAME[verb].fields if field.required]
    needed += [ONE_OF_SEVERAL[verb]] if verb in ONE_OF_SEVERAL else []
    verdict = Rig().admit(verb, b"")
    refused = isinstance(verdict, Answer) and code(verdict.reply) == "INVALID_ARGUMENT"
    assert refused == bool(needed)
    assert not refused or details(Rig().answer(verb, b""))["field"] == needed[0]
    assert code(Rig().answer(verb, b" ")) == "INVALID_ARGUMENT"


@pytest.mark.parametrize("body", [b"[]", b"1", b"null", b'{"a":1,"a":1}', b'{"id":NaN}', b"\xff"])
def test_what_is_not_a_strict_json_object_is_refused(body: bytes) -> None:
    sealed = Rig().answer("term.tab.select", body)
    assert (code(sealed), details(sealed)["field"]) == ("INVALID_ARGUMENT", "body")


@pytest.mark.parametrize("verb", MUTATIONS)
def test_a_repeat_replays_the_recorded_reply(verb: str) -> None:
    rig = Rig()
    first = rig.settle(rig.ticket(verb, with_id(verb)), Reply.ok(id=9))
    body = json.dumps(with_id(verb), indent=2, sort_keys=True).encode()
    assert rig.answer(verb, body) == first.reply
    # Its own error replies too: they are what became of it.
    gone = Reply.refused(Refusal(ErrorCode.NOT_FOUND, "gone"))
    rig.settle(rig.ticket(verb, with_id(verb, "r-2")), gone)
    assert code(rig.answer(verb, with_id(verb, "r-2"))) == "NOT_FOUND"


@pytest.mark.parametrize("verb", MUTATIONS)
def test_the_same_id_for_another_request_is_a_conflict(verb: str) -> None:
    rig = Rig()
    rig.settle(rig.ticket(verb, with_id(verb)))
    other = next(name for name in MUTATIONS if name != verb)
    for name, body in ((other, with_id(other)), (verb, {**with_id(verb), "pane": 2})):
        sealed = rig.answer(name, body)
        assert code(sealed) == "CONFLICT"
        assert details(sealed)["reason"] == "request_mismatch"


def test_one_and_one_point_nought_and_true_are_other_arguments() -> None:
    rig = Rig()
    rig.settle(rig.ticket("term.tab.select", {"id": 1, "request_id": "r"}))
    for value in (1.0, True, "1"):
        assert code(rig.answer("term.tab.select", {"id": value, "request_id": "r"})) == "CONFLICT"


def test_ids_of_different_users_and_machines_are_apart() -> None:
    rig = Rig()
    for caller in (Local(), Local(unix_uid=1001), Remote(), Remote(owner_node="elsewhere")):
        rig.settle(rig.ticket("term.tab.close", with_id("term.tab.close"), principal=caller))
    # Two processes of one user share theirs.
    same = Local(peer_pid=1)
    assert isinstance(
        rig.admit("term.tab.close", with_id("term.tab.close"), principal=same), Answer
    )


@pytest.mark.parametrize("verb", OTHERS)
def test_reads_and_waits_never_consult_the_record(verb: str) -> None:
    rig = Rig()
    rig.settle(rig.ticket("term.tab.new", with_id("term.tab.new")))
    for _ in range(2):
        ticket = rig.ticket(verb, with_id(verb))
        assert ticket.key is None
        rig.settle(ticket)
    assert rig.lane.statistics()["done"] == 1


@pytest.mark.parametrize("bad", ["", "x" * 129, "ä", "a\n", 7, None, True, ["r"]])
def test_a_malformed_request_id_is_refused_by_name(bad: Json) -> None:
    for verb in ("term.tab.close", "term.tabs"):
        sealed = Rig().answer(verb, {"request_id": bad})
        assert (code(sealed), details(sealed)["field"]) == ("INVALID_ARGUMENT", "request_id")


def test_invalid_arguments_spend_no_id() -> None:
    rig = Rig()
    assert code(rig.answer("term.tab.select", {"id": "1", "request_id": "r"})) == "INVALID_ARGUMENT"
    assert isinstance(rig.admit("term.tab.select", {"id": 1, "request_id": "r"}), Admitted)


@pytest.mark.parametrize("refusal", [ErrorCode.RESOURCE_LIMIT, ErrorCode.UNAVAILABLE])
def test_refusals_about_load_are_not_recorded(refusal: ErrorCode) -> None:
    rig = Rig()
    body = with_id("term.tab.new")
    settled = rig.settle(rig.ticket("term.tab.new", body), Reply.refused(Refusal(refusal, "full")))
    assert code(settled.reply) == refusal
    assert isinstance(rig.admit("term.tab.new", body), Admitted)


def test_a_repeat_of_a_running_request_joins_it_and_gets_the_same_bytes() -> None:
    rig = Rig()
    body = with_id("term.tab.new")
    ticket = rig.ticket("term.tab.new", body)
    rig.now += 1
    joined = rig.admit("term.tab.new", body, reply_to="second")
    assert joined == Join(ticket)
    conflict = rig.answer("term.tab.new", {**body, "remain": 6})
    assert code(conflict) == "CONFLICT"
    rig.now += 1
    settled = rig.settle(ticket)
    assert [call.reply_to for call in settled.calls] == [None, "second"]
    assert [(e["duration_ms"], e["replayed"]) for e in rig.audit.tail(2)] == [
        (2000, False),
        (1000, True),
    ]
    assert rig.answer("term.tab.new", body) == settled.reply


def test_a_reply_of_the_limit_travels_and_one_byte_more_is_refused() -> None:
    rig = Rig()
    room = MAX_RESPONSE_BODY - len(b'{"text":""}')
    fits = rig.settle(rig.ticket("term.snapshot"), Reply.ok(text="x" * room)).reply
    assert (fits.rc, len(fits.raw)) == (0, MAX_RESPONSE_BODY)
    over = rig.settle(rig.ticket("term.snapshot"), Reply.ok(text="x" * (room + 1))).reply
    assert (code(over), details(over)["limit"]) == ("RESOURCE_LIMIT", MAX_RESPONSE_BODY)


@pytest.mark.parametrize("body", [{"text": "x" * MAX_RESPONSE_BODY}, {"n": float("nan")}])
def test_a_mutation_whose_reply_cannot_travel_is_recorded_as_unknown(
    body: dict[str, object],
) -> None:
    rig = Rig()
    settled = rig.settle(rig.ticket("term.tab.new", with_id("term.tab.new")), Reply(0, body))
    assert code(settled.reply) == "UNKNOWN_OUTCOME"
    assert rig.answer("term.tab.new", with_id("term.tab.new")) == settled.reply


def test_a_read_whose_reply_cannot_be_written_is_refused() -> None:
    rig = Rig()
    settled = rig.settle(rig.ticket("term.snapshot"), Reply.ok(text="\ud800"))
    assert (code(settled.reply), settled.reply.rc) == ("UNAVAILABLE", 20)


def test_what_is_given_up_is_unknown_for_mutations_and_cancelled_for_others() -> None:
    rig = Rig()
    mutation = rig.ticket("term.tab.new", with_id("term.tab.new"))
    assert code(rig.lane.abandon(mutation, rig.now).reply) == "UNKNOWN_OUTCOME"
    assert code(rig.answer("term.tab.new", with_id("term.tab.new"))) == "UNKNOWN_OUTCOME"
    for other in ("term.wait", "term.events"):
        ticket = rig.ticket(other, BODIES[other])
        assert code(rig.lane.abandon(ticket, rig.now).reply) == "CANCELLED"


def test_a_flip_of_posture_holds_for_the_next_request_and_is_noted() -> None:
    rig = Rig()
    body = with_id("term.tab.new")
    rig.settle(rig.ticket("term.tab.new", body))
    rig.posture = Posture.STRICT
    # A recorded reply is behind the same check as everything else.
    assert code(rig.answer("term.tab.new", body)) == "FORBIDDEN"
    rig.posture = Posture.OPEN
    assert code(rig.answer("term.tab.new", body)) == "ok"
    flips = [entry["outcome"] for entry in rig.audit.tail() if entry["verb"] == "posture"]
    assert flips == ["strict", "open"]


def test_what_waits_is_rechecked_under_a_new_posture_and_spends_no_id() -> None:
    rig = Rig()
    body = with_id("term.tab.new")
    ticket = rig.ticket("term.tab.new", body)
    assert rig.lane.recheck(ticket, rig.now) is None
    rig.admit("term.tab.new", body, reply_to="second")
    rig.posture = Posture.STRICT
    settled = rig.lane.recheck(ticket, rig.now)
    assert settled is not None
    assert (code(settled.reply), len(settled.calls)) == ("FORBIDDEN", 2)
    with pytest.raises(ValueError, match="already settled"):
        rig.lane.recheck(ticket, rig.now)
    rig.posture = Posture.OPEN
    rig.settle(rig.ticket("term.tab.new", body))


def test_every_kind_of_verb_is_in_the_table() -> None:
    assert {spec.kind for spec in TABLE} == set(Kind)
