"""The command line's parts for agents: words of options, markup, sizes, parts, waits in pieces."""

from __future__ import annotations

import argparse
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from termnode.cli import arranging, explaining, following, keyboard, markup, parser, waiting
from termnode.cli.options import words
from termnode.cli.values import length
from termnode.control import fields
from termnode.control.parts import parts
from termnode.control.spec import Field


@pytest.mark.parametrize(
    ("ours", "field"),
    [
        (words.ACTIONS, fields.ACTION),
        (words.BUTTONS, fields.BUTTON),
        (words.MODIFIERS, fields.MODIFIERS),
        (words.FORMATS, fields.FORMAT),
        (words.EVENT_KINDS, fields.EVENT_KINDS),
        (words.LAYOUTS, fields.LAYOUT),
    ],
)
def test_the_words_of_options_are_those_of_the_verbs(ours: tuple[str, ...], field: Field) -> None:
    assert tuple(ours) == tuple(field.choices)


def test_marks_show_what_stands_out_and_marks_in_the_text_are_doubled() -> None:
    runs: list[dict[str, Any]] = [
        {"text": "File "},
        {"text": "Open «x»", "reverse": True, "fg": 3},
        {"text": " end"},
    ]
    assert markup.marked(runs) == "File «reverse fg=3»Open ««x»«/» end"
    assert markup.marked([{"text": "w", "underline": 3}]) == "«underline=curly»w«/»"
    forged = [{"text": "w", "link": "http://x»«reverse»"}]
    assert markup.marked(forged) == "«link=http://x%C2%BB%C2%ABreverse%C2%BB»w«/»"


@pytest.mark.parametrize(("text", "value"), [("80", ("", 80)), ("+5", ("+", 5)), ("-5", ("-", 5))])
def test_lengths_that_are_taken(text: str, value: tuple[str, int]) -> None:
    assert length(text) == value


@pytest.mark.parametrize("text", ["", "+", "x", "1.5", "99999", "--5", "\u0665"])
def test_lengths_that_are_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError):
        length(text)


def test_a_change_of_size_is_from_the_present_one() -> None:
    given = {"cols": ("+", 5), "rows": ("", 7)}
    assert arranging._sizes(given, lambda: {"cols": 40, "rows": 9}) == {"cols": 45, "rows": 7}


def test_present_sizes_are_not_asked_for_in_vain() -> None:
    def never() -> dict[str, object]:
        raise AssertionError("nobody needs them")

    assert arranging._sizes({"cols": ("", 5)}, never) == {"cols": 5}


@pytest.mark.parametrize(
    "text", ["", "a", "ab\n" * 5_000, "日本" * 3_000, '"\\' * 4_000, "\x00" * 9]
)
def test_parts_fit_and_join_to_the_text(text: str) -> None:
    import json

    cut = list(parts(text, room=1_000))
    assert "".join(cut) == text
    assert all(len(json.dumps(part, ensure_ascii=False).encode()) <= 1_000 for part in cut)
    assert len(cut) == 1 or "" not in cut


def test_parts_without_room_are_an_error() -> None:
    with pytest.raises(ValueError, match="room"):
        list(parts("日", room=2))


def _waits(monkeypatch: pytest.MonkeyPatch, answers: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Have waits answered so; gives the bodies that were asked with."""
    import trio

    bodies: list[dict[str, Any]] = []

    async def ask(verb: str, body: dict[str, Any], wait: float = 0) -> dict[str, Any]:
        bodies.append(body)
        return answers[min(len(bodies), len(answers)) - 1]

    async def begin(talk: Callable[..., Awaitable[object]]) -> object:
        return await talk(ask)

    monkeypatch.setattr(
        waiting, "converse", lambda _arguments, talk, changes: trio.run(begin, talk)
    )
    return bodies


def test_a_long_wait_goes_on_from_where_each_part_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    bodies = _waits(
        monkeypatch,
        [{"outcome": "deadline", "revision": 7}, {"outcome": "matched", "revision": 9}],
    )
    arguments = argparse.Namespace(
        timeout=100.0, after=None, pane=2, name="term", runtime_dir="/nowhere"
    )
    answer = waiting.wait_for(arguments, {"until": "x"}, longest_ms=50)
    assert answer["outcome"] == "matched"
    assert [body.get("after") for body in bodies] == [None, 7]
    assert all(body["pane"] == 2 for body in bodies)


def test_events_in_words_show_no_control_characters() -> None:
    event = {"seq": 1, "time": 0, "kind": "title", "pane": 3, "title": "a\x1b]0;b", "previous": 0}
    line = following._words(event)
    assert "\x1b" not in line
    assert "pane 3" in line
    assert "title=a" in line


def test_inside_a_pane_that_pane_is_meant(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERMNODE_NAME", "term")
    monkeypatch.setenv("TERMNODE_PANE", "7")
    here = argparse.Namespace(name="term", runtime_dir=None, pane=None)
    assert keyboard.with_pane(here, {}) == {"pane": 7}
    assert keyboard.with_pane(argparse.Namespace(**{**vars(here), "pane": 2}), {}) == {"pane": 2}
    for other in ({"name": "build"}, {"runtime_dir": "/elsewhere"}):
        assert keyboard.with_pane(argparse.Namespace(**{**vars(here), **other}), {}) == {}
    monkeypatch.setenv("TERMNODE_PANE", "x")
    assert keyboard.with_pane(here, {}) == {}


def test_remedies_name_commands() -> None:
    said = explaining.as_commands("term.tab.select it first, or ask HELP; term.panes lists them")
    assert said == (
        "'termnode select --tab' it first, or ask 'termnode call HELP'; 'termnode panes' lists them"
    )
    assert explaining.as_commands("term.pane.other") == "term.pane.other"


@pytest.mark.parametrize(
    ("words", "hint"), [(["new", "ls", "-la"], "--"), (["--name", "x", "panes"], "follow")]
)
def test_common_mistakes_get_a_hint(
    words: list[str], hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        parser.build("0").parse_args(words)
    assert end.value.code == 2
    assert hint in capsys.readouterr().err.splitlines()[-1]
