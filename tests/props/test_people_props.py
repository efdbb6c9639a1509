"""People and agents at one terminal's queue: in any order of steps a person's bytes go first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from termnode.service.input.authors import Author, Outstanding
from termnode.service.live_pane import LivePane
from termnode.service.native.foreground import Foreground
from termnode.service.viewing.pastes import PersonPastes
from termnode.service.viewing.people import People
from termnode.service.viewing.strokes import strokes
from termnode.terminal.pyte_engine import PyteEngine
from termnode.terminal.write_queue import Piece, WriteQueue
from termnode.view.items import Focus, Item, Key, Mouse, Pasted, Raw, Text

Step = tuple[str, int]

STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("agent"), st.integers(1, 9)),
        st.tuples(st.just("person"), st.integers(1, 9)),
        st.tuples(st.just("read"), st.integers(1, 12)),
    ),
    max_size=40,
)


@dataclass
class Queue:
    """A pane whose program reads when it is told to. Agents write small letters, people ``P``."""

    interrupt: Callable[[People, LivePane], object] = People.interrupt
    queue: WriteQueue = field(default_factory=WriteQueue)
    read: bytearray = field(default_factory=bytearray)
    agents: list[Piece] = field(default_factory=list)
    people: People = field(default_factory=lambda: People(lambda: 0.0))

    def __post_init__(self) -> None:
        self.fake = SimpleNamespace(
            id=1,
            outstanding=[],
            foreground_generation=0,
            typed_last=None,
            foreground=Foreground(),
            terminal=SimpleNamespace(recheck_permits=self.queue.revoke),
        )
        self.live = cast(LivePane, self.fake)

    def agent(self, count: int) -> None:
        at = self.live.foreground_generation
        piece = Piece(
            bytes([ord("a") + len(self.agents) % 26]) * count,
            1e9,
            lambda: self.live.foreground_generation == at,
        )
        self.queue.put(piece)
        self.agents.append(piece)
        author = Author(f"agent {len(self.agents)}", "v")
        left = Outstanding(author, lambda: piece.outcome is None, lambda: None)
        self.people.admitted(self.live, author, left)

    def person(self, count: int) -> None:
        """What was read when the person typed, and what agents had under way then."""
        under_way = [piece for piece in self.agents if piece.outcome is None]
        generation = self.live.foreground_generation
        cut = self.interrupt(self.people, self.live)
        self.queue.put(Piece(b"P" * count, 1e9, None))
        assert self.live.foreground_generation == generation + 1
        assert all(piece.outcome == "revoked" for piece in under_way)
        assert (cut is not None) == bool(under_way)

    def take(self, count: int) -> None:
        while count and (chunk := self.queue.head(0.0)) is not None:
            taken = bytes(chunk[:count])
            self.queue.wrote(len(taken), 0.0)
            self.read += taken
            count -= len(taken)

    def run(self, steps: list[Step]) -> None:
        for kind, number in steps:
            {"agent": self.agent, "person": self.person, "read": self.take}[kind](number)
        self.take(10_000)


@given(STEPS)
def test_no_agents_byte_from_before_a_key_comes_after_it(steps: list[Step]) -> None:
    lab = Queue()
    lab.run(steps)
    people = sum(count for kind, count in steps if kind == "person")
    assert lab.read.count(b"P") == people  # none of a person's bytes is lost
    assert len(lab.read) == people + sum(piece.written for piece in lab.agents)
    for piece in lab.agents:
        assert piece.outcome in {"written", "revoked"}
        assert (piece.outcome == "written") == (piece.written == piece.total)


def test_a_broken_interruption_is_seen() -> None:
    def forgets_the_queue(_people: People, live: LivePane) -> None:
        live.foreground_generation += 1

    steps: list[Step] = [("agent", 5), ("person", 1)]
    with pytest.raises(AssertionError):
        Queue(interrupt=forgets_the_queue).run(steps)


ITEMS: st.SearchStrategy[list[Item]] = st.lists(
    st.one_of(
        st.builds(Key, st.sampled_from(["a", "C-c", "Up", "M-x", "F5", "C-S-Left", "é", "nokey"])),
        st.builds(Text, st.text(st.characters(exclude_categories=["Cs"]), max_size=8)),
        st.builds(Pasted, st.text(st.characters(exclude_categories=["Cs"]), max_size=20)),
        st.builds(
            Mouse,
            st.sampled_from(["press", "release", "click", "drag", "move", "wheel-up", "fly"]),
            st.sampled_from(["left", "right", "", "fourth"]),
            st.integers(0, 100),
            st.integers(0, 30),
            st.lists(st.sampled_from(["shift", "alt", "ctrl", "hyper"]), max_size=3).map(tuple),
        ),
        st.builds(Focus, st.booleans()),
        st.builds(Raw, st.binary(max_size=6)),
    ),
    max_size=8,
)
MODES = st.lists(
    st.sampled_from(
        [f"\x1b[?{mode}h" for mode in (1, 1000, 1002, 1003, 1004, 1006, 2004)]
        + ["\x1b[>1u", "\x1b[>8u", "\x1b[>4;2m"]
    ),
    max_size=4,
).map("".join)


@given(ITEMS, MODES)
def test_all_items_together_are_the_items_one_by_one(items: list[Item], modes: str) -> None:
    engine = PyteEngine(80, 24, 0)
    engine.feed(modes.encode())
    alone = [stroke for item in items for stroke in strokes([item], engine)]
    together = strokes(items, engine)
    assert b"".join(each.data for each in together) == b"".join(each.data for each in alone)
    assert [each for each in together if each.paste] == [each for each in alone if each.paste]
    assert any(each.human for each in together) == any(each.human for each in alone)


@given(st.lists(st.tuples(st.sampled_from("ab"), st.text(max_size=5), st.booleans())))
def test_pastes_in_parts_never_mix(parts: list[tuple[str, str, bool]]) -> None:
    pastes = PersonPastes(most=1_000)
    begun = {"a": "", "b": ""}
    for key, text, more in parts:
        begun[key] += text
        whole = pastes.take(key, text, more=more)
        assert whole == (None if more else begun[key])
        if not more:
            begun[key] = ""
