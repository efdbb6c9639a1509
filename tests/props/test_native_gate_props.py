"""Whatever is sent to the native lane is decided: a decision or a typed refusal, never an error."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from brokerd.client import CAPABILITIES, ErrorCode
from termnode.control.native.decisions import Go, Need, Refuse, Told
from termnode.control.native.limits import PERMIT_MS
from termnode.control.native.table import NATIVE
from termnode.control.posture import Posture
from tests.support.native_gate import (
    AMBIENT,
    INCARNATION,
    INSTANCE,
    MINE,
    NODE,
    NOW_MS,
    OTHER,
    FakeWorld,
    Rig,
    Who,
    body_for,
    child,
    encoded,
    term,
)

VERBS = st.sampled_from([*NATIVE, "term.nothing", "", "INFO"])
PRINCIPALS = st.sampled_from([None, NODE, AMBIENT, term(), child(), child(2, 2)])
POSTURES = st.sampled_from(list(Posture))

VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 2**65)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=6)
    | st.sampled_from(["0", "1", "2", "01", str(2**64), INSTANCE, INCARNATION, MINE, OTHER]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=4,
)
NAMES = st.sampled_from(sorted({each for spec in NATIVE.values() for each in spec.known}))


@st.composite
def nearly_good(draw: st.DrawFn) -> tuple[str, bytes]:
    """A good body of some verb in which a few things were changed."""
    verb = draw(st.sampled_from(list(NATIVE)))
    body = body_for(verb, affected=draw(st.sampled_from([(), (2,), (2, 3), (1, 2)])))
    for name in draw(st.lists(NAMES, max_size=2)):
        body[name] = draw(VALUES)
    if draw(st.booleans()) and isinstance(body.get("target"), dict):
        body["target"] = {**body["target"], draw(st.sampled_from([*body["target"]])): draw(VALUES)}
    for name in draw(st.lists(st.sampled_from([*body]), max_size=1)):
        del body[name]
    return verb, encoded(body)


def check(rig: Rig, principal: Who, verb: str, raw: bytes) -> None:
    before = rig.ledger.statistics()
    decision = rig.evaluate(principal, verb, raw)
    assert rig.ledger.statistics() == before
    assert isinstance(decision, Refuse | Need | Told | Go)
    if isinstance(decision, Refuse):
        _check_refusal(decision)
    if isinstance(decision, Go):
        assert NOW_MS < decision.permit_until_ms <= NOW_MS + PERMIT_MS
        assert decision.spec is decision.request.spec
        assert not decision.spec.mutates or decision.request.request_id
        assert decision.args.keys() <= {field.name for field in decision.spec.fields}
        assert rig.evaluate(principal, verb, raw) == decision


def _check_refusal(decision: Refuse) -> None:
    refusal = decision.refusal
    json.dumps(refusal.body(), allow_nan=False)
    assert refusal.code in set(ErrorCode)
    if refusal.code is ErrorCode.FORBIDDEN:
        assert refusal.body() == {
            "error_code": "FORBIDDEN", "message": "forbidden", "details": {}
        }  # fmt: skip


@given(VERBS, st.binary(max_size=200), PRINCIPALS, POSTURES)
def test_any_bytes(verb: str, raw: bytes, principal: Who, posture: Posture) -> None:
    check(Rig(FakeWorld(stance=posture)), principal, verb, raw)


@given(VERBS, st.dictionaries(NAMES | st.text(max_size=5), VALUES), PRINCIPALS, POSTURES)
def test_any_object(verb: str, body: object, principal: Who, posture: Posture) -> None:
    check(Rig(FakeWorld(stance=posture)), principal, verb, encoded(body))


@given(nearly_good(), PRINCIPALS, POSTURES, st.integers(0, 2))
def test_nearly_good_requests(
    asked: tuple[str, bytes], principal: Who, posture: Posture, remaining: int
) -> None:
    rig = Rig(FakeWorld(stance=posture))
    verb, raw = asked
    need = rig.evaluate(child(), "term.session", body_for("term.session"))
    if isinstance(need, Need) and remaining:
        rig.lease(need, remaining)
    check(rig, principal, verb, raw)


@given(
    st.sets(st.sampled_from(CAPABILITIES)),
    st.sets(st.sampled_from(CAPABILITIES)),
    st.sampled_from(list(NATIVE)),
)
def test_who_has_more_may_no_less(less: set[str], more: set[str], verb: str) -> None:
    def goes(grants: set[str]) -> bool:
        rig = Rig(FakeWorld(stance=Posture.STRICT))
        principal = term(capabilities=tuple(sorted(grants)))
        return isinstance(rig.evaluate(principal, verb, body_for(verb)), Go)

    assert goes(less | more) or not goes(less)
