"""p0j_d: where there is no editor to be busy, a command is unsupported, whatever goes on."""

from __future__ import annotations

import sys

from tests.support.stage_d.asking import ShellCaller
from tests.support.stage_d.lab import PaneLab, Start, refusal


def p0j_d_unsupported_not_busy_without_editor(start: Start) -> None:
    """Another shell, another program, a shell with a script, an integration that is unwanted."""
    with start("sh") as lab:
        lab.term.at_prompt(lab.pane)
        _unsupported(lab.caller())
        _running(lab)
        for argv in (
            (sys.executable, "-c", "input()"),
            ("bash", "-c", "read x"),
            ("bash", "--norc"),
        ):
            _unsupported(lab.caller(lab.lab.tab(*argv)))
    with start(TERMNODE_INTEGRATION="0") as lab:
        lab.term.at_prompt(lab.pane)
        _unsupported(lab.caller())


def _unsupported(caller: ShellCaller) -> None:
    said = caller.good("shell.status")["capabilities"]
    for name in ("prompt_generation", "evaluation_submit", "evaluation_inspect"):
        assert said[name] == "UNSUPPORTED"
    for generation in ("0", "1"):
        assert refusal(caller.execute("true", generation))[0] == "UNSUPPORTED"
    # Tasks need no editor.
    assert caller.report(argv=["true"])["outcome"] == {"kind": "exited", "code": 0}


def _running(lab: PaneLab) -> None:
    """A program in front changes nothing of that."""
    lab.type("read -r line")
    _unsupported(lab.caller())
    lab.type("x")
