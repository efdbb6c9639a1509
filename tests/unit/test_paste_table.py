"""Pastes in parts: offsets, repeats, limits, and what is forgotten when."""

from __future__ import annotations

from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokerd.client import ErrorCode, Refusal
from termnode.service.input.paste_table import (
    IDLE_S,
    MAX_OPEN,
    MAX_TEXT_BYTES,
    OpenPaste,
    PasteTable,
)


def table(max_open: int = MAX_OPEN, max_bytes: int = MAX_TEXT_BYTES) -> PasteTable:
    numbers = count(1)
    return PasteTable(max_open, max_bytes, make_id=lambda: f"paste-{next(numbers)}")


def refused(caught: pytest.ExceptionInfo[Refusal]) -> tuple[ErrorCode, object]:
    return caught.value.code, caught.value.details.get("reason")


def test_parts_make_the_text() -> None:
    pastes = table()
    begun = pastes.begin(3, 1, "één", 0.0)
    assert (begun.operation, begun.pane, begun.generation) == ("paste-1", 3, 1)
    assert begun.received == 5
    assert pastes.add(begun, 5, " twee", 1.0) == 10
    assert pastes.whole(begun, 10, " drie") == "één twee drie"
    pastes.forget(begun)
    pastes.forget(begun)
    assert len(pastes) == 0


def test_a_part_that_is_there_already_is_not_taken_again() -> None:
    pastes = table()
    begun = pastes.begin(1, 1, "one ", 0.0)
    assert pastes.add(begun, 4, "two ", 0.0) == 8
    assert pastes.add(begun, 8, "three", 0.0) == 13
    assert pastes.add(begun, 4, "two ", 0.0) == 8
    assert pastes.whole(begun, 13, "") == "one two three"


@pytest.mark.parametrize(("offset", "text"), [(4, "TWO "), (9, "x"), (4, "two three"), (0, "two ")])
def test_another_part_than_the_next_is_a_conflict(offset: int, text: str) -> None:
    pastes = table()
    begun = pastes.begin(1, 1, "one ", 0.0)
    pastes.add(begun, 4, "two ", 0.0)
    with pytest.raises(Refusal) as caught:
        pastes.add(begun, offset, text, 0.0)
    assert refused(caught) == (ErrorCode.CONFLICT, "not_next")
    assert caught.value.details["received"] == 8
    assert pastes.whole(begun, 8, "") == "one two "


def test_the_last_part_must_be_the_next_one() -> None:
    pastes = table()
    begun = pastes.begin(1, 1, "one", 0.0)
    with pytest.raises(Refusal) as caught:
        pastes.whole(begun, 0, "one")
    assert refused(caught) == (ErrorCode.CONFLICT, "not_next")


def test_the_number_of_open_texts_and_their_size_are_bounded() -> None:
    pastes = table(max_open=2, max_bytes=10)
    begun = pastes.begin(1, 1, "x" * 10, 0.0)
    pastes.begin(1, 1, "", 0.0)
    with pytest.raises(Refusal) as caught:
        pastes.begin(1, 1, "", 0.0)
    assert refused(caught) == (ErrorCode.RESOURCE_LIMIT, "open_pastes")
    for take in (pastes.add, lambda *args: pastes.whole(*args[:3])):
        with pytest.raises(Refusal) as caught:
            take(begun, 10, "y", 0.0)
        assert refused(caught) == (ErrorCode.RESOURCE_LIMIT, "paste_bytes")
    assert pastes.whole(begun, 10, "") == "x" * 10
    with pytest.raises(Refusal):
        table(max_bytes=1).begin(1, 1, "é", 0.0)


def test_a_text_of_which_no_part_comes_is_forgotten() -> None:
    pastes = table(max_open=1)
    begun = pastes.begin(1, 1, "one", 0.0)
    pastes.add(begun, 3, "", IDLE_S - 1)
    assert pastes.find(begun.operation, 2 * IDLE_S - 1.5) is begun
    with pytest.raises(Refusal) as caught:
        pastes.find(begun.operation, 2 * IDLE_S - 1)
    assert refused(caught) == (ErrorCode.NOT_FOUND, "no_such_paste")
    pastes.begin(1, 1, "its room is free again", 2 * IDLE_S)


def test_names_are_not_to_be_guessed() -> None:
    pastes = PasteTable()
    names = {pastes.begin(1, 1, "", 0.0).operation for _ in range(MAX_OPEN)}
    assert len(names) == MAX_OPEN
    assert all(len(name) == 24 for name in names)


class TakesTwice(PasteTable):
    """Broken on purpose: a repeated part is taken again."""

    def add(self, paste: OpenPaste, offset: int, text: str, now: float) -> int:
        return super().add(paste, paste.received, text, now)


def check(pastes: PasteTable, parts: list[str], repeats: list[int]) -> None:
    """Any parts, with any of them sent again: the text is that of each part once."""
    begun = pastes.begin(1, 1, "", 0.0)
    sent: list[tuple[int, str, int]] = []
    for number, part in enumerate(parts):
        offset = begun.received
        sent.append((offset, part, pastes.add(begun, offset, part, 0.0)))
        for again in repeats:
            if again <= number:
                assert pastes.add(begun, *sent[again][:2], 0.0) == sent[again][2]
    assert pastes.whole(begun, begun.received, "") == "".join(parts)


@given(
    st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=5), max_size=6),
    st.lists(st.integers(0, 5), max_size=4),
)
def test_repeats_change_nothing(parts: list[str], repeats: list[int]) -> None:
    check(table(), parts, repeats)


def test_a_table_that_takes_parts_twice_is_found() -> None:
    with pytest.raises(AssertionError):
        check(TakesTwice(), ["a", "b"], [0])
