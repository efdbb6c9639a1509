"""Session commands through the core: the bounds of a request, its arguments, retained results."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import pytest

from brokerd import bodies
from brokerd.core.sessions import commands
from brokerd.core.sessions.commands import COMMANDS
from brokerd.core.sessions.retained import Retained
from brokerd.encodings import CAPABILITIES
from brokerd.limits import DEFAULTS, MAX_SESSION_REQUEST, SessionLimits
from brokerd.wire import encode_header
from tests.support.core_world import Answer, SessionWorld, key_number

ID = "0" * 32
KEY = key_number(1).public_key.hex()
SIGNATURE = "0" * 128
REF = {"record_id": ID, "incarnation": ID, "binding_generation": "1"}
GRANT = {
    "parent": REF,
    "pane_id": "1",
    "pane_generation": "1",
    "public_key": KEY,
    "role": "pane-shell",
    "capabilities": ["input"],
}
BY_RECORD = {"record_id": ID, "incarnation": ID, "purpose": "resume", "grant_id": None}
SOUND: dict[str, Answer] = {
    "session.allocate": {"public_key": KEY, "signature": SIGNATURE},
    "session.grant.create": GRANT,
    "session.grant.fetch": {"public_key": KEY},
    "session.challenge": BY_RECORD,
    "session.prove": {"challenge_id": ID, "signature": SIGNATURE},
    "session.renew": {"target": REF},
    "session.revoke": {"target": REF},
    "session.self": {"record_id": ID},
    "session.lease.check": {"target": REF},
}


def error(world: SessionWorld, command: str, body: object, id: str = "1") -> tuple[object, object]:  # noqa: A002
    """Code and field of the refusal."""
    who = world.connect()
    world.ask(who, "brokerd", body, id=id, command=command)
    answer = json.loads(world.take(who)[1])
    return answer.get("error_code"), answer.get("details", {}).get("field")


# -- the bounds of every request ---------------------------------------------------------------


def padded(command: str, body: bytes, total: int) -> list[bytes]:
    header = {"v": 1, "type": "request", "id": "1", "to": "brokerd", "command": command}
    raw = encode_header(header)
    return [raw, body + b" " * (total - len(raw) - len(body))]


@pytest.mark.parametrize("command", ["session.hello", *SOUND])
def test_a_request_of_exactly_16384_bytes_is_read_and_one_more_is_not(command: str) -> None:
    world = SessionWorld()
    body = bodies.encode(SOUND.get(command, {}))
    codes = []
    for total in (MAX_SESSION_REQUEST, MAX_SESSION_REQUEST + 1):
        who = world.connect()
        world.core.receive(who, padded(command, body, total), world.now)
        codes.append(json.loads(world.take(who)[1]).get("details", {}).get("limit"))
    assert codes == [None, MAX_SESSION_REQUEST]


def nested(levels: int) -> bytes:
    """An object with arrays in it, ``levels`` deep in all."""
    return b'{"x":' + b"[" * (levels - 1) + b"]" * (levels - 1) + b"}"


def words(world: SessionWorld, command: str, body: bytes) -> str:
    who = world.connect()
    world.ask(who, "brokerd", body, id="1", command=command)
    return str(json.loads(world.take(who)[1])["message"])


@pytest.mark.parametrize("command", ["session.hello", "session.list", *SOUND])
def test_the_bounds_of_a_body(command: str) -> None:
    world = SessionWorld()
    assert "does not know" in words(world, command, nested(16))
    assert "nested deeper" in words(world, command, nested(17))
    assert "duplicate key" in words(world, command, b'{"a":1,"\\u0061":2}')
    assert "duplicate key" in words(world, command, b'{"a":{"b":1,"b":1}}')
    assert "must be a JSON object" in words(world, command, b"[]")
    assert "not JSON" in words(world, command, b"{} x")
    assert "not UTF-8" in words(world, command, b'{"\xff":1}')


@pytest.mark.parametrize("command", SOUND)
def test_a_sound_body_is_not_malformed_and_each_field_is_needed(command: str) -> None:
    world = SessionWorld()
    body = SOUND[command]
    assert error(world, command, body)[0] in {"FORBIDDEN", "NOT_FOUND"}
    assert error(world, command, bodies.encode(body) + b" \n")[0] in {"FORBIDDEN", "NOT_FOUND"}
    assert error(world, command, {**body, "more": 1}) == ("INVALID_ARGUMENT", "body")
    for field in body:
        less = {key: value for key, value in body.items() if key != field}
        raw = bodies.encode(less)
        assert error(world, command, raw) == ("INVALID_ARGUMENT", field)


@pytest.mark.parametrize("command", [each for each in COMMANDS if each != "session.hello"])
def test_an_empty_body_is_no_object(command: str) -> None:
    world = SessionWorld()
    who = world.connect()
    raw = encode_header({"v": 1, "type": "request", "id": "1", "to": "brokerd", "command": command})
    world.core.receive(who, [raw, b""], world.now)
    assert json.loads(world.take(who)[1])["error_code"] == "INVALID_ARGUMENT"


NOT_IDS = ("0" * 31, "0" * 33, "A" * 32, " " + "0" * 31, "g" * 32, 0, None, "\u0660" * 32)
NOT_NUMBERS = ("01", "+1", "-1", "1 ", "", "1.0", "\u0661", str(2**64), 1, 1.0, True, None)


class Field(NamedTuple):
    command: str
    field: str
    bad: tuple[object, ...]


@pytest.mark.parametrize(
    ("command", "field", "bad"),
    [
        Field("session.self", "record_id", NOT_IDS),
        Field("session.challenge", "record_id", NOT_IDS),
        Field("session.challenge", "incarnation", NOT_IDS),
        Field("session.challenge", "grant_id", tuple(each for each in NOT_IDS if each is not None)),
        Field("session.challenge", "purpose", ("", "ENROL", "allocate", 1, None)),
        Field("session.prove", "challenge_id", NOT_IDS),
        Field("session.prove", "signature", ("0" * 126, "0" * 130, "G" * 128, 0, None)),
        Field("session.allocate", "public_key", ("0" * 62, "0" * 66, "X" * 64, 0, None, [])),
        Field("session.allocate", "signature", ("0" * 64, None)),
        Field("session.allocate", "policy", ("open", "", None, 1, ["restricted"])),
        Field("session.grant.create", "pane_id", NOT_NUMBERS),
        Field("session.grant.create", "pane_generation", (*NOT_NUMBERS, "0")),
        Field("session.grant.create", "role", ("term", "", None)),
        Field("session.grant.create", "parent", (None, "x", {}, {**REF, "x": 1})),
        Field(
            "session.grant.create",
            "capabilities",
            ([], "input", None, ["input", "input"], ["no"], [1], [None], [["input"]], {}),
        ),
        Field("session.renew", "target", ([], {"record_id": ID}, None)),
    ],
)
def test_a_bad_value_is_refused_by_its_field(
    command: str, field: str, bad: tuple[object, ...]
) -> None:
    world = SessionWorld()
    for value in bad:
        assert error(world, command, {**SOUND[command], field: value}) == (
            "INVALID_ARGUMENT",
            field,
        ), value


@pytest.mark.parametrize("part", list(REF))
def test_a_bad_part_of_a_reference_is_named(part: str) -> None:
    world = SessionWorld()
    for value in NOT_IDS if part != "binding_generation" else NOT_NUMBERS:
        body = {"target": {**REF, part: value}}
        assert error(world, "session.renew", body) == ("INVALID_ARGUMENT", f"target.{part}")


def test_the_two_forms_of_a_challenge_do_not_mix() -> None:
    world = SessionWorld()
    both = {**BY_RECORD, "public_key": KEY}
    assert error(world, "session.challenge", both) == ("INVALID_ARGUMENT", "body")
    by_key = {"public_key": KEY, "purpose": "resume"}
    assert error(world, "session.challenge", by_key) == ("INVALID_ARGUMENT", "purpose")
    assert error(world, "session.challenge", {"public_key": KEY, "purpose": "enrol"}) == (
        "FORBIDDEN",
        None,
    )


def test_an_unknown_command_lists_those_there_are() -> None:
    world = SessionWorld()
    answer = world.verb(world.connect(), "session.no")
    assert answer["error_code"] == "UNSUPPORTED"
    assert all(command in str(answer["message"]) for command in COMMANDS)


def test_no_refusal_repeats_what_was_sent() -> None:
    world = SessionWorld()
    canary = "ca4a51e5ca4a51e5"
    for command, body in SOUND.items():
        for field in body:
            who = world.connect()
            world.ask(who, "brokerd", {**body, field: canary}, id="1", command=command)
            assert canary.encode() not in world.take(who)[1]


# -- an attempt to prove -----------------------------------------------------------------------


def a_malformed_proof_costs_the_challenge(world: SessionWorld) -> None:
    term = world.term()
    who = world.connect()
    proof = world.challenge(who, term.key)
    signature = term.key.sign(proof.transcript()).hex()
    sound = {"challenge_id": proof.challenge_id, "signature": signature}
    for spoilt in ({**sound, "more": 1}, {**sound, "signature": "x"}, {"challenge_id": ID}):
        refused = world.verb(who, "session.prove", spoilt)
        assert refused["error_code"] == "INVALID_ARGUMENT"
        details = world.verb(who, "session.prove", sound)["details"]
        assert details == {"reason": "challenge_consumed"}
        proof = world.challenge(who, term.key)
        signature = term.key.sign(proof.transcript()).hex()
        sound = {"challenge_id": proof.challenge_id, "signature": signature}


def test_a_malformed_proof_that_names_a_challenge_costs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    a_malformed_proof_costs_the_challenge(SessionWorld())
    prove = replace(COMMANDS["session.prove"], malformed=None)
    monkeypatch.setattr(commands, "COMMANDS", {**COMMANDS, "session.prove": prove})
    with pytest.raises((AssertionError, KeyError)):
        a_malformed_proof_costs_the_challenge(SessionWorld())


@pytest.mark.parametrize("body", [b"[]", b"{", b"{}", b'{"challenge_id":1}'])
def test_an_attempt_that_names_no_challenge_costs_none(body: bytes) -> None:
    world = SessionWorld()
    term = world.term()
    who = world.connect()
    proof = world.challenge(who, term.key)
    assert world.verb(who, "session.prove", body)["error_code"] == "INVALID_ARGUMENT"
    signed = term.key.sign(proof.transcript()).hex()
    answer = world.verb(
        who, "session.prove", {"challenge_id": proof.challenge_id, "signature": signed}
    )
    assert "record" in answer


# -- retained mutations ------------------------------------------------------------------------


def the_same_again_is_the_same_result(world: SessionWorld) -> None:
    who, key = world.connect(), key_number(1)
    body = world.allocation(who, key)
    first = world.mutate(who, "session.allocate", body, 7)
    world.later(1_000)
    assert world.mutate(who, "session.allocate", body, 7) == first
    assert world.verb(who, "session.list")["records"] != [first["record"]]  # its lease went on
    implied = {field: value for field, value in body.items() if field != "policy"}
    assert world.mutate(who, "session.allocate", implied, 7) == first


def other_arguments_are_a_mismatch(world: SessionWorld) -> None:
    term = world.term()
    body = {**GRANT, "parent": term.ref, "public_key": key_number(9).public_key.hex()}
    mixed = {**body, "capabilities": ["terminate", "execute"]}
    first = world.mutate(term.at, "session.grant.create", mixed, 50)
    ordered = {**body, "capabilities": ["execute", "terminate"]}
    assert world.mutate(term.at, "session.grant.create", ordered, 50) == first
    other = {**body, "capabilities": ["execute"]}
    details = world.mutate(term.at, "session.grant.create", other, 50)["details"]
    assert details == {"reason": "request_mismatch"}


def another_command_is_a_bad_id(world: SessionWorld) -> None:
    term = world.term()
    world.grant(term)
    spent = next(world.ids) - 1
    answer = world.mutate(term.at, "session.revoke", {"target": term.ref}, spent)
    assert (answer["error_code"], answer["details"]) == ("INVALID_ARGUMENT", {"field": "id"})


def a_lower_number_is_an_unknown_outcome(world: SessionWorld) -> None:
    who, key = world.connect(), key_number(1)
    body = world.allocation(who, key)
    record = world.mutate(who, "session.allocate", body, 7)["record"]
    target = {field: record[field] for field in REF}
    answer = world.mutate(who, "session.revoke", {"target": target}, 6)
    assert (answer["error_code"], answer["details"]) == ("CONFLICT", {"reason": "unknown_outcome"})
    assert world.mutate(who, "session.revoke", {"target": target}, 8) == {"revoked": True}


def a_result_is_kept_for_900_seconds(world: SessionWorld) -> None:
    who, key = world.connect(), key_number(1)
    body = world.allocation(who, key)
    first = world.mutate(who, "session.allocate", body, 7)
    world.later(899_999)
    assert world.mutate(who, "session.allocate", body, 7) == first
    world.now += 1  # and no tick
    details = world.mutate(who, "session.allocate", body, 7)["details"]
    assert details == {"reason": "unknown_outcome"}
    assert world.core.statistics()["sessions_retained"] == 0


def a_refusal_spends_no_number(world: SessionWorld) -> None:
    who, key = world.connect(), key_number(1)
    body = world.allocation(who, key)
    bad = {**body, "signature": SIGNATURE}
    assert world.mutate(who, "session.allocate", bad, 7)["error_code"] == "FORBIDDEN"
    assert "record" in world.mutate(who, "session.allocate", body, 7)


def numbers_are_those_of_one_connection(world: SessionWorld) -> None:
    for key in (key_number(1), key_number(2)):
        who = world.connect()
        assert "record" in world.mutate(who, "session.allocate", world.allocation(who, key), 7)


RETAINED = (
    the_same_again_is_the_same_result,
    other_arguments_are_a_mismatch,
    another_command_is_a_bad_id,
    a_lower_number_is_an_unknown_outcome,
    a_result_is_kept_for_900_seconds,
)


@pytest.mark.parametrize(
    "check", [*RETAINED, a_refusal_spends_no_number, numbers_are_those_of_one_connection]
)
def test_retained_mutations(check: Callable[[SessionWorld], None]) -> None:
    check(SessionWorld())


@pytest.mark.parametrize("check", RETAINED)
def test_without_retaining_it_does_not_hold(
    check: Callable[[SessionWorld], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Retained, "recall", lambda *_: None)
    monkeypatch.setattr(Retained, "keep", lambda *_: None)
    with pytest.raises((AssertionError, KeyError)):
        check(SessionWorld())


@pytest.mark.parametrize("number", ["0", "01", "+1", "abc", str(2**64), "1.0", "-1"])
@pytest.mark.parametrize("command", ["session.allocate", "session.grant.create", "session.revoke"])
def test_the_id_of_a_retained_mutation_is_a_positive_u64(command: str, number: str) -> None:
    world = SessionWorld()
    assert error(world, command, SOUND[command], id=number) == ("INVALID_ARGUMENT", "id")


@pytest.mark.parametrize("number", ["1", str(2**64 - 1)])
def test_the_least_and_the_greatest_number_are_good(number: str) -> None:
    world = SessionWorld()
    who = world.connect()
    answer = world.mutate(
        who, "session.allocate", world.allocation(who, key_number(1)), int(number)
    )
    assert "record" in answer


@pytest.mark.parametrize(
    "bound",
    [
        SessionLimits(retained_per_connection=2),
        SessionLimits(retained=2),
        SessionLimits(retained_bytes=2_500),
    ],
)
def test_the_oldest_results_give_way(bound: SessionLimits) -> None:
    world = SessionWorld(replace(DEFAULTS, sessions=bound))
    term = world.term()
    spent, reasons = [], []
    for pane in (1, 2, 3):
        world.grant(term, pane)
        spent.append(next(world.ids) - 1)
    for number in spent:
        answer = world.mutate(term.at, "session.grant.create", {**GRANT, "parent": REF}, number)
        reasons.append(answer["details"]["reason"])
    assert reasons[0] == "unknown_outcome"
    assert reasons[-1] == "request_mismatch"
    assert world.core.statistics()["sessions_retained"] <= 2


def test_results_are_forgotten_with_their_connection() -> None:
    world = SessionWorld()
    term = world.term()
    assert world.core.statistics()["sessions_retained"] == 1
    world.core.disconnected(term.at, world.now)
    assert world.core.statistics()["sessions_retained"] == 0
    assert world.core._bus.retained._highest == {}


def test_a_snapshot_that_is_too_large_is_refused() -> None:
    world = SessionWorld(replace(DEFAULTS, sessions=SessionLimits(list_bytes=100)))
    term = world.term()
    details = world.verb(term.at, "session.list")["details"]
    assert details == {"reason": "snapshot_limit", "limit": 100}


def test_a_list_is_of_one_user_and_sorted() -> None:
    world = SessionWorld()
    mine = [world.term() for _ in range(3)]
    foreign = world.term(uid=8)
    answer = world.verb(mine[0].at, "session.list")
    names = [each["name"] for each in answer["records"]]  # type: ignore[attr-defined]  # JSON
    assert names == sorted(held.name for held in mine)
    hidden = {"record_id": foreign.record["record_id"]}
    absent = {"record_id": ID}
    told = [world.verb(mine[0].at, "session.self", body) for body in (hidden, absent)]
    assert told[0] == told[1] == {"error_code": "FORBIDDEN", "message": "forbidden", "details": {}}


def test_a_record_is_made_with_all_capabilities() -> None:
    assert SessionWorld().term().record["capabilities"] == list(CAPABILITIES)
