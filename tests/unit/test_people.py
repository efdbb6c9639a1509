"""People at panes: their input goes before agents' and as asked for; commands and questions."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from types import SimpleNamespace
from typing import Any, cast

import pytest
import trio
import trio.testing

from brokerd.client import ErrorCode, Refusal
from termnode.control import posture
from termnode.service import dispatch
from termnode.service.events.subscriptions import Subscriber
from termnode.service.input import lines, pasting
from termnode.service.input.authors import Author, Outstanding
from termnode.service.live_pane import LivePane
from termnode.service.native.foreground import Foreground
from termnode.service.viewing.asking import MAX_OPEN, MAX_TITLE, Asking
from termnode.service.viewing.doing import do, submit
from termnode.service.viewing.pages import AT_ONCE, page
from termnode.service.viewing.pastes import PersonPastes
from termnode.service.viewing.people import People, person_summary
from termnode.service.viewing.strokes import Stroke, strokes
from termnode.service.viewing.typing import press
from termnode.terminal.input.paste import Cleaned, clean_paste
from termnode.terminal.pyte_engine import PyteEngine
from termnode.view.items import Focus, Item, Key, Mouse, Pasted, Raw, Text
from termnode.view.messages import Do, Done, PageWanted
from tests.support.lane import code
from tests.support.person_lab import (
    AGENT,
    Asked,
    PersonLab,
    has_read,
    in_person_lab,
    shows,
    stop_file,
    until,
)

WHO = "person uid 7 pid 9 (view)"
LONG = "a" * 60_000
"""More than a terminal takes while nobody reads, and less than may wait."""


def test_a_person_is_named_by_what_the_kernel_says() -> None:
    assert person_summary(7, 9) == WHO


# -- before agents ---------------------------------------------------------------------------------


def test_what_an_agent_queued_gives_way_to_a_persons_key() -> None:
    async def body(lab: PersonLab) -> None:
        live, path = await lab.reader(stopped=True)
        paste = await lab.agent("term.paste", pane=live.id, text=LONG, more=False)
        more = await lab.agent("term.type", pane=live.id, text="xyz", enter=True)
        assert not paste.ended.is_set()
        assert press(lab.state, live.id, [Key("q")], who=WHO)
        await paste.ended.wait()
        await more.ended.wait()
        for asked, total in ((paste, len(LONG)), (more, 4)):
            assert asked.refusal is not None
            assert asked.refusal.code is ErrorCode.CANCELLED
            assert asked.refusal.details["reason"] == "person_typed"
            assert asked.refusal.details["bytes"] == total
        assert paste.refusal is not None
        written = paste.refusal.details["written_bytes"]
        assert isinstance(written, int)
        assert 0 < written < len(LONG)
        assert more.refusal is not None
        assert more.refusal.details["written_bytes"] == 0
        stop_file(path).unlink()
        assert await has_read(path, b"q") == b"a" * written + b"q"

    in_person_lab(body)


def test_without_the_interruption_the_key_would_come_last(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same as above with a broken variant: it is seen to fail."""

    monkeypatch.setattr(People, "interrupt", lambda *_: None)

    async def body(lab: PersonLab) -> None:
        live, path = await lab.reader(stopped=True)
        paste = await lab.agent("term.paste", pane=live.id, text=LONG, more=False)
        assert press(lab.state, live.id, [Key("q")], who=WHO)
        stop_file(path).unlink()
        assert await has_read(path, b"q") == LONG.encode() + b"q"
        await paste.ended.wait()
        assert paste.refusal is None

    in_person_lab(body)


def test_a_bracketed_paste_that_gives_way_is_closed_before_the_key() -> None:
    async def body(lab: PersonLab) -> None:
        live, path = await lab.reader(r"\x1b[?2004h", stopped=True)
        await lab.agent("term.paste", pane=live.id, text=LONG, more=False)
        assert press(lab.state, live.id, [Key("Enter")])
        stop_file(path).unlink()
        data = await has_read(path, b"\r")
        assert data.startswith(b"\x1b[200~aaa")
        assert data.endswith(b"a\x1b[201~\r")

    in_person_lab(body)


def test_a_persons_own_input_does_not_give_way() -> None:
    async def body(lab: PersonLab) -> None:
        live, path = await lab.reader(stopped=True)
        assert press(lab.state, live.id, [Pasted(LONG)], who=WHO)
        assert press(lab.state, live.id, [Key("q")], who=WHO)
        assert press(lab.state, live.id, [Key("z")], who="person of another view")
        stop_file(path).unlink()
        assert await has_read(path, b"z") == LONG.encode() + b"qz"
        assert lab.state.people.interrupted() is None

    in_person_lab(body)


def test_an_agent_may_go_on_after_the_person() -> None:
    async def body(lab: PersonLab) -> None:
        live, path = await lab.reader()
        press(lab.state, live.id, [Text("ab")])
        asked = await lab.agent("term.type", pane=live.id, text="cd", enter=False)
        await asked.ended.wait()
        assert asked.refusal is None
        assert await has_read(path, b"d") == b"abcd"

    in_person_lab(body)


def test_the_generation_rises_with_each_human_input_and_no_other() -> None:
    async def body(lab: PersonLab) -> None:
        live, _ = await lab.reader(r"\x1b[?1003h\x1b[?1006h\x1b[?1004h")
        assert live.foreground_generation == 0
        human: list[Item] = [
            Key("a"), Text("b"), Pasted("c"), Raw(b"d"), Mouse("press", "left", 1, 1),
        ]  # fmt: skip
        for number, item in enumerate(human, 1):
            assert press(lab.state, live.id, [item])
            assert live.foreground_generation == number
        before = live.foreground_generation
        others: list[Item] = [
            Focus(True), Mouse("move", "", 1, 1), Mouse("press", "left", 500, 1), Key("no-such"),
            Mouse("fly", "left", 1, 1), Mouse("press", "fourth", 1, 1), Text(""),
        ]  # fmt: skip
        for other in others:
            assert press(lab.state, live.id, [other])
        assert press(lab.state, live.id, [])
        await lab.agent("term.type", pane=live.id, text="x", enter=True)
        assert live.foreground_generation == before

    in_person_lab(body)


def test_the_enter_of_a_confirmed_text_is_not_pressed_on_a_persons_line() -> None:
    async def body(lab: PersonLab) -> None:
        live, path = await lab.reader()  # it shows nothing, so that the text is never seen
        asked = await lab.agent("term.type", pane=live.id, text="rm x", enter=True, confirm=True)
        assert live in lab.state.inputs.held
        assert press(lab.state, live.id, [Text("mine")])
        await live_output(live, lab)
        await asked.ended.wait()
        assert asked.refusal is not None
        assert asked.refusal.details == {"reason": "person_typed", "written_bytes": 4, "bytes": 5}
        assert live not in lab.state.inputs.held
        cut = lab.state.people.interrupted()
        assert cut is not None
        assert cut.author == AGENT
        assert await has_read(path, b"mine") == b"rm xmine"

    in_person_lab(body)


async def live_output(live: LivePane, lab: PersonLab) -> None:
    """Something changes on the screen."""
    lab.state.panes.resize({live.id: (live.terminal.cols - 1, live.terminal.rows)})


def test_a_paste_that_was_asked_for_before_the_key_is_not_written_after_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A long text is cleaned beside everything else: the person types meanwhile."""

    async def body(lab: PersonLab) -> None:
        live, path = await lab.reader()
        begun, go_on = trio.Event(), trio.Event()

        async def slow(text: str) -> Cleaned:
            begun.set()
            await go_on.wait()
            return clean_paste(text)

        monkeypatch.setattr(pasting, "_clean", slow)
        asked: list[Asked] = []

        async def paste() -> None:
            asked.append(await lab.agent("term.paste", pane=live.id, text="bbb", more=False))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(paste)
            await begun.wait()
            press(lab.state, live.id, [Key("q")])
            go_on.set()
        assert asked[0].refusal is not None
        assert asked[0].refusal.details["reason"] == "person_typed"
        press(lab.state, live.id, [Key("z")])
        assert await has_read(path, b"z") == b"qz"

    in_person_lab(body)


def test_what_waits_behind_other_mutations_gives_way_too(monkeypatch: pytest.MonkeyPatch) -> None:
    async def body(lab: PersonLab) -> None:
        live, path = await lab.reader()
        other, other_path = await lab.reader()
        answers: list[str] = []
        monkeypatch.setattr(dispatch, "_send", lambda _, reply: answers.append(code(reply)))
        gate = trio.Event()
        lab.state.enqueue(gate.wait)
        async with trio.open_nursery() as nursery:
            for pane in (live.id, other.id):
                lab.request(nursery, "term.type", {"text": "agent", "pane": pane})
            assert press(lab.state, live.id, [Text("person")])
            lab.request(nursery, "term.type", {"text": "+later", "pane": live.id})
            gate.set()
            await until(lambda: len(answers) == 3)
        assert answers == ["CANCELLED", "ok", "ok"]
        assert await has_read(path, b"+later") == b"person+later"
        assert await has_read(other_path, b"agent") == b"agent"

    in_person_lab(body)


def test_the_line_is_counted_as_what_was_written_of_it() -> None:
    """What was discarded is no part of the line, and the person's keys are."""

    async def body(lab: PersonLab) -> None:
        live = await lab.program("sh", "-c", "printf READY; exec sleep 600")
        await shows(live, "READY")
        press(lab.state, live.id, [Text("p" * 3_000)])
        assert live.line_begun == 3_000
        press(lab.state, live.id, [Text("p" * 3_000)])
        assert live.line_begun == lines.CANONICAL_LINE
        refused = await lab.agent("term.type", pane=live.id, text="x" * 50, enter=False)
        assert refused.refusal is not None
        assert refused.refusal.details["reason"] == "line_too_long"
        press(lab.state, live.id, [Key("C-u")])
        assert live.line_begun == 0

    in_person_lab(body)


def test_a_line_that_was_not_written_to_its_end_is_not_counted_as_ended() -> None:
    discipline = SimpleNamespace(canonical=True, line_ends=b"\r")
    terminal = SimpleNamespace(line_discipline=lambda: discipline)
    live = cast(LivePane, SimpleNamespace(terminal=terminal))
    assert lines.begun_after_all(live, 5, b"abc\rde") == 2
    assert lines.begun_after_all(live, 5, b"abc\rde"[:3]) == 8
    discipline.canonical = False
    assert lines.begun_after_all(live, 5, b"abc") == 0


# -- who ------------------------------------------------------------------------------------------


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


class FakeTerminal:
    rechecked = 0

    def recheck_permits(self) -> None:
        self.rechecked += 1


class FakeLive:
    """What `People` uses of a pane."""

    def __init__(self) -> None:
        self.id = 3
        self.foreground_generation = 0
        self.outstanding: list[Outstanding] = []
        self.typed_last: Any = None
        self.terminal = FakeTerminal()
        self.foreground = Foreground()


def as_live(fake: FakeLive) -> LivePane:
    return cast(LivePane, fake)


def due(people: People) -> float | None:
    return people.news_due


def test_who_was_interrupted_is_told_for_two_seconds() -> None:
    clock, live = Clock(), FakeLive()
    people = People(clock)
    news: list[int] = []
    people.on_news = lambda: news.append(1)
    left, undone = [True, True, False], list[int]()
    authors = [Author(f"agent {number}", "term.type") for number in range(3)]
    for number, author in enumerate(authors):
        undo = partial(undone.append, number)
        each = Outstanding(author, partial(left.__getitem__, number), undo)
        people.admitted(as_live(live), author, each)
    assert people.interrupt(as_live(live)) is not None
    cut = people.interrupted()
    assert cut is not None
    assert (cut.pane, cut.author) == (3, authors[0])
    assert undone == [1, 0]
    assert live.terminal.rechecked == 1
    assert due(people) == 102.0
    assert len(news) == 4
    clock.now += 1.999
    assert people.interrupted() == cut
    clock.now += 0.002
    assert people.interrupted() is None
    assert due(people) is None
    assert people.interrupt(as_live(live)) is None
    assert live.foreground_generation == 2


def test_what_is_outstanding_is_bounded_by_what_is_left() -> None:
    live, people = FakeLive(), People(Clock())
    for number in range(2_000):
        each = Outstanding(AGENT, partial(int.__gt__, number, 1_990), lambda: None)
        people.expect(as_live(live), each)
    assert len(live.outstanding) == 9


def test_who_typed_last_is_known_of_agents_and_of_each_pane() -> None:
    async def body(lab: PersonLab) -> None:
        one, _ = await lab.reader()
        other, _ = await lab.reader()
        people = lab.state.people
        assert people.last() is None
        await lab.agent("term.type", pane=one.id, text="x", enter=True)
        press(lab.state, other.id, [Key("a")], who=WHO)
        last = people.last()
        assert last is not None
        assert (last.pane, last.author) == (one.id, AGENT)
        assert people.ago_ms(last) >= 0
        assert one.typed_last == last
        assert other.typed_last is not None
        assert other.typed_last.author.who == WHO
        assert people.interrupted() is None

    in_person_lab(body)


def test_a_persons_input_is_told_once_a_second_without_its_length() -> None:
    async def body(lab: PersonLab) -> None:
        live, _ = await lab.reader()
        for key in "secret":
            press(lab.state, live.id, [Key(key)], who=WHO)
        (told,) = inputs_told(lab)
        assert told["pane"] == live.id
        assert told["who"] == WHO
        assert told["outcome"] == "ok"
        assert told["verb"] == "view"
        await until(lambda: len(inputs_told(lab)) == 2)
        for event in inputs_told(lab):
            assert not {"bytes", "dropped", "count"} & event.keys()

    in_person_lab(body)


def inputs_told(lab: PersonLab) -> list[dict[str, Any]]:
    """The events about input that there were."""
    events, found = lab.state.events, list[dict[str, Any]]()
    events.subscribe(Subscriber("all", "e", 1), {"stop": False, "after": 0})

    def send(_connection: str, body: Mapping[str, object]) -> bool:
        found.append(dict(body))
        return True

    events.deliver(send, 10_000, 10_000)
    return [event for event in found if event["kind"] == "input"]


# -- as the program asked for it ------------------------------------------------------------------


def engine(setup: bytes = b"") -> PyteEngine:
    made = PyteEngine(80, 24, 100)
    made.feed(setup)
    return made


@pytest.mark.parametrize(
    ("setup", "items", "data"),
    [
        (b"", [Key("Up"), Text("é"), Key("C-c")], b"\x1b[A\xc3\xa9\x03"),
        (b"\x1b[?1h", [Key("Up")], b"\x1bOA"),
        (b"\x1b[>1u", [Key("Escape"), Text("a")], b"\x1b[27ua"),
        (b"\x1b[>8u", [Text("aB")], b"\x1b[97u\x1b[98;2u"),
        (b"", [Raw(b"\x1b[200~\xff\x00")], b"\x1b[200~\xff\x00"),
        (b"", [Focus(True)], b""),
        (b"\x1b[?1004h", [Focus(True), Focus(False)], b"\x1b[I\x1b[O"),
        (b"", [Mouse("press", "left", 1, 2)], b""),
        (b"\x1b[?1000h", [Mouse("press", "left", 1, 2)], b"\x1b[M \x22\x23"),
        (b"\x1b[?1000h", [Mouse("drag", "left", 1, 2)], b""),
        (b"\x1b[?1000h\x1b[?1006h", [Mouse("wheel-up", "", 1, 2, ("ctrl",))], b"\x1b[<80;2;3M"),
        (b"\x1b[?1000h\x1b[?1006h", [Mouse("press", "left", 80, 2)], b""),
        (b"", [Pasted("a\nb\x1b[201~c")], b"a\rbc"),
        (b"\x1b[?2004h", [Pasted("a\nb\x1b[201~c")], b"\x1b[200~a\nbc\x1b[201~"),
    ],
)  # fmt: skip
def test_items_are_encoded_as_asked_for(setup: bytes, items: list[Item], data: bytes) -> None:
    assert b"".join(stroke.data for stroke in strokes(items, engine(setup))) == data


def test_neighbours_go_together_and_pastes_alone() -> None:
    items: list[Item] = [Key("a"), Text("b"), Pasted("c"), Focus(True), Key("d")]
    assert strokes(items, engine(b"\x1b[?1004h")) == [
        Stroke(b"ab"),
        Stroke(b"c", paste=True),
        Stroke(b"\x1b[Id"),
    ]
    for nothing in (Text(""), Key("no-such"), Mouse("press", "left", 1, 1)):
        (only,) = strokes([nothing, Focus(True)], engine(b"\x1b[?1004h"))
        assert only == Stroke(b"\x1b[I", human=False)


def test_a_press_that_cannot_be_taken_says_so_and_nothing_more() -> None:
    async def body(lab: PersonLab) -> None:
        assert not press(lab.state, 99, [Key("a")])
        live, path = await lab.reader(stopped=True)
        assert press(lab.state, live.id, [Pasted("p" * 200_000)])
        generation = live.foreground_generation
        # No room: what follows the paste that was refused is not written either.
        assert not press(lab.state, live.id, [Pasted("q" * 70_000), Key("Enter")])
        assert live.foreground_generation == generation + 1
        stop_file(path).unlink()
        assert await has_read(path, b"p") != b""
        await until(lambda: len(path.read_bytes()) == 200_000)
        assert press(lab.state, live.id, [Key("e")])
        assert await has_read(path, b"e") == b"p" * 200_000 + b"e"
        ended = await lab.program("true")
        await until(lambda: ended.ended is not None)
        assert not press(lab.state, ended.id, [Key("a")])
        assert ended.foreground_generation == 0

    in_person_lab(body)


def test_a_person_types_in_strict_posture_too() -> None:
    async def body(lab: PersonLab) -> None:
        live, path = await lab.reader()
        posture.write(lab.directory / "term.posture", posture.Posture.STRICT)
        assert press(lab.state, live.id, [Text("abc")])
        assert await has_read(path, b"c") == b"abc"

    in_person_lab(body)


def test_a_paste_in_parts_is_one_paste() -> None:
    async def body(lab: PersonLab) -> None:
        live, path = await lab.reader(r"\x1b[?2004h")
        assert press(lab.state, live.id, [Pasted("one ", more=True)], who="a")
        assert press(lab.state, live.id, [Pasted("ONE", more=False)], who="b")
        assert press(lab.state, live.id, [Pasted("two", more=False)], who="a")
        want = b"\x1b[200~ONE\x1b[201~\x1b[200~one two\x1b[201~"
        assert await has_read(path, b"two\x1b[201~") == want

    in_person_lab(body)


def test_pastes_in_parts_are_bounded() -> None:
    pastes = PersonPastes(most=10, most_open=2)
    assert pastes.take("a", "123456", more=True) is None
    assert pastes.take("a", "78901", more=True) is None
    assert pastes.take("a", "2", more=True) is None
    assert pastes.take("a", "3", more=False) is None
    assert pastes.take("a", "4", more=False) == "4"
    assert pastes.take("a", "12345678901", more=False) is None
    for key in "abc":
        pastes.take(key, key, more=True)
    assert pastes.take("c", "!", more=False) == "c!"
    assert pastes.take("b", "!", more=False) == "b!"
    assert pastes.take("a", "!", more=False) == "!"


def test_parts_of_a_paste_cost_no_more_the_more_there_are() -> None:
    class Counted(str):
        """Text that counts how often its length is asked for."""

        asked = 0

        def __len__(self) -> int:
            Counted.asked += 1
            return super().__len__()

    pastes = PersonPastes()
    for _ in range(1_000):
        pastes.take("a", Counted("x"), more=True)
    assert Counted.asked <= 2_000
    assert pastes.take("a", "y", more=False) == "x" * 1_000 + "y"


# -- commands --------------------------------------------------------------------------------------


def test_a_command_is_carried_out_noted_and_told() -> None:
    async def body(lab: PersonLab) -> None:
        first = await lab.program("sleep", "600")
        told: list[tuple[str, int | None]] = []
        lab.state.people.on_done = lambda verb, pane: told.append((verb, pane))
        done = await do(lab.state, "term.pane.split", {"dir": "v", "argv": ["cat"]}, who=WHO)
        assert done.rc == 0
        assert done.body["tab"] == 1
        refused = await do(lab.state, "term.pane.close", {"pane": 77}, who=WHO)
        assert refused.body["error_code"] == "NOT_FOUND"
        assert told == [("term.pane.split", done.body["id"])]
        noted = lab.state.audit.tail(2)
        assert [(each["principal"], each["verb"], each["outcome"]) for each in noted] == [
            (WHO, "term.pane.split", "ok"),
            (WHO, "term.pane.close", "NOT_FOUND"),
        ]
        assert first.ended is None

    in_person_lab(body)


@pytest.mark.parametrize(
    ("verb", "fields", "code"),
    [
        ("term.type", {"text": "x"}, "UNSUPPORTED"),
        ("term.snapshot", {}, "UNSUPPORTED"),
        ("INFO", {}, "UNSUPPORTED"),
        ("no.such", {}, "UNSUPPORTED"),
        ("term.pane.split", {"dir": "x"}, "INVALID_ARGUMENT"),
        ("term.pane.split", {"dir": "v", "more": 1}, "INVALID_ARGUMENT"),
        ("term.pane.split", {"dir": "v", "env": "x"}, "INVALID_ARGUMENT"),
    ],
)
def test_what_is_no_command_is_refused_at_once(verb: str, fields: Any, code: str) -> None:  # noqa: ANN401
    async def body(lab: PersonLab) -> None:
        answers: list[Done] = []
        submit(lab.state, Do(4, verb, fields), answers.append)
        (done,) = answers
        assert (done.req, done.rc) == (4, 10)
        assert done.body["error_code"] == code

    in_person_lab(body)


def test_commands_and_mutations_keep_their_order_and_commands_are_bounded() -> None:
    async def body(lab: PersonLab) -> None:
        await lab.program("sleep", "600")
        order: list[object] = []
        gate = trio.Event()

        async def mutation() -> None:
            await gate.wait()
            order.append("mutation")

        lab.state.enqueue(mutation)
        await trio.testing.wait_all_tasks_blocked()  # it is taken, and those that follow wait
        for number in range(70):
            wanted = Do(number, "term.tab.rename", {"title": f"t{number}"})
            submit(lab.state, wanted, lambda done: order.append((done.req, done.rc)))
        refused = [each for each in order if isinstance(each, tuple)]
        assert [req for req, _ in refused] == list(range(64, 70))
        gate.set()
        await until(lambda: len(order) == 71)
        assert order[6:] == ["mutation", *((number, 0) for number in range(64))]
        assert lab.state.workspace.tabs[1].title == "t63"

    in_person_lab(body)


def test_a_command_that_fails_unforeseen_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    async def body(lab: PersonLab) -> None:
        await lab.program("sleep", "600")

        def broken(*_: object) -> None:
            raise OSError("unforeseen")

        monkeypatch.setattr(type(lab.state.workspace), "rename_tab", broken)
        done = await do(lab.state, "term.tab.rename", {"title": "x"})
        assert done.body["error_code"] == "UNKNOWN_OUTCOME"
        assert "unforeseen" not in str(done.body)
        assert (await do(lab.state, "term.tab.select", {"id": 1})).rc == 0

    in_person_lab(body)


# -- history ---------------------------------------------------------------------------------------


def test_pages_of_history_join_up() -> None:
    async def body(lab: PersonLab) -> None:
        live = await lab.program("sh", "-c", "seq 1 300; printf END; exec sleep 600")
        await shows(live, "END")
        found: dict[int, str] = {}
        line, pages = 0, 0
        while True:
            got = page(
                lab.state, PageWanted(5, live.id, line, 500), clock=iter(range(9_999)).__next__
            )
            assert (got.req, got.pane, got.generation) == (5, live.id, 1)
            if not got.lines:
                break
            assert len(got.lines) == min(AT_ONCE, got.end - line)
            found.update((number, "".join(run[0] for run in row)) for number, row in got.lines)
            line, pages = got.lines[-1][0] + 1, pages + 1
        log = live.terminal.log
        assert sorted(found) == list(range(log.first, log.base + live.terminal.rows))
        assert [text for text in found.values() if text][:300] == [str(n) for n in range(1, 301)]
        assert pages > 10
        assert len(page(lab.state, PageWanted(1, live.id, got.end - 3, 2)).lines) == 2

    in_person_lab(body)


def test_a_page_of_no_pane_is_empty() -> None:
    async def body(lab: PersonLab) -> None:
        assert page(lab.state, PageWanted(5, 9, 0, 10)).generation == 0

    in_person_lab(body)


# -- questions -------------------------------------------------------------------------------------


def test_the_first_answer_is_the_answer_and_silence_is_none() -> None:
    async def body() -> None:
        news: list[int] = []
        asking = Asking(lambda: news.append(len(asking.open())))
        answers: dict[str, bool | None] = {}

        async def ask(text: str) -> None:
            answers[text] = await asking.ask("May it?", text, 30)

        async with trio.open_nursery() as nursery:
            for text in ("yes", "no", "silence"):
                nursery.start_soon(ask, text)
                await trio.testing.wait_all_tasks_blocked()
            numbers = {each.text: each.ask for each in asking.open()}
            assert asking.answer(numbers["yes"], True)
            assert not asking.answer(numbers["yes"], False)
            assert asking.answer(numbers["no"], False)
            assert not asking.answer(999, True)
        assert answers == {"yes": True, "no": False, "silence": None}
        assert asking.open() == ()
        assert news == [1, 2, 3, 2, 1, 0]

    trio.run(body, clock=trio.testing.MockClock(autojump_threshold=0))


def test_questions_are_bounded_and_hide_nothing() -> None:
    async def body() -> None:
        asking = Asking()
        async with trio.open_nursery() as nursery:
            for _ in range(MAX_OPEN):
                nursery.start_soon(asking.ask, "a\x1b[2J", "one\n\ttwo\u202ethree", 5)
            await trio.testing.wait_all_tasks_blocked()
            with pytest.raises(Refusal) as raised:
                await asking.ask("", "", 1)
            assert raised.value.code is ErrorCode.RESOURCE_LIMIT
            shown = asking.open()[0]
            assert (shown.title, shown.text) == ("a\ufffd[2J", "one\n    two\ufffdthree")
            nursery.cancel_scope.cancel()
        assert asking.open() == ()
        with pytest.raises(ValueError, match="at most"):
            await asking.ask("x" * (MAX_TITLE + 1), "", 1)

    trio.run(body)
