"""What the mouse sends, action by action and mode by mode, as xterm's documentation has it."""

from __future__ import annotations

from itertools import product

import pytest

from termnode.control.fields import ACTION, BUTTON
from termnode.control.fields import MODIFIERS as MODIFIER_FIELD
from termnode.terminal.engine import Modes
from termnode.terminal.input.mouse import NotRequested, OutOfRange, encode_mouse

TOLD = {
    0: (),
    9: ("press", "click"),
    1000: ("press", "click", "release", "wheel-up", "wheel-down"),
    1002: ("press", "click", "release", "wheel-up", "wheel-down", "drag"),
    1003: ("press", "click", "release", "wheel-up", "wheel-down", "drag", "move"),
}


def sent(
    action: str,
    *held: str,
    button: str = "left",
    mode: int = 1003,
    sgr: bool = True,
    at: tuple[int, int] = (9, 4),
) -> bytes:
    return encode_mouse(action, button, *at, held, Modes(mouse=mode, mouse_sgr=sgr))


@pytest.mark.parametrize("mode", list(TOLD))
@pytest.mark.parametrize("action", list(ACTION.choices))
def test_only_what_was_asked_for_is_sent(mode: int, action: str) -> None:
    for sgr in (False, True):
        if action in TOLD[mode]:
            assert sent(action, mode=mode, sgr=sgr)
        else:
            with pytest.raises(NotRequested):
                sent(action, mode=mode, sgr=sgr)


@pytest.mark.parametrize(
    ("action", "button", "sgr", "old"),
    [
        ("press", "left", b"\x1b[<0;10;5M", b"\x1b[M *%"),
        ("press", "middle", b"\x1b[<1;10;5M", b"\x1b[M!*%"),
        ("press", "right", b"\x1b[<2;10;5M", b'\x1b[M"*%'),
        ("release", "left", b"\x1b[<0;10;5m", b"\x1b[M#*%"),
        ("release", "right", b"\x1b[<2;10;5m", b"\x1b[M#*%"),
        ("click", "left", b"\x1b[<0;10;5M\x1b[<0;10;5m", b"\x1b[M *%\x1b[M#*%"),
        ("drag", "left", b"\x1b[<32;10;5M", b"\x1b[M@*%"),
        ("drag", "right", b"\x1b[<34;10;5M", b"\x1b[MB*%"),
        ("move", "left", b"\x1b[<35;10;5M", b"\x1b[MC*%"),
        ("wheel-up", "left", b"\x1b[<64;10;5M", b"\x1b[M`*%"),
        ("wheel-down", "right", b"\x1b[<65;10;5M", b"\x1b[Ma*%"),
    ],
)
def test_actions(action: str, button: str, sgr: bytes, old: bytes) -> None:
    assert sent(action, button=button) == sgr
    assert sent(action, button=button, sgr=False) == old


def test_modifiers_add_their_bits() -> None:
    bits = {"shift": 4, "alt": 8, "ctrl": 16}
    assert set(bits) == set(MODIFIER_FIELD.choices)
    for word, bit in bits.items():
        assert sent("press", word) == b"\x1b[<%d;10;5M" % bit
        assert sent("press", word, word, sgr=False) == b"\x1b[M%c*%%" % (32 + bit)
        assert sent("wheel-up", word) == b"\x1b[<%d;10;5M" % (64 + bit)
    assert sent("drag", *bits) == b"\x1b[<60;10;5M"
    # Mode 9 tells of presses alone: no release, no modifiers.
    assert sent("click", *bits, mode=9, sgr=False) == b"\x1b[M *%"


def test_the_old_encoding_ends_at_222() -> None:
    assert sent("press", sgr=False, at=(222, 222)) == b"\x1b[M \xff\xff"
    assert sent("press", sgr=False, at=(0, 0)) == b"\x1b[M !!"
    for at in ((223, 0), (0, 223)):
        with pytest.raises(OutOfRange):
            sent("press", sgr=False, at=at)
    assert sent("press", at=(999, 499)) == b"\x1b[<0;1000;500M"


def test_every_word_of_the_verb_has_an_encoding() -> None:
    for action, button, sgr in product(ACTION.choices, BUTTON.choices, (False, True)):
        assert sent(action, button=button, sgr=sgr).startswith(b"\x1b[")


def test_a_program_that_wants_pixels_gets_the_middle_of_the_cell() -> None:
    modes = Modes(mouse=1000, mouse_pixels=True)
    assert encode_mouse("press", "left", 0, 0, (), modes) == b"\x1b[<0;4;8M"
    assert encode_mouse("press", "left", 300, 2, (), modes) == b"\x1b[<0;2404;40M"
