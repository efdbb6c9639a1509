"""Kills in the midst of a submission: a command never runs twice, and a retry tells the truth."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import Final, TypeVar
from unittest.mock import ANY

import pytest

from tests.support.s4.caller import Caller
from tests.support.s4.lab import gone
from tests.support.session_peer import Answer, Fields
from tests.support.stage_d.asking import ShellCaller
from tests.support.stage_d.judging import must_fail
from tests.support.stage_d.lab import Fixture, PaneLab, Start, kill, pane_lab, stopped
from tests.support.termnode_process import alive, eventually

C = TypeVar("C", Caller, ShellCaller)

MARK = "echo ran >>~/ran"

UNTOLD = {"UNKNOWN_OUTCOME", "FORBIDDEN", "DISCONNECTED", "EXPIRED", "UNAVAILABLE"}
"""What a retry may say of a command of which nobody knows any more: none of them runs it."""

CLAIMS_AND_STOPS = """
PS1='$ '
__termnode_claim() {
  builtin set -C
  builtin : >"$__termnode_dir/claim.$__termnode_id" && builtin kill -STOP $$
}
"""
"""A startup file: the shell takes the claim on a request and then stands still."""

CLAIMS_AND_IS_INTERRUPTED = """
PS1='$ '
__termnode_claim() {
  builtin set -C
  builtin : >"$__termnode_dir/claim.$__termnode_id" || return 1
  [[ -e ~/went ]] || { : >~/went; builtin kill -INT $$; }
}
"""
"""A startup file: the person's C-c comes just when the shell has taken its first claim."""

JUDGES_LATE = """
PS1='$ '
__termnode_armed() { [[ -z $__termnode_src || -e ~/went ]] || { : >~/went; kill -STOP $$; }; }
"""
"""A startup file: the shell has read its first request, has claimed nothing, and stands still."""


HOLDS: Final = {
    "written": "pane shell",
    "admitted": "pane shell",
    "asked_to_press": "service",
    "pressed": "service",
}
"""Steps of a submission, and the process that stands still there."""

VICTIMS: Final = ("shell", "pane shell", "service", "broker")

KEEP: Final = {"bash": "kept=yes", "zsh": "kept=yes", "fish": "set -g kept yes"}
"""How a shell is told to keep a variable."""


def _body(lab: PaneLab, owner: Caller) -> bytes:
    """A submission over the service, for the present prompt."""
    generation = lab.ready_caller().generation()
    return owner.next(lab.target(), source=MARK, prompt_generation=generation)


def _stands_still(pid: int) -> None:
    eventually(lambda: stopped(pid), f"process {pid} stands still")


def _sidecar(lab: PaneLab) -> int:
    pid = lab.lab.shell_of(lab.pane)
    assert pid is not None
    return pid


def _person_goes_on(lab: PaneLab) -> list[str]:
    """The person's own line runs after whatever there was; all lines then."""
    lab.type("echo person >>~/ran")
    lab.until_line("ran", "person")
    return lab.lines("ran")


def _untold(answer: Answer) -> None:
    assert answer.rc == 10, answer.body
    assert answer.why[0] in UNTOLD, answer.body


@pytest.mark.parametrize(("step", "ran"), [("written", []), ("admitted", ["ran"])])
def test_a_pane_shell_is_killed(step: str, ran: list[str]) -> None:
    with pane_lab(settings={"stop": step}) as lab:
        owner = lab.owner()
        body = _body(lab, owner)
        asked = owner.post("term.execute", body)
        sidecar = _sidecar(lab)
        _stands_still(sidecar)
        kill(sidecar)
        _untold(owner.answer(asked))
        gone(sidecar)
        _untold(owner.send("term.execute", body))
        assert _person_goes_on(lab) == [*ran, "person"]
        _untold(owner.send("term.execute", body))
        assert lab.lines("ran") == [*ran, "person"]


@pytest.mark.parametrize(("step", "most"), [("asked_to_press", 0), ("pressed", 1)])
def test_the_service_is_killed(step: str, most: int) -> None:
    with pane_lab(settings={"stop": step}) as lab:
        owner = lab.owner()
        body, target = _body(lab, owner), lab.target()
        sidecar, service = _sidecar(lab), lab.term.ready["pid"]
        owner.post("term.execute", body)
        _stands_still(service)
        kill(service)
        gone(sidecar)
        assert lab.term.process is not None
        lab.term.process.wait()
        lab.term.settings = {}
        lab.term.up()
        lab.lab.ready(lab.term.ready["pane"])
        successor = lab.owner()
        again = successor.next(target, source=MARK, prompt_generation="1")
        _untold(successor.send("term.execute", again))
        assert len(lab.lines("ran")) <= most


@pytest.mark.parametrize(
    "shell",
    [
        "bash",
        pytest.param("zsh", marks=pytest.mark.slow),
        pytest.param("fish", marks=pytest.mark.slow),
    ],
)
def test_another_pane_shell_takes_over(shell: str) -> None:
    """With a grant of its own, over the same shell, which nothing has happened to."""
    with pane_lab(shell) as lab:
        first = lab.ready_caller()
        person = lab.shell_pid()
        first.run(KEEP[shell])
        sidecar = _sidecar(lab)
        kill(sidecar)
        gone(sidecar)
        eventually(lambda: _is_another(lab, first.record), "there is another pane shell")
        second = lab.ready_caller()
        assert lab.shell_pid() == person
        assert second.run("echo $kept")["output"]["text"].strip() == "yes"
        # What was the old one's is nobody's any more.
        said = second.ask("shell.status", target=first.target)
        assert said.why == ("STALE_GENERATION", None)


def _is_another(lab: PaneLab, old: Fields) -> bool:
    held = lab.lab.record_of(lab.pane)
    return held is not None and held["record_id"] != old["record_id"]


@pytest.mark.slow
@pytest.mark.parametrize("victim", VICTIMS)
@pytest.mark.parametrize("step", HOLDS)
def test_anything_is_killed_at_any_step(step: str, victim: str) -> None:
    with pane_lab(settings={"stop": step}) as lab:
        owner = lab.owner()
        body = _body(lab, owner)
        pids = {"service": lab.term.ready["pid"], "pane shell": _sidecar(lab)}
        pids["shell"] = lab.shell_pid()
        owner.post("term.execute", body)
        holder = HOLDS[step]
        _stands_still(pids[holder])
        if victim == "broker":
            lab.lab.broker.kill()
        else:
            kill(pids[victim])
        if victim != holder:
            os.kill(pids[holder], signal.SIGCONT)
        if victim == "service":
            _up_again(lab)
        _never_twice(lab, owner, body, victim)


def _up_again(lab: PaneLab) -> None:
    assert lab.term.process is not None
    lab.term.process.wait()
    lab.term.settings = {}
    lab.term.up()
    lab.pane = lab.term.ready["pane"]
    lab.lab.ready(lab.pane)


def _never_twice(lab: PaneLab, owner: Caller, body: bytes, victim: str) -> None:
    """However often it is asked, it has run once at most, and no retry says what is not so."""
    if victim == "broker":
        eventually(lambda: _is_back(lab), "the service is on the bus again")
        owner = lab.owner()
    said = [owner.send("term.execute", body) for _ in range(3)]
    if victim != "shell":
        _person_goes_on(lab)
    said.append(owner.send("term.execute", body))
    ran = lab.lines("ran").count("ran")
    assert ran <= 1
    for answer in said:
        if answer.rc == 0:
            well = answer.body["status"] == "pending" or ran == 1 or victim == "shell"
            assert well, answer.body
        elif answer.why[0] not in UNTOLD:
            assert ran == 0, answer.body


def test_the_broker_is_killed_under_an_answer() -> None:
    with pane_lab(settings={"stop": "admitted"}) as lab:
        owner = lab.owner()
        body = _body(lab, owner)
        owner.post("term.execute", body)
        sidecar = _sidecar(lab)
        _stands_still(sidecar)
        lab.until_line("ran", "ran")
        lab.lab.broker.kill()
        os.kill(sidecar, signal.SIGCONT)
        eventually(lambda: _is_back(lab), "the service is on the bus again")
        # The epoch in the body is that of a connection which is no more.
        _untold(lab.owner().send("term.execute", body))
        assert _person_goes_on(lab) == ["ran", "person"]


def _is_back(lab: PaneLab) -> bool:
    try:
        return bool(lab.lab.binding(lab.pane)["ready"])
    except Exception:  # noqa: BLE001 - whatever a bus says that has no service yet
        return False


def lost_answer(start: Start) -> None:
    """The pane shell stands still until the service has given up; the retry finds what ran."""
    with start(settings={"stop": "admitted"}) as lab:
        owner = lab.owner()
        body = _body(lab, owner)
        asked = owner.post("term.execute", body)
        sidecar = _sidecar(lab)
        _stands_still(sidecar)
        assert owner.answer(asked).why[0] == "UNKNOWN_OUTCOME"
        os.kill(sidecar, signal.SIGCONT)

        def told() -> Fields | None:
            answer = owner.send("term.execute", body)
            return answer.body if answer.rc == 0 else None

        first = eventually(told, "the retry is told")
        assert owner.send("term.execute", body).body == {**first, "state": ANY}
        operation = first["operation_id"]
        found = owner.good("term.exec.result", lab.target(), operation_id=operation, wait_ms=5_000)
        assert found["result"]["exit"] == {"code": 0}
        assert _person_goes_on(lab) == ["ran", "person"]


def dropped_answer(start: Start) -> None:
    """The answer is dropped on its way; the very same request finds what ran, by its one id."""
    with start() as lab:
        _dropped(lab, lab.owner(), lambda owner: _body(lab, owner), "term.execute")
        shell = lab.ready_caller()
        _dropped(lab, shell, lambda caller: caller.execution(MARK), "shell.execute")


def _dropped(lab: PaneLab, caller: C, make: Callable[[C], bytes], verb: str) -> None:
    before: list[str] = lab.lines("ran")

    def told() -> tuple[bytes, Fields] | None:
        body = make(caller)
        asked = caller.post(verb, body)
        caller.peer.next_of(lambda h: (h.type, h.id) == ("response", asked))
        answer = caller.send(verb, body)
        if answer.rc != 0:
            assert answer.why[0] in ("BUSY", "STALE_GENERATION"), answer.body
        return (body, answer.body) if answer.rc == 0 else None

    body, first = eventually(told, "the retry is told what became of it")
    eventually(lambda: lab.lines("ran") != before, "it has run")
    assert caller.send(verb, body).body == {**first, "state": ANY}
    lab.type("echo person >>~/ran")
    eventually(lambda: lab.lines("ran")[-1] == "person", "the person's own line has run")
    assert lab.lines("ran") == [*before, "ran", "person"]


def test_the_shell_is_killed_with_the_claim() -> None:
    """It had taken the claim and said nothing: nobody can say, and nothing ran."""
    with pane_lab(rc=CLAIMS_AND_STOPS) as lab:
        caller = lab.ready_caller()
        body = caller.execution(MARK)
        answer = caller.send("shell.execute", body)
        assert answer.why == ("UNKNOWN_OUTCOME", "admission_claimed_without_report")
        again = caller.send("shell.execute", body)
        assert again.body == answer.body
        shell = lab.shell_pid()
        assert stopped(shell)
        kill(shell)
        eventually(lambda: not alive(shell), "the shell is gone")
        _untold(caller.send("shell.execute", body))
        assert lab.lines("ran") == []


def test_the_shell_says_late_that_it_ran() -> None:
    """It was said that nobody knows; once the shell has told, the retry tells it too."""
    with pane_lab(rc=CLAIMS_AND_STOPS) as lab:
        caller = lab.ready_caller()
        body = caller.execution(MARK)
        assert caller.send("shell.execute", body).why[0] == "UNKNOWN_OUTCOME"
        os.kill(lab.shell_pid(), signal.SIGCONT)
        lab.until_line("ran", "ran")

        def told() -> Fields | None:
            answer = caller.send("shell.execute", body)
            return answer.body if answer.rc == 0 else None

        operation = eventually(told, "the retry is told")["operation_id"]
        assert caller.finished(operation)["exit"] == {"code": 0}
        assert _person_goes_on(lab) == ["ran", "person"]


def test_an_interrupt_with_the_claim_does_not_shut_the_prompt() -> None:
    """Nobody can say what became of it, until the shell's next prompt says so; then all is well."""
    with pane_lab(rc=CLAIMS_AND_IS_INTERRUPTED) as lab:
        caller = lab.ready_caller()
        body = caller.execution(MARK)
        assert caller.send("shell.execute", body).why[0] == "UNKNOWN_OUTCOME"
        assert _person_goes_on(lab) == ["person"]
        assert caller.run("echo next >>~/ran")["exit"] == {"code": 0}
        _untold(caller.send("shell.execute", body))
        assert lab.lines("ran") == ["person", "next"]


def late_shell(start: Start) -> None:
    """The claim on the request was taken from it."""
    with start(rc=JUDGES_LATE) as lab:
        caller = lab.ready_caller()
        body = caller.execution(MARK)
        assert caller.send("shell.execute", body).why == ("BUSY", "no_reply")
        os.kill(lab.shell_pid(), signal.SIGCONT)
        assert _person_goes_on(lab) == ["person"]


def test_the_shell_is_killed_as_it_runs() -> None:
    with pane_lab() as lab:
        caller = lab.ready_caller()
        body = caller.execution(f"{MARK}; kill -KILL $$")
        answer = caller.send("shell.execute", body)
        assert answer.rc == 0, answer.body
        lab.until_line("ran", "ran")
        _ends_truly(lambda: caller.send("shell.execute", body), answer)
        assert lab.lines("ran") == ["ran"]


def _ends_truly(retry: Callable[[], Answer], accepted: Answer) -> None:
    """The retry is the same operation, or of somebody who is no more."""
    answer = retry()
    if answer.rc == 0:
        assert answer.body["operation_id"] == accepted.body["operation_id"]
    else:
        _untold(answer)


FIXTURES = (dropped_answer, lost_answer, late_shell)


@pytest.mark.parametrize("fixture", FIXTURES, ids=lambda fixture: fixture.__name__)
def test_it_runs_at_most_once(fixture: Fixture) -> None:
    fixture(pane_lab)


@pytest.mark.self_test
@pytest.mark.parametrize(
    ("fixture", "guard", "sees"),
    [
        (dropped_answer, "retries", "_dropped"),
        (lost_answer, "retries", "lost_answer"),
        (late_shell, "claim", "late_shell"),
    ],
    ids=["retries-dropped", "retries-lost", "claim"],
)
def test_it_can_fail(
    fixture: Fixture, guard: str, sees: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    must_fail(fixture, guard, sees, monkeypatch)
