"""What a person's terminal sends: keys of many terminals, the mouse, pastes, answers."""

from __future__ import annotations

import pytest

from termnode.attach.keys import (
    Event,
    FocusEvent,
    InputParser,
    KeyEvent,
    MouseEvent,
    PasteEvent,
    RawEvent,
    ReplyEvent,
    TextEvent,
)
from termnode.attach.keys.events import MAX_PASTE
from termnode.attach.keys.parser import KEY_WAIT_S, WAIT_S
from termnode.attach.keys.pasting import SILENCE_S
from termnode.attach.keys.scanner import MAX_PARAMETERS, MAX_STRING
from termnode.terminal.input.names import parse_key


def parsed(data: bytes) -> list[Event]:
    """All events of input after which nothing comes."""
    parser = InputParser()
    return parser.feed(data, 0.0) + parser.flush(WAIT_S)


NAMES = {
    # plain and control characters
    b"\r": "Enter", b"\t": "Tab", b"\x7f": "BSpace", b"\x1b": "Escape", b"\0": "C-Space",
    b"\x02": "C-b", b"\x08": "C-h", b"\n": "C-j", b"\x1c": "C-\\", b"\x1d": "C-]",
    b"\x1e": "C-^", b"\x1f": "C-_",
    # xterm: with and without application cursor keys, with modifiers
    b"\x1b[A": "Up", b"\x1bOA": "Up", b"\x1b[1;5A": "C-Up", b"\x1b[1;8D": "C-M-S-Left",
    b"\x1bOP": "F1", b"\x1b[1;2R": "S-F3", b"\x1b[15~": "F5", b"\x1b[3;5~": "C-Delete",
    b"\x1b[H": "Home", b"\x1b[4~": "End", b"\x1b[7~": "Home", b"\x1b[Z": "BTab",
    b"\x1bOM": "KPEnter", b"\x1bOq": "KP1", b"\x1bO5k": "C-KP+", b"\x1bO2P": "S-F1",
    # Alt as ESC in front
    b"\x1bx": "M-x", b"\x1bX": "M-X", b"\x1b\x01": "C-M-a", b"\x1b\r": "M-Enter",
    b"\x1b\x7f": "M-BSpace", b"\x1b\xc3\xa9": "M-é", b"\x1b ": "M-Space", b"\x1b\x1b": "M-Escape",
    b"\x1b\x1b[A": "M-Up", b"\x1b\x1bOA": "M-Up", b"\x1b\x1b[Z": "M-BTab",
    b"\x1b[": "M-[", b"\x1bO": "M-O", b"\x1b]": "M-]", b"\x1bP": "M-P", b"\x1b_": "M-_",
    # modifyOtherKeys
    b"\x1b[27;5;59~": "C-;", b"\x1b[27;6;65~": "C-S-a", b"\x1b[27;5;13~": "C-Enter",
    b"\x1b[27;2;32~": "S-Space", b"\x1b[27;2;9~": "BTab", b"\x1b[27;7;8~": "C-M-BSpace",
    # kitty
    b"\x1b[27u": "Escape", b"\x1b[98;5u": "C-b", b"\x1b[105;5u": "C-i", b"\x1b[13;2u": "S-Enter",
    b"\x1b[9;2u": "BTab", b"\x1b[97:65;6u": "C-S-a", b"\x1b[97:65;4u": "M-A",
    b"\x1b[57414u": "KPEnter", b"\x1b[57419;5u": "C-Up", b"\x1b[13~": "F3",
    b"\x1b[98;5:2u": "C-b", b"\x1b[98;69u": "C-b", b"\x1b[1;129A": "Up",
    # what programs that know no kitty need: the character that Shift makes, C-c on any keyboard
    b"\x1b[49:33;4u": "M-!", b"\x1b[45:95;6u": "C-_", b"\x1b[1089::99;5u": "C-c",
    # older terminals
    b"\x1b[[A": "F1", b"\x1b[[E": "F5", b"\x1b[a": "S-Up", b"\x1bOa": "C-Up",
    b"\x1b[3$": "S-Delete", b"\x1b[3^": "C-Delete", b"\x1b[3@": "C-S-Delete",
}  # fmt: skip


@pytest.mark.parametrize("data", NAMES, ids=ascii)
def test_keys_have_the_names_of_tmux(data: bytes) -> None:
    assert parsed(data) == [KeyEvent(NAMES[data])]
    parse_key(NAMES[data])


OTHERS: dict[bytes, list[Event]] = {
    "né 中👍".encode(): [TextEvent("né 中👍")],
    b"ls\r": [TextEvent("ls"), KeyEvent("Enter")],
    b"\x1b[97;2u\x1b[97;;97u": [TextEvent("A"), TextEvent("a")],
    b"\x1b[53;;37u": [TextEvent("%")],
    b"\x1b[57415u": [TextEvent("=")],
    b"\x1bOX": [TextEvent("=")],
    b"\x1b[32;2;32u": [KeyEvent("S-Space")],
    b"\x1b\x1bx": [KeyEvent("Escape"), KeyEvent("M-x")],
    b"\x1b[I\x1b[O": [FocusEvent(True), FocusEvent(False)],
    # let go of, or nothing that a program can be told
    b"\x1b[97;1:3u\x1b[1;1:3A": [],
    b"\x1b[99;9u": [ReplyEvent(b"\x1b[99;9u")],
    b"\x1b[57441u": [ReplyEvent(b"\x1b[57441u")],
    # what has no name is passed on
    b"\x1b[25~": [RawEvent(b"\x1b[25~")],
    b"\x1b[1;9A": [RawEvent(b"\x1b[1;9A")],
    b"a\xff\xfeb\xc2\x9bc": [
        TextEvent("a"), RawEvent(b"\xff\xfe"), TextEvent("b"), RawEvent(b"\xc2\x9b"), TextEvent("c")
    ],
    b"\xe4\xb8": [RawEvent(b"\xe4\xb8")],
    b"\x1b\xff": [KeyEvent("Escape"), RawEvent(b"\xff")],
    b"\x1b[1;\r": [RawEvent(b"\x1b[1;"), KeyEvent("Enter")],
    b"\x1b]hi\r": [KeyEvent("M-]"), TextEvent("hi"), KeyEvent("Enter")],
    # the mouse
    b"\x1b[<0;3;4M\x1b[<0;3;4m": [
        MouseEvent("press", "left", 2, 3), MouseEvent("release", "left", 2, 3)
    ],
    b"\x1b[<34;1;1M": [MouseEvent("drag", "right", 0, 0)],
    b"\x1b[<35;9;9M": [MouseEvent("move", "left", 8, 8)],
    b"\x1b[<64;1;1M\x1b[<65;1;1M": [
        MouseEvent("wheel-up", "left", 0, 0), MouseEvent("wheel-down", "left", 0, 0)
    ],
    b"\x1b[<29;1;1M": [MouseEvent("press", "middle", 0, 0, ("shift", "alt", "ctrl"))],
    b"\x1b[<66;1;1M\x1b[<128;1;1M\x1b[<0;0;1M\x1b[<0;1M": [],
    b"\x1b[M \xff!\x1b[M#\xff!": [
        MouseEvent("press", "left", 222, 0), MouseEvent("release", "left", 222, 0)
    ],
}  # fmt: skip


@pytest.mark.parametrize("data", OTHERS, ids=ascii)
def test_all_else_is_what_it_is(data: bytes) -> None:
    assert parsed(data) == OTHERS[data]


@pytest.mark.parametrize(
    "answer",
    [
        b"\x1b[?62;22c", b"\x1b[>1;10;0c", b"\x1b[?1u", b"\x1b[?2026;2$y", b"\x1b[4;1$y",
        b"\x1bP1$r2 q\x1b\\", b"\x1b]11;rgb:00/00/00\x07", b"\x1b]11;rgb:00/00/00\x1b\\",
        b"\x1b[12;40R", b"\x1b[0n", b"\x1b[?997;1n", b"\x1b[8;24;80t", b"\x1b_Gi=1;OK\x1b\\",
    ],
    ids=ascii,
)  # fmt: skip
def test_answers_of_the_terminal_are_told_from_keys(answer: bytes) -> None:
    assert parsed(b"a" + answer + b"b") == [TextEvent("a"), ReplyEvent(answer), TextEvent("b")]


def test_an_escape_alone_waits_thirty_milliseconds() -> None:
    parser = InputParser()
    assert parser.deadline() is None
    assert parser.feed(b"\x1b", 1.0) == []
    assert parser.deadline() == 1.0 + KEY_WAIT_S == 1.03
    assert parser.flush(1.029) == []
    assert parser.flush(1.03) == [KeyEvent("Escape")]
    assert parser.deadline() is None


def test_a_sequence_in_two_pieces_is_one() -> None:
    parser = InputParser()
    assert parser.feed(b"\x1b", 1.0) + parser.feed(b"[A", 1.01) == [KeyEvent("Up")]
    assert parser.feed(b"\x1b[1;", 2.0) + parser.flush(2.4) == []
    assert parser.feed(b"5A", 2.45) == [KeyEvent("C-Up")]


def test_an_escape_of_some_time_ago_is_not_alt() -> None:
    parser = InputParser()
    parser.feed(b"\x1b", 1.0)
    assert parser.feed(b"x", 2.0) == [KeyEvent("Escape"), TextEvent("x")]


def test_an_answer_that_is_cut_is_never_typed() -> None:
    parser = InputParser()
    assert parser.feed(b"\x1b]11;rgb", 0.0) == []
    assert parser.flush(WAIT_S) == [ReplyEvent(b"\x1b]11;rgb")]


def test_a_backspace_that_sends_control_h() -> None:
    parser = InputParser(erase=0x08)
    assert parser.feed(b"\x08\x7f\x1b\x08", 0.0) == [
        KeyEvent("BSpace"), KeyEvent("BSpace"), KeyEvent("M-BSpace")
    ]  # fmt: skip


def test_what_is_held_is_bounded() -> None:
    for begun, most in ((b"\x1b[", MAX_PARAMETERS), (b"\x1b]", MAX_STRING)):
        parser = InputParser()
        events = parser.feed(begun + b"1" * (most + 2), 0.0)
        assert events, begun
        assert parser.deadline() is None, "nothing is held"


# -- pastes -------------------------------------------------------------------------------------


def test_a_paste_is_one_event_whatever_is_in_it() -> None:
    text = "a\rb\x1b[A\x03中"
    data = b"x\x1b[200~" + text.encode() + b"\x1b[201~y"
    assert parsed(data) == [TextEvent("x"), PasteEvent(text), TextEvent("y")]
    assert parsed(b"\x1b[200~\x1b[201~") == []


def test_a_long_paste_comes_in_pieces_that_say_so() -> None:
    text = "中" * MAX_PASTE
    events = parsed(b"\x1b[200~" + text.encode() + b"\x1b[201~x")
    pastes = [event for event in events if isinstance(event, PasteEvent)]
    assert events == [*pastes, TextEvent("x")]
    assert "".join(paste.text for paste in pastes) == text
    assert [paste.more for paste in pastes] == [True] * (len(pastes) - 1) + [False]
    assert all(len(paste.text.encode()) <= MAX_PASTE for paste in pastes)


def test_a_paste_that_stalls_is_never_typed_and_a_key_gets_out_of_one_without_end() -> None:
    parser = InputParser()
    assert parser.feed(b"\x1b[200~one\r", 0.0) == []
    assert parser.deadline() is None
    assert parser.feed(b"two\r\x02", SILENCE_S * 2) == [], "late is not typed"
    assert parser.feed(b"\x02", SILENCE_S * 2 + 1) == [], "too soon to be the person"
    assert parser.feed(b"\x02d", SILENCE_S * 4) == [
        PasteEvent("one\rtwo\r\x02\x02"), KeyEvent("C-b"), TextEvent("d")
    ]  # fmt: skip


def test_an_end_of_a_paste_that_did_not_begin_is_nothing() -> None:
    assert parsed(b"\x1b[201~") == [ReplyEvent(b"\x1b[201~")]
