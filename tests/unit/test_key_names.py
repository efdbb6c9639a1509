"""Names of keys: every spelling, what is refused, and what a refusal advises."""

from __future__ import annotations

import pytest

from termnode.terminal.input.names import CHAR, MAX_NEAREST, Key, UnknownKey, key_names, parse_key

NAMES = (
    *(f"F{number}" for number in range(1, 13)), "Up", "Down", "Left", "Right", "Home", "End",
    "Insert", "Delete", "PageDown", "PageUp", "Tab", "BTab", "Space", "BSpace", "Enter", "Escape",
    *(f"KP{digit}" for digit in range(10)), "KP/", "KP*", "KP-", "KP+", "KP.", "KPEnter",
)  # fmt: skip

OTHERS = {
    "IC": "Insert", "DC": "Delete", "NPage": "PageDown", "PgDn": "PageDown", "PPage": "PageUp",
    "PgUp": "PageUp",
}  # fmt: skip


def test_the_canonical_names_are_all_of_tmux() -> None:
    assert sorted(key_names()) == sorted(NAMES)


@pytest.mark.parametrize("name", [*NAMES, *OTHERS])
def test_a_name_is_taken_in_any_case(name: str) -> None:
    meant = OTHERS.get(name, name)
    for spelling in (name, name.lower(), name.upper(), name.swapcase()):
        key = parse_key(spelling)
        assert key == (Key(CHAR, " ") if meant == "Space" else Key(meant))


@pytest.mark.parametrize("prefix", ["C-M-S-", "S-M-C-", "m-c-s-", "s-C-m-", "C-C-M-S-"])
def test_prefixes_stack_in_any_order_and_case(prefix: str) -> None:
    assert parse_key(f"{prefix}Up") == Key("Up", ctrl=True, alt=True, shift=True)
    assert parse_key(f"{prefix}-") == Key(CHAR, "-", ctrl=True, alt=True, shift=True)


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("a", Key(CHAR, "a")), ("A", Key(CHAR, "A")), (" ", Key(CHAR, " ")), ("-", Key(CHAR, "-")),
        ("^", Key(CHAR, "^")), ("é", Key(CHAR, "é")), ("終", Key(CHAR, "終")),
        ("\U0001f600", Key(CHAR, "\U0001f600")), ("M-é", Key(CHAR, "é", alt=True)),
        ("^X", Key(CHAR, "x", ctrl=True)), ("^x", Key(CHAR, "x", ctrl=True)),
        ("^^", Key(CHAR, "^", ctrl=True)), ("C-^", Key(CHAR, "^", ctrl=True)),
        ("^M-x", Key(CHAR, "x", ctrl=True, alt=True)), ("^Up", Key("Up", ctrl=True)),
        ("C-C", Key(CHAR, "c", ctrl=True)), ("C-S-C", Key(CHAR, "c", ctrl=True, shift=True)),
        ("M-X", Key(CHAR, "X", alt=True)), ("S-x", Key(CHAR, "x", shift=True)),
        ("C--", Key(CHAR, "-", ctrl=True)), ("C-Space", Key(CHAR, " ", ctrl=True)),
        ("0x41", Key(CHAR, "A")), ("0X1F600", Key(CHAR, "\U0001f600")), ("0xe9", Key(CHAR, "é")),
        ("0x10ffff", Key(CHAR, "\U0010ffff")), ("M-0x20", Key(CHAR, " ", alt=True)),
        ("0x1b", Key("Escape")), ("0x9", Key("Tab")), ("0xd", Key("Enter")),
        ("0x7f", Key("BSpace")), ("0x0", Key(CHAR, " ", ctrl=True)),
        ("0x3", Key(CHAR, "c", ctrl=True)), ("0x1f", Key(CHAR, "_", ctrl=True)),
    ],
)  # fmt: skip
def test_characters_carets_and_code_points(name: str, key: Key) -> None:
    assert parse_key(name) == key


@pytest.mark.parametrize(
    "name",
    [
        "", "C-", "M-C-", "X-a", "--", "ab", "None", "Any", "User0", "FocusIn", "PasteStart",
        "MouseDown1Pane", "WheelUpPane", "F0", "F13", "KP", "KPa", "0x", "0xg", "0x110000",
        "0x1fffff", "0xd800", "0x9b", "0x80", "\x1b", "\x7f", "\x9b", "\ud800", "\t", "C-\x01",
        "Up ", " Up", "x" * 33, "C-" * 20 + "a",
    ],
)  # fmt: skip
def test_what_is_no_key(name: str) -> None:
    with pytest.raises(UnknownKey):
        parse_key(name)


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("Entre", ["Enter", "KPEnter"]), ("C-Entre", ["C-Enter", "C-KPEnter"]),
        ("pagedwn", ["PageDown"]), ("Return", ["Enter"]), ("Esc", ["Escape"]),
        ("s-m-Rigth", ["S-M-Right"]), ("Ctrl-C", ["C-c"]), ("Control+Alt+Del", ["C-M-Delete"]),
        ("Backspace", ["BSpace", "Space"]), ("Shift-Tab", ["S-Tab"]), ("qqqqq", []),
    ],
)  # fmt: skip
def test_a_refusal_names_what_looks_like_it(name: str, nearest: list[str]) -> None:
    with pytest.raises(UnknownKey) as caught:
        parse_key(name)
    found = caught.value.nearest
    assert found[: len(nearest)] == nearest
    assert len(found) <= MAX_NEAREST
    for each in found:
        assert each in str(caught.value)
        parse_key(each)
    assert name not in str(caught.value).replace(", ".join(found) or "F5", "")
