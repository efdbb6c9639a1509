"""What is shown of a command's output while it runs: nothing twice, nothing missing unsaid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from termnode.cli import exec_live
from termnode.cli.exec_live import HOLD_S, LATE_S, MAX_HELD, Live, Said

KEPT = 40
"""Characters of each end of an output in its result, here."""


@dataclass(frozen=True)
class Told:
    """A piece of the output: how much of it, whether it is told, and when."""

    size: int
    lost: bool
    pause: float


PIECES = st.lists(
    st.builds(Told, st.integers(1, 30), st.booleans(), st.sampled_from([0.0, 0.0, LATE_S, HOLD_S])),
    max_size=40,
)


def written(lines: int, *, ended: bool) -> str:
    text = "".join(f"line {number:03}\n" for number in range(lines))
    return text if ended else text + "end"


def result(text: str) -> dict[str, Any]:
    if len(text) <= 2 * KEPT:
        return {"text": text.replace("\n", "\r\n"), "omitted": 0}
    return {"text": text[:KEPT] + text[-KEPT:], "omitted": len(text) - 2 * KEPT}


def shown(text: str, pieces: list[Told], *, complete: bool) -> list[Said]:
    """All that a person is told of it."""
    live, now, at, lost, said = Live(), 0.0, 0, 0, []
    told = [*pieces, Told(len(text), lost=False, pause=0.0)] if complete else pieces
    for piece in told:
        part = text[at : at + piece.size]
        at += len(part)
        now += piece.pause
        said += live.late(now)
        if piece.lost or not part:
            lost += len(part)
            continue
        said += live.piece(part, lost, now)
        lost = 0
    return said + live.end(result(text), complete=complete)


def out(said: list[Said]) -> str:
    return "".join(each.words for each in said if not each.note)


def notes(said: list[Said]) -> list[str]:
    return [each.words for each in said if each.note]


@given(st.integers(0, 20), st.booleans(), PIECES)
def test_without_a_gap_all_is_shown_and_nothing_said(
    lines: int, ended: bool, pieces: list[Told]
) -> None:
    text = written(lines, ended=ended)
    whole = [Told(piece.size, lost=False, pause=piece.pause) for piece in pieces]
    said = shown(text, whole, complete=True)
    assert (out(said), notes(said)) == (text, [])


def check_gaps(lines: int, ended: bool, pieces: list[Told], complete: bool) -> None:
    text = written(lines, ended=ended)
    said = shown(text, pieces, complete=complete)
    numbers = [line for line in out(said).split("\n") if len(line) == len("line 000")]
    assert numbers == sorted(set(numbers)), "a line twice, or in the wrong place"
    assert out(said) == text or notes(said)
    if not result(text)["omitted"] and not any(piece.lost for piece in pieces):
        assert out(said) == text


@given(st.integers(0, 20), st.booleans(), PIECES, st.booleans())
def test_with_gaps_no_line_comes_twice_and_what_is_missing_is_said(
    lines: int, ended: bool, pieces: list[Told], complete: bool
) -> None:
    check_gaps(lines, ended, pieces, complete)


def test_a_result_shown_from_its_begin_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Live, "_rest", lambda _self, text, _omitted: [Said(text)])
    with pytest.raises(AssertionError):
        check_gaps(3, True, [Told(18, lost=False, pause=0.0)], False)


def test_a_gap_that_is_kept_quiet_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exec_live, "_left_out", lambda _count: [])
    pieces = [Told(9, lost=True, pause=0.0), Told(9, lost=False, pause=0.0)]
    with pytest.raises(AssertionError):
        check_gaps(20, True, pieces, True)


def test_what_follows_a_gap_waits_for_the_end_for_a_while() -> None:
    live = Live()
    assert live.wait(5.0) is None
    assert live.piece("7\n8\n", 100, 5.0) == []
    assert live.wait(5.25) == HOLD_S - 0.25
    assert live.late(5.0 + HOLD_S - 0.1) == []
    note, text = live.late(5.0 + HOLD_S)
    assert note.words.startswith("102 bytes")
    assert text == Said("8\n")
    assert live.piece("9\n", 0, 7.0) == [Said("9\n")]


def test_what_is_held_is_bounded() -> None:
    live = Live()
    for _ in range(3):
        assert live.piece("x" * 60_000 + "\n", 1, 0.0) == []
    said = live.late(HOLD_S)
    assert notes(said) == [f"{3 + 120_002} bytes in the middle of the output are left out"]
    assert out(said) == "x" * 60_000 + "\n"


def test_a_line_without_an_end_is_shown_at_last() -> None:
    live = Live()
    assert live.piece("x" * (MAX_HELD - 1), 0, 0.0) == []
    assert out(live.piece("xx", 0, 0.0)) == "x" * (MAX_HELD + 1)


def test_a_question_is_shown_and_not_again_at_the_end() -> None:
    live = Live()
    assert live.piece("one\nyour name? ", 0, 1.0) == [Said("one\n")]
    assert live.wait(1.0) == LATE_S
    assert live.late(1.0 + LATE_S) == [Said("your name? ")]
    assert live.wait(9.0) is None
    assert live.piece("me", 0, 9.0) == []
    said = live.end({"text": "one\r\nyour name? me", "omitted": 0}, complete=True)
    assert said == [Said("me")]


def test_the_shells_own_end_of_a_question_is_not_shown() -> None:
    live = Live()
    live.piece("one\nmore", 0, 1.0)
    live.late(1.0 + LATE_S)
    live.piece("\x1b[7m%\x1b[0m   \r \r", 0, 5.0)
    kept = {"text": "zero\r\nmore", "omitted": 7}
    assert live.end(kept, complete=True) == []


def test_a_line_that_is_written_over_waits_for_its_end() -> None:
    live = Live()
    assert live.piece("10 %\r20 %", 0, 1.0) == []
    assert live.late(1.0 + LATE_S) == []
    assert live.piece("\r100 %\n", 0, 3.0) == [Said("100 %\n")]
