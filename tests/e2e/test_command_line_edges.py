"""The command line where streams are closed, disks are full, and commands cross each other."""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from termnode.cli.waiting import wait_for
from tests.support.termnode_process import COMMAND, Service, alive, eventually, service


@pytest.fixture
def idle() -> Iterator[Service]:
    """A place for a service that the test starts itself."""
    with service() as running:
        running.down()
        yield running


def shell(running: Service, script: str) -> subprocess.CompletedProcess[str]:
    """Run a shell script in which $T is the command."""
    words = " ".join(COMMAND)
    return subprocess.run(
        ["sh", "-c", script],
        env={**running.environment(), "T": words},
        capture_output=True,
        text=True,
        timeout=60,
        cwd=running.directory,
        check=False,
    )


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&-", "<&- >&- 2>&-"])
def test_a_service_starts_with_streams_closed(idle: Service, closed: str) -> None:
    assert shell(idle, f"$T up --detach {closed}").returncode == 0
    assert idle.good("term.tabs")["tabs"]


def test_commands_do_without_their_streams() -> None:
    with service() as running:
        assert shell(running, "$T panes >&-").returncode == 0
        assert shell(running, "$T panes 2>&- | head -c1").returncode == 0
        empty = shell(running, "$T type - <&-")
        assert empty.returncode == 1
        assert "INVALID_ARGUMENT" in empty.stderr
        full = shell(running, "$T panes >/dev/full")
        assert full.returncode == 1
        assert full.stderr == "termnode: the output could not be written: no space is left\n"


def test_a_screen_that_the_output_cannot_say_is_shown_as_far_as_it_can() -> None:
    with service() as running:
        pane = running.good("term.tab.new", {"argv": ["printf", "a\u4e2db\\n"]})["pane"]
        running.wait("^a.*b$", pane)
        plain = shell(running, "PYTHONIOENCODING=ascii $T screen")
        assert (plain.returncode, plain.stdout) == (0, "a?b\n")
        json = shell(running, "PYTHONIOENCODING=ascii $T screen --json")
        assert "a\\u4e2db" in json.stdout


def test_of_several_starts_one_wins_and_nothing_is_left_of_the_others(idle: Service) -> None:
    done = shell(idle, "for i in 1 2 3; do $T up --detach & done; wait")
    assert done.stdout.count('"ready":true') == 1
    assert done.stderr.count("already runs") == 2
    idle.run("down")
    assert list((idle.directory / "rt").iterdir()) == []


def test_what_a_killed_service_and_broker_left_is_cleared(idle: Service) -> None:
    idle.up()
    runtime = idle.directory / "rt"
    for name in ("term.service", "broker.lock"):
        os.kill(int((runtime / name).read_text()), signal.SIGKILL)
    eventually(lambda: not alive(idle.ready["pid"]), "it is dead")
    idle.run("down")
    assert list(runtime.iterdir()) == []


def test_a_log_is_the_winners_alone(idle: Service) -> None:
    idle.up()
    pid = idle.ready["pid"]
    log = idle.directory / "rt" / "term.log"
    assert os.path.samefile(f"/proc/{pid}/fd/2", log)
    idle.run("up", "--detach", check=1)
    assert os.path.samefile(f"/proc/{pid}/fd/2", log)
    assert log.read_text() == ""
    assert log.stat().st_mode & 0o777 == 0o600


def test_no_descriptor_of_the_service_is_in_its_programs() -> None:
    with service() as running:
        pid = running.good("term.tab.new", {"argv": ["sleep", "600"]})["pid"]
        held = {int(entry.name) for entry in Path(f"/proc/{pid}/fd").iterdir()}
        assert held == {0, 1, 2}


def test_a_service_is_not_stopped_from_the_keyboard() -> None:
    with service() as running:
        os.kill(running.ready["pid"], signal.SIGTSTP)
        assert running.good("term.tabs")["tabs"]


def test_a_wait_longer_than_the_services_limit_is_made_of_several() -> None:
    with service() as running:
        arguments = argparse.Namespace(
            runtime_dir=str(running.directory / "rt"),
            name="term",
            json=False,
            pane=None,
            until="never",
            timeout=0.5,
            after=None,
        )
        start = time.monotonic()
        assert wait_for(arguments, {"until": "never"}, longest_ms=100)["outcome"] == "deadline"
        assert time.monotonic() - start >= 0.5
        waits = [e for e in running.good("term.log")["entries"] if e["verb"] == "term.wait"]
        assert 2 <= len(waits) <= 5


def test_a_shell_with_arguments_is_wrong_usage(idle: Service) -> None:
    done = idle.run("up", "--detach", "--shell", "sh -l", check=2)
    assert "without arguments" in done.stderr
    idle.run("up", "--detach", "--shell", "", check=2)
    idle.run("up", "--name", "brokerd", check=2)


def test_a_directory_that_was_removed_is_not_inherited(tmp_path: Path) -> None:
    with service() as running:
        gone = tmp_path / "gone"
        gone.mkdir()
        tab = running.good("term.tab.new", {"cwd": str(gone), "argv": ["sleep", "600"]})
        gone.rmdir()
        split = running.good("term.pane.split", {"dir": "h", "pane": tab["pane"]})
        running.at_prompt(split["id"])
        running.good("term.type", {"pane": split["id"], "text": "pwd", "enter": True})
        running.wait(f"^{running.directory}$", split["id"])
