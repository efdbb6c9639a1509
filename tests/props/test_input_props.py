"""Any names, keys, modes and texts: what the input functions promise for all of them."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from termnode.control.fields import ACTION, BUTTON
from termnode.control.fields import MODIFIERS as MODIFIER_FIELD
from termnode.terminal.engine import Modes
from termnode.terminal.input.encode import encode_key
from termnode.terminal.input.mouse import NotRequested, OutOfRange, encode_mouse
from termnode.terminal.input.names import CHAR, Key, UnknownKey, key_names, parse_key
from termnode.terminal.input.paste import (
    PASTE_END,
    PASTE_START,
    Cleaned,
    clean_paste,
    paste_bytes,
)

LIMITS = settings(max_examples=300, deadline=None, database=None)

CHARS = st.characters(exclude_categories=("Cc", "Cs"))
PREFIXES = st.lists(st.sampled_from(["C-", "M-", "S-", "c-", "m-", "s-"]), max_size=4).map("".join)
NAMES = st.builds(str.__add__, PREFIXES, st.sampled_from(key_names()) | CHARS)
MODES = st.builds(
    Modes,
    app_cursor=st.booleans(), app_keypad=st.booleans(), kitty_flags=st.integers(0, 31),
    modify_other_keys=st.integers(0, 3),
    mouse=st.sampled_from([0, 9, 1000, 1002, 1003]), mouse_sgr=st.booleans(),
)  # fmt: skip

ONE_KEY = re.compile(
    rb"\x1b?(?:[^\x1b]{1,4}|\x1b"  # a character or control character, Alt in front
    rb"|\x1b\[Z|\x1bO[2-8]?[A-Za-z]"  # BTab, application forms
    rb"|\x1b\[[0-9:;]*[A-HP-Su~])",  # everything with parameters
    re.DOTALL,
)
"""What a program can read as one key."""

CANARY = "cAnArY"


@LIMITS
@given(name=NAMES, modes=MODES)
def test_every_key_sends_one_readable_sequence_in_all_modes(name: str, modes: Modes) -> None:
    data = encode_key(parse_key(name), modes)
    assert ONE_KEY.fullmatch(data), data
    assert len(data) <= 40


@LIMITS
@given(name=NAMES, modes=MODES)
def test_no_key_can_be_taken_for_the_marker_of_a_paste(name: str, modes: Modes) -> None:
    data = encode_key(parse_key(name), modes)
    assert not data.startswith((PASTE_START, PASTE_END))


@LIMITS
@given(name=NAMES)
def test_case_and_order_of_prefixes_mean_nothing(name: str) -> None:
    found = re.fullmatch("((?:[CMScms]-)*)(.+)", name, re.DOTALL)
    assert found is not None
    prefixes = re.findall(".-", found[1])
    turned = "".join(prefix.swapcase() for prefix in reversed(prefixes)) + found[2]
    assert parse_key(turned) == parse_key(name)


@LIMITS
@given(text=st.text(max_size=40))
def test_any_text_is_a_key_or_unknown(text: str) -> None:
    found = parsed(text)
    if isinstance(found, Key):
        assert (found.code == CHAR) == (len(found.char) == 1)
        return
    assert len(found.nearest) <= 3
    assert all(isinstance(parsed(name), Key) for name in found.nearest)


def parsed(name: str) -> Key | UnknownKey:
    try:
        return parse_key(name)
    except UnknownKey as unknown:
        return unknown


@LIMITS
@given(prefix=PREFIXES, before=st.text(max_size=8), after=st.text(max_size=8))
def test_what_is_unknown_is_never_repeated(prefix: str, before: str, after: str) -> None:
    with pytest.raises(UnknownKey) as caught:
        parse_key(f"{prefix}{before}{CANARY}{after}")
    assert CANARY.lower() not in f"{caught.value}{caught.value.nearest}".lower()


PIECES = st.sampled_from(
    ["\x1b[200~", "\x1b[201~", "\x9b200~", "\x9b201~", "\x1b", "\x9b", "[", "[2", "\x1b[20", "0",
     "01~", "1~", "~", "00~", "\r", "\n", "\r\n", "\t", "\0", "\x7f", "\x85", "a", "é", "終"]
)  # fmt: skip
TEXTS = st.lists(PIECES, max_size=30).map("".join) | st.text(max_size=30)

MARKER = re.compile("(?:\x1b\\[|\x9b)20[01]~")
CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


def slowly_cleaned(text: str) -> Cleaned:
    """The same by its definition: take away until there is nothing left to take."""
    kept = re.sub(CONTROLS.pattern.replace("\x1f", "\x1a\x1c-\x1f").replace(
        "\x9f", "\x9a\x9c-\x9f"), "", text)  # fmt: skip
    while MARKER.search(kept):
        kept = MARKER.sub("", kept)
    kept = CONTROLS.sub("", kept)
    return Cleaned(kept.replace("\r\n", "\n").replace("\r", "\n"), len(text) - len(kept))


def check_cleaning(clean: Callable[[str], Cleaned], text: str) -> None:
    cleaned = clean(text)
    assert cleaned == slowly_cleaned(text)
    assert not CONTROLS.search(cleaned.text)
    assert "\r" not in cleaned.text
    assert clean(cleaned.text) == Cleaned(cleaned.text, 0)
    inside = paste_bytes(cleaned.text, bracketed=True)
    assert inside.count(b"\x1b") == 2
    assert inside.startswith(PASTE_START)
    assert inside.endswith(PASTE_END)
    plain = paste_bytes(cleaned.text, bracketed=False)
    assert b"\n" not in plain
    assert b"\x1b" not in plain


@LIMITS
@given(text=TEXTS)
def test_no_text_ends_its_paste(text: str) -> None:
    check_cleaning(clean_paste, text)


def test_that_check_finds_what_one_pass_leaves() -> None:
    def in_one_pass(text: str) -> Cleaned:
        kept = MARKER.sub("", text)
        return Cleaned(kept.replace("\r\n", "\n").replace("\r", "\n"), len(text) - len(kept))

    def newline_left(text: str) -> Cleaned:
        kept = slowly_cleaned(text)
        return Cleaned(kept.text + "\r" * text.count("\r"), kept.removed)

    for broken, text in ((in_one_pass, "\x1b[20\x1b[200~1~"), (newline_left, "a\rb")):
        with pytest.raises(AssertionError):
            check_cleaning(broken, text)


REPORT = re.compile(rb"(?:\x1b\[<\d+;\d+;\d+[mM]|\x1b\[M[\x20-\xff]{3})+", re.DOTALL)


@LIMITS
@given(
    action=st.sampled_from(list(ACTION.choices)),
    button=st.sampled_from(list(BUTTON.choices)),
    at=st.tuples(st.integers(0, 999), st.integers(0, 499)),
    held=st.sets(st.sampled_from(list(MODIFIER_FIELD.choices))),
    modes=MODES,
)
def test_the_mouse_is_reported_or_refused(
    action: str, button: str, at: tuple[int, int], held: set[str], modes: Modes
) -> None:
    found = reported(action, button, at, held, modes)
    told = not isinstance(reported(action, button, (0, 0), held, modes), NotRequested)
    if isinstance(found, bytes):
        assert REPORT.fullmatch(found)
        assert (b"<" in found[:3]) == modes.mouse_sgr
    else:
        # A cell that every encoding can name tells whether it was the action or the cell.
        assert isinstance(found, OutOfRange) == told
        assert not told or (max(at) > 222 and not modes.mouse_sgr)


def reported(
    action: str, button: str, at: tuple[int, int], held: set[str], modes: Modes
) -> bytes | ValueError:
    try:
        return encode_mouse(action, button, *at, held, modes)
    except (NotRequested, OutOfRange) as refused:
        return refused


def test_a_key_is_a_value() -> None:
    assert {Key("Up"), Key("Up"), Key("Up", ctrl=True)} == {Key("Up", ctrl=True), Key("Up")}
