"""Any key in any mode, any bytes, cut anywhere: what the parser of a person's input promises."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from termnode.attach.keys import (
    Event,
    InputParser,
    KeyEvent,
    PasteEvent,
    RawEvent,
    TextEvent,
)
from termnode.attach.keys.parser import WAIT_S
from termnode.terminal.engine import Modes
from termnode.terminal.input.encode import encode_all, encode_key
from termnode.terminal.input.kitty import replaces_legacy
from termnode.terminal.input.names import key_names, parse_key

LIMITS = settings(max_examples=400, deadline=None, database=None)

CHARS = st.characters(exclude_categories=("Cc", "Cs", "Co"))
"""Those for private use are kitty's numbers of keys: there they cannot be told apart."""

PREFIXES = st.sampled_from(["", "C-", "M-", "S-", "C-M-", "C-S-", "M-S-", "C-M-S-"])
NAMES = st.builds(str.__add__, PREFIXES, st.sampled_from(key_names()) | CHARS)
MODES = st.builds(
    Modes,
    app_cursor=st.booleans(), app_keypad=st.booleans(), kitty_flags=st.integers(0, 31),
    modify_other_keys=st.integers(0, 2),
)  # fmt: skip

Parse = Callable[[Sequence[bytes]], list[Event]]


def parsed(pieces: Sequence[bytes]) -> list[Event]:
    """The events of pieces that come at once, and nothing after them."""
    parser = InputParser()
    events = [event for piece in pieces for event in parser.feed(piece, 0.0)]
    return events + parser.flush(WAIT_S)


def again(events: list[Event], modes: Modes) -> bytes:
    """What a program with these modes is sent for the events."""
    return b"".join(_sent(event, modes) for event in events)


def _sent(event: Event, modes: Modes) -> bytes:
    if isinstance(event, KeyEvent):
        return encode_key(parse_key(event.name), modes)
    assert isinstance(event, TextEvent), event
    return encode_all(list(event.text), modes)


def round_trip(parse: Parse, name: str, modes: Modes) -> None:
    data = encode_key(parse_key(name), modes)
    events = parse([data])
    assert len(events) == 1, (name, data, events)
    if modes.modify_other_keys == 2 and not replaces_legacy(modes.kitty_flags):
        # A few keys share their bytes with one that has a sequence of its own at this level, which
        # is never asked for here: what counts is that it stays the same key from then on.
        assert parse([again(events, modes)]) == events, (name, data, events)
    else:
        assert again(events, modes) == data, (name, data, events)


@LIMITS
@given(name=NAMES, modes=MODES)
def test_a_key_means_the_same_after_it_went_through_a_terminal(name: str, modes: Modes) -> None:
    round_trip(parsed, name, modes)


@pytest.mark.parametrize("name", key_names())
def test_every_named_key_in_every_mode_with_everything_held(name: str) -> None:
    for flags in range(32):
        for level in range(3):
            modes = Modes(True, bool(flags & 1), bool(flags & 2), False, False,
                          kitty_flags=flags, modify_other_keys=level)  # fmt: skip
            for prefix in ("", "C-", "M-", "S-", "C-M-", "C-S-", "M-S-", "C-M-S-"):
                round_trip(parsed, prefix + name, modes)


def test_the_round_trip_would_see_a_key_taken_for_another() -> None:
    def wrong(pieces: Sequence[bytes]) -> list[Event]:
        return [KeyEvent("Down") if event == KeyEvent("Up") else event for event in parsed(pieces)]

    with pytest.raises(AssertionError):
        round_trip(wrong, "Up", Modes())


FRAGMENTS = st.sampled_from([
    b"\x1b", b"\x1b[", b"\x1bO", b"\x1b]", b"\x1bP", b"\x1b\\", b"\x07", b"\x1b[M", b"\x1b[[",
    b"\x1b[<", b"0;1;1M", b"A", b"$", b"~", b"u", b"1;5", b"?2026;2$y", "é中👍".encode(),
    b"\xe4\xb8", b"\xff", b"\xc2\x9b", b"\r", b"\0", b"x", b";" * 140,
    b"\x1b[200~", b"\x1b[201~", b"1" * 4_200,
])  # fmt: skip
STREAMS = st.lists(FRAGMENTS | st.binary(max_size=6), max_size=14).map(b"".join)


def joined(events: list[Event]) -> list[Event]:
    """Text and raw bytes next to each other as one."""
    result: list[Event] = []
    for event in events:
        match result[-1:], event:
            case [TextEvent(before)], TextEvent(text):
                result[-1] = TextEvent(before + text)
            case [RawEvent(had)], RawEvent(data):
                result[-1] = RawEvent(had + data)
            case _:
                result.append(event)
    return result


def cut(data: bytes, places: list[int]) -> list[bytes]:
    ends = sorted({place % (len(data) + 1) for place in places} | {0, len(data)})
    return [data[start:end] for start, end in pairwise(ends)]


@LIMITS
@given(data=STREAMS, places=st.lists(st.integers(0, 20_000), max_size=12))
def test_events_do_not_depend_on_how_input_was_cut(data: bytes, places: list[int]) -> None:
    assert joined(parsed(cut(data, places))) == joined(parsed([data]))


def test_a_parser_that_holds_nothing_would_be_seen() -> None:
    def forgetful(pieces: Sequence[bytes]) -> list[Event]:
        return [event for piece in pieces for event in parsed([piece])]

    assert forgetful([b"\x1b", b"[A"]) != parsed([b"\x1b[A"])


@LIMITS
@given(data=STREAMS)
def test_any_input_is_taken_and_nothing_is_held_for_long(data: bytes) -> None:
    parser = InputParser()
    events = parser.feed(data, 0.0)
    due = parser.deadline()
    assert due is None or due <= WAIT_S
    events += parser.flush(WAIT_S)
    assert parser.deadline() is None
    for event in events:
        if isinstance(event, KeyEvent):
            parse_key(event.name)
        elif isinstance(event, TextEvent):
            assert event.text
            encode_all(list(event.text), Modes())


@LIMITS
@given(text=st.text(max_size=200), places=st.lists(st.integers(0, 400), max_size=8))
def test_a_paste_comes_as_it_was(text: str, places: list[int]) -> None:
    text = text.encode("utf-8", "replace").decode().replace("\x1b", "")
    data = b"\x1b[200~" + text.encode() + b"\x1b[201~"
    events = parsed(cut(data, places))
    assert events == ([PasteEvent(text)] if text else [])
