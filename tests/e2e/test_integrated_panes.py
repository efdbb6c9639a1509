"""Panes start the person's shell with its integration, and what is known of commands is true."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.integrated_shell import furnish
from tests.support.termnode_process import Service, alive, eventually, service

SHELLS = ("bash", "zsh", "fish")


@pytest.fixture(params=SHELLS)
def term(request: pytest.FixtureRequest) -> Iterator[Service]:
    kind: str = request.param
    directory = Path(tempfile.mkdtemp(prefix="tn-", dir="/tmp"))
    furnish(directory, kind)
    try:
        with service(directory=directory, SHELL=f"/usr/bin/{kind}") as running:
            yield running
    finally:
        shutil.rmtree(directory, ignore_errors=True)


@pytest.fixture
def bash() -> Iterator[Service]:
    with service(SHELL="/usr/bin/bash") as running:
        yield running


@pytest.fixture(scope="module")
def shared() -> Iterator[Service]:
    """For tests that leave it as it is but for one pane more."""
    with service(SHELL="/usr/bin/bash") as running:
        eventually(lambda: integration(running, running.ready["pane"]), "its shell is integrated")
        yield running


def pane_of(running: Service, pane: int) -> dict[str, Any]:
    """What term.panes tells of it."""
    return next(each for each in running.good("term.panes")["panes"] if each["id"] == pane)


def integration(running: Service, pane: int) -> str | None:
    """Of its shell, once it has made a mark."""
    found: str | None = pane_of(running, pane).get("integration")
    return found


def directories(running: Service) -> list[Path]:
    """The control directories that there are."""
    return sorted((running.directory / "rt").glob("term.shells/*"))


def fresh(running: Service, *argv: str) -> int:
    """A new pane, at its first prompt."""
    body = {"argv": list(argv)} if argv else {}
    pane: int = running.good("term.tab.new", {**body, "background": True})["pane"]
    ready(running, pane)
    return pane


def ready(running: Service, pane: int) -> None:
    """Wait for its prompt."""
    answer = running.good("term.wait", {"prompt": True, "pane": pane, "timeout_ms": 30_000})
    assert answer["outcome"] == "prompt", answer


def ran(running: Service, pane: int, line: str) -> dict[str, Any]:
    """The command that a line ran, and its output, when the next prompt is there."""
    before = running.good("term.snapshot", {"pane": pane})["revision"]
    running.good("term.type", {"pane": pane, "text": line, "enter": True})
    body = {"prompt": True, "pane": pane, "timeout_ms": 30_000, "after": before}
    assert running.good("term.wait", body)["outcome"] == "prompt"
    found = running.good("term.snapshot", {"pane": pane, "command": True})
    return {**found["command"], "text": found["text"]}


def test_commands_are_told_apart_and_forged_marks_count_for_nothing(term: Service) -> None:
    pane = fresh(term)
    kind = Path(term.environment()["SHELL"]).name
    assert integration(term, pane) == kind
    found = ran(term, pane, "printf '\\e]133;D;0\\a'; echo hello; false")
    assert (found["running"], found["status"]) == (False, 1)
    assert found["text"].rstrip() == "hello"
    forged = "printf '\\e]133;C\\a\\e]133;A\\a\\e]133;B\\a'"
    found = ran(term, pane, f"{forged}; env | grep -c TERMNODE_SHELL")
    assert (found["status"], found["text"].rstrip()) == (1, "0")


def test_a_directory_lives_as_long_as_its_shell(bash: Service) -> None:
    first = bash.ready["pane"]
    eventually(lambda: integration(bash, first), "the first shell is integrated")
    (kept,) = directories(bash)
    second = fresh(bash)
    assert len(directories(bash)) == 2
    assert all(each.stat().st_mode & 0o777 == 0o700 for each in [kept.parent, *directories(bash)])
    bash.good("term.type", {"pane": second, "text": "exit", "enter": True})
    eventually(lambda: directories(bash) == [kept], "the directory of an ended shell goes")
    bash.good("term.pane.restart", {"pane": second})
    ready(bash, second)
    assert len(directories(bash)) == 2
    bash.good("term.pane.close", {"pane": second})
    eventually(lambda: directories(bash) == [kept], "the directory of a closed pane goes")
    bash.down()
    assert not kept.parent.exists()


@pytest.mark.parametrize(
    ("argv", "kind"),
    [
        (("bash", "-l"), "bash"),
        (("/usr/bin/bash", "-i"), "bash"),
        (("bash", "--norc", "-i"), None),
        (("dash",), None),
        (("bash", "-c", "exec bash --norc"), None),
    ],
)
def test_what_is_started_as_a_plain_shell_is_integrated(
    shared: Service, argv: tuple[str, ...], kind: str | None
) -> None:
    before = len(directories(shared))
    pane = fresh(shared, *argv)
    assert integration(shared, pane) == kind
    assert len(directories(shared)) == before + (kind is not None)


@pytest.mark.parametrize(("argument", "variable"), [("--no-integration", ""), ("", "0")])
def test_the_person_may_have_their_shell_as_it_is(argument: str, variable: str) -> None:
    arguments = [argument] if argument else []
    with service(*arguments, SHELL="/usr/bin/bash", TERMNODE_INTEGRATION=variable) as running:
        pane = fresh(running)
        assert integration(running, pane) is None
        assert not (running.directory / "rt" / "term.shells").exists()


def test_a_pane_without_room_for_a_directory_has_its_shell_all_the_same(bash: Service) -> None:
    eventually(lambda: integration(bash, bash.ready["pane"]), "the first shell is integrated")
    (kept,) = directories(bash)
    bash.good("term.tab.new", {})
    parent = kept.parent
    parent.rename(parent.with_name("moved"))
    parent.write_text("in the way", encoding="utf-8")
    assert integration(bash, fresh(bash)) is None


def test_what_a_killed_service_left_goes_with_the_next_start(bash: Service) -> None:
    eventually(lambda: integration(bash, bash.ready["pane"]), "the first shell is integrated")
    left = directories(bash)
    os.kill(bash.ready["pid"], signal.SIGKILL)
    eventually(lambda: not alive(bash.ready["pid"]), "the service has ended")
    assert directories(bash) == left
    bash.up()
    eventually(lambda: integration(bash, bash.ready["pane"]), "the new shell is integrated")
    assert len(directories(bash)) == 1
    assert not set(left) & set(directories(bash))


def test_the_phase_of_a_shell_is_told(term: Service) -> None:
    pane = fresh(term)

    def comes(phase: str) -> None:
        eventually(lambda: pane_of(term, pane).get("phase") == phase, f"it is {phase}")

    comes("prompt-ready")
    term.good("term.type", {"pane": pane, "text": "read x", "enter": True})
    comes("evaluating")
    term.good("term.type", {"pane": pane, "text": "y", "enter": True})
    comes("prompt-ready")
    term.good("term.type", {"pane": pane, "text": "sleep 600", "enter": True})
    comes("foreground-child")
    term.good("term.keys", {"pane": pane, "keys": ["C-c"]})
    comes("prompt-ready")
    other = term.good("term.tab.new", {"argv": ["cat"], "background": True})["pane"]
    assert "phase" not in pane_of(term, other)
