"""p4: a task that is to end does, and its outcome says by whose word and by what."""

from __future__ import annotations

from typing import Final

from tests.support.session_peer import Fields
from tests.support.stage_d.asking import ShellCaller
from tests.support.stage_d.lab import PaneLab, Start, kill
from tests.support.termnode_process import alive, eventually

GENTLE: Final = "echo $$ >>~/{0}; exec sleep 1000"
STUBBORN: Final = "trap '' TERM; echo $$ >>~/{0}; while :; do sleep 1000; done"


def p4_termination_hard_and_outcome_names_policy(start: Start) -> None:
    """By timeout or cancellation, over SIGTERM to SIGKILL; by the shell's end at once."""
    with start() as lab:
        caller = lab.ready_caller()
        _timeout(lab, caller)
        _cancelled(lab, caller)
        _own_end_wins(caller)
        _with_its_shell(lab, caller)


def _timeout(lab: PaneLab, caller: ShellCaller) -> None:
    for name, script, by, number in (
        ("a", GENTLE, "sigterm", 15),
        ("b", STUBBORN, "sigkill", 9),
    ):
        report = caller.report(source=script.format(name), timeout_ms=700)
        assert report["outcome"] == {
            "kind": "timeout",
            "escalated_to": by,
            "wait": {"signal": number, "code": None, "reaped": True},
        }
        _gone(lab, name)


def _cancelled(lab: PaneLab, caller: ShellCaller) -> None:
    for name, script, by, number in (
        ("c", GENTLE, "sigterm", 15),
        ("d", STUBBORN, "sigkill", 9),
    ):
        operation = caller.started(source=script.format(name))
        eventually(lambda name=name: lab.lines(name), "it runs")  # type: ignore[misc]
        said = caller.good("shell.task.cancel", operation_id=operation)
        assert said["outcome"] == "requested"
        assert "SIGTERM" in said["delivery"]
        outcome = caller.settled(operation)["outcome"]
        assert outcome == {
            "kind": "cancelled",
            "escalated_to": by,
            "wait": {"signal": number, "code": None, "reaped": True},
            "source": "request",
        }
        _gone(lab, name)
        again = caller.good("shell.task.cancel", operation_id=operation)
        assert again["outcome"] == "already_settled"


def _own_end_wins(caller: ShellCaller) -> None:
    """Whoever ends in its own way is told as that, also under way to being killed."""
    report = caller.report(
        source="trap 'exit 7' TERM; while :; do sleep 0.05; done", timeout_ms=500
    )
    assert report["outcome"]["kind"] == "timeout"
    assert report["outcome"]["escalated_to"] == "sigterm"
    assert report["outcome"]["wait"] == {"signal": None, "code": 7, "reaped": True}
    operation = caller.started(source="exit 5")
    report = caller.settled(operation)
    assert report["outcome"] == {"kind": "exited", "code": 5}
    assert caller.good("shell.task.cancel", operation_id=operation)["outcome"] == "already_settled"
    assert caller.settled(operation) == report


def _with_its_shell(lab: PaneLab, caller: ShellCaller) -> None:
    """Nothing of it outlives the person's shell."""
    operation: Fields = {"operation_id": caller.started(source=STUBBORN.format("e"))}
    assert operation["operation_id"]
    eventually(lambda: lab.lines("e"), "it runs")
    kill(lab.shell_pid())
    _gone(lab, "e")


def _gone(lab: PaneLab, name: str) -> None:
    (pid,) = map(int, lab.lines(name))
    eventually(lambda: not alive(pid), f"process {pid} is gone")
