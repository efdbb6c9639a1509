"""What was sent before, sent again: by somebody else, to another broker, in other bytes, forged."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final

import pytest

from brokerd.wire import encode_header
from tests.support.native_broken import lab_without
from tests.support.s4.caller import Caller, body_of, denied, refused
from tests.support.s4.lab import Lab, first, lab_of
from tests.support.session_peer import Answer, Fields
from tests.support.termnode_process import eventually
from tests.support.zmtp import Dropped

pytestmark = pytest.mark.slow


@pytest.fixture(params=["open", "strict"])
def lab(request: pytest.FixtureRequest) -> Iterator[Lab]:
    """One pane that is ready, in each posture."""
    with lab_of() as made:
        first(made)
        made.strict(on=request.param == "strict")
        yield made


def _title(caller: Caller, target: Fields) -> str:
    (pane,) = caller.good("term.session", target)["panes"]
    found: str = pane["title"]
    return found


def _mark(caller: Caller, target: Fields) -> str:
    found: str = caller.good("term.session", target)["request_high_water"]
    return found


def test_a_body_of_another_connection_does_nothing_and_spends_nothing(lab: Lab) -> None:
    one, thief, target = lab.owner(), lab.owner(), lab.target(1)
    body = one.next(target, title="first")
    refused(thief.send("term.pane.rename", body), "UNKNOWN_OUTCOME", "stale_request_epoch")
    assert _title(thief, target) != "first"
    done = one.send("term.pane.rename", body)
    assert done.rc == 0, done.body
    refused(thief.send("term.pane.rename", body), "UNKNOWN_OUTCOME", "stale_request_epoch")
    assert one.send("term.pane.rename", body) == done
    refused(thief.operation(target, "1"), "UNKNOWN_OUTCOME", "unknown_operation")
    assert (_mark(one, target), _mark(thief, target)) == ("1", "0")


def test_without_a_guard_that_would_be_seen() -> None:
    """What the checks of this file see when the service lacks what they are about."""
    with lab_without("epoch") as lab:
        first(lab)
        body = lab.owner().next(lab.target(1), title="first")
        assert lab.owner().send("term.pane.rename", body).rc == 0
    with lab_without("digest") as lab:
        first(lab)
        owner = lab.owner()
        body = owner.next(lab.target(1), title="first")
        assert owner.send("term.pane.rename", body) == owner.send("term.pane.rename", body + b" ")
    with lab_without("names") as lab:
        first(lab)
        owner = lab.owner()
        assert owner.do("term.pane.rename", lab.target(1), title="forged", unix_uid=0).rc == 0


SHARE = 30
"""Requests at once; a caller's share of the queue is 32."""


def test_a_request_that_is_sent_many_times_runs_once(lab: Lab) -> None:
    owner, target = lab.owner(), lab.target(1)
    body = owner.next(target)
    asked = [
        owner.post("term.tab.new", body) for _ in range(30)
    ]  # half of the queue, a caller's share, is 32
    answers = [owner.answer(each) for each in asked]
    assert all(answer.rc == 0 for answer in answers), answers
    asked = [
        owner.post("term.tab.new", body) for _ in range(30)
    ]  # half of the queue, a caller's share, is 32
    answers += [owner.answer(each) for each in asked]
    final = [each.body for each in answers if each.body.get("status") != "pending"]
    assert len({body_of(each) for each in final}) == 1
    assert {each.body["operation_id"] for each in answers} == {"1"}
    lab.strict(on=False)
    assert len(lab.term.good("term.tabs")["tabs"]) == 2


def test_the_same_request_in_other_bytes_is_another_request(lab: Lab) -> None:
    owner, target = lab.owner(), lab.target(1)
    body = owner.next(target, title="first")
    assert owner.send("term.pane.rename", body).rc == 0
    fields = json.loads(body)
    for other in (
        json.dumps(fields, separators=(",", ":")).encode(),
        json.dumps(dict(reversed(fields.items()))).encode(),
        body + b" ",
        body_of({**fields, "title": "second"}),
    ):
        answer = owner.send("term.pane.rename", other)
        refused(answer, "CONFLICT", "request_mismatch")
        assert answer.body["details"]["retry_requires"] == "byte_identical_body"
    refused(owner.send("term.pane.zoom", body), "INVALID_ARGUMENT")
    assert _title(owner, target) == "first"


_FORGED: Final = (
    "principal", "broker_principal", "from", "actor", "uid", "unix_uid", "session", "policy",
    "capabilities", "posture", "broker_epoch", "connection_id", "recipient_connection", "pane",
    "id", "tab", "operation_id",
)  # fmt: skip


def test_a_body_says_nothing_of_who_asks(lab: Lab) -> None:
    owner, target = lab.owner(), lab.target(1)
    for field in _FORGED:
        for value in (None, "1", {"unix_uid": 0}):
            body = owner.next(target, title="forged", **{field: value})
            refused(owner.send("term.pane.rename", body), "INVALID_ARGUMENT")
    assert _title(owner, target) != "forged"
    assert _mark(owner, target) == "0", "what is refused spends no id"


def test_a_header_says_nothing_of_who_asks(lab: Lab) -> None:
    """The ids of another caller are not reached through any header that can be sent."""
    owner, thief, target = lab.owner(), lab.owner(), lab.target(1)
    body = owner.next(target, title="mine")
    assert owner.send("term.pane.rename", body).rc == 0
    own = {"v": 1, "type": "request", "to": owner.name, "command": "term.pane.rename"}
    for number, forged in enumerate(
        ({"from": owner.peer.connection_id}, {"from": owner.name}, {"from": "brokerd"})
    ):
        asked = f"forged-{number}"
        thief.peer.send_message(encode_header({**own, "id": asked, **forged}), body)
        refused(thief.answer(asked), "UNKNOWN_OUTCOME", "stale_request_epoch")
    assert _mark(thief, target) == "0"


_NO_NUMBERS: Final[tuple[object, ...]] = (
    "01", "+1", "-1", " 1", "1 ", "1_0", "\u0661", "\uff11", "1.0", "1e0", "", 1, True, None,
    str(2**64), "9" * 400, [], {},
)  # fmt: skip


def test_ids_and_numbers_are_of_one_form(lab: Lab) -> None:
    owner, target = lab.owner(), lab.target(1)
    epoch = owner.peer.connection_id
    for number in _NO_NUMBERS:
        for field in ("request_id", "pane_id", "pane_generation"):
            place = {**target, field: number} if field in target else target
            said = {"request_id": number if field == "request_id" else "1"}
            body = body_of({"target": place, "title": "x", "request_epoch": epoch, **said})
            refused(owner.send("term.pane.rename", body), "INVALID_ARGUMENT")
    for wrong in (epoch.upper(), epoch[:-1], epoch + "0", "", None, 1):
        if wrong == epoch:  # only digits
            continue
        body = body_of({"target": target, "title": "x", "request_id": "1", "request_epoch": wrong})
        refused(owner.send("term.pane.rename", body), "INVALID_ARGUMENT")
    zero = body_of({"target": target, "title": "x", "request_id": "0", "request_epoch": epoch})
    refused(owner.send("term.pane.rename", zero), "INVALID_ARGUMENT")
    assert _mark(owner, target) == "0"


def test_ids_do_not_go_back(lab: Lab) -> None:
    owner, target = lab.owner(), lab.target(1)
    owner.last_id = 9
    assert owner.done("term.pane.rename", target, title="ten")["operation_id"] == "10"
    owner.last_id = 4
    answer = owner.do("term.pane.rename", target, title="five")
    refused(answer, "UNKNOWN_OUTCOME", "retired_request_id")
    assert answer.body["details"]["request_high_water"] == "10"
    assert _title(owner, target) == "ten"


def test_nothing_of_an_earlier_broker_counts(lab: Lab) -> None:
    old, owner = lab.target(1), lab.owner()
    body = owner.next(old, title="before")
    assert owner.send("term.pane.rename", body).rc == 0
    unsent = owner.next(old, title="never")
    before, epoch = lab.record(), owner.peer.connection_id
    lab.broker.kill()  # the service starts another
    owner.peer.close()
    eventually(lambda: _is_back(lab, before["instance_id"]), "the Term has another record")
    now, target = lab.owner(), lab.target(1)
    assert now.name != owner.name
    assert target["instance_id"] != old["instance_id"]
    eventually(lambda: now.ask("term.session", target).rc == 0, "the pane is ready again")
    for raw in (body, unsent):
        refused(now.send("term.pane.rename", raw), "UNKNOWN_OUTCOME", "another_incarnation")
        new_target = body_of({**json.loads(raw), "target": target})
        assert epoch.encode() in new_target
        refused(now.send("term.pane.rename", new_target), "UNKNOWN_OUTCOME", "stale_request_epoch")
    denied(now.ask("term.session", old))
    refused(now.operation(old, "1"), "UNKNOWN_OUTCOME", "another_incarnation")
    refused(now.operation(target, "1"), "UNKNOWN_OUTCOME", "unknown_operation")
    assert (_title(now, target), _mark(now, target)) == ("before", "0")


def _is_back(lab: Lab, instance: str) -> bool:
    try:
        found = lab.record()
        return found["instance_id"] != instance and lab.record_of(1) is not None
    except (OSError, Dropped, LookupError, ValueError):
        return False


def test_a_bound_caller_reads_its_outcome_on_its_next_connection(lab: Lab) -> None:
    """Another connection that proves the same record is the same actor; its old epoch is not."""
    shell, target = lab.child(1), lab.target(1)
    body = shell.next(target, title="mine")
    done = shell.send("term.pane.rename", body)
    assert done.rc == 0, done.body
    late = shell.next(target, title="late")
    peer = lab.peer()
    record = peer.attach(lab.key(1))
    assert shell.record is not None
    assert record["record_id"] == shell.record["record_id"]
    again = Caller(peer, shell.name, record)
    assert again.send("term.pane.rename", body) == done
    assert again.operation(target, "1") == done
    refused(again.send("term.pane.rename", late), "UNKNOWN_OUTCOME", "stale_request_epoch")
    lost: Answer = shell.send("term.pane.rename", late)
    assert lost.why == ("EXPIRED", "binding_lost")
    assert (_title(again, target), _mark(again, target)) == ("mine", "1")
