"""``termnode watch``: a pane's output as lines, and recordings that play to the true screen."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from termnode.cast.file import read_lines
from termnode.cast.reading import CastReader, Over, Printed, Sized
from termnode.terminal import engines
from tests.support.programs import need
from tests.support.termnode_process import COMMAND, DEADLINE_S, Service, eventually
from tests.support.termnode_process import plain_service as service


@pytest.fixture(scope="module")
def shell() -> Iterator[Service]:
    need("bash")
    with service("--shell", "/bin/bash", "--size", "80x24") as running:
        yield running


def new_pane(shell: Service, *program: str) -> int:
    """A pane of its own in a tab of its own."""
    made: int = json.loads(shell.run("new", "--json", *program).stdout)["pane"]
    if not program:
        shell.at_prompt(made)
    return made


@contextlib.contextmanager
def watching(
    shell: Service, pane: int, *options: str, **extra: str
) -> Iterator[subprocess.Popen[str]]:
    """A running ``termnode watch``; killed if the test does not end it."""
    process = subprocess.Popen(
        [*COMMAND, "watch", "--pane", str(pane), *options],
        env={**shell.environment(), **extra},
        cwd=shell.directory,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


@contextlib.contextmanager
def recording(shell: Service, pane: int, path: Path) -> Iterator[subprocess.Popen[str]]:
    """A recording that has begun: its first lines are there."""
    with watching(shell, pane, "--record", str(path)) as process:
        eventually(lambda: process.poll() is not None or _size(path), "the recording has begun")
        yield process


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def ended(process: subprocess.Popen[str], code: int = 0) -> tuple[str, str]:
    """What it printed, once it has ended with ``code``."""
    out, err = process.communicate(timeout=DEADLINE_S)
    assert process.returncode == code, (process.returncode, out, err)
    return out, err


def stop(process: subprocess.Popen[str]) -> str:
    """End a recording as Ctrl-C does; what it said."""
    process.send_signal(signal.SIGINT)
    return ended(process)[1]


def last_screen(path: Path, emulator: str) -> list[str]:
    """What a terminal shows in the end that is told what was recorded."""
    reader = CastReader(read_lines(str(path)))
    engine = engines.make(emulator)(reader.header.cols, reader.header.rows)
    try:
        for event in reader.events():
            if isinstance(event, Printed):
                engine.feed(event.text.encode())
            elif isinstance(event, Sized):
                engine.resize(event.cols, event.rows)
        return engine.text()
    finally:
        engine.close()


def same_screen(shell: Service, pane: int, path: Path) -> None:
    for emulator in engines.available():
        shown = [row.rstrip() for row in shell.screen(pane)]
        assert last_screen(path, emulator) == shown, emulator


def recorded(path: Path, text: str) -> bool:
    """Whether ``text`` is in the file, which may be in the middle of its next line."""
    return text in path.read_text(errors="replace")


TICKING = "while ! read -t 0.1 x; do echo tick; done; "


def follows(process: subprocess.Popen[str]) -> None:
    """Wait for its first line, of a program that is TICKING."""
    assert process.stdout is not None
    assert "tick" in process.stdout.readline()


def test_lines_are_printed_as_they_are_completed_until_the_program_ends(shell: Service) -> None:
    script = f"stty -echo; {TICKING} seq 3; printf '\\033[31mred\\033[0m\\nend'"
    pane = new_pane(shell, "--", "bash", "-c", script)
    with watching(shell, pane) as process:
        follows(process)
        shell.run("type", "--pane", str(pane), "--enter", "go")
        out, err = ended(process)
    assert out.replace("tick\n", "") == "1\n2\n3\nred\nend\n"
    assert err == ""


@pytest.mark.parametrize("begun_in_vim", [False, True])
def test_a_recording_of_a_shell_and_vim_plays_to_the_same_screen(
    shell: Service, tmp_path: Path, begun_in_vim: bool
) -> None:
    need("vim")
    path, pane = tmp_path / "a.cast", new_pane(shell)
    vim = ("type", "--pane", str(pane), "--enter", "vim -u NONE -N --cmd 'set ruler' notes")
    shell.run("type", "--pane", str(pane), "--enter", "printf '\\033[44mbefore\\033[0m\\n'")
    shell.wait("^before", pane)
    if begun_in_vim:
        shell.run(*vim)
        shell.wait("0,0-1", pane)
    with recording(shell, pane, path) as process:
        if not begun_in_vim:
            shell.run(*vim)
            shell.wait("0,0-1", pane)
        shell.run("keys", "--pane", str(pane), "i")
        shell.run("type", "--pane", str(pane), "some text")
        shell.run("keys", "--pane", str(pane), "Escape", "y", "y", "5", "p", "G")
        shell.wait("6,1", pane)
        shell.run("split", "--pane", str(pane), "--", "sleep", "600")
        shell.wait("6,1 +All", pane)
        eventually(lambda: recorded(path, '"r","'), "the size is written")
        eventually(lambda: _same(shell, pane, path), "vim's screen in the middle")
        shell.run("keys", "--pane", str(pane), ":", "q", "!", "Enter")
        shell.at_prompt(pane)
        shell.run("type", "--pane", str(pane), "--enter", "echo aft''er")
        shell.wait("^after", pane)
        eventually(lambda: recorded(path, "after"), "the last output is written")
        assert "until now" in stop(process)
    same_screen(shell, pane, path)


def _same(shell: Service, pane: int, path: Path) -> bool:
    with contextlib.suppress(AssertionError):
        same_screen(shell, pane, path)
        return True
    return False


def test_the_header_is_of_the_pane_and_has_nothing_private(shell: Service, tmp_path: Path) -> None:
    path = tmp_path / "a.cast"
    pane = new_pane(shell, "--", "sh", "-c", "printf '\\033]2;a name\\007'; read x; exit 3")
    shell.good("term.wait", {"pane": pane, "quiet_ms": 50, "timeout_ms": 30_000})
    with recording(shell, pane, path) as process:
        shell.run("type", "--pane", str(pane), "--enter", "go")
        assert "to the end" in ended(process)[1]
    header: dict[str, Any] = json.loads(path.read_text().split("\n")[0])
    assert isinstance(header.pop("timestamp"), int)
    assert header == {
        "version": 3,
        "term": {"cols": 80, "rows": 24, "type": "xterm-256color"},
        "title": "a name",
        "env": {"TERM": "xterm-256color", "SHELL": "/bin/sh"},
    }
    assert isinstance(list(CastReader(read_lines(str(path))).events())[-1], Over)
    assert json.loads(path.read_text().split("\n")[-2])[1:] == ["x", "3"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_killed_recorder_leaves_what_it_had_written(shell: Service, tmp_path: Path) -> None:
    path, pane = tmp_path / "a.cast", new_pane(shell)
    with recording(shell, pane, path) as process:
        shell.run("type", "--pane", str(pane), "--enter", "echo writ''ten")
        eventually(lambda: recorded(path, "written"), "it is written without being asked to")
        process.kill()
        process.wait()
    assert "written" in last_screen(path, "pyte")


def test_a_recorder_that_is_stopped_in_a_flood_delays_nobody_and_says_what_it_missed(
    shell: Service, tmp_path: Path
) -> None:
    path, pane = tmp_path / "a.cast", new_pane(shell)
    with recording(shell, pane, path) as process:
        process.send_signal(signal.SIGSTOP)
        shell.run("type", "--pane", str(pane), "--enter", "seq 1500000; echo flood-$((1+1))")
        shell.wait("^flood-2", pane)
        process.send_signal(signal.SIGCONT)
        eventually(lambda: recorded(path, "flood-2"), "it went on")
        assert "bytes of output were missed" in stop(process)
    assert path.stat().st_size < 8_000_000
    same_screen(shell, pane, path)


def test_a_service_that_is_gone_leaves_a_whole_recording(tmp_path: Path) -> None:
    with service() as doomed:
        pane = doomed.at_prompt(doomed.ready["pane"])
        path = tmp_path / "a.cast"
        with recording(doomed, pane, path) as process:
            os.kill(doomed.ready["pid"], signal.SIGKILL)
            assert "the service has ended" in ended(process, 3)[1]
        assert list(CastReader(read_lines(str(path))).events())


def test_what_cannot_be_done_is_refused_and_no_file_is_touched(
    shell: Service, tmp_path: Path
) -> None:
    pane, path = new_pane(shell, "--", "sleep", "600"), tmp_path / "a.cast"
    with watching(shell, 999_999, "--record", str(path)) as process:
        assert "no such pane" in ended(process, 1)[1]
    assert not path.exists()
    path.write_text("precious")
    with watching(shell, pane, "--record", str(path)) as process:
        assert "already" in ended(process, 1)[1]
    assert path.read_text() == "precious"
    with watching(shell, pane, "--record", str(tmp_path / "no" / "a.cast")) as process:
        assert "cannot be made" in ended(process, 1)[1]


def test_a_pane_does_not_follow_itself(shell: Service) -> None:
    pane = new_pane(shell)
    shell.run("type", "--pane", str(pane), "--enter", " ".join([*COMMAND, "watch"]))
    shell.wait("would follow itself", pane)


def test_in_strict_posture_only_with_the_ticket(tmp_path: Path) -> None:
    need("bash")
    with service() as strict:
        body = {"argv": ["bash", "-c", TICKING]}
        pane = strict.good("term.tab.new", body)["pane"]
        strict.run("posture", "strict")
        with watching(strict, pane) as process:
            assert "FORBIDDEN" in ended(process, 1)[1]
        ticket = tmp_path / "ticket"
        ticket.write_text(strict.ready["view_ticket"] + "\n")
        with watching(strict, pane, "--ticket-file", str(ticket)) as process:
            follows(process)
            strict.run("down")
            assert "the service has ended" in ended(process, 3)[1]
