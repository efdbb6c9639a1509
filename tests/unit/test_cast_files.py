"""Recordings: what is written, what can be read, and what is refused with a reason."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from termnode.cast.file import CastFile, read_lines
from termnode.cast.pacing import Pace
from termnode.cast.reading import CastReader, NotACast, Over, Printed, Sized
from termnode.cast.writing import MAX_EVENT, CastWriter, exit_status
from termnode.view.messages import Ended, Keyframe, Output, Resized

FIRST = Keyframe(3, 80, 24, b"screen", "a title", 1_000)


def written(*messages: Keyframe | Output | Resized | Ended) -> list[str]:
    lines: list[str] = []
    environment = {"TERM": "xterm-256color", "SHELL": "/bin/zsh", "TOKEN": "secret", "HOME": "/h"}
    writer = CastWriter(lines.append, 1_700_000_000, environment)
    for message in messages:
        writer.take(message)
    return lines


def test_the_header_says_what_is_so_and_nothing_private() -> None:
    header = json.loads(written(FIRST)[0])
    assert header == {
        "version": 3,
        "term": {"cols": 80, "rows": 24, "type": "xterm-256color"},
        "timestamp": 1_700_000_000,
        "title": "a title",
        "env": {"TERM": "xterm-256color", "SHELL": "/bin/zsh"},
    }


def test_events_follow_with_the_time_since_the_last_one() -> None:
    lines = written(
        FIRST,
        Output(3, b"a\r\n", 1_250),
        Resized(3, 90, 30, 2_250),
        Keyframe(3, 90, 30, b"again", "", 2_250),
        Output(3, b"\xe4\xb8", 2_300),
        Output(3, b"\xad\xff", 2_310),
        Ended(3, "exited 7", 2_400),
    )
    assert [json.loads(line) for line in lines[1:]] == [
        [0.0, "o", "screen"],
        [0.25, "o", "a\r\n"],
        [1.0, "r", "90x30"],
        [0.0, "o", "again"],
        [0.06, "o", "中\ufffd"],
        [0.09, "x", "7"],
    ]


def test_a_second_keyframe_of_another_size_is_a_resize_too() -> None:
    lines = written(FIRST, Keyframe(3, 81, 24, b"", "", 1_001))
    assert json.loads(lines[2]) == [0.001, "r", "81x24"]
    assert len(lines) == 3


def test_no_event_is_long() -> None:
    lines = written(FIRST, Output(3, b"x" * (3 * MAX_EVENT + 1), 1_000))
    assert len(lines) == 2 + 4
    assert max(map(len, lines)) < MAX_EVENT + 40


@pytest.mark.parametrize(
    ("state", "status"), [("exited 0", "0"), ("exited 3", "3"), ("signal 9", "137"), ("exited", "")]
)
def test_how_it_ended_is_said_as_shells_do(state: str, status: str) -> None:
    assert exit_status(state) == status


def test_version_2_and_3_are_read_alike() -> None:
    second = [
        '{"version": 2, "width": 80, "height": 24, "title": "t", "idle_time_limit": 2}\n',
        '[0.5, "o", "a"]\n',
        '[0.75, "i", "typed"]\n',
        '[1.5, "r", "90x30"]\n',
        '[1.25, "o", "b"]\n',
    ]
    third = [
        '{"version": 3, "term": {"cols": 80, "rows": 24}, "title": "t", "idle_time_limit": 2}\n',
        "# a comment\n",
        '[0.5, "o", "a"]\n',
        '[0.25, "m", "marker"]\n',
        '[0.75, "r", "90x30"]\n',
        "\n",
        '[0, "o", "b"]\n',
    ]
    for lines in (second, third):
        reader = CastReader(lines)
        head = reader.header
        assert (head.cols, head.rows, head.title, head.idle_limit) == (80, 24, "t", 2.0)
        assert list(reader.events()) == [
            Printed(0.5, "a"),
            Sized(1.5, 90, 30),
            Printed(1.5, "b"),
        ]
    ended = CastReader([third[0], '[1, "x", "0"]\n'])
    assert list(ended.events()) == [Over(1.0, "0")]


@pytest.mark.parametrize(
    "line",
    [
        "",
        "plain text\n",
        "[1]\n",
        "{}\n",
        '{"version": 1, "width": 80, "height": 24, "stdout": []}\n',
        '{"version": 4, "term": {"cols": 80, "rows": 24}}\n',
        '{"version": true, "width": 80, "height": 24}\n',
        '{"version": 2, "width": 80}\n',
        '{"version": 2, "width": 0, "height": 24}\n',
        '{"version": 2, "width": 80, "height": 1e9}\n',
        '{"version": 3, "width": 80, "height": 24}\n',
        '{"version": 3, "term": {"cols": 1001, "rows": 24}}\n',
        "[" * 100_000,
    ],
)
def test_what_is_no_header_is_refused(line: str) -> None:
    with pytest.raises(NotACast):
        CastReader([line] if line else [])


@pytest.mark.parametrize(
    "line",
    [
        "{}",
        "[1]",
        '["1", "o", "x"]',
        '[true, "o", "x"]',
        '[NaN, "o", "x"]',
        '[1e999, "o", "x"]',
        '[0, "o", 5]',
        '[0, "r", "80"]',
        '[0, "r", "0x5"]',
        '[0, "r", "80x9999"]',
        "half a li",
    ],
)
def test_a_broken_event_is_refused_by_its_line_and_passed_over_as_an_unfinished_last_one(
    line: str,
) -> None:
    head = '{"version": 3, "term": {"cols": 80, "rows": 24}}\n'
    good = '[0, "o", "x"]\n'
    with pytest.raises(NotACast, match="line 3"):
        list(CastReader([head, good, line + "\n", good]).events())
    assert list(CastReader([head, good, line]).events()) == [Printed(0.0, "x")]


def test_pauses_are_shortened_and_speed_goes_over_all() -> None:
    pace = Pace(2.0, 1.0)
    assert [pace.due(at) for at in (0.5, 0.5, 10.5, 10.0, 11.0)] == [0.25, 0.25, 0.75, 0.75, 1.0]
    assert Pace(1.0, None).due(100.0) == 100.0


def test_a_file_is_new_and_ours_alone_and_has_all_lines(tmp_path: Path) -> None:
    path = tmp_path / "new.cast"
    file = CastFile(str(path))
    file.write('{"version": 3}\n')
    assert path.read_text() == ""
    file.flush()
    assert path.read_text() == '{"version": 3}\n'
    for _ in range(40_000):
        file.write('[0, "o", "ä"]\n')
    assert path.stat().st_size > 256 * 1024
    file.close()
    assert path.read_text().count("\n") == 40_001
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with pytest.raises(FileExistsError):
        CastFile(str(path))


def test_lines_are_read_and_what_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "some.cast"
    path.write_bytes(b"one\ntwo\r three\nend")
    assert list(read_lines(str(path))) == ["one\n", "two\r three\n", "end"]
    path.write_bytes(b"\x7fELF\xff\xfe")
    with pytest.raises(NotACast, match="UTF-8"):
        list(read_lines(str(path)))
    with path.open("wb") as file:
        file.truncate(9 * 1024 * 1024)
    with pytest.raises(NotACast, match="long"):
        list(read_lines(str(path)))
