"""Every message survives the way over the wire, and no bytes make the decoder fail otherwise."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from termnode.terminal.engine import PLAIN, Cursor, Modes, Style
from termnode.view.frames import BadFrame, Decoder, ServiceDecoder, encode
from termnode.view.messages import (
    Attach,
    Do,
    Focus,
    FromService,
    FromView,
    Input,
    Key,
    Layout,
    Mouse,
    PaneState,
    Pasted,
    PlacedPane,
    Raw,
    TabInfo,
    Tabs,
    Text,
)
from termnode.view.wire_style import from_wire, to_wire

IDS = st.integers(0, 2**40)
WORDS = st.text(max_size=20)
COLORS = st.one_of(st.none(), st.integers(0, 255), st.tuples(*[st.integers(0, 255)] * 3))
STYLES = st.builds(
    Style,
    fg=COLORS,
    bg=COLORS,
    bold=st.booleans(),
    dim=st.booleans(),
    italic=st.booleans(),
    underline=st.integers(0, 5),
    underline_color=COLORS,
    blink=st.booleans(),
    reverse=st.booleans(),
    conceal=st.booleans(),
    strike=st.booleans(),
    overline=st.booleans(),
    link=st.none() | WORDS,
)
TOLD = STYLES.map(lambda style: None if style == PLAIN else style)
ROWS = st.lists(st.tuples(WORDS, st.integers(0, 1000), TOLD), max_size=4).map(tuple)
ITEMS = st.one_of(
    st.builds(Key, WORDS),
    st.builds(Text, WORDS),
    st.builds(Pasted, WORDS, st.booleans()),
    st.builds(
        Mouse, WORDS, WORDS, st.integers(0, 900), st.integers(0, 400),
        st.lists(WORDS, max_size=3).map(tuple),
    ),
    st.builds(Focus, st.booleans()),
    st.builds(Raw, st.binary(max_size=20)),
)  # fmt: skip
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=8,
)
FROM_VIEW: st.SearchStrategy[FromView] = st.one_of(
    st.builds(Input, IDS, st.lists(ITEMS, max_size=5).map(tuple)),
    st.builds(Do, IDS, WORDS, st.dictionaries(WORDS, JSON, max_size=4)),
    st.builds(
        Attach, WORDS, st.integers(1, 1000), st.integers(1, 500), st.booleans(), st.none() | IDS,
        st.dictionaries(WORDS, WORDS, max_size=4), st.none() | IDS,
    ),
)  # fmt: skip
FROM_SERVICE: st.SearchStrategy[FromService] = st.one_of(
    st.builds(
        PaneState, IDS, IDS, st.integers(1, 1000), st.integers(1, 500), IDS, IDS,
        st.lists(st.tuples(IDS, ROWS), max_size=4).map(tuple),
        st.builds(Cursor, st.integers(0, 99), st.integers(0, 99), st.booleans(), st.integers(0, 6)),
        st.builds(Modes, mouse=st.sampled_from([0, 9, 1003]), kitty_flags=st.integers(0, 31)),
        WORDS, WORDS, st.booleans(), IDS,
    ),
    st.builds(
        Tabs, st.none() | IDS,
        st.lists(
            st.builds(
                TabInfo, IDS, WORDS, st.lists(IDS, max_size=3).map(tuple), IDS, st.booleans(),
                st.booleans(), st.booleans(),
            ),
            max_size=3,
        ).map(tuple),
    ),
    st.builds(
        Layout, IDS, st.integers(0, 999), st.integers(0, 999),
        st.lists(
            st.builds(
                PlacedPane, IDS, st.integers(0, 99), st.integers(0, 99), st.integers(1, 99),
                st.integers(1, 99), st.booleans(),
            ),
            max_size=3,
        ).map(tuple),
        st.none() | IDS, IDS,
    ),
)  # fmt: skip


@given(st.lists(FROM_VIEW, max_size=4))
def test_what_a_view_says_arrives_as_it_was(messages: list[Any]) -> None:
    assert ServiceDecoder().feed(b"".join(map(encode, messages))) == messages


@given(st.lists(FROM_SERVICE, max_size=4))
def test_what_the_service_says_arrives_as_it_was(messages: list[Any]) -> None:
    assert Decoder().feed(b"".join(map(encode, messages))) == messages


@given(STYLES)
def test_a_style_and_its_list_are_the_same(style: Style) -> None:
    assert from_wire(to_wire(style)) == (None if style == PLAIN else style)


@given(st.binary(max_size=200), FROM_VIEW, st.integers(0, 400), st.integers(0, 255))
def test_no_bytes_raise_anything_but_bad_frame(
    noise: bytes, message: FromView, at: int, byte: int
) -> None:
    spoiled = bytearray(encode(message))
    spoiled[at % len(spoiled)] = byte
    for data in (noise, len(noise).to_bytes(4, "big") + noise, bytes(spoiled)):
        for decoder in (Decoder(), ServiceDecoder()):
            try:
                decoder.feed(data)
            except BadFrame:
                continue
