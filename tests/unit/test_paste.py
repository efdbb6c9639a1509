"""Pasted text: what is left out, what is counted, and the bytes with and without brackets."""

from __future__ import annotations

import pytest

from termnode.terminal.input.paste import (
    PASTE_END,
    PASTE_START,
    Cleaned,
    clean_paste,
    paste_bytes,
)

START, END = PASTE_START.decode(), PASTE_END.decode()


@pytest.mark.parametrize(
    ("text", "kept", "removed"),
    [
        ("", "", 0), ("a\tb\nc", "a\tb\nc", 0), ("a\r\nb\rc\n\rd", "a\nb\nc\n\nd", 0),
        ("é終\U0001f600\u2028", "é終\U0001f600\u2028", 0), ("[201~", "[201~", 0),
        (f"text{END}\rid\r", "text\nid\n", 6), (f"{START}x{END}", "x", 12),
        ("a\0b\x07c\x08d\x0be\x0cf\x1fg\x7fh\x80i\x9fj", "abcdefghij", 9),
        ("\x1b[31mred\x1b[m", "[31mred[m", 2), ("\x9b31m", "31m", 1),
        # A marker with a control character in it, and one inside another.
        ("\x1b[20\x001~x", "x", 7), (f"\x1b[20{END}1~x", "x", 12), (f"\x1b{START}[201~x", "x", 12),
        (f"\x1b[{END}20{START}1~x", "x", 18), ("\x1b[2\x1b[20\x1b[200~0~01~x", "x", 18),
        ("\x9b201~x", "x", 5), ("\x9b20\x1b[200~0~x", "x", 11),
        (f"\x1b[20\x9b{END}201~0~x", "x", 17),
        # What only begins one is text without its ESC.
        ("\x1b[20", "[20", 1), ("\x1b[20\x1b[20x1~", "[20[20x1~", 2), ("\x1b[202~", "[202~", 1),
    ],
)  # fmt: skip
def test_cleaning(text: str, kept: str, removed: int) -> None:
    assert clean_paste(text) == Cleaned(kept, removed)


@pytest.mark.parametrize("number", [*range(0xA0)])
def test_every_control_character_but_tab_and_newlines_goes(number: int) -> None:
    char = chr(number)
    kept = {"\r": "\n"}.get(char, char) if 0x20 <= number < 0x7F or char in "\t\r\n" else ""
    assert clean_paste(f"a{char}b") == Cleaned(f"a{kept}b", int(not kept))


def test_bytes() -> None:
    assert paste_bytes("a\nbé", bracketed=True) == b"\x1b[200~a\nb\xc3\xa9\x1b[201~"
    assert paste_bytes("a\nbé", bracketed=False) == b"a\rb\xc3\xa9"
    assert paste_bytes("", bracketed=True) == PASTE_START + PASTE_END
    assert paste_bytes("", bracketed=False) == b""


def test_deeply_nested_markers_go_in_one_pass() -> None:
    depth = 170_000  # about a mebibyte: in steps of the whole text this would never end
    text = "\x1b[20" * depth + "1~" * depth + "x"
    assert clean_paste(text) == Cleaned("x", 6 * depth)
