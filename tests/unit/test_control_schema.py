"""Bodies against the verb table: strict types, defaults, and refusals that name the field."""

from __future__ import annotations

import pytest

from brokerd.client import ErrorCode, Json, Refusal
from termnode.control.equality import digest
from termnode.control.patterns import compile_pattern
from termnode.control.schema import request_id, validate
from termnode.control.verbs import BY_NAME, TABLE
from tests.support.lane import BODIES


def refusal(verb: str, body: dict[str, Json]) -> Refusal:
    with pytest.raises(Refusal) as caught:
        validate(BY_NAME[verb], body)
    assert caught.value.code is ErrorCode.INVALID_ARGUMENT
    return caught.value


@pytest.mark.parametrize("verb", list(BODIES))
def test_a_full_body_of_each_verb_is_valid(verb: str) -> None:
    spec = BY_NAME[verb]
    # The bodies name every field, so that no field goes untested.
    fields = {field.name for field in spec.fields}
    assert fields - set(BODIES[verb]) == ({"argv", "cwd", "env", "remain"} & fields
                                          if verb == "term.pane.split" else set())  # fmt: skip
    assert validate(spec, BODIES[verb]).keys() >= BODIES[verb].keys()


def test_defaults_are_filled_in_and_absent_fields_stay_absent() -> None:
    assert validate(BY_NAME["term.wait"], {"until": "x"}) == {"until": "x", "timeout_ms": 30_000}
    assert validate(BY_NAME["term.tab.new"], {}) == {"remain": 600}
    assert validate(BY_NAME["term.type"], {"text": "x"}) == {"text": "x", "enter": False}
    assert validate(BY_NAME["term.log"], {}) == {"limit": 100}
    assert validate(BY_NAME["term.tabs"], {"request_id": "r"}) == {"request_id": "r"}


@pytest.mark.parametrize(
    ("word", "meaning"), [("h", "h"), ("horizontal", "h"), ("v", "v"), ("vertical", "v")]
)
def test_directions_have_one_spelling_afterwards(word: str, meaning: str) -> None:
    assert validate(BY_NAME["term.pane.split"], {"dir": word})["dir"] == meaning


@pytest.mark.parametrize("value", [0, 1, 2**64 - 1])
def test_ids_are_the_whole_of_u64(value: int) -> None:
    assert validate(BY_NAME["term.tab.select"], {"id": value}) == {"id": value}


@pytest.mark.parametrize(
    ("verb", "field", "values"),
    [
        ("term.tab.select", "id", [1.0, "42", -1, 2**64, True, None, [1], {}]),
        ("term.pane.split", "dir", ["H", "", "left", 1, None, True, ["h"]]),
        ("term.pane.split", "pane", ["1", 1.5, False, -1]),
        ("term.tab.new", "argv", [[], [""], ["a\0"], [1], "ls", ["x"] * 257, None, [["x"]]]),
        ("term.tab.new", "cwd", ["", "tmp", "./x", "/a\0b", "/" + "x" * 4096, 1, None]),
        ("term.tab.new", "env", [{"": "x"}, {"a=b": "x"}, {"a\0": "x"}, {"a": 1}, {"a": "\0"},
                                 [], "a=b", None, {f"v{n}": "" for n in range(65)}]),
        ("term.tab.new", "title", ["\x1b[31m", "a\nb", "x" * 257, "\x7f", "\x9b", "\u202e",
                                   "\u2028", 1]),
        ("term.tab.new", "remain", [-1, 86_401, 1.0, "600", True]),
        ("term.type", "text", ["", "é", "\x1b", "\0", "x" * 8193, 1, None, ["x"]]),
        ("term.type", "enter", [1, 0, "true", None]),
        ("term.wait", "until", ["", "(", "(?=x)", r"(a)\1", "x" * 1025, 1, "((a{999}){999})"]),
        ("term.wait", "timeout_ms", [0, 45_001, -1, "5", 5.0]),
        ("term.log", "limit", [0, 1001, True, "1"]),
    ],
)  # fmt: skip
def test_wrong_values_are_refused_by_the_fields_name(
    verb: str, field: str, values: list[Json]
) -> None:
    for value in values:
        caught = refusal(verb, {**BODIES[verb], field: value})
        assert caught.details["field"] == field
        assert field in caught.message


@pytest.mark.parametrize(
    ("verb", "field", "value"),
    [
        ("term.tab.new", "argv", ["x"] * 256),
        ("term.tab.new", "argv", ["ls", ""]),
        ("term.tab.new", "env", {f"v{n}": "" for n in range(64)}),
        ("term.tab.new", "title", "ünï ✓ 終"),
        ("term.tab.new", "title", ""),
        ("term.tab.new", "remain", 0),
        ("term.tab.new", "remain", 86_400),
        ("term.wait", "timeout_ms", 1),
        ("term.wait", "timeout_ms", 45_000),
        ("term.log", "limit", 1000),
    ],
)
def test_values_at_the_bounds_are_taken(verb: str, field: str, value: Json) -> None:
    assert validate(BY_NAME[verb], {**BODIES[verb], field: value})[field] == value


@pytest.mark.parametrize("spec", TABLE, ids=lambda spec: str(spec.name))
def test_required_and_unknown_fields(spec: object) -> None:
    found = BY_NAME[getattr(spec, "name", "")]
    for field in found.fields:
        if field.required:
            body = {key: value for key, value in BODIES[found.name].items() if key != field.name}
            assert refusal(found.name, body).details == {"field": field.name}
    unknown = refusal(found.name, {**BODIES[found.name], "nope": 1})
    assert unknown.details["reason"] == "unknown_field"
    assert unknown.details["known"] == [*(field.name for field in found.fields), "request_id"]
    assert "nope" not in unknown.message


@pytest.mark.parametrize("value", ["r", "x" * 128, "a b", "~"])
def test_a_usable_request_id_is_found(value: str) -> None:
    assert request_id({"request_id": value}) == value


@pytest.mark.parametrize("value", [None, 1, "", "x" * 129, "\n", "ä", ["r"]])
def test_an_unusable_one_is_not(value: Json) -> None:
    assert request_id({"request_id": value}) is None
    assert request_id({}) is None


def test_equal_requests_have_equal_digests_and_others_do_not() -> None:
    assert digest("v", {"a": 1, "b": [{"c": 1, "d": 2}]}) == digest(
        "v", {"b": [{"d": 2, "c": 1}], "a": 1}
    )
    different: list[tuple[str, dict[str, Json]]] = [
        ("v", {"a": 1}), ("v", {"a": 1.0}), ("v", {"a": True}), ("v", {"a": "1"}),
        ("v", {"a": [1]}), ("v", {"a": None}), ("v", {}), ("v", {"b": 1}), ("w", {"a": 1}),
        ("v", {"a": [1, 2]}), ("v", {"a": [2, 1]}), ("v", {"a": False}), ("v", {"a": 0}),
    ]  # fmt: skip
    assert len({digest(verb, body) for verb, body in different}) == len(different)


def test_a_pattern_searches_in_linear_time_and_is_never_printed(
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert compile_pattern(r"ready\s*$").search("get ready ") is not None
    assert compile_pattern("(a*)*b").search("a" * 50_000) is None
    with pytest.raises(Refusal):
        compile_pattern("secret(")
    assert capfd.readouterr() == ("", "")
