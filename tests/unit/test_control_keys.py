"""Text to keys."""

from __future__ import annotations

import pytest

from brokerd.client import ErrorCode, Refusal
from termnode.control.keys import ENTER, MAX_TEXT, encode_keys

TAKEN = {"\r": b"\r", "\n": b"\r", "\t": b"\t", "\x7f": b"\x7f", "\x08": b"\x7f",
         "\x03": b"\x03", "\x04": b"\x04"}  # fmt: skip


@pytest.mark.parametrize("number", [*range(0x180), 0x2028, 0x1F600])
def test_every_character_is_a_key_or_refused(number: int) -> None:
    char = chr(number)
    if 0x20 <= number < 0x7F or char in TAKEN:
        assert encode_keys(char) == TAKEN.get(char, char.encode())
    else:
        with pytest.raises(Refusal) as caught:
            encode_keys(f"ls{char}")
        assert caught.value.code is ErrorCode.INVALID_ARGUMENT
        assert caught.value.details == {"field": "text"}
        assert "term.paste" in caught.value.message  # the remedy


def test_bounds() -> None:
    assert len(encode_keys("x" * MAX_TEXT)) == MAX_TEXT
    for text in ("", "x" * (MAX_TEXT + 1)):
        with pytest.raises(Refusal):
            encode_keys(text)


def test_no_key_begins_a_paste_or_any_other_sequence() -> None:
    assert b"\x1b" not in encode_keys("".join([*map(chr, range(0x20, 0x80)), *TAKEN]))
    assert encode_keys("\n") == ENTER
