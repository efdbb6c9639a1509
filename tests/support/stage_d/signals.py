"""p0j_d: what is sent for one operation does not reach the one after it."""

from __future__ import annotations

import os

from tests.support.stage_d.asking import ShellCaller
from tests.support.stage_d.cancelling import _cancel, _waiting
from tests.support.stage_d.lab import PaneLab, Start
from tests.support.termnode_process import eventually

ROUNDS = 10


def p0j_d_signal_does_not_reach_the_next(start: Start) -> None:
    """Late, repeated and racing cancellations end their own operation alone."""
    with start() as lab:
        caller = lab.ready_caller()
        _late(lab, caller)
        for _ in range(ROUNDS):
            _racing(caller)


def _late(lab: PaneLab, caller: ShellCaller) -> None:
    """The operation before was over when it was cancelled; the next one goes on waiting."""
    over = caller.accepted("true")
    caller.finished(over)
    operation, _ = _waiting(lab, caller, "next")
    for _ in range(5):
        said = _cancel(caller, over)
        assert (said["outcome"], said["signalled_pgid"]) == ("already_finished", None)
    with lab.file("next.go").open("w") as pipe:
        pipe.write("went on")
    result = caller.finished(operation)
    assert (result["outcome"], result["exit"]) == ("completed", {"code": 0})
    assert result["output"]["text"] == "went on"
    assert "cancellation" not in result


def _racing(caller: ShellCaller) -> None:
    """It is cancelled twice at once, and the next one begins as soon as it may."""
    operation = caller.accepted("sleep 60")
    body = caller.body(operation_id=operation)
    for each in [caller.post("shell.execute.cancel", body) for _ in range(2)]:
        assert caller.answer(each).rc == 0
    _cancelled(caller, operation)
    result = caller.run(f"echo next {os.getpid()}")
    assert (result["outcome"], result["exit"]) == ("completed", {"code": 0})
    assert "cancellation" not in result


def _cancelled(caller: ShellCaller, operation: str) -> None:
    """A shell that has not started its program yet may have eaten the signals."""

    def over() -> bool:
        _cancel(caller, operation)
        said = caller.good("shell.execute.result", operation_id=operation, wait_ms=100)
        return bool(said["state"] == "finished")

    eventually(over, "it has ended")
