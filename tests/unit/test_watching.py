"""term.wait without a service: conditions, anchors, one look for all, and costly patterns."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Awaitable, Callable
from itertools import pairwise
from typing import Protocol

import pytest
import trio
import trio.testing

from termnode.control.patterns import compile_pattern
from termnode.service.waiting import wait_board, wait_lines, wait_search, watching
from termnode.service.waiting.wait_board import Board
from termnode.service.waiting.wait_conditions import Ask, Start, Verdict
from termnode.service.waiting.wait_search import Search
from termnode.service.waiting.watching import Watch, Watches
from termnode.terminal import prompting
from termnode.terminal.processes import Foreground, LineDiscipline
from tests.support.stub_pane import CountingEngine, StubTerminal, lines, live

LONG = 30.0


@pytest.fixture(autouse=True)
def _no_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Virtual time does not wait for threads: a slow machine must not need one."""
    for module in (wait_search, wait_board):
        monkeypatch.setattr(module, "INLINE_S", 60.0)
    monkeypatch.setattr(wait_board, "LOOK_INLINE_S", 60.0)


def run(test: Callable[[], Awaitable[None]]) -> None:
    """In virtual time: seconds pass when everybody waits."""

    async def bounded() -> None:
        with trio.fail_after(500):
            await test()

    trio.run(bounded, clock=trio.testing.MockClock(autojump_threshold=0))


def watch(terminal: StubTerminal) -> Watch:
    return Watch(live(terminal), trio.current_time)


class Waits:
    """Waits of one pane that run beside the test."""

    def __init__(self, terminal: StubTerminal, nursery: trio.Nursery) -> None:
        self.terminal = terminal
        self.pane = live(terminal)
        self.watch = Watch(self.pane, trio.current_time)
        self.ended: dict[str, Verdict] = {}
        self.missed: dict[str, int] = {}
        self._ends: dict[str, trio.Event] = defaultdict(trio.Event)
        self._nursery = nursery

    async def begin(self, name: str, ask: Ask, timeout: float = LONG) -> None:
        """Begin one, and let it look."""
        self._nursery.start_soon(self._one, name, ask, timeout)
        await self.settle()

    async def settle(self) -> None:
        """Until everybody waits for time or news."""
        await trio.testing.wait_all_tasks_blocked()

    async def until(self, name: str) -> None:
        """Until one has ended."""
        await self._ends[name].wait()

    async def _one(self, name: str, ask: Ask, timeout: float) -> None:
        self.ended[name], self.missed[name] = await self.watch.wait(ask, timeout)
        self._ends[name].set()


def in_pane(test: Callable[[Waits], Awaitable[None]], **size: int) -> None:
    async def body() -> None:
        async with trio.open_nursery() as nursery:
            await test(Waits(StubTerminal(**size), nursery))

    run(body)


def test_what_stands_there_matches_and_is_stale() -> None:
    async def test(waits: Waits) -> None:
        waits.terminal.feed(b"ready\r\nnext")
        verdict, missed = await waits.watch.wait(Ask(until="read"), LONG)
        assert verdict == Verdict("matched", 1, line=0, row=0, text="ready", stale=True)
        assert missed == 0

    in_pane(test)


def test_what_comes_during_the_wait_is_not_stale() -> None:
    async def test(waits: Waits) -> None:
        await waits.begin("one", Ask(until="read"))
        waits.terminal.feed(b"\r\nready")
        await trio.sleep(1)
        assert waits.ended["one"] == Verdict("matched", 1, line=1, row=1, text="ready", stale=False)

    in_pane(test)


def test_a_time_limit_of_nothing_still_looks_once() -> None:
    async def test(waits: Waits) -> None:
        waits.terminal.feed(b"ready")
        assert (await waits.watch.wait(Ask(until="read"), 0.0))[0].outcome == "matched"
        late, _ = await waits.watch.wait(Ask(until="never"), 0.0)
        assert late == Verdict("deadline", 1)

    in_pane(test)


def test_an_anchor_shuts_out_what_stood_there_also_after_it_moved() -> None:
    async def test(waits: Waits) -> None:
        terminal = waits.terminal
        after = terminal.feed(b"done\r\n")
        assert terminal.log.revision == after
        await waits.begin("one", Ask(until="done", after=after))
        terminal.feed(lines(1, 3))
        await trio.sleep(1)
        terminal.feed(lines(4, 30))  # scrolls it away
        await trio.sleep(1)
        terminal.resize(10, 5)
        await trio.sleep(1)
        terminal.feed(b"\x1b[?1049hvim\x1b[?1049l")
        await trio.sleep(1)
        assert not waits.ended
        newest = terminal.feed(b"well done")
        await trio.sleep(1)
        verdict = waits.ended["one"]
        assert (verdict.outcome, verdict.text, verdict.stale) == ("matched", "well done", False)
        assert verdict.revision == newest

    in_pane(test)


def test_a_match_needs_one_new_character_of_its_own() -> None:
    async def test(waits: Waits) -> None:
        terminal = waits.terminal
        after = terminal.feed(b"old name: ")
        assert terminal.log.revision == after
        terminal.feed(b"new")
        for pattern, outcome in [
            ("old", "deadline"),
            ("e: n", "matched"),
            ("new", "matched"),
            ("n", "matched"),  # the first n is old, the later one is not
            ("x*$", "deadline"),  # nothing of an empty match is new
        ]:
            verdict, _ = await waits.watch.wait(Ask(until=pattern, after=after), 1)
            assert (pattern, verdict.outcome) == (pattern, outcome)

    in_pane(test)


def test_the_same_text_in_the_same_place_is_new_when_all_was_wiped_between() -> None:
    async def test(waits: Waits) -> None:
        terminal = waits.terminal
        after = terminal.feed(b"\x1b[H\x1b[2Jdone")
        assert terminal.log.revision == after
        await waits.begin("one", Ask(until="done", after=after))
        terminal.feed(b"\x1b[H\x1b[2Jdone")
        await trio.sleep(1)
        assert waits.ended["one"].outcome == "matched"

    in_pane(test)


def test_an_anchor_of_the_future_lets_nothing_match_yet() -> None:
    async def test(waits: Waits) -> None:
        terminal = waits.terminal
        terminal.feed(b"done")
        await waits.begin("one", Ask(until="done", after=3))
        terminal.feed(b"done")
        await trio.sleep(1)
        terminal.feed(b"\r\n")
        await trio.sleep(1)
        assert not waits.ended
        terminal.feed(b"done")
        await trio.sleep(1)
        assert waits.ended["one"].row == 1

    in_pane(test)


def test_a_line_that_scrolled_away_is_searched_and_has_no_row() -> None:
    async def test(waits: Waits) -> None:
        await waits.begin("one", Ask(until="line 30$"))
        waits.terminal.feed(lines(1, 60))
        await trio.sleep(1)
        verdict = waits.ended["one"]
        assert (verdict.line, verdict.row, verdict.text) == (29, None, "line 30")
        assert waits.missed["one"] == 0

    in_pane(test)


def test_lines_that_left_history_before_a_look_are_counted() -> None:
    async def test(waits: Waits) -> None:
        await waits.begin("one", Ask(until="line 10$"), timeout=2)
        waits.terminal.feed(lines(1, 300))
        await trio.sleep(5)
        assert waits.ended["one"].outcome == "deadline"
        # 300 and the blank row of the cursor; 5 on the screen and 100 above it can be read.
        assert 190 <= waits.missed["one"] <= 300 + 1 - 105

    in_pane(test)


def test_a_burst_is_searched_bit_by_bit_and_the_first_match_wins(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    taken: list[int] = []
    take = Search.take

    def counted(self: Search, limit: int) -> list[int]:
        found = take(self, limit)
        taken.append(len(found))
        return found

    monkeypatch.setattr(Search, "take", counted)

    async def test(waits: Waits) -> None:
        await waits.begin("one", Ask(until="line [0-9]*77$"))
        await waits.begin("exit", Ask(until="line 4999$"))
        waits.terminal.feed(lines(1, 5_000))
        waits.pane.ended = 1.0  # the end of the program comes after all it wrote was searched
        await trio.sleep(5)
        assert waits.ended["one"].text == "line 77"
        assert waits.ended["exit"].text == "line 4999"
        assert max(taken) <= wait_lines.MAX_LINES

    in_pane(test, scrollback=5_000)


def test_a_deadline_names_the_revision_up_to_which_all_was_searched() -> None:
    async def test(waits: Waits) -> None:
        after = waits.terminal.feed(b"x")
        assert waits.terminal.log.revision == after
        waits.terminal.feed(lines(1, 5_000))
        late, _ = await waits.watch.wait(Ask(until="line 4990$", after=after), 0.0)
        assert late == Verdict("deadline", after)
        found, _ = await waits.watch.wait(Ask(until="line 4990$", after=late.revision), LONG)
        assert found.outcome == "matched"

    in_pane(test, scrollback=5_000)


def test_wrapped_lines_are_one_text_with_their_blanks() -> None:
    async def test(waits: Waits) -> None:
        after = waits.terminal.feed(b"a" * 19 + b" " + b"b" * 30 + b" end\r\n")
        verdict, _ = await waits.watch.wait(Ask(until="a b+ end$"), LONG)
        assert (verdict.line, verdict.row) == (0, 0)
        waits.terminal.feed(b"\x1b[2;1Hc")  # one row of it changes: the line is searched again
        verdict, _ = await waits.watch.wait(Ask(until="a cb+ end$", after=after), LONG)
        assert verdict.outcome == "matched"
        verdict, _ = await waits.watch.wait(Ask(until="b end$", after=after), 1)
        assert verdict.outcome == "deadline"

    in_pane(test)


def test_a_wide_character_at_the_edge_leaves_no_blank_in_a_wrapped_line() -> None:
    async def test(waits: Waits) -> None:
        waits.terminal.feed(("a" * 19 + "日本").encode())
        verdict, _ = await waits.watch.wait(Ask(until="a日本$"), LONG)
        assert verdict.outcome == "matched"

    in_pane(test)


def test_the_blank_before_the_cursor_is_searched() -> None:
    async def test(waits: Waits) -> None:
        await waits.begin("one", Ask(until=r"^\$ $"))
        waits.terminal.feed(b"$")
        await trio.sleep(1)
        assert not waits.ended
        waits.terminal.feed(b" ")
        await trio.sleep(1)
        assert waits.ended["one"].text == "$ "

    in_pane(test)


class Pattern(Protocol):
    def search(self, text: str, start: int = 0) -> object: ...


class CountingPattern:
    """Counts what it is asked."""

    def __init__(self, pattern: Pattern) -> None:
        self._pattern = pattern
        self.searched: list[str] = []

    def search(self, text: str, start: int = 0) -> object:
        self.searched.append(text)
        return self._pattern.search(text, start)


def _cost(waiters: int, monkeypatch: pytest.MonkeyPatch) -> tuple[int, int]:
    """Rows read and texts searched while so many wait for the same."""
    patterns: list[CountingPattern] = []
    compiled = compile_pattern

    def counted(text: str) -> CountingPattern:
        patterns.append(CountingPattern(compiled(text)))
        return patterns[-1]

    engines: list[CountingEngine] = []

    async def test(waits: Waits) -> None:
        assert isinstance(waits.terminal.engine, CountingEngine)
        engines.append(waits.terminal.engine)
        after = waits.terminal.feed(lines(1, 10))
        for number in range(waiters):
            await waits.begin(str(number), Ask(until="line 60$", after=after))
        for first in range(11, 70, 10):
            waits.terminal.feed(lines(first, first + 9))
            await trio.sleep(0.5)
        assert len(waits.ended) == waiters
        assert {verdict.text for verdict in waits.ended.values()} == {"line 60"}

    with monkeypatch.context() as patch:
        patch.setattr(wait_search, "compile_pattern", counted)
        in_pane(test)
    return engines[0].rows_read, sum(len(pattern.searched) for pattern in patterns)


def test_ten_that_wait_for_the_same_cost_as_much_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    one, ten = _cost(1, monkeypatch), _cost(10, monkeypatch)
    assert one == ten
    assert one[1] >= 50

    # The same check sees waits that share nothing.
    def alone(self: Board, text: str, after: int | None, start: Start) -> Search:
        self._searches.append(Search(text, after, start.revision))
        return self._searches[-1]

    monkeypatch.setattr(Board, "_search_for", alone)
    assert _cost(10, monkeypatch)[1] == 10 * one[1]


def test_one_looks_for_all_and_the_next_takes_over() -> None:
    async def test(waits: Waits) -> None:
        await waits.begin("first", Ask(until="one"), timeout=5)
        await waits.begin("second", Ask(until="two"))
        await waits.begin("third", Ask(until="three"))
        waits.terminal.feed(b"two\r\n")
        await trio.sleep(1)
        assert list(waits.ended) == ["second"]
        await trio.sleep(10)  # the time of the one that looks is up
        waits.terminal.feed(b"three\r\n")
        await trio.sleep(1)
        assert {name: verdict.outcome for name, verdict in waits.ended.items()} == {
            "first": "deadline",
            "second": "matched",
            "third": "matched",
        }
        assert waits.watch.idle

    in_pane(test)


def test_each_wait_ends_at_its_own_time_whatever_the_others_do() -> None:
    async def test(waits: Waits) -> None:
        start = trio.current_time()
        await waits.begin("one", Ask(until="never"), timeout=3)
        await trio.sleep(2)
        await waits.begin("two", Ask(until="never"), timeout=3)
        waits.terminal.feed(b"x")
        await waits.until("one")
        assert trio.current_time() - start == pytest.approx(3)

    in_pane(test)


@pytest.mark.parametrize("share", [True, False])
def test_waits_that_begin_and_end_together_share_their_looks(
    monkeypatch: pytest.MonkeyPatch, *, share: bool
) -> None:
    """Each look is for all, so one for each of so many would hold up everybody else."""
    looks = 0
    look = Board.look

    def counted(board: Board) -> None:
        nonlocal looks
        looks += 1
        look(board)
        for waiter in board._waiters:  # the broken variant has each look for itself
            waiter.seen = waiter.seen and share

    monkeypatch.setattr(Board, "look", counted)

    async def test(waits: Waits) -> None:
        waits.terminal.feed(lines(1, 50))
        for number in range(64):
            waits._nursery.start_soon(waits._one, str(number), Ask(until=f"x{number}"), 2.0)
        await trio.sleep(5)
        assert {verdict.outcome for verdict in waits.ended.values()} == {"deadline"}
        assert len(waits.ended) == 64

    in_pane(test)
    assert (looks <= 20) == share


def test_quiet_counts_from_the_last_output_or_the_start() -> None:
    async def test(waits: Waits) -> None:
        await trio.sleep(100)
        start = trio.current_time()
        await waits.begin("one", Ask(quiet_s=2))
        await trio.sleep(1)
        waits.terminal.feed(b"x", trio.current_time())
        await trio.sleep(1.5)
        assert not waits.ended
        await trio.sleep(0.6)
        assert waits.ended["one"].outcome == "quiet"
        assert trio.current_time() - start < 3.2

    in_pane(test)


def test_quiet_after_an_anchor_needs_output_or_its_full_time() -> None:
    async def test(waits: Waits) -> None:
        await trio.sleep(100)
        after = waits.terminal.feed(b"x", trio.current_time())
        await trio.sleep(100)
        start = trio.current_time()
        await waits.watch.wait(Ask(quiet_s=2, after=after - 1), LONG)
        assert trio.current_time() == start  # written and long since quiet
        await waits.watch.wait(Ask(quiet_s=2, after=after), LONG)
        assert trio.current_time() >= start + 2

    in_pane(test)


def test_another_size_is_no_output_to_count_quiet_from() -> None:
    async def test(waits: Waits) -> None:
        waits.terminal.feed(b"$ ", trio.current_time())
        await trio.sleep(10)
        after = waits.terminal.revision
        waits.terminal.resize(30, 5)
        start = trio.current_time()
        await waits.watch.wait(Ask(quiet_s=2, after=after), LONG)
        assert trio.current_time() - start == pytest.approx(2, abs=0.1)

    in_pane(test)


def test_any_change_ends_a_wait_for_one() -> None:
    async def test(waits: Waits) -> None:
        waits.terminal.feed(b"x")
        assert (await waits.watch.wait(Ask(changed=True, after=0), LONG))[0].outcome == "changed"
        await waits.begin("one", Ask(changed=True))
        await trio.sleep(1)
        assert not waits.ended
        waits.terminal.feed(b"y")
        await trio.sleep(1)
        assert waits.ended["one"] == Verdict("changed", 2)

    in_pane(test)


def test_taking_the_whole_screen_and_giving_it_back_end_a_wait() -> None:
    async def test(waits: Waits) -> None:
        await waits.begin("in", Ask(alternate=True))
        waits.terminal.feed(b"\x1b[?1049h")
        await trio.sleep(1)
        assert waits.ended["in"].outcome == "alternate"
        await waits.begin("out", Ask(alternate=True))
        waits.terminal.feed(b"text")
        await trio.sleep(1)
        assert "out" not in waits.ended
        waits.terminal.feed(b"\x1b[?1049l")
        await trio.sleep(1)
        assert waits.ended["out"].outcome == "alternate"

    in_pane(test)


@pytest.mark.parametrize("there_and_back", [b"\x1b[?1049h", b"\x1b[?1049hvim\x1b[?1049l"])
def test_a_change_of_screens_counts_from_the_anchor(there_and_back: bytes) -> None:
    async def test(waits: Waits) -> None:
        terminal = waits.terminal
        after = terminal.feed(b"$ vim")
        assert terminal.log.revision == after
        assert (await waits.watch.wait(Ask(alternate=True), 1))[0].outcome == "deadline"
        terminal.feed(there_and_back)
        terminal.feed(b"text")
        late, _ = await waits.watch.wait(Ask(alternate=True), 1)
        assert late.outcome == "deadline"  # it was before this wait, which has no anchor
        verdict, _ = await waits.watch.wait(Ask(alternate=True, after=after), 1)
        assert verdict.outcome == "alternate"
        gone_on, _ = await waits.watch.wait(Ask(alternate=True, after=verdict.revision), 1)
        assert gone_on.outcome == "deadline"

    in_pane(test)


def test_wiping_the_screen_is_no_change_of_screens() -> None:
    async def test(waits: Waits) -> None:
        await waits.begin("main", Ask(alternate=True))
        for data in (b"\x1b[2J", b"\x1b[H\x1b[J", b"\x1b[3J", b"\x1bc"):
            waits.terminal.feed(data)
            await trio.sleep(1)
        assert not waits.ended

    in_pane(test)


def test_the_end_of_the_program_is_told_after_its_last_words_were_searched() -> None:
    async def test(waits: Waits) -> None:
        await waits.begin("said", Ask(until="bye", quiet_s=0.05))
        await waits.begin("unsaid", Ask(until="never"))
        waits.terminal.feed(b"bye")
        waits.pane.ended = 1.0
        await trio.sleep(1)
        assert waits.ended["said"].outcome == "matched"
        assert waits.ended["unsaid"].outcome == "exited"

    in_pane(test)


def test_the_end_that_the_service_learns_later_than_the_terminal_is_seen() -> None:
    async def test(waits: Waits) -> None:
        await waits.begin("one", Ask(until="never"))
        waits.terminal.ended = True
        waits.terminal.bump()
        await trio.sleep(1)
        waits.pane.ended = 1.0
        await trio.sleep(1)
        assert waits.ended["one"].outcome == "exited"

    in_pane(test)


def test_all_waits_of_a_pane_that_goes_end_and_nothing_of_it_is_touched() -> None:
    async def test(waits: Waits) -> None:
        for name in "abc":
            await waits.begin(name, Ask(until=name, changed=True, prompt=True))
        waits.pane.gone.set()
        del waits.terminal.engine  # as good as freed
        await trio.sleep(1)
        assert {verdict.outcome for verdict in waits.ended.values()} == {"gone"}

    in_pane(test)


def test_a_marked_prompt_ends_a_wait_when_it_is_newer_than_the_anchor() -> None:
    async def test(waits: Waits) -> None:
        terminal = waits.terminal

        def mark(text: str) -> None:
            terminal.commands.mark(text, 0, 0, terminal.revision + 1, 0.0)
            terminal.feed(b"x")

        mark("A")
        mark("B")
        assert (await waits.watch.wait(Ask(prompt=True), LONG))[0].outcome == "prompt"
        await waits.begin("one", Ask(prompt=True, after=terminal.revision))
        mark("C")
        await trio.sleep(1)
        assert not waits.ended
        mark("D;0")
        mark("A")
        mark("B")
        await trio.sleep(1)
        assert waits.ended["one"].outcome == "prompt"
        assert terminal.kernel_asked == 0

    in_pane(test)


@pytest.mark.parametrize(
    ("leads", "discipline", "expected"),
    [
        (True, LineDiscipline(canonical=False, echo=False), "prompt"),
        (False, LineDiscipline(canonical=False, echo=False), "deadline"),
        (True, LineDiscipline(canonical=True, echo=False), "deadline"),  # a secret
        (True, LineDiscipline(canonical=True, echo=True), "deadline"),  # no such shell here
        (True, LineDiscipline(canonical=False, echo=True), "deadline"),
        (True, None, "deadline"),
    ],
)
def test_a_prompt_without_marks_is_known_by_its_terminal(
    leads: bool,
    discipline: LineDiscipline | None,
    expected: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("termnode.terminal.prompting._sleeps", lambda _pid: True)

    async def test(waits: Waits) -> None:
        terminal = waits.terminal
        await waits.begin("one", Ask(prompt=True, after=terminal.revision), timeout=5)
        terminal.front = Foreground(1, "sh", leads)
        terminal.discipline = discipline
        await trio.sleep(1)
        assert not waits.ended  # nothing was written since the anchor
        terminal.feed(b"$ ", trio.current_time())
        await trio.sleep(10)
        assert waits.ended["one"].outcome == expected

    in_pane(test)


@pytest.mark.parametrize("there", [True, False])
@pytest.mark.parametrize("left", ["AB", "ABC"])
def test_marks_of_a_shell_within_the_pane_s_own_count_while_it_is_there(
    there: bool, left: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("termnode.terminal.prompting._sleeps", lambda _pid: True)
    monkeypatch.setattr("termnode.terminal.prompting.exists", lambda _pid: there)

    async def test(waits: Waits) -> None:
        terminal = waits.terminal
        for mark in left:
            terminal.commands.mark(mark, 0, 0, terminal.revision + 1, 0.0, group=terminal.pid + 1)
            terminal.feed(b"x", trio.current_time())
        terminal.front = Foreground(1, "make", False)
        terminal.discipline = LineDiscipline(canonical=False, echo=False)
        await waits.begin("one", Ask(prompt=True), timeout=5)
        await trio.sleep(1)
        by_marks = there and left == "AB"
        assert ("one" in waits.ended) == by_marks
        if not there:  # back in the pane's own shell
            terminal.front = Foreground(terminal.pid, "sh", True)
        await trio.sleep(10)
        expected = "deadline" if there and not by_marks else "prompt"
        assert waits.ended["one"].outcome == expected

    in_pane(test)


def test_a_prompt_at_which_a_command_was_just_typed_is_none() -> None:
    """The shell has not read it yet: a wait without an anchor must not take the old prompt."""

    async def test(waits: Waits) -> None:
        terminal = waits.terminal
        mark = terminal.commands.mark
        mark("A", 0, 0, terminal.revision + 1, 0.0)
        terminal.feed(b"$ ")
        assert (await waits.watch.wait(Ask(prompt=True), 1))[0].outcome == "prompt"
        terminal.last_input = trio.current_time()
        await waits.begin("command", Ask(prompt=True))
        await trio.sleep(prompting.SETTLED_S / 2)
        mark("C", 0, 0, terminal.revision + 1, 0.0)
        terminal.feed(b"make\r\n")
        await trio.sleep(5)
        assert not waits.ended
        mark("A", 0, 0, terminal.revision + 1, 0.0)
        terminal.feed(b"$ ")
        await waits.until("command")
        terminal.last_input = start = trio.current_time()  # no command, only some of one
        await waits.watch.wait(Ask(prompt=True), LONG)
        assert trio.current_time() - start == pytest.approx(prompting.SETTLED_S, abs=0.1)

    in_pane(test)


def test_a_prompt_without_marks_is_not_made_newer_by_another_size(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("termnode.terminal.prompting._sleeps", lambda _pid: True)

    async def test(waits: Waits) -> None:
        terminal = waits.terminal
        terminal.front = Foreground(1, "sh", is_leader=True)
        terminal.discipline = LineDiscipline(canonical=False, echo=False)
        after = terminal.feed(b"$ ", trio.current_time())
        terminal.resize(30, 5)
        assert (await waits.watch.wait(Ask(prompt=True), 5))[0].outcome == "prompt"
        late, _ = await waits.watch.wait(Ask(prompt=True, after=after), 5)
        assert late.outcome == "deadline"

    in_pane(test)


def test_the_kernel_is_asked_again_only_while_somebody_waits_for_a_prompt() -> None:
    async def test(waits: Waits) -> None:
        waits.terminal.feed(b"$ ", trio.current_time())
        await waits.begin("text", Ask(until="never"), timeout=20)
        await trio.sleep(5)
        assert waits.terminal.kernel_asked == 0
        await waits.begin("prompt", Ask(prompt=True), timeout=5)
        await trio.sleep(6)
        asked = waits.terminal.kernel_asked
        assert 50 <= asked <= 110
        await trio.sleep(5)
        assert waits.terminal.kernel_asked == asked

    in_pane(test)


class Costly:
    """A pattern whose search ends when the service's own thread goes on meanwhile."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.others_ran = threading.Event()
        self.threads: set[int] = set()
        self._x = compile_pattern("x")

    def search(self, text: str, start: int = 0) -> object:
        self.threads.add(threading.get_ident())
        self.begun.set()
        self.others_ran.wait(10)
        return self._x.search(text, start)


def test_a_costly_pattern_delays_no_other_wait_of_its_pane(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    costly = Costly()
    compiled = compile_pattern
    monkeypatch.setattr(
        wait_search, "compile_pattern", lambda text: costly if text == "slow" else compiled(text)
    )

    async def body() -> None:
        async with trio.open_nursery() as nursery:
            waits = Waits(StubTerminal(cols=600), nursery)
            waits.terminal.feed(b"x" * 600)
            await waits.begin("slow", Ask(until="slow"))
            await waits.begin("quick", Ask(until="ready", after=waits.terminal.log.revision))
            waits.terminal.feed(b"\r\nready")
            await waits.until("quick")
            assert "slow" not in waits.ended
            costly.others_ran.set()
            await waits.until("slow")
            assert waits.ended["slow"].outcome == "matched"
            assert threading.get_ident() not in costly.threads

    async def bounded() -> None:
        with trio.fail_after(60):
            await body()

    trio.run(bounded)


def test_a_costly_search_goes_on_when_the_one_that_began_it_is_cancelled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    costly = Costly()
    monkeypatch.setattr(wait_search, "compile_pattern", lambda _text: costly)

    async def body() -> None:
        async with trio.open_nursery() as nursery:
            waits = Waits(StubTerminal(cols=600), nursery)
            waits.terminal.feed(b"x" * 600)
            async with trio.open_nursery() as first:
                first.start_soon(waits.watch.wait, Ask(until="slow"), LONG)
                await waits.settle()
                nursery.start_soon(waits._one, "second", Ask(until="slow"), LONG)
                await trio.to_thread.run_sync(costly.begun.wait, 10)
                first.cancel_scope.cancel()
            costly.others_ran.set()
            await waits.until("second")
            assert waits.ended["second"].outcome == "matched"

    async def bounded() -> None:
        with trio.fail_after(60):
            await body()

    trio.run(bounded)


def test_watches_are_forgotten_with_their_last_wait() -> None:
    async def body() -> None:
        watches = Watches()
        terminal = StubTerminal()
        pane = live(terminal)
        terminal.feed(b"ready")
        assert (await watches.wait(pane, Ask(until="ready"), LONG))[0].outcome == "matched"
        with trio.move_on_after(1):
            await watches.wait(pane, Ask(until="never"), LONG)
        assert not watches._of

    run(body)


def test_looks_are_not_more_often_than_every_ten_milliseconds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looks: list[float] = []
    look = Board.look

    def counted(self: Board) -> None:
        looks.append(trio.current_time())
        look(self)

    monkeypatch.setattr(Board, "look", counted)

    async def test(waits: Waits) -> None:
        await waits.begin("one", Ask(until="never"), timeout=2)
        for _ in range(1_000):
            waits.terminal.feed(b"x")
            await trio.sleep(0.001)
        gaps = [later - earlier for earlier, later in pairwise(looks)]
        assert min(gaps) >= watching.CHECK_EVERY_S * 0.99
        assert len(looks) <= 101
        await trio.sleep(3)
        assert len(looks) <= 105  # nothing happens: nobody looks

    in_pane(test)
