"""shell.status without I/O: who may ask, what a request must be, what an answer says."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from brokerd.client import (
    CAPABILITIES,
    DEFAULT_OPEN,
    PANE_SHELL,
    RESTRICTED,
    TERM,
    NodePrincipal,
    Principal,
    RecordView,
    Refusal,
    SessionBinding,
)
from termnode.paneshell import policy
from termnode.paneshell.status import (
    EXITING,
    FOREGROUND_CHILD,
    MAX_CWD,
    MAX_REQUEST,
    STARTING,
    Observation,
    Tracker,
    bounded_path,
    check_target,
    read_target,
    target_of,
)

A, B = "a" * 32, "b" * 32
UID = 1000

OWN = RecordView(
    name="c0-" + "a" * 22,
    record_assurance="session-bound",
    owner_node="here",
    owner_uid=UID,
    broker_epoch=A,
    record_id="1" * 32,
    instance_id="2" * 32,
    incarnation="3" * 32,
    role=PANE_SHELL,
    parent_instance="4" * 32,
    parent_incarnation="5" * 32,
    pane_id=7,
    pane_generation=8,
    binding_generation=9,
    state="attached",
    capabilities=CAPABILITIES,
    policy=DEFAULT_OPEN,
    lease_remaining_ms=15_000,
)
AMBIENT = Principal(
    owner_node="here",
    unix_uid=UID,
    unix_gid=UID,
    peer_pid=5,
    broker_epoch=A,
    connection_id=B,
)
ITSELF = SessionBinding(
    record_id=OWN.record_id,
    instance_id=OWN.instance_id,
    incarnation=OWN.incarnation,
    role=PANE_SHELL,
    parent_instance=OWN.parent_instance,
    parent_incarnation=OWN.parent_incarnation,
    pane_id=OWN.pane_id,
    pane_generation=OWN.pane_generation,
    binding_generation=OWN.binding_generation,
    capabilities=CAPABILITIES,
    lease_remaining_ms=10_000,
)
PARENT = replace(
    ITSELF,
    record_id="6" * 32,
    instance_id="4" * 32,
    incarnation="5" * 32,
    role=TERM,
    parent_instance=None,
    parent_incarnation=None,
    pane_id=None,
    pane_generation=None,
)
ALLOWED = {
    "ambient": AMBIENT,
    "itself": replace(AMBIENT, session=ITSELF),
    "parent": replace(AMBIENT, session=PARENT),
}
OTHER_CAPABILITIES = tuple(name for name in CAPABILITIES if name != policy.READ_STATE)

Policy = Callable[[object, RecordView, str], bool]


def may(caller: object, own: RecordView = OWN, rule: Policy = policy.may) -> bool:
    return rule(caller, own, policy.READ_STATE)


def session(who: str, **changed: Any) -> Principal:  # noqa: ANN401  # any of its fields
    caller = ALLOWED[who]
    assert caller.session is not None
    return replace(caller, session=replace(caller.session, **changed))


STRANGERS: dict[str, object] = {
    "nobody": None,
    "another machine": NodePrincipal(owner_node="here", broker_epoch=A, connection_id=B),
    **{
        f"{who} {number}": stranger
        for who, caller in ALLOWED.items()
        for number, stranger in enumerate(
            (
                replace(caller, broker_epoch=B),
                replace(caller, owner_node="there"),
                replace(caller, unix_uid=UID + 1),
            )
        )
    },
    **{
        f"itself but {field}": session("itself", **{field: value})
        for field, value in (
            ("record_id", A),
            ("instance_id", A),
            ("incarnation", A),
            ("binding_generation", 8),
            ("binding_generation", 10),
            ("pane_id", 6),
            ("pane_generation", 9),
            ("capabilities", OTHER_CAPABILITIES),
            ("role", TERM),
        )
    },
    **{
        f"parent but {field}": session("parent", **{field: value})
        for field, value in (
            ("instance_id", A),
            ("incarnation", A),
            ("capabilities", OTHER_CAPABILITIES),
            ("role", PANE_SHELL),
        )
    },
}


@pytest.mark.parametrize("who", ALLOWED)
def test_who_may(who: str) -> None:
    assert may(ALLOWED[who])


@pytest.mark.parametrize("who", STRANGERS)
def test_who_may_not(who: str) -> None:
    assert not may(STRANGERS[who])


def test_the_policy_is_about_those_without_a_record_alone() -> None:
    own = replace(OWN, policy=RESTRICTED)
    assert {who: may(caller, own) for who, caller in ALLOWED.items()} == {
        "ambient": False,
        "itself": True,
        "parent": True,
    }


def test_nobody_may_what_the_record_itself_may_not() -> None:
    own = replace(OWN, capabilities=OTHER_CAPABILITIES)
    assert not any(may(caller, own) for caller in ALLOWED.values())


def test_a_successor_of_this_record_is_another_one() -> None:
    own = replace(OWN, binding_generation=OWN.binding_generation + 1)
    assert not may(ALLOWED["itself"], own)
    assert may(ALLOWED["parent"], own)


LAX: dict[str, Policy] = {
    "any user": lambda caller, own, name: policy.may(
        replace(caller, unix_uid=own.owner_uid) if isinstance(caller, Principal) else caller,
        own,
        name,
    ),
    "any epoch": lambda caller, own, name: policy.may(
        replace(caller, broker_epoch=own.broker_epoch) if isinstance(caller, Principal) else caller,
        own,
        name,
    ),
    "any bound sender as if it were not": lambda caller, own, name: policy.may(
        replace(caller, session=None) if isinstance(caller, Principal) else caller, own, name
    ),
    "machines": lambda caller, own, name: (
        isinstance(caller, NodePrincipal) or policy.may(caller, own, name)
    ),
}


@pytest.mark.parametrize("which", LAX)
def test_a_laxer_rule_lets_a_stranger_in(which: str) -> None:
    assert any(may(caller, rule=LAX[which]) for caller in STRANGERS.values())


# Requests


def request(**changed: object) -> bytes:
    return json.dumps({"version": 1, "target": target_of(OWN), **changed}).encode()


def refusal(raw: bytes) -> Refusal:
    with pytest.raises(Refusal) as caught:
        check_target(read_target(raw), OWN)
    return caught.value


def test_the_present_attachment_is_the_target() -> None:
    check_target(read_target(request()), OWN)


TARGET = target_of(OWN)


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"[]",
        b"{}",
        request(version=2),
        request(version=True),
        request(version="1"),
        request(target=None),
        request(target={}),
        request(extra=1),
        request(target={**TARGET, "extra": "1"}),
        request(target={**TARGET, "pane_id": 7}),
        request(target={**TARGET, "record": "1"}),
        request(target={**TARGET, "record": {**TARGET["record"], "name": "x"}}),
        request(target={key: TARGET[key] for key in TARGET if key != "instance_id"}),
        request()[:-1] + b', "version": 1}',
        request() + b" " * MAX_REQUEST,
    ],
)
def test_a_malformed_request_is_an_invalid_argument(raw: bytes) -> None:
    assert refusal(raw).code == "INVALID_ARGUMENT"


def test_a_request_of_exactly_the_bound_is_read() -> None:
    raw = request()
    assert read_target(raw + b" " * (MAX_REQUEST - len(raw))) == TARGET
    assert refusal(raw + b" " * (MAX_REQUEST + 1 - len(raw))).code == "INVALID_ARGUMENT"


@pytest.mark.parametrize(
    "target",
    [
        {**TARGET, "broker_epoch": B},
        {**TARGET, "instance_id": A},
        {**TARGET, "pane_id": "8"},
        {**TARGET, "pane_generation": "7"},
        {**TARGET, "pane_id": "07"},
        {**TARGET, "record": {**TARGET["record"], "binding_generation": "8"}},
        {**TARGET, "record": {**TARGET["record"], "record_id": A}},
        {**TARGET, "record": {**TARGET["record"], "incarnation": A}},
    ],
)
def test_any_other_target_is_stale(target: dict[str, Any]) -> None:
    assert refusal(request(target=target)).code == "STALE_GENERATION"


@given(st.binary(max_size=200))
@example(request())
def test_any_bytes_give_a_target_or_a_typed_refusal(raw: bytes) -> None:
    with suppress(Refusal):
        check_target(read_target(raw), OWN)


# Answers

FIELDS = {
    "version",
    "source",
    "sequence",
    "phase",
    "cwd",
    "cwd_truncated",
    "cwd_observed_ms",
    "prompt_generation",
    "prompt_binding_generation",
    "prompt_source",
    "continuation",
    "command_id",
    "transition_ms",
}

looks = st.builds(
    Observation,
    st.sampled_from([STARTING, FOREGROUND_CHILD, EXITING]),
    st.none() | st.binary(min_size=1, max_size=40).filter(lambda path: b"\0" not in path),
)


@given(st.lists(st.tuples(looks, st.integers(0, 1_000)), max_size=12))
def test_an_answer_tells_the_last_change_and_never_a_later_one(
    steps: list[tuple[Observation, int]],
) -> None:
    tracker, now = Tracker(b"/start", 100), 100
    phase, changes, changed, cwd, seen_at = STARTING, 0, 100, b"/start", 100
    for seen, passed in steps:
        now += passed
        if phase not in (EXITING, seen.phase):
            phase, changes, changed = seen.phase, changes + 1, now
        if seen.cwd is not None:
            cwd, seen_at = seen.cwd, now
        tracker.note(seen, now)
    body: Any = tracker.answer(now + 5)
    assert body.keys() == {"version", "status", "capabilities", "freshness"}
    status = body["status"]
    snapshot = status["snapshot"]
    assert snapshot.keys() == FIELDS
    assert (snapshot["phase"], snapshot["sequence"]) == (phase, str(changes))
    assert status["transition_age_ms"] == str(now + 5 - changed)
    assert status["cwd_age_ms"] == str(now + 5 - seen_at)
    assert snapshot["cwd"] == bounded_path(cwd)[0]
    json.dumps(body).encode()


@given(st.binary(max_size=20), st.integers(0, 6_000))
def test_a_path_is_bounded_and_says_when_it_is_not_the_path(part: bytes, size: int) -> None:
    path = (part * (size // max(1, len(part)) + 1))[:size]
    text, truncated = bounded_path(path)
    assert len(text.encode()) <= MAX_CWD
    assert truncated == (text.encode() != path)


@given(st.text(max_size=200))
def test_a_short_path_of_text_is_given_as_it_is(path: str) -> None:
    assume(not any("\ud800" <= char <= "\udfff" for char in path))
    assert bounded_path(path.encode()) == (path, False)


def test_a_directory_that_can_no_longer_be_read_is_told_with_its_age() -> None:
    tracker = Tracker(b"/", 0)
    tracker.note(Observation(FOREGROUND_CHILD, b"/old"), 10)
    tracker.note(Observation(EXITING, None), 30)
    body: Any = tracker.answer(30)
    assert body["freshness"]["cwd"] == "last-observed"
    assert body["status"]["snapshot"]["cwd"] == "/old"
    assert body["status"]["cwd_age_ms"] == "20"


def test_every_field_of_a_record_that_a_caller_is_judged_by_is_in_the_stranger_table() -> None:
    judged = {"broker_epoch", "owner_node", "owner_uid", "capabilities", "policy"}
    own = {"record_id", "instance_id", "incarnation", "binding_generation", "pane_id"}
    own |= {"pane_generation", "parent_instance", "parent_incarnation"}
    rest = {field.name for field in dataclasses.fields(RecordView)} - judged - own
    assert rest == {"name", "record_assurance", "role", "state", "lease_remaining_ms"}
