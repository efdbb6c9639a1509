"""Bodies against the verb table: strict types, defaults, and refusals that name the field."""

from __future__ import annotations

import pytest

from brokerd.client import ErrorCode, Json, Refusal
from termnode.control.equality import digest
from termnode.control.patterns import compile_pattern
from termnode.control.schema import request_id, validate
from termnode.control.verbs import BY_NAME, TABLE
from tests.support.lane import BODIES, Rig, code


def refusal(verb: str, body: dict[str, Json]) -> Refusal:
    with pytest.raises(Refusal) as caught:
        validate(BY_NAME[verb], body)
    assert caught.value.code is ErrorCode.INVALID_ARGUMENT
    return caught.value


ALTERNATIVES: dict[str, list[dict[str, Json]]] = {
    "term.tab.new": [{"clean_env": True, "with_caller": True, "cols": 100, "rows": 30}],
    "term.pane.split": [
        {
            **BODIES["term.tab.new"], **BODIES["term.pane.split"],
            "clean_env": True, "with_caller": True,
        },
    ],
    "term.type": [{"text": "ls", "confirm": True}],
    "term.mouse": [{**BODIES["term.mouse"], "pane": 1}],
    "term.snapshot": [{"since": 7}, {"line": 3}, {"command": True}],
    "term.wait": [
        {"quiet_ms": 50}, {"prompt": True}, {"changed": True, "after": 7}, {"exit": True},
        {"alternate": True},
    ],
    "term.events": [{"stop": True}],
}  # fmt: skip
"""Bodies with the fields that those of BODIES leave out, mostly since they do not go together."""


@pytest.mark.parametrize("verb", list(BODIES))
def test_full_bodies_of_each_verb_are_valid(verb: str) -> None:
    spec = BY_NAME[verb]
    bodies = [BODIES[verb], *ALTERNATIVES.get(verb, [])]
    # The bodies name every field, so that no field goes untested.
    assert {field.name for field in spec.fields} == set().union(*bodies)
    for body in bodies:
        assert validate(spec, body).keys() >= body.keys()


def test_every_verb_has_a_body() -> None:
    assert set(BODIES) == set(BY_NAME)


def test_defaults_are_filled_in_and_absent_fields_stay_absent() -> None:
    no_condition = dict.fromkeys(["prompt", "changed", "exit", "alternate"], False)
    assert validate(BY_NAME["term.wait"], {"until": "x"}) == {
        "until": "x", "timeout_ms": 30_000, **no_condition,
    }  # fmt: skip
    assert validate(BY_NAME["term.tab.new"], {}) == {
        "remain": 600, "background": False, "clean_env": False, "with_caller": False,
    }  # fmt: skip
    assert validate(BY_NAME["term.type"], {"text": "x"}) == {
        "text": "x", "enter": False, "confirm": False,
    }  # fmt: skip
    assert validate(BY_NAME["term.log"], {}) == {"limit": 100}
    assert validate(BY_NAME["term.tabs"], {"request_id": "r"}) == {"request_id": "r"}
    assert validate(BY_NAME["term.mouse"], {"action": "move", "x": 0, "y": 0}) == {
        "action": "move", "x": 0, "y": 0, "button": "left",
    }  # fmt: skip
    assert validate(BY_NAME["term.paste"], {"text": ""}) == {
        "text": "", "more": False, "plain": False,
    }  # fmt: skip
    assert validate(BY_NAME["term.events"], {}) == {"stop": False}


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
        ("term.keys", "keys", [[], ["Up"] * 201, [1], "Up", None, ["Up", None], ["\0"], ["Entre"],
                               [""], [["Up"]], ["\ud800"]]),
        ("term.paste", "text", ["x" * 8193, 1, None, ["x"]]),
        ("term.paste", "operation", ["", "x" * 65, "a\n", 1]),
        ("term.mouse", "action", ["Click", "", 1, None, "double-click"]),
        ("term.mouse", "x", [-1, 1000, 1.0, "1"]),
        ("term.mouse", "y", [-1, 500]),
        ("term.mouse", "modifiers", ["alt", [1], ["meta"], ["alt", "\0"], ["alt"] * 4, None]),
        ("term.events", "kinds", [[], ["nope"], [["quiet"]], "quiet", ["quiet"] * 17]),
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


def test_an_unknown_key_refuses_the_list_and_says_which_and_what_is_near() -> None:
    body: dict[str, Json] = {"keys": ["Escape", "C-Entre", "Nope"]}
    caught = refusal("term.keys", body)
    assert caught.details == {
        "field": "keys", "reason": "unknown_key", "index": 1, "nearest": ["C-Enter", "C-KPEnter"],
    }  # fmt: skip
    assert caught.message.startswith("keys has a name that is no key: did you mean C-Enter")
    assert "Entre" not in caught.message


def test_words_of_a_list_count_once_and_keep_their_order() -> None:
    body: dict[str, Json] = {**BODIES["term.mouse"], "modifiers": ["ctrl", "alt", "ctrl"]}
    assert validate(BY_NAME["term.mouse"], body)["modifiers"] == ["ctrl", "alt"]
    assert validate(BY_NAME["term.mouse"], {**body, "modifiers": []})["modifiers"] == []


@pytest.mark.parametrize("text", ["\x1b[201~", "\0", "é終\U0001f600\u202e", "\r\n\t", "x" * 8192])
def test_text_to_paste_is_taken_as_it_is(text: str) -> None:
    assert validate(BY_NAME["term.paste"], {"text": text})["text"] == text


@pytest.mark.parametrize("half", ["d800", "dc00", "dfff"])
def test_half_a_surrogate_pair_reaches_no_verb(half: str) -> None:
    for verb, field in (("term.paste", "text"), ("term.keys", "keys")):
        value = f'"\\u{half}"' if field == "text" else f'["\\u{half}"]'
        sealed = Rig().answer(verb, f'{{"{field}": {value}}}'.encode())
        assert code(sealed) == "INVALID_ARGUMENT"


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
