"""Every named key, read back in raw mode by a program on a real terminal that set its modes."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from termnode.terminal import engines
from termnode.terminal.input.names import key_names
from tests.support.termnode_process import Service, eventually
from tests.support.termnode_process import plain_service as service

# Written from xterm's control sequences ("PC-Style Function Keys", "VT220-Style Function Keys") and
# the tables of the VT100's keypad, not from the code. Name, as it starts, application modes.
KEYS: dict[str, tuple[str, str]] = {
    "Up": ("\x1b[A", "\x1bOA"), "Down": ("\x1b[B", "\x1bOB"), "Right": ("\x1b[C", "\x1bOC"),
    "Left": ("\x1b[D", "\x1bOD"), "Home": ("\x1b[H", "\x1bOH"), "End": ("\x1b[F", "\x1bOF"),
    "F1": ("\x1bOP", "\x1bOP"), "F2": ("\x1bOQ", "\x1bOQ"), "F3": ("\x1bOR", "\x1bOR"),
    "F4": ("\x1bOS", "\x1bOS"), "F5": ("\x1b[15~", "\x1b[15~"), "F6": ("\x1b[17~", "\x1b[17~"),
    "F7": ("\x1b[18~", "\x1b[18~"), "F8": ("\x1b[19~", "\x1b[19~"),
    "F9": ("\x1b[20~", "\x1b[20~"), "F10": ("\x1b[21~", "\x1b[21~"),
    "F11": ("\x1b[23~", "\x1b[23~"), "F12": ("\x1b[24~", "\x1b[24~"),
    "Insert": ("\x1b[2~", "\x1b[2~"), "Delete": ("\x1b[3~", "\x1b[3~"),
    "PageUp": ("\x1b[5~", "\x1b[5~"), "PageDown": ("\x1b[6~", "\x1b[6~"),
    "Tab": ("\t", "\t"), "BTab": ("\x1b[Z", "\x1b[Z"), "Space": (" ", " "),
    "BSpace": ("\x7f", "\x7f"), "Enter": ("\r", "\r"), "Escape": ("\x1b", "\x1b"),
    "KP0": ("0", "\x1bOp"), "KP1": ("1", "\x1bOq"), "KP2": ("2", "\x1bOr"),
    "KP3": ("3", "\x1bOs"), "KP4": ("4", "\x1bOt"), "KP5": ("5", "\x1bOu"),
    "KP6": ("6", "\x1bOv"), "KP7": ("7", "\x1bOw"), "KP8": ("8", "\x1bOx"),
    "KP9": ("9", "\x1bOy"), "KP*": ("*", "\x1bOj"), "KP+": ("+", "\x1bOk"),
    "KP-": ("-", "\x1bOm"), "KP.": (".", "\x1bOn"), "KP/": ("/", "\x1bOo"),
    "KPEnter": ("\r", "\x1bOM"),
    # Other spellings, and keys that the modes do not change.
    "ic": ("\x1b[2~", "\x1b[2~"), "DC": ("\x1b[3~", "\x1b[3~"), "PgUp": ("\x1b[5~", "\x1b[5~"),
    "PPage": ("\x1b[5~", "\x1b[5~"), "NPage": ("\x1b[6~", "\x1b[6~"),
    "pgdn": ("\x1b[6~", "\x1b[6~"),
    "C-Up": ("\x1b[1;5A", "\x1b[1;5A"), "S-M-Left": ("\x1b[1;4D", "\x1b[1;4D"),
    "C-S-F2": ("\x1b[1;6Q", "\x1b[1;6Q"), "C-Delete": ("\x1b[3;5~", "\x1b[3;5~"),
    "C-c": ("\x03", "\x03"), "^D": ("\x04", "\x04"), "C-Space": ("\0", "\0"),
    "C-/": ("\x1f", "\x1f"), "C-?": ("\x7f", "\x7f"), "C-BSpace": ("\x08", "\x08"),
    "M-x": ("\x1bx", "\x1bx"), "M-Enter": ("\x1b\r", "\x1b\r"), "é": ("é", "é"), "a": ("a", "a"),
    "A": ("A", "A"), "0x7e": ("~", "~"),
}  # fmt: skip
NORMAL = {name: normal for name, (normal, _) in KEYS.items()}
APPLICATION = {name: application for name, (_, application) in KEYS.items()}

OTHER_KEYS_1 = {"C-i": "\t", "Tab": "\t", "C-1": "\x1b[27;5;49~", "C-Enter": "\x1b[27;5;13~"}
OTHER_KEYS_2 = {"C-i": "\x1b[27;5;105~", "Tab": "\t", "M-x": "\x1b[27;3;120~", "Up": "\x1b[A"}
KITTY = {
    "C-i": "\x1b[105;5u", "Tab": "\t", "Escape": "\x1b[27u", "M-x": "\x1b[120;3u", "Up": "\x1b[A",
    "C-S-a": "\x1b[97;6u", "a": "a",
}  # fmt: skip
ALL_WITH_TEXT = {
    "a": "\x1b[97;;97u", "A": "\x1b[97:65;2;65u", "Enter": "\x1b[13u", "C-a": "\x1b[97;5u",
}  # fmt: skip

PROGRAM = """
import os, sys, tty
modes, path = sys.argv[1:]
tty.setraw(0)
os.write(1, modes.encode().decode("unicode_escape").encode() + b"ready\\r\\n")
data = b""
while not data.endswith(b"%END%"):
    data += os.read(0, 4096)
with open(path + ".part", "wb") as file:
    file.write(data.removesuffix(b"%END%"))
os.replace(path + ".part", path)
"""

END = "%END%"
BETWEEN = "|"
BETWEEN_ALL = "\x1b[124;;124u"
"""The same where a program has asked to be told of all keys as sequences with their text."""


@pytest.fixture(scope="module", params=engines.available())
def running(request: pytest.FixtureRequest) -> Iterator[Service]:
    with service(TERMNODE_EMULATOR=request.param) as made:
        yield made


def read_back(running: Service, path: Path, modes: str, names: list[str]) -> list[bytes]:
    """What a program that printed ``modes`` reads when the keys are pressed."""
    argv = [sys.executable, "-c", PROGRAM, modes, str(path)]
    pane = running.good("term.tab.new", {"argv": argv})["pane"]
    running.wait("ready", pane)
    keys = [key for name in names for key in (name, BETWEEN)]
    answer = running.good("term.keys", {"keys": keys, "pane": pane})
    assert answer["outcome"] == "written"
    running.good("term.type", {"text": END, "pane": pane})
    data = eventually(lambda: path.read_bytes() if path.exists() else b"", "the keys were read")
    assert answer["bytes"] == len(data)
    between = BETWEEN_ALL if BETWEEN_ALL.encode() in data else BETWEEN
    return data.split(between.encode())[:-1]


@pytest.mark.parametrize(
    ("modes", "table"),
    [
        ("", NORMAL), (r"\x1b[?1h\x1b=", APPLICATION), (r"\x1b[?1h\x1b=\x1b[?1l\x1b>", NORMAL),
        (r"\x1b[?1h", {"Up": "\x1bOA", "KP5": "5"}), (r"\x1b=", {"Up": "\x1b[A", "KP5": "\x1bOu"}),
        (r"\x1b[>4;1m", OTHER_KEYS_1), (r"\x1b[>4;2m", OTHER_KEYS_2),
        (r"\x1b[>4;2m\x1b[>4m", NORMAL), (r"\x1b[>1u", KITTY), (r"\x1b[=29u", ALL_WITH_TEXT),
        (r"\x1b[>1u\x1b[<u", NORMAL),
    ],
    ids=["start", "application", "left again", "cursor", "keypad", "other 1", "other 2",
         "other left", "kitty", "kitty text", "kitty popped"],
)  # fmt: skip
def test_keys_reach_a_program_in_its_modes(
    running: Service, tmp_path: Path, modes: str, table: Mapping[str, str]
) -> None:
    found = read_back(running, tmp_path / "keys", modes, list(table))
    # Shown as one difference: which keys came out otherwise.
    assert dict(zip(table, found, strict=True)) == {
        name: data.encode() for name, data in table.items()
    }


def test_the_table_has_every_name() -> None:
    assert set(key_names()) <= set(KEYS)


def test_an_unknown_name_presses_nothing(running: Service, tmp_path: Path) -> None:
    argv = [sys.executable, "-c", PROGRAM, "", str(tmp_path / "keys")]
    pane = running.good("term.tab.new", {"argv": argv})["pane"]
    running.wait("ready", pane)
    rc, refused = running.call("term.keys", {"keys": ["a", "C-Entre"], "pane": pane})
    assert (rc, refused["error_code"]) == (10, "INVALID_ARGUMENT")
    assert refused["details"]["index"] == 1
    running.good("term.keys", {"keys": ["b", *END], "pane": pane})
    path = tmp_path / "keys"
    assert eventually(lambda: path.exists() and path.read_bytes(), "the keys were read") == b"b"
