"""The hub of views: pacing, what a stuck view costs, what is encoded once, marks and questions."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import cast

import pytest
import trio
import trio.testing

from termnode.service.input.authors import Author, Typed
from termnode.service.live_pane import LivePane
from termnode.service.viewing import pace
from termnode.service.viewing.hub import HOLD_S
from termnode.service.viewing.news import Feed, News
from termnode.service.viewing.pace import FRAME_S, READ_WITHIN_S, SAVED, UNDER_WAY
from termnode.service.viewing.pane_lines import PaneLines
from termnode.service.viewing.people import LAST_S
from termnode.terminal import engines
from termnode.view.messages import Asked, AskedGone, PaneGone, PaneState
from termnode.workspace.tree import Direction
from tests.support.view_lab import Eye, Lab


def settled(**how: object) -> tuple[Lab, Eye]:
    lab = Lab()
    eye = Eye(lab, **how)
    lab.settle(eye)
    eye.messages.clear()
    lab.now += 10.0
    return lab, eye


def states(eye: Eye) -> list[PaneState]:
    return [each for each in eye.messages if isinstance(each, PaneState)]


def lines_of(lab: Lab) -> PaneLines:
    look = lab.scene.pane(1)
    assert isinstance(look, PaneLines)
    return look


def test_the_first_change_after_a_while_is_told_at_once() -> None:
    lab, eye = settled()
    assert not eye.look()
    lab.feed(1, b"x")
    assert eye.look()
    assert [line for state in states(eye) for line in state.lines] == [(0, (("x", 1, None),))]


def flooded(lab: Lab, eye: Eye, seconds: float, step: float = 0.002) -> list[float]:
    """When it was told, while a pane changes all the time and the view takes everything at once."""
    end, told = lab.now + seconds, []
    while lab.now < end:
        lab.now += step
        lab.feed(1, b"\rx%.3f" % lab.now)
        if eye.look():
            told.append(lab.now)
            eye.acknowledge()
    return told


def test_a_flood_is_told_at_most_60_times_a_second_and_never_late() -> None:
    lab, eye = settled()
    told = flooded(lab, eye, 10.0)
    assert len(told) <= 600 + SAVED
    assert max(after - before for before, after in pairwise(told)) <= 0.05


def test_the_answer_to_a_key_does_not_wait_for_its_turn_in_a_flood() -> None:
    lab, eye = settled()
    lab.apply(lab.workspace.split(1, Direction.HORIZONTAL))
    last = flooded(lab, eye, 2.0)[-1]
    while not eye.look():
        lab.feed(1, b"y")
        lab.now += 0.001
    eye.acknowledge()
    last = lab.now
    lab.hub.typed(eye.view, 2, lab.panes[2].terminal.revision)
    lab.now = last + 0.002
    lab.feed(1, b"z")
    assert not eye.look()  # that is the flood's
    lab.feed(2, b"echo")
    assert eye.look()
    eye.acknowledge()
    lab.now += 0.002
    lab.feed(2, b"more")
    assert not eye.look()


def test_at_most_two_batches_are_under_way_and_the_next_has_the_newest_state() -> None:
    lab, eye = settled()
    for number in range(UNDER_WAY):
        lab.feed(1, b"\r%d" % number)
        assert eye.look()
        lab.now += 1.0
    for number in range(100):
        lab.feed(1, b"\r%d" % number)
        lab.now += 1.0
        assert not eye.look()
    assert lab.hub.wait(eye.view, lab.now) is None
    eye.acknowledge()
    assert eye.look()
    eye.check()


def test_a_stuck_view_costs_nothing() -> None:
    lab, eye = settled()
    other = Eye(lab)
    lab.settle(other)
    for _ in range(UNDER_WAY):
        lab.feed(1, b"x")
        eye.look()
        lab.now += 1.0
    kept = (len(eye.view.replies), len(eye.view.told), len(eye.view.pace.under_way))
    alone = Lab()
    only = Eye(alone)
    alone.settle(only)
    encoded = lines_of(lab).count, lines_of(alone).count
    for number in range(300):
        for each in (lab, alone):
            each.feed(1, b"line %d\r\n" % number)
            each.now += 1.0
        eye.look()
        for reads in (other, only):
            reads.look()
            reads.acknowledge()
    assert (len(eye.view.replies), len(eye.view.told), len(eye.view.pace.under_way)) == kept
    more = lines_of(lab).count - encoded[0], lines_of(alone).count - encoded[1]
    assert more[0] == more[1]
    other.check()
    eye.acknowledge()
    lab.settle(eye)
    eye.check()


def encodings(views: int) -> int:
    lab = Lab()
    eyes = [Eye(lab) for _ in range(views)]
    for number in range(50):
        lab.feed(1, b"line %d\r\n" % number)
        lab.now += 1.0
        for eye in eyes:
            eye.look()
            eye.acknowledge()
    for eye in eyes:
        eye.check()
    return lines_of(lab).count


def test_each_line_is_encoded_once_however_many_look(monkeypatch: pytest.MonkeyPatch) -> None:
    assert encodings(5) == encodings(1)

    def forgetful(self: PaneLines, lines: object) -> list[bytes]:
        self._encoded.clear()
        return once(self, lines)  # type: ignore[arg-type]  # passed on as it came

    once = PaneLines.encoded
    monkeypatch.setattr(PaneLines, "encoded", forgetful)
    assert encodings(5) > encodings(1)


def test_who_acknowledges_nothing_for_ten_seconds_is_stuck_and_may_be_excused() -> None:
    lab, eye = settled()
    lab.feed(1, b"x")
    eye.look()
    lab.now += READ_WITHIN_S - 0.01
    assert not eye.view.pace.stuck(lab.now)
    lab.now += 0.02
    assert eye.view.pace.stuck(lab.now)
    eye.view.pace.excuse(lab.now)
    assert not eye.view.pace.stuck(lab.now)
    eye.acknowledge()
    lab.now += 100.0
    assert not eye.view.pace.stuck(lab.now)


def test_more_than_was_sent_cannot_be_acknowledged() -> None:
    _lab, eye = settled()
    assert not eye.view.pace.ack(eye.received + 1)


@pytest.mark.parametrize("emulator", engines.available())
def test_links_that_fill_a_frame_shut_nobody_out(emulator: str) -> None:
    lab = Lab(1_000, 2, engines.make(emulator))
    eye = Eye(lab)
    lab.settle(eye)
    lab.feed(1, linked(999, 1_500))
    lab.settle(eye)
    first, second = eye.rows(1)
    assert [(text, style) for text, _, style in first] == [("x", None)] * 999
    assert not second
    lab.feed(1, b"\x1b[H" + linked(60, 1_500))
    lab.settle(eye)
    eye.check()
    assert all(style is not None and style.link for _, _, style in eye.rows(1)[0][:60])


def linked(cells: int, length: int) -> bytes:
    """So many cells, each with another link."""
    return (
        b"".join(b"\x1b]8;;http://%d/%s\x07x" % (cell, b"a" * length) for cell in range(cells))
        + b"\x1b]8;;\x07\x1b[K"
    )


class Restless:
    """A terminal that changes all the time, for a second of a made-up clock."""

    id = 7

    def __init__(self) -> None:
        self.terminal = self
        self.revision = 0

    @property
    def final(self) -> bool:
        return trio.current_time() >= self.end

    async def changed(self, since: int) -> int:
        await trio.lowlevel.checkpoint()
        return since + 1

    async def rings(self, *, shown: bool) -> int:
        self.end = trio.current_time() + 1.0
        news = News()
        feed = Feed(news, lambda pane: pane == self.id and shown)
        feed.watch(somebody=True)
        await feed.run(cast("LivePane", self))
        return news.count


def test_a_flood_that_nobody_sees_wakes_the_views_seldom() -> None:
    clock = trio.testing.MockClock(autojump_threshold=0)
    hidden = trio.run(partial(Restless().rings, shown=False), clock=clock)
    clock = trio.testing.MockClock(autojump_threshold=0)
    shown = trio.run(partial(Restless().rings, shown=True), clock=clock)
    assert 20 <= hidden <= 30
    assert shown >= 200


def test_a_synchronized_update_is_told_as_a_whole_but_never_late() -> None:
    lab, eye = settled()
    lab.feed(1, b"\x1b[?2026hhalf")
    assert not eye.look()
    again = lab.hub.again(eye.view, lab.now)
    assert again == pytest.approx(HOLD_S)
    lab.feed(1, b" and half\x1b[?2026l")
    assert eye.look()
    eye.acknowledge()
    eye.check()
    lab.now += 1.0
    lab.feed(1, b"\x1b[?2026hlong")
    assert not eye.look()
    lab.now += HOLD_S
    assert eye.look()
    eye.check()
    assert lab.hub.again(eye.view, lab.now) is None


def test_an_unchanged_screen_is_not_told_again() -> None:
    lab, eye = settled()
    lab.feed(1, b"\x1b[s\x1b[u")
    assert not eye.look()
    assert eye.view.told[1].revision == lab.panes[1].terminal.revision


def test_scrolling_sends_only_the_new_line() -> None:
    lab, eye = settled()
    lab.feed(1, b"\r\n".join(b"%d" % number for number in range(6)))
    eye.look()
    eye.acknowledge()
    eye.messages.clear()
    lab.now += 1.0
    lab.feed(1, b"\r\nnew")
    eye.look()
    (state,) = states(eye)
    assert [line for line, _ in state.lines] == [6]
    assert (state.base, state.full) == (1, False)
    eye.check()


def test_only_what_is_shown_is_told() -> None:
    lab, eye = settled()
    lab.apply(lab.workspace.split(1, Direction.VERTICAL))
    lab.apply(lab.workspace.zoom(1, on=True))
    lab.settle(eye)
    eye.messages.clear()
    lab.feed(2, b"behind")
    assert not eye.look()
    lab.apply(lab.workspace.zoom(1, on=False))
    lab.settle(eye)
    eye.check()


def test_a_tab_that_is_not_active_is_marked_until_it_is() -> None:
    lab, eye = settled()
    lab.apply(lab.workspace.add_tab())
    lab.settle(eye)
    assert eye.tabs is not None
    assert [(tab.bell, tab.activity) for tab in eye.tabs.tabs] == [(False, False)] * 2
    lab.feed(1, b"x\a")
    lab.marks.ring(1)
    lab.hub.ring(1)
    lab.settle(eye)
    assert [(tab.bell, tab.activity) for tab in eye.tabs.tabs] == [(True, True), (False, False)]
    assert eye.bells == [1]
    lab.apply(lab.workspace.select_tab(1))
    lab.settle(eye)
    assert [(tab.bell, tab.activity) for tab in eye.tabs.tabs] == [(False, False)] * 2
    assert eye.bells == [1]


def test_a_closed_pane_is_gone() -> None:
    lab, eye = settled()
    lab.apply(lab.workspace.split(1, Direction.VERTICAL))
    lab.settle(eye)
    lab.apply(lab.workspace.close_pane(2))
    lab.settle(eye)
    assert PaneGone(2) in eye.messages
    eye.check()


def test_a_pane_whose_program_is_being_started_is_empty_and_then_told_in_full() -> None:
    lab, eye = settled()
    change = lab.workspace.split(1, Direction.VERTICAL)
    lab.settle(eye)
    assert change.opened is not None
    assert eye.states[change.opened].state == "starting"
    lab.apply(change)
    lab.feed(change.opened, b"there")
    lab.settle(eye)
    assert states(eye)[-1].full
    eye.check()


@pytest.mark.parametrize(
    ("ending", "told"),
    [({"code": 3}, "exited 3"), ({"signal": 9}, "signal 9"), ({"unknown": True}, "exited")],
)
def test_how_a_program_ended_is_told(ending: dict[str, object], told: str) -> None:
    lab, eye = settled()
    lab.panes[1].ending = ending
    lab.settle(eye)
    assert eye.states[1].state == told


def test_a_read_only_view_shows_its_own_tab_as_long_as_there_is_one() -> None:
    lab = Lab()
    lab.apply(lab.workspace.add_tab())
    eye = Eye(lab, read_only=True, tab=1)
    lab.settle(eye)
    assert eye.layout is not None
    assert eye.layout.tab == 1
    lab.apply(lab.workspace.close_tab(1))
    lab.settle(eye)
    assert eye.layout.tab == 2


def test_questions_are_shown_to_all_and_taken_back() -> None:
    lab, eye = settled()
    asked = Asked(4, "title", "text")
    lab.asked = (asked,)
    lab.settle(eye)
    late = Eye(lab)
    lab.settle(late)
    assert asked in eye.messages
    assert asked in late.messages
    lab.asked = ()
    lab.settle(eye, late)
    assert AskedGone(4) in eye.messages
    assert AskedGone(4) in late.messages


def test_time_alone_is_no_news() -> None:
    lab, eye = settled()
    people = lab.people
    people._agent = Typed(1, Author("uid 1", "term.type"), lab.now)
    lab.settle(eye)
    assert eye.status is not None
    assert eye.status.last is not None
    eye.messages.clear()
    lab.now += LAST_S / 2
    assert not eye.look()
    people._agent = Typed(1, Author("uid 1", "term.type"), lab.now)
    assert eye.look()
    lab.now += LAST_S
    assert eye.look()
    assert eye.status.last is None  # it says who types now


def test_views_come_and_go() -> None:
    lab, eye = settled()
    other = Eye(lab)
    lab.settle(eye, other)
    assert eye.status is not None
    assert eye.status.views == 2
    lab.hub.detach(other.view)
    lab.settle(eye)
    assert (eye.status.views, len(lab.hub)) == (1, 1)
    assert lab.hub.shown == {1}


def test_the_pace_can_be_seen_to_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "FRAME_S", FRAME_S / 4)
    lab, eye = settled()
    assert len(flooded(lab, eye, 2.0)) > 120 + SAVED
