"""Keys to bytes, mode by mode: tables written from xterm's and kitty's documentation."""

from __future__ import annotations

import pytest

from termnode.terminal.engine import Modes
from termnode.terminal.input.encode import encode_all, encode_key
from termnode.terminal.input.names import UnknownKey, parse_key

NORMAL = Modes()
APPLICATION = Modes(app_cursor=True, app_keypad=True)


def sent(name: str, modes: Modes = NORMAL) -> bytes:
    return encode_key(parse_key(name), modes)


def test_ctrl_makes_what_x11_and_xterm_make() -> None:
    for number in range(26):
        for name in (f"C-{chr(97 + number)}", f"C-{chr(65 + number)}", f"C-S-{chr(97 + number)}"):
            assert sent(name) == bytes([number + 1])
    table = {"@": 0, "[": 27, "\\": 28, "]": 29, "^": 30, "_": 31, " ": 0, "/": 31, "?": 127,
             "2": 0, "3": 27, "4": 28, "5": 29, "6": 30, "7": 31, "8": 127, "`": 0,
             "~": 30}  # fmt: skip
    for char, byte in table.items():
        assert sent(f"C-{char}") == bytes([byte])
        assert sent(f"C-M-{char}") == bytes([27, byte])


@pytest.mark.parametrize("char", list("019!\"#$%&'()*+,-.:;<=>ß終"))
def test_what_has_no_control_character_is_sent_plain(char: str) -> None:
    for prefix in ("", "C-", "S-", "C-S-"):
        assert sent(prefix + char) == char.encode()
        assert sent(f"M-{prefix}{char}") == b"\x1b" + char.encode()


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a", b"a"), ("A", b"A"), ("S-a", b"A"), ("S-A", b"A"), ("M-a", b"\x1ba"),
        ("M-A", b"\x1bA"), ("M-S-a", b"\x1bA"), ("S-é", "É".encode()), ("S-ß", "ß".encode()),
        ("S-1", b"1"), ("Space", b" "), ("C-Space", b"\0"), ("M-Space", b"\x1b "),
        ("Enter", b"\r"), ("C-Enter", b"\r"), ("S-Enter", b"\r"), ("M-Enter", b"\x1b\r"),
        ("Tab", b"\t"), ("C-Tab", b"\t"), ("S-Tab", b"\x1b[Z"), ("BTab", b"\x1b[Z"),
        ("M-Tab", b"\x1b\t"), ("M-BTab", b"\x1b\x1b[Z"), ("BSpace", b"\x7f"),
        ("C-BSpace", b"\x08"), ("M-BSpace", b"\x1b\x7f"), ("S-BSpace", b"\x7f"),
        ("Escape", b"\x1b"), ("M-Escape", b"\x1b\x1b"), ("C-Escape", b"\x1b"),
        ("S-Up", b"\x1b[1;2A"), ("M-Up", b"\x1b[1;3A"), ("C-Left", b"\x1b[1;5D"),
        ("C-S-Right", b"\x1b[1;6C"), ("C-M-S-End", b"\x1b[1;8F"), ("C-Home", b"\x1b[1;5H"),
        ("S-F1", b"\x1b[1;2P"), ("C-F3", b"\x1b[1;5R"), ("M-F4", b"\x1b[1;3S"),
        ("C-F5", b"\x1b[15;5~"), ("S-F12", b"\x1b[24;2~"), ("S-Insert", b"\x1b[2;2~"),
        ("C-Delete", b"\x1b[3;5~"), ("M-PgUp", b"\x1b[5;3~"), ("C-S-PgDn", b"\x1b[6;6~"),
        ("M-KP5", b"\x1b5"), ("C-KP5", b"5"), ("M-KPEnter", b"\x1b\r"),
    ],
)  # fmt: skip
def test_modified_keys_as_xterm_sends_them(name: str, data: bytes) -> None:
    assert sent(name) == data


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("C-Up", b"\x1b[1;5A"), ("C-F1", b"\x1b[1;5P"), ("M-KP5", b"\x1bO3u"),
        ("C-KP+", b"\x1bO5k"), ("C-S-KPEnter", b"\x1bO6M"), ("a", b"a"), ("C-c", b"\x03"),
    ],
)  # fmt: skip
def test_application_modes_change_no_modified_cursor_key(name: str, data: bytes) -> None:
    assert sent(name, APPLICATION) == data


@pytest.mark.parametrize(
    ("name", "first", "second"),
    [
        # name, modifyOtherKeys 1, modifyOtherKeys 2 (None: as without)
        ("a", None, None), ("A", None, None), ("S-a", None, "27;2;65"), ("C-a", None, "27;5;97"),
        ("M-a", None, "27;3;97"), ("M-A", None, "27;4;65"), ("C-M-a", None, "27;7;97"),
        ("C-S-a", None, "27;6;65"), ("C-i", None, "27;5;105"), ("C-[", None, "27;5;91"),
        ("1", None, None), ("!", None, None), ("S-!", None, None), ("S-@", None, "27;2;64"),
        ("C-1", "27;5;49", "27;5;49"), ("C-S-1", "27;6;49", "27;6;49"),
        ("C-M-1", "27;7;49", "27;7;49"), ("M-1", None, "27;3;49"), ("C-2", None, "27;5;50"),
        ("C-8", None, "27;5;56"), ("C-/", None, "27;5;47"), ("C-?", "27;5;63", "27;5;63"),
        ("C-.", "27;5;46", "27;5;46"), ("C-Space", None, "27;5;32"), ("S-Space", None, "27;2;32"),
        ("M-Space", None, "27;3;32"), ("C-;", "27;5;59", "27;5;59"),
        ("C-é", "27;5;233", "27;5;233"),
        ("Enter", None, None), ("C-Enter", "27;5;13", "27;5;13"), ("S-Enter", "27;2;13", "27;2;13"),
        ("M-Enter", None, "27;3;13"), ("C-S-Enter", "27;6;13", "27;6;13"),
        ("M-S-Enter", "27;2;13", "27;4;13"), ("Tab", None, None), ("C-Tab", "27;5;9", "27;5;9"),
        ("S-Tab", None, None), ("BTab", None, None), ("C-S-Tab", None, "27;6;9"),
        ("M-Tab", None, "27;3;9"), ("Escape", None, None), ("S-Escape", None, None),
        ("C-Escape", None, "27;5;27"), ("M-Escape", None, "27;3;27"), ("BSpace", None, None),
        ("C-BSpace", None, None), ("S-BSpace", None, "27;2;127"), ("M-BSpace", None, "27;3;127"),
        ("C-S-BSpace", None, "27;6;8"), ("Up", None, None), ("C-Up", None, None),
        ("C-F5", None, None), ("M-KP5", None, None),
    ],
)  # fmt: skip
def test_modify_other_keys(name: str, first: str | None, second: str | None) -> None:
    for level, rest in ((1, first), (2, second), (3, second)):
        expected = sent(name) if rest is None else f"\x1b[{rest}~".encode()
        assert sent(name, Modes(modify_other_keys=level)) == expected


@pytest.mark.parametrize(
    ("flags", "name", "data"),
    [
        (1, "a", b"a"), (1, "A", b"A"), (1, "S-a", b"A"), (1, "C-a", b"\x1b[97;5u"),
        (1, "C-i", b"\x1b[105;5u"), (1, "C-S-a", b"\x1b[97;6u"), (1, "M-a", b"\x1b[97;3u"),
        (1, "M-A", b"\x1b[97;4u"), (1, "C-Space", b"\x1b[32;5u"), (1, "Escape", b"\x1b[27u"),
        (1, "C-c", b"\x1b[99;5u"), (1, "Enter", b"\r"), (1, "Tab", b"\t"), (1, "BSpace", b"\x7f"),
        (1, "S-Enter", b"\x1b[13;2u"), (1, "M-Enter", b"\x1b[13;3u"), (1, "BTab", b"\x1b[9;2u"),
        (1, "C-BSpace", b"\x1b[127;5u"), (1, "Up", b"\x1b[A"), (1, "C-Up", b"\x1b[1;5A"),
        (1, "F1", b"\x1b[P"), (1, "F3", b"\x1b[13~"), (1, "C-F3", b"\x1b[13;5~"),
        (1, "F5", b"\x1b[15~"), (1, "Delete", b"\x1b[3~"), (1, "KP5", b"5"),
        (1, "C-KP5", b"\x1b[57404;5u"), (1, "KPEnter", b"\x1b[57414u"), (1, "é", "é".encode()),
        (1, "C-é", b"\x1b[233;5u"), (5, "C-S-a", b"\x1b[97:65;6u"), (5, "C-a", b"\x1b[97;5u"),
        (5, "C-S-1", b"\x1b[49;6u"), (5, "S-a", b"A"), (8, "a", b"\x1b[97u"),
        (8, "A", b"\x1b[97;2u"), (8, "Enter", b"\x1b[13u"), (8, "Tab", b"\x1b[9u"),
        (8, "BSpace", b"\x1b[127u"), (8, "Space", b"\x1b[32u"), (8, "KP5", b"\x1b[57404u"),
        (8, "Escape", b"\x1b[27u"), (8, "1", b"\x1b[49u"), (12, "A", b"\x1b[97:65;2u"),
        (24, "a", b"\x1b[97;;97u"), (24, "A", b"\x1b[97;2;65u"), (28, "A", b"\x1b[97:65;2;65u"),
        (24, "C-a", b"\x1b[97;5u"), (24, "KP5", b"\x1b[57404;;53u"), (24, "Enter", b"\x1b[13u"),
        (17, "a", b"a"), (31, "Up", b"\x1b[A"), (3, "C-a", b"\x1b[97;5u"),
        # These only add to what other flags ask for.
        (2, "C-a", b"\x01"), (4, "C-a", b"\x01"), (16, "a", b"a"), (2, "Up", b"\x1b[A"),
    ],
)  # fmt: skip
def test_the_kitty_protocol(flags: int, name: str, data: bytes) -> None:
    assert sent(name, Modes(kitty_flags=flags)) == data


def test_kitty_goes_before_modify_other_keys_and_application_modes() -> None:
    modes = Modes(kitty_flags=1, modify_other_keys=2, app_cursor=True, app_keypad=True)
    assert sent("C-a", modes) == b"\x1b[97;5u"
    assert sent("Up", modes) == b"\x1b[A"
    assert sent("KP5", modes) == b"5"


def test_a_list_is_parsed_before_any_of_it_counts() -> None:
    assert encode_all(["Escape", ":", "w", "Enter"], NORMAL) == b"\x1b:w\r"
    with pytest.raises(UnknownKey):
        encode_all(["Escape", "Entre"], NORMAL)
