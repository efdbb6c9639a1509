"""Keys of a view: commands, prompts, messages, overlays and questions."""

from __future__ import annotations

from typing import Any

import pytest

from termnode.attach.config import Config
from termnode.attach.keys.events import (
    FocusEvent,
    KeyEvent,
    PasteEvent,
    RawEvent,
    ReplyEvent,
    TextEvent,
)
from termnode.attach.ui import questions
from termnode.attach.ui.bindings import COMMANDS, COPY, keymap
from termnode.attach.ui.controller import Controller
from termnode.attach.ui.copying.moves import MOVES
from termnode.attach.ui.core import HOLD_S
from termnode.attach.ui.effects import Leave, Quit, Redraw, Ring
from termnode.control.schema import validate
from termnode.control.verbs import TABLE
from termnode.terminal.engine import Modes
from termnode.terminal.input.names import parse_key
from termnode.view.frames import encode
from termnode.view.messages import (
    Answer,
    Asked,
    AskedGone,
    Bell,
    Bye,
    Do,
    Done,
    Focus,
    Input,
    Key,
    Pasted,
    PlacedPane,
    Raw,
    Reason,
    Size,
    Text,
    Welcome,
)
from tests.support.attach_ui import ONE, TWO, Person, tab

SPECS = {spec.name: spec for spec in TABLE}

THREE_TABS = (tab(1), tab(2, (5,)), tab(7, (6,)))

QUESTION = Asked(4, "may I?", "read the file\nall of it")

VERBS: list[tuple[tuple[str, ...], str, dict[str, Any]]] = [
    (("c",), "term.tab.new", {}),
    (("n",), "term.tab.select", {"id": 2}),
    (("p",), "term.tab.select", {"id": 7}),
    (("7",), "term.tab.select", {"id": 7}),
    (("'", "7", "Enter"), "term.tab.select", {"id": 7}),
    (("w", "Down", "Enter"), "term.tab.select", {"id": 2}),
    ((",", "C-u", "x", "Enter"), "term.tab.rename", {"id": 1, "title": "x"}),
    (("&", "y"), "term.tab.close", {"id": 1}),
    (("%",), "term.pane.split", {"pane": 1, "dir": "h"}),
    (('"',), "term.pane.split", {"pane": 1, "dir": "v"}),
    (("o",), "term.pane.select", {"id": 2}),
    (("Right",), "term.pane.select", {"id": 2}),
    (("Left",), "term.pane.select", {"id": 2}),
    (("C-Right",), "term.pane.resize", {"pane": 1, "cols": 41}),
    (("C-Left",), "term.pane.resize", {"pane": 1, "cols": 39}),
    (("M-Right",), "term.pane.resize", {"pane": 1, "cols": 45}),
    (("z",), "term.pane.zoom", {"pane": 1, "on": True}),
    (("x", "y"), "term.pane.close", {"pane": 1}),
    (("{",), "term.pane.swap", {"pane": 1, "with": 2}),
    (("}",), "term.pane.swap", {"pane": 1, "with": 2}),
    (("!",), "term.pane.break", {"pane": 1}),
    (("Space",), "term.tab.layout", {"id": 1, "layout": "even-horizontal"}),
    (("M-4",), "term.tab.layout", {"id": 1, "layout": "main-vertical"}),
    (("R",), "term.pane.restart", {"pane": 1}),
]


@pytest.mark.parametrize(("keys", "verb", "body"), VERBS)
def test_a_command_asks_for_its_verb(
    keys: tuple[str, ...], verb: str, body: dict[str, Any]
) -> None:
    person = Person(TWO, tabs=(tab(1, (1, 2)), *THREE_TABS[1:]))
    person.command(*keys)
    assert person.verbs() == [(verb, body)]
    validate(SPECS[verb], body)


def test_every_action_of_the_tables_does_something() -> None:
    for binding in COMMANDS:
        person = Person(
            TWO, config=Config(keys={parse_key("F9"): binding.action}),
            tabs=(tab(1, (1, 2)), *THREE_TABS[1:]),
        )  # fmt: skip
        person.command("F9")
        assert person.take(), binding.action


def test_every_action_of_copy_mode_is_known() -> None:
    others = {"leave", "clear", "refresh", "copy", "select", "select-line", "rectangle"}
    others |= {"other-end", "search-forward", "search-backward", "search-again", "search-reverse"}
    assert {binding.action for binding in COPY} == MOVES.keys() | others


def test_no_key_is_bound_twice() -> None:
    for table in (COMMANDS, COPY):
        assert len(keymap(table, {})) == sum(len(binding.keys) for binding in table)


# -- the prefix -----------------------------------------------------------------------------------


def test_what_is_typed_goes_to_the_program_in_one_message() -> None:
    person = Person()
    person.does(TextEvent("ls"), KeyEvent("Enter"), RawEvent(b"\x1b[?"), ReplyEvent(b"\x1b[c"))
    assert person.sent(Input) == [Input(1, (Text("ls"), Key("Enter"), Raw(b"\x1b[?")))]


def test_the_prefix_takes_the_next_key_and_no_more() -> None:
    person = Person()
    person.press("C-b")
    waits = person.ui.prefix
    person.does(TextEvent("ry"))  # read at once: r is the command, y is text
    assert (waits, person.ui.prefix) == (True, False)
    effects = person.take()
    assert Redraw(full=True) in effects
    person.effects = effects
    assert person.items() == [(1, Text("y"))]


def test_the_prefix_twice_sends_it() -> None:
    person = Person()
    person.press("C-b", "C-b")
    assert person.items() == [(1, Key("C-b"))]


def test_another_prefix_sends_itself_and_frees_the_first() -> None:
    person = Person(config=Config(prefix="C-a"))
    person.press("C-a", "C-a", "C-b", "C-a", "c")
    effects = person.effects.copy()
    assert person.items() == [(1, Key("C-a")), (1, Key("C-b"))]
    person.effects = effects
    assert person.verbs() == [("term.tab.new", {})]


def test_a_character_as_prefix_is_found_in_text() -> None:
    person = Person(config=Config(prefix="`"))
    person.does(TextEvent("a`cb"))
    effects = person.effects.copy()
    assert person.items() == [(1, Text("a")), (1, Text("b"))]
    person.effects = effects
    assert person.verbs() == [("term.tab.new", {})]


def test_an_unbound_key_after_the_prefix_says_so_and_reaches_nobody() -> None:
    person = Person()
    person.command("F12")
    assert "no command" in (person.ui.message or "")
    assert person.items() == []


def test_a_repeatable_command_goes_on_without_the_prefix_for_a_while() -> None:
    person = Person(TWO)
    person.command("C-Right")
    person.press("C-Right")
    assert len(person.verbs()) == 2
    person.passes(0.6)
    person.press("C-Right")
    assert person.items() == [(1, Key("C-Right"))]


def test_another_key_ends_the_repeat() -> None:
    person = Person(TWO)
    person.command("C-Right")
    person.take()
    person.press("x", "C-Right")
    assert person.items() == [(1, Text("x")), (1, Key("C-Right"))]


def test_a_paste_after_the_prefix_is_a_paste() -> None:
    person = Person()
    person.press("C-b")
    person.does(PasteEvent("c"), TextEvent("d"))
    assert person.items() == [(1, Pasted("c")), (1, Text("d"))]


def test_what_is_long_is_cut_to_fit_the_protocol() -> None:
    person = Person()
    person.does(TextEvent("é" * 70_000), PasteEvent("\U0001f600" * 500_000))
    messages = person.sent(Input)
    for message in messages:
        encode(message)
    items = [item for message in messages for item in message.items]
    pasted = [item for item in items if isinstance(item, Pasted)]
    assert "".join(item.text for item in items if isinstance(item, Text)) == "é" * 70_000
    assert [item.more for item in pasted] == [True, True, False]
    assert "".join(item.text for item in pasted) == "\U0001f600" * 500_000


def test_a_paste_in_parts_keeps_its_end() -> None:
    person = Person()
    person.does(PasteEvent("a", more=True), PasteEvent("", more=False))
    assert person.items() == [(1, Pasted("a", more=True)), (1, Pasted(""))]


def test_a_paste_ends_in_the_pane_that_it_began_in() -> None:
    person = Person(TWO)
    person.does(PasteEvent("a", more=True))
    person.told(person.layout(TWO, active=2))
    person.does(PasteEvent("b"), PasteEvent("c"))
    assert person.items() == [(1, Pasted("a", more=True)), (1, Pasted("b")), (2, Pasted("c"))]


@pytest.mark.parametrize("wants", [True, False])
def test_focus_goes_to_programs_that_want_it(wants: bool) -> None:
    person = Person()
    person.told(person.state(modes=Modes(focus_events=wants)))
    person.does(FocusEvent(has=True))
    assert person.items() == ([(1, Focus(has=True))] if wants else [])


# -- which was before -----------------------------------------------------------------------------


def test_last_pane_and_last_tab_go_back() -> None:
    person = Person(TWO, tabs=THREE_TABS)
    person.told(person.layout(TWO, active=2))
    person.command(";")
    assert person.verbs() == [("term.pane.select", {"id": 1})]
    other = PlacedPane(6, 0, 0, 80, 23, hidden=False)
    person.told(person.layout((other,), 6).__class__(7, 80, 23, (other,), None, 6))
    person.command("l")
    assert person.verbs() == [("term.tab.select", {"id": 1})]


def test_the_pane_on_a_side_is_the_one_that_was_active_last() -> None:
    panes = (
        PlacedPane(1, 0, 0, 40, 23, hidden=False),
        PlacedPane(2, 41, 0, 39, 11, hidden=False),
        PlacedPane(3, 41, 12, 39, 11, hidden=False),
    )
    person = Person(panes)
    person.told(person.layout(panes, 3), person.layout(panes, 1))
    person.command("Right")
    assert person.verbs() == [("term.pane.select", {"id": 3})]


def test_zoomed_panes_find_their_neighbours() -> None:
    person = Person(TWO)
    zoomed = (
        PlacedPane(1, 0, 0, 80, 23, hidden=False),
        PlacedPane(2, 41, 0, 39, 23, hidden=True),
    )
    person.told(person.layout(zoomed, 1, zoomed=1))
    person.command("Right")
    person.command("z")
    assert person.verbs() == [
        ("term.pane.select", {"id": 2}),
        ("term.pane.zoom", {"pane": 1, "on": False}),
    ]


def test_layouts_follow_each_other() -> None:
    person = Person(TWO)
    for _ in range(6):
        person.command("Space")
    layouts = [body["layout"] for _, body in person.verbs()]
    assert layouts == [
        "even-horizontal", "even-vertical", "main-horizontal", "main-vertical", "tiled",
        "even-horizontal",
    ]  # fmt: skip


# -- prompts and messages -------------------------------------------------------------------------


def message(person: Person) -> str:
    return person.ui.message or ""


def prompt(person: Person) -> str | None:
    return None if person.ui.prompt is None else person.ui.prompt.text


@pytest.mark.parametrize("answer", ["n", "Enter", "Escape", "Y", "C-c", "q"])
def test_closing_needs_a_yes(answer: str) -> None:
    person = Person()
    person.command("x")
    assert "(y/N)" in (prompt(person) or "")
    person.press(answer)
    assert prompt(person) is None
    assert person.verbs() == []
    assert person.items() == []


def test_a_paste_never_confirms() -> None:
    person = Person()
    person.command("x")
    person.does(PasteEvent("y\r", more=True), PasteEvent("y"))
    assert person.ui.prompt is not None
    assert person.verbs() == []


def test_the_rest_of_a_paste_into_a_prompt_does_not_reach_a_program() -> None:
    person = Person()
    person.command(",")
    person.does(PasteEvent("a", more=True))
    person.press("Escape")
    person.does(PasteEvent("b", more=True), PasteEvent("c"), PasteEvent("d"))
    assert person.items() == [(1, Pasted("d"))]


def test_a_line_is_edited() -> None:
    person = Person()
    person.command(",")
    person.press("C-u", *"one two", "C-w", *"tree", "Left", "Left", "Left", "h", "Home", "Delete")
    person.press("O", "End", "x", "BSpace", "C-b", "C-k")
    assert person.ui.prompt is not None
    assert person.ui.prompt.text == "(rename tab) One thre"
    assert person.ui.prompt.cursor == len(person.ui.prompt.text)
    person.press("Enter")
    assert person.verbs() == [("term.tab.rename", {"id": 1, "title": "One thre"})]


def test_a_line_has_a_limit_and_takes_no_control_characters() -> None:
    person = Person()
    person.command(",")
    person.press("C-u")
    person.does(PasteEvent("a\n\x1b" + "b" * 1_000))
    person.press("Enter")
    assert person.verbs()[0][1]["title"] == "a" + "b" * 255


def test_a_refusal_is_shown_until_it_expires() -> None:
    person = Person()
    person.command("%")
    person.refuse_last("too small: \x1b[31mmake room")
    assert message(person) == "too small:  [31mmake room"
    due = person.controller.deadline()
    assert due is not None
    person.passes(due - person.now - 0.1)
    assert message(person)
    person.passes(0.1)
    assert message(person) == ""
    assert person.controller.deadline() is None


def test_a_reply_that_nobody_waits_for_is_passed_over() -> None:
    person = Person()
    person.told(Done(99, 10, {"message": "no"}))
    assert person.ui.message is None


def test_commands_that_are_never_answered_are_bounded() -> None:
    person = Person()
    person.answers = False
    for _ in range(100):
        person.command("c")
        person.passes(HOLD_S)
    assert len(person.verbs()) == 64
    assert "not answered" in (person.ui.message or "")
    person.told(Welcome("term", 1, 1, "open", "pyte", read_only=False))  # another connection
    person.command("c")
    assert person.verbs() == [("term.tab.new", {})]


def test_detach_redraw_bell_and_the_end() -> None:
    person = Person()
    person.command("d")
    assert Leave() in person.take()
    person.told(Bell(1), Bell(1), Bye(Reason.ENDED))
    effects = person.take()
    assert effects.count(Ring()) == 1
    assert Quit("ended") in effects


def test_the_size_told_leaves_room_for_the_status_line() -> None:
    person = Person()
    person.effects += person.controller.resized(100, 30, person.now)
    assert person.sent(Size) == [Size(100, 29)]
    person.effects += person.controller.resized(1, 1, person.now)
    assert person.sent(Size) == [Size(1, 1)]


# -- read-only ------------------------------------------------------------------------------------


def test_a_read_only_view_changes_nothing() -> None:
    person = Person(TWO, read_only=True, tabs=(tab(1, (1, 2)), *THREE_TABS[1:]))
    person.told(person.state(modes=Modes(mouse=1003, focus_events=True)), QUESTION)
    person.passes(1)
    for keys, _, _ in VERBS:
        person.command(*keys)
    person.command("y")
    person.mouse("press", 60, 3)
    person.mouse("release", 60, 3)
    person.mouse("wheel-up", 3, 3)
    person.does(TextEvent("x"), PasteEvent("y"), RawEvent(b"z"), FocusEvent(has=True))
    effects = person.effects.copy()
    assert person.verbs() == []
    person.effects = effects
    assert person.items() == []
    person.effects = effects
    assert person.sent(Answer) == []
    assert "read-only" in (person.ui.message or "")


# -- overlays -------------------------------------------------------------------------------------


def test_help_shows_the_keys_as_they_are_set_and_scrolls() -> None:
    keys = {parse_key("C-t"): "new-tab", parse_key("c"): None}
    person = Person(config=Config(prefix="C-a", keys=keys))
    person.press("C-a", "?")
    (box,) = person.ui.boxes
    assert any(line.split()[:1] == ["C-t"] for line in box.lines)
    assert not any(line.split()[:1] == ["c"] and "open a tab" in line for line in box.lines)
    person.press("j", "j", "PageDown", "k", "G")
    (box,) = person.ui.boxes
    assert box.top == len(box.lines) - 1
    person.mouse("wheel-up", 1, 1)
    person.press("g", "q")
    assert person.ui.boxes == []
    assert person.items() == []


def test_what_was_copied_is_listed_pasted_and_forgotten() -> None:
    person = Person()
    person.command("]")
    assert "nothing was copied" in (person.ui.message or "")
    for text in ("one", "two\nlines", "three"):
        person.controller._core.buffers.add(text)
    person.command("]")
    assert person.items() == [(1, Pasted("three"))]
    person.command("=")
    (box,) = person.ui.boxes
    assert [line.split()[-1] for line in box.lines] == ["three", "two⏎lines", "one"]
    person.press("d", "j", "Enter")
    assert person.items() == [(1, Pasted("one"))]
    person.command("-")
    person.command("=")
    person.press("d")
    assert person.ui.boxes == []


# -- questions ------------------------------------------------------------------------------------


def asked(person: Person, after: float = 1.0) -> None:
    person.told(QUESTION)
    person.passes(after)
    person.take()


def test_a_question_is_shown_in_full_with_how_to_answer() -> None:
    person = Person()
    asked(person)
    (box,) = person.ui.boxes
    assert box.question
    assert box.lines == ("read the file", "all of it")
    assert "C-b y" in box.footer


def test_keys_for_a_program_go_on_and_answer_nothing() -> None:
    person = Person()
    asked(person)
    person.does(TextEvent("y"), KeyEvent("Enter"), PasteEvent("\x02y"), TextEvent("yes"))
    person.command("z")
    effects = person.effects.copy()
    assert person.sent(Answer) == []
    person.effects = effects
    assert [item for _, item in person.items()][:2] == [Text("y"), Key("Enter")]
    assert len(person.ui.boxes) == 1


@pytest.mark.parametrize(("key", "yes"), [("y", True), ("n", False), ("N", False)])
def test_the_prefix_answers(key: str, yes: bool) -> None:
    person = Person()
    asked(person)
    person.command(key)
    assert person.sent(Answer) == [Answer(4, yes=yes)]
    assert person.ui.boxes == []


def test_another_prefix_is_the_one_that_is_shown_and_answers() -> None:
    person = Person(config=Config(prefix="C-a"))
    asked(person)
    assert "C-a y" in person.ui.boxes[0].footer
    person.command("y")
    assert person.sent(Answer) == []
    person.press("C-a", "y")
    assert person.sent(Answer) == [Answer(4, yes=True)]


def just_asked() -> Person:
    """The prefix pressed before the question came, y after it had long been there."""
    person = Person()
    person.press("C-b")
    asked(person)
    person.press("y")
    return person


def test_what_was_begun_before_the_question_does_not_answer_it() -> None:
    assert just_asked().sent(Answer) == []
    person = Person()
    asked(person, 0.4)
    person.command("y")
    assert person.sent(Answer) == []
    assert "only just" in (person.ui.message or "")
    person.passes(0.2)
    person.command("y")
    assert person.sent(Answer) == [Answer(4, yes=True)]


def test_without_the_pause_it_would(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(questions, "UNREAD_S", -1e9)
    assert just_asked().sent(Answer) == [Answer(4, yes=True)]


def test_the_next_question_has_a_pause_of_its_own() -> None:
    person = Person()
    asked(person)
    person.told(Asked(5, "and this?", "more"))
    assert "1 more" in person.ui.boxes[0].title
    person.command("y")
    person.command("y")
    assert person.sent(Answer) == [Answer(4, yes=True)]
    person.passes(0.6)
    person.command("n")
    assert person.sent(Answer) == [Answer(5, yes=False)]


def test_a_question_taken_back_is_gone() -> None:
    person = Person()
    asked(person)
    person.told(AskedGone(4))
    assert person.ui.boxes == []
    person.command("y")
    assert person.sent(Answer) == []


def test_a_question_is_answered_over_help_and_prompts() -> None:
    for opened in ("?", ","):
        person = Person()
        person.command(opened)
        asked(person)
        person.press("y")
        assert person.sent(Answer) == []
        person.command("y")
        assert person.sent(Answer) == [Answer(4, yes=True)]


def test_questions_are_bounded() -> None:
    person = Person()
    for number in range(100):
        person.told(Asked(number, "?", "?"))
    assert "15 more" in person.ui.boxes[0].title


def test_nothing_told_is_nothing_done() -> None:
    controller = Controller(Config())
    now = 1.0
    for binding in COMMANDS:
        for key in binding.keys:
            now += HOLD_S
            for name in ("C-b", key, "Escape"):
                controller.handle(KeyEvent(name), now)
            controller.tick(now + HOLD_S)
    assert controller.handle(TextEvent("x"), now + 2 * HOLD_S) == []


def test_a_name_that_no_key_has_is_dropped() -> None:
    person = Person()
    person.does(KeyEvent("Hyper-X"))
    assert person.items() == []
    assert ONE[0].id == 1


def test_what_is_typed_behind_a_command_goes_where_the_command_leads() -> None:
    person = Person()
    person.does(KeyEvent("C-b"), TextEvent("%"), TextEvent("ls"), KeyEvent("Enter"))
    (asked,) = person.sent(Do)
    assert asked.verb == "term.pane.split"
    assert person.items() == []
    person.told(person.layout(TWO, active=2), Done(asked.req, 0, {"id": 2}))
    assert person.items() == [(2, Text("ls")), (2, Key("Enter"))]


def test_a_command_that_is_never_done_holds_nothing_for_long() -> None:
    person = Person()
    person.does(KeyEvent("C-b"), TextEvent("c"), TextEvent("x"))
    assert person.controller.deadline() == person.now + HOLD_S
    person.take()
    person.passes(HOLD_S)
    assert person.items() == [(1, Text("x"))]


def test_each_step_of_a_repeated_resize_counts_from_the_one_before() -> None:
    person = Person(TWO)
    person.does(KeyEvent("C-b"), *[KeyEvent("C-Right")] * 3)
    for cols in (41, 42, 43):
        (asked,) = person.sent(Do)
        assert asked.body["cols"] == cols
        wider = (
            PlacedPane(1, 0, 0, cols, 23, hidden=False),
            PlacedPane(2, cols + 1, 0, 79 - cols, 23, hidden=False),
        )
        person.told(person.layout(wider), Done(asked.req, 0, {}))
