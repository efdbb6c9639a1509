"""Views of any pacing show exactly what the emulators show, whatever happens to the panes."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from brokerd.client import Refusal
from termnode.service.viewing import pane_changes
from termnode.service.viewing.pace import UNDER_WAY
from termnode.terminal import engines
from termnode.workspace.tree import Direction
from tests.support.view_lab import Eye, Lab

OUTPUT = st.sampled_from(
    [
        b"hello", b"\r\n", b"a\r\nb\r\nc\r\n", b"\r\n" * 9, b"\x1b[H", b"\x1b[2J", b"\x1b[3;5H*",
        b"\x1b[31mred\x1b[0m", b"\x1b[1;4;38;2;1;2;3mx\x1b[m", b"\x1b[?1049h", b"\x1b[?1049l",
        "日本語".encode(), "e\u0301".encode(), b"\x1b[2K", b"\x1bc", b"\x1b]2;title\x07",
        b"\x1b[?25l", b"\x1b[?25h", b"\x1b[5 q", b"\x1b[?2004h", b"\x1b[2;4r", b"\x1b[r",
        b"\x1bM", b"\x1b[3L", b"\x1b[2M", b"\x1b[?2026h", b"\x1b[?2026l", b"\x1b[?1002h",
        b"w" * 45, b"\x1b[3J", b"\x1b[4S", b"\x1b[2T", b"\x1b[7mr", b"\x1b[5@", b"\x1b[3P",
    ]
)  # fmt: skip

Step = Callable[[Lab, list[Eye]], object]


def feed(pick: int, data: bytes) -> Step:
    def step(lab: Lab, _eyes: list[Eye]) -> None:
        panes = sorted(lab.panes)
        if panes:
            lab.feed(panes[pick % len(panes)], data)

    return step


def arrange(pick: int, what: str) -> Step:
    def step(lab: Lab, _eyes: list[Eye]) -> None:
        panes, tabs = sorted(lab.workspace.panes), sorted(lab.workspace.tabs)
        if not panes:
            return
        pane, tab = panes[pick % len(panes)], tabs[pick % len(tabs)]
        try:
            match what:
                case "h" | "v":
                    change = lab.workspace.split(pane, Direction(what))
                case "tab":
                    change = lab.workspace.add_tab()
                case "close":
                    change = lab.workspace.close_pane(pane)
                case "zoom":
                    change = lab.workspace.zoom(pane, pick % 2 == 0)
                case "select":
                    change = lab.workspace.select_tab(tab)
                case "focus":
                    change = lab.workspace.focus(pane)
                case "size":
                    change = lab.workspace.resize(5 + pick * 3, 2 + pick)
                case _:
                    lab.restart(pane)
                    return
        except Refusal:
            return
        lab.apply(change)

    return step


def look(pick: int, seconds: float) -> Step:
    def step(lab: Lab, eyes: list[Eye]) -> None:
        lab.now += seconds
        eyes[pick % len(eyes)].look()

    return step


def acknowledge(pick: int) -> Step:
    return lambda _lab, eyes: eyes[pick % len(eyes)].acknowledge()


PICK = st.integers(0, 11)
STEPS = st.lists(
    st.one_of(
        st.builds(feed, PICK, OUTPUT),
        st.builds(feed, PICK, OUTPUT),
        st.builds(
            arrange,
            PICK,
            st.sampled_from(
                ["h", "v", "tab", "close", "zoom", "select", "focus", "size", "size", "restart"]
            ),
        ),
        st.builds(look, PICK, st.sampled_from([0.0, 0.01, 0.02, 1.0])),
        st.builds(acknowledge, PICK),
    ),
    max_size=40,
)


@pytest.mark.parametrize("emulator", engines.available())
@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(steps=STEPS)
def test_every_view_ends_with_the_true_screen(emulator: str, steps: list[Step]) -> None:
    lab = Lab(make=engines.make(emulator))
    eyes = [Eye(lab), Eye(lab), Eye(lab, read_only=True, tab=1)]
    for step in steps:
        step(lab, eyes)
        for eye in eyes:
            assert len(eye.view.pace.under_way) <= UNDER_WAY
    lab.settle(*eyes)
    for eye in eyes:
        eye.check()


def grown(lab: Lab, eye: Eye) -> None:
    """The terminal grows: lines come back from history that the view was never told."""
    lab.feed(1, b"".join(b"line %d\r\n" % number for number in range(20)))
    lab.settle(eye)
    lab.apply(lab.workspace.resize(20, 12))
    lab.settle(eye)


def test_the_check_can_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    lab = Lab()
    eye = Eye(lab)
    grown(lab, eye)
    eye.check()

    monkeypatch.setattr(
        pane_changes, "_lines", lambda _told, frame, newer: sorted(set(newer) & set(frame.lines))
    )
    lab = Lab()
    eye = Eye(lab)
    grown(lab, eye)
    with pytest.raises((AssertionError, KeyError)):
        eye.check()
