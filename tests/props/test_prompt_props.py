"""Commands at the prompt, whatever comes in whatever order: admission, ids, records, the line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from hypothesis import example, find, given
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample

from brokerd.client import Refusal
from termnode.paneshell.calls import Actor
from termnode.paneshell.operations import Operations
from termnode.paneshell.prompt import announce
from termnode.paneshell.prompt.admission import (
    CLAIMED_MS,
    REPLY_MS,
    Admitted,
    Attempt,
    Claim,
    NotRun,
    Outcome,
    Press,
    Unknown,
    Wait,
)
from termnode.paneshell.prompt.records import RecordStream, parse

# Admission: a shell that takes the claim or not, answers or not, sooner or later

TERM_WORDS = ("pressed", "busy", "queued", "foreground_program", "canonical", "gone")
SHELL_WORDS = ("ADMITTED", "BUSY", "RUNNING", "STALE_GENERATION", "EXPIRED", "HOOKS_LOST")


@dataclass
class World:
    """What happens at which millisecond; the shell claims before it says ADMITTED."""

    events: list[tuple[int, str, str]]
    """(when, who, word), by when."""
    taken_by: str | None = field(default=None)
    ran: bool = field(default=False)
    presses: int = field(default=0)

    def until(self, now: int, attempt: Attempt) -> None:
        """Let happen what happens up to now."""
        while self.events and self.events[0][0] <= now:
            when, who, word = self.events.pop(0)
            if who == "term":
                attempt.pressed("1", word, when)
            elif word == "claim":
                self._claim()
            elif word != "ADMITTED" or self.taken_by == "shell":
                attempt.replied("1", word)

    def rest(self) -> None:
        """What the shell does later finds the claim as it is."""
        for _, _, word in self.events:
            if word == "claim":
                self._claim()

    def claim(self) -> bool:
        """The sidecar's try."""
        if self.taken_by is None:
            self.taken_by = "sidecar"
        return self.taken_by == "sidecar"

    def _claim(self) -> None:
        if self.taken_by is None:
            self.taken_by, self.ran = "shell", True


def carry_out(attempt: Attempt, world: World) -> tuple[Outcome, int]:
    """As the desk does it, on a clock of its own."""
    now = 0
    for _ in range(200):
        world.until(now, attempt)
        step = attempt.step(now)
        if isinstance(step, Press):
            world.presses += 1
        elif isinstance(step, Claim):
            attempt.claimed(world.claim(), now)
        elif isinstance(step, Wait):
            nearest = world.events[0][0] if world.events else step.until_ms
            now = max(now + 1, min(step.until_ms, nearest))
        else:
            world.rest()
            return step, now
    raise AssertionError("it does not end")


events = st.lists(
    st.one_of(
        st.tuples(st.integers(0, 1_500), st.just("term"), st.sampled_from(TERM_WORDS)),
        st.tuples(st.integers(0, 1_500), st.just("shell"), st.sampled_from(SHELL_WORDS)),
        st.tuples(st.integers(0, 1_500), st.just("shell"), st.just("claim")),
    ),
    max_size=8,
).map(sorted)


def lies(outcome: Outcome, world: World) -> bool:
    """Whether the outcome says anything that is not so."""
    if isinstance(outcome, NotRun):
        return world.ran
    return isinstance(outcome, Admitted) and not world.ran


@given(events)
@example([(0, "term", "pressed"), (399, "shell", "claim"), (999, "shell", "ADMITTED")])
def test_an_outcome_is_in_time_and_never_a_lie(happens: list[tuple[int, str, str]]) -> None:
    world = World(list(happens))
    outcome, when = carry_out(Attempt("1", 0), world)
    assert not lies(outcome, world)
    assert when <= REPLY_MS + CLAIMED_MS
    assert world.presses <= 26
    if isinstance(outcome, Unknown):
        assert world.taken_by == "shell"


def without_claim(self: Attempt, now_ms: int) -> object:
    """The mutation: a time-out is believed to mean that nothing ran."""
    if self._is_over(now_ms) and not self._admitted:
        return NotRun("no_reply")
    return REAL_STEP(self, now_ms)


REAL_STEP: Callable[[Attempt, int], object] = Attempt.step


def test_an_admission_that_does_not_take_the_claim_lies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Attempt, "step", without_claim)

    def caught(happens: list[tuple[int, str, str]]) -> bool:
        world = World(list(happens))
        return lies(carry_out(Attempt("1", 0), world)[0], world)

    try:
        find(events, caught)
    except NoSuchExample:
        pytest.fail("the mutation was not noticed")


# Ids: whatever is spent, given back, settled and forgotten, none runs twice

ACTORS: list[Actor] = [("record", 1, "a", "b"), ("connection", 1, "c", "d")]

actions = st.lists(
    st.tuples(
        st.sampled_from(ACTORS),
        st.integers(1, 6),
        st.sampled_from([b"1", b"2"]),
        st.sampled_from(["run", "refuse", "forget"]),
        st.integers(0, 1_000_000),
    ),
    max_size=40,
)


def doubles(happens: list[tuple[Actor, int, bytes, str, int]], *, safe: bool = True) -> int:
    table, ran, now, twice = Operations(), set[tuple[Actor, int]](), 0, 0
    for actor, number, digest, what, passed in happens:
        now += passed
        table.arrived(actor, number)
        try:
            known = table.find(actor, number, digest, now) if safe else None
        except Refusal:
            continue
        if known is None:
            operation = table.spend("execute", actor, number, digest, now_ms=now)
            if what == "refuse":
                table.give_back(operation)
                continue
            twice += (actor, number) in ran
            ran.add((actor, number))
            table.settle(operation, now)
        elif what == "forget":
            table.forget(known)
    return twice


@given(actions)
def test_no_id_runs_twice(happens: list[tuple[Actor, int, bytes, str, int]]) -> None:
    assert doubles(happens) == 0


def test_without_the_look_up_an_id_does_run_twice() -> None:
    again = (ACTORS[0], 1, b"1", "run", 0)
    assert doubles([again, again], safe=False) == 1


# Records: however the bytes are cut, and whatever they are


@given(st.lists(st.binary(max_size=40), max_size=8), st.integers(1, 7))
def test_any_bytes_in_any_pieces_are_the_same_records(parts: list[bytes], size: int) -> None:
    data = b"\0".join([*parts, b"RUN 1 -", b"PROMPT 2 0 - /\xff\n", b""])
    whole, cut = RecordStream(), RecordStream()
    expected = list(whole.feed(data))
    pieces = [data[at : at + size] for at in range(0, len(data), size)]
    assert [record for piece in pieces for record in cut.feed(piece)] == expected
    assert cut.malformed == whole.malformed
    assert expected[-1] == parse(b"PROMPT 2 0 - /\xff\n")


# The line that is announced

HOSTILE = "".join(
    map(chr, [*range(32), *range(0x7F, 0xA0), 0xAD, 0x200B, 0x200E, 0x202E, 0x2066, 0xFEFF, 0x3164])
)
text = st.text(st.characters(exclude_categories=["Cs"]), max_size=700)


def is_safe(line: str) -> bool:
    return all(" " <= char <= "~" or (char.isalnum() and char.isprintable()) for char in line)


@given(text, text)
@example("\x1b]0;x\x07", HOSTILE)
@example("a via Term: b", "x" * 5_000)
def test_an_announcement_is_one_line_that_nothing_can_act_by(claim: str, source: str) -> None:
    line = f"# {announce.claimed(claim)} via Term: {announce.shown(source)}"
    assert is_safe(line)
    assert not set(HOSTILE) & set(line)
    assert " via " not in announce.claimed(claim)
    assert ":" not in announce.claimed(claim)
    assert len(announce.shown(source)) <= announce.MAX_SOURCE


@given(text, text)
def test_two_short_sources_are_never_shown_alike(one: str, other: str) -> None:
    if one != other and max(len(announce.escape(one)), len(announce.escape(other))) <= 512:
        assert announce.shown(one) != announce.shown(other)


def test_a_line_that_is_not_escaped_would_be_noticed() -> None:
    assert not is_safe("a\x1b[2Jb")
    assert not is_safe("a\u202eb")
