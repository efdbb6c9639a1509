"""p4: what a task leaves behind is ended with it, and stops nobody."""

from __future__ import annotations

from typing import Final

from tests.support.stage_d.asking import ShellCaller
from tests.support.stage_d.lab import PaneLab, Start
from tests.support.termnode_process import alive, eventually

AT_ONCE: Final = 4

LEAVES: Final = """
setsid bash -c 'trap "" TERM HUP INT; echo $BASHPID >>~/left; exec sleep 1000' &
(trap "" TERM; echo $BASHPID >>~/left; exec sleep 1000) &
until [ "$(wc -l <~/left 2>/dev/null || echo 0)" -ge {0} ]; do sleep 0.01; done
echo done
"""
"""A script that ends while two of its processes hold its streams, one of another session."""


def p4_survivor_cannot_wedge(start: Start) -> None:
    """Each settles with a count, nothing of it lives, and as many may run as before."""
    with start() as lab:
        caller = lab.caller()
        for number in range(1, AT_ONCE + 2):
            _settles(lab, caller, 2 * number)
        _flood_of_a_stubborn_one(lab, caller)
        running = [caller.started(argv=["sleep", "1000"]) for _ in range(AT_ONCE)]
        for each in running:
            assert caller.good("shell.task.cancel", operation_id=each)["outcome"] == "requested"
            assert caller.settled(each)["outcome"]["kind"] == "cancelled"


def _settles(lab: PaneLab, caller: ShellCaller, lines: int) -> None:
    report = caller.report(source=LEAVES.format(lines))
    assert report["outcome"] == {"kind": "exited", "code": 0}
    assert report["stdout"]["text"] == "done\n"
    assert (report["survivors"], report["survivors_left"]) == (2, 0)
    _nothing_lives(lab)


def _flood_of_a_stubborn_one(lab: PaneLab, caller: ShellCaller) -> None:
    """10 MB, no ear for SIGTERM, a child elsewhere: told as killed, and gone."""
    script = """
trap "" TERM
setsid sh -c 'echo $$ >>~/left; exec sleep 1000' &
echo $$ >>~/left
head -c 10000000 /dev/zero | tr '\\0' x
while :; do sleep 1000; done
"""
    report = caller.report(source=script, timeout_ms=1_500)
    assert (report["outcome"]["kind"], report["outcome"]["escalated_to"]) == ("timeout", "sigkill")
    assert report["stdout"]["bytes"] == "10000000"
    assert report["stdout"]["truncated"] is True
    assert len(report["stdout"]["text"]) == 65_534
    assert report["survivors_left"] == 0
    _nothing_lives(lab)


def _nothing_lives(lab: PaneLab) -> None:
    for pid in map(int, lab.lines("left")):
        eventually(lambda pid=pid: not alive(pid), f"process {pid} is gone")  # type: ignore[misc]
