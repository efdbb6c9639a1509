"""Any JSON at all is either valid arguments or a typed refusal, and no text repeats a value."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from brokerd.client import ErrorCode, Json, Refusal, encode, invalid
from termnode.control.equality import digest
from termnode.control.keys import encode_keys
from termnode.control.schema import Args, validate
from termnode.control.spec import VerbSpec
from termnode.control.verbs import TABLE
from termnode.lanes.calls import Admitted, Answer, Join
from tests.support.lane import BODIES, Rig
from tests.support.refusals import outcome

CANARY = "cAnArY"
LIMITS = settings(max_examples=150, deadline=None, database=None)

SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-2, 2**65),
    st.floats(allow_nan=False, allow_infinity=False, width=32),
    st.text(max_size=8), st.sampled_from([CANARY, f"/{CANARY}", f"{CANARY}\0", f"({CANARY}", ""]),
)  # fmt: skip
VALUES: st.SearchStrategy[Json] = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner),
    max_leaves=6,
)
NAMES = [*sorted({field.name for spec in TABLE for field in spec.fields}), "request_id", CANARY]
BODY = st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=4)
SPECS = st.sampled_from(TABLE)

Validator = Callable[[VerbSpec, dict[str, Json]], Args]


def check(validator: Validator, spec: VerbSpec, body: dict[str, Json]) -> None:
    """The promise: typed refusal without the value, or arguments of the table only."""
    names = {field.name for field in spec.fields} | {"request_id"}
    args = outcome(lambda: validator(spec, body))
    if isinstance(args, Refusal):
        assert args.code is ErrorCode.INVALID_ARGUMENT
        assert CANARY not in json.dumps(args.body())
        assert args.details["field"] in names | {"body"}
        return
    assert body.keys() <= names
    assert args.keys() <= names
    for name, value in body.items():
        assert type(args[name]) is type(value)


@LIMITS
@given(spec=SPECS, body=BODY, merge=st.booleans())
def test_any_object_is_valid_or_refused(spec: VerbSpec, body: dict[str, Json], merge: bool) -> None:
    # On top of a valid body, so that refusals come from every field and not only the first.
    check(validate, spec, {**BODIES[spec.name], **body} if merge else body)


def test_that_check_finds_an_echo_a_stray_field_and_an_untyped_error() -> None:
    spec = next(spec for spec in TABLE if spec.name == "term.wait")

    def echoing(_spec: VerbSpec, body: dict[str, Json]) -> Args:
        raise invalid("until", f"bad: {body['until']}")

    def taking_all(_spec: VerbSpec, body: dict[str, Json]) -> Args:
        return body

    def crashing(_spec: VerbSpec, body: dict[str, Json]) -> Args:
        raise KeyError("until")

    for broken, error in (
        (echoing, AssertionError), (taking_all, AssertionError), (crashing, KeyError),
    ):  # fmt: skip
        with pytest.raises(error):
            check(broken, spec, {"until": CANARY, "other": 1})


@LIMITS
@given(verb=st.sampled_from([*BODIES, "term.none"]), raw=st.binary(max_size=60), body=BODY)
def test_any_bytes_get_one_verdict(verb: str, raw: bytes, body: dict[str, Json]) -> None:
    for each in (raw, encode(body)):
        rig = Rig()
        verdict = rig.admit(verb, each)
        if isinstance(verdict, Answer):
            reply = json.loads(verdict.reply.raw)
            assert verdict.reply.rc in {0, 10}
            assert ("error_code" in reply) == (verdict.reply.rc == 10)
        else:
            assert isinstance(verdict, Admitted | Join)
        assert CANARY not in json.dumps(rig.audit.tail())


@LIMITS
@given(first=BODY, second=BODY)
def test_digests_are_equal_exactly_for_the_same_json(
    first: dict[str, Json], second: dict[str, Json]
) -> None:
    shuffled = dict(reversed(first.items()))
    assert digest("v", first) == digest("v", shuffled)
    assert digest("v", first) == digest("v", json.loads(encode(first)))
    same = json.dumps(first, sort_keys=True) == json.dumps(second, sort_keys=True)
    assert (digest("v", first) == digest("v", second)) == same


@LIMITS
@given(value=st.integers(-5, 5))
def test_equal_in_python_is_not_equal_here(value: int) -> None:
    assume(value not in {0, 1})
    assert digest("v", {"a": value}) != digest("v", {"a": float(value)})


@LIMITS
@given(text=st.text(max_size=40))
def test_text_is_typed_whole_or_not_at_all(text: str) -> None:
    keys = outcome(lambda: encode_keys(text))
    if isinstance(keys, Refusal):
        assert keys.code is ErrorCode.INVALID_ARGUMENT
        return
    assert len(keys) == len(text)
    assert set(keys) <= {3, 4, 9, 13, *range(0x20, 0x80)}
