"""Patterns of callers: a wrong one names the character, in words that repeat nothing of it."""

from __future__ import annotations

import pytest

from brokerd.client import ErrorCode, Refusal
from termnode.control import patterns
from termnode.control.patterns import MAX_PATTERN, compile_pattern

WRONG = [
    ("(a", 0),
    ("(a(b)", 0),
    ("x(a)(b", 4),
    (r"\(([(])(", 7),
    (r"\Q((\E(", 6),
    ("[](](", 4),
    ("a)", 1),
    ("(a))b", 3),
    ("ab[c", 2),
    ("(a[b", 2),
    ("ab\\", 2),
    ("a**", 1),
    ("aé*éb++", 5),
    ("(x|*y)", 3),
    (r"(ab)\1", 4),
    (r"q\q", 1),
    ("a(?=x)", 1),
    ("(?<=x)b", 0),
    ("(?=(?=", 0),
    ("a{1001}", 1),
    ("x{2,1}", 1),
    ("((a{100}){100}){100}", 9),
    ("[a][z-a]", 4),
    (r"a\pX", 1),
    ("[[:foo:]]", 1),
    ("(?P<a b>x)", 0),
    ("x(?P<a", 1),
]


def refused(text: str) -> Refusal:
    with pytest.raises(Refusal) as caught:
        compile_pattern(text)
    return caught.value


@pytest.mark.parametrize(("text", "position"), WRONG)
def test_a_wrong_pattern_names_the_offending_character(text: str, position: int) -> None:
    refusal = refused(text)
    assert refusal.code is ErrorCode.INVALID_ARGUMENT
    assert refusal.details["field"] == "until"
    assert refusal.details["position"] == position
    assert f"at character {position}" in refusal.message
    assert patterns._WORDS.keys() >= {"missing )", "unexpected )"}


@pytest.mark.parametrize(("text", "position"), WRONG)
def test_the_position_is_right_behind_any_valid_beginning(text: str, position: int) -> None:
    before = r"(ok[)(]\)){2}é|"
    assert refused(before + text).details["position"] == len(before) + position


def test_the_check_of_positions_sees_a_wrong_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "_first_end", lambda text, *_args, **_kinds: len(text))
    wrong = [text for text, position in WRONG if refused(text).details["position"] != position]
    assert wrong


def test_the_message_repeats_nothing_of_the_pattern() -> None:
    for wrong in ("(", ")", "[", "**", "\\q", "(?=", "{1001}", "\\"):
        refusal = refused(f"canary{wrong}canary" if wrong != "\\" else "canary\\")
        assert "canary" not in refusal.message
        assert "canary" not in str(refusal.details)


@pytest.mark.parametrize("text", [r"(\w{500}){1}(\pL{500})\pL{1000}\pL{1000}", "\ud800"])
def test_what_is_too_big_or_no_text_has_no_position(text: str) -> None:
    refusal = refused(text)
    assert refusal.details == {"field": "until", "reason": "pattern"}
    assert "memory" in refusal.message


@pytest.mark.parametrize("open_or_close", ["(", "[", "(?:", "a{2", "*", ")", "\\x{"])
def test_the_longest_wrong_patterns_are_refused_without_delay(
    open_or_close: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counted in compilations, which take well under a millisecond each."""
    compiled: list[str] = []
    compile_one = patterns._compile

    def counted(text: str) -> object:
        compiled.append(text)
        return compile_one(text)

    monkeypatch.setattr(patterns, "_compile", counted)
    text = (open_or_close * MAX_PATTERN)[: MAX_PATTERN - 1] + ")("
    refused(text[:MAX_PATTERN])
    assert len(compiled) <= 12


def test_a_right_pattern_is_compiled() -> None:
    assert compile_pattern(r"(\d+) passed").search("12 passed")
    assert compile_pattern("(?<name>x)|(?i)READY").search("ready")
