"""p4: a task inherits what it is given, which is counted in whole sets, and nothing else."""

from __future__ import annotations

import json
import sys
from typing import Any, Final

from tests.support.stage_d.asking import ShellCaller
from tests.support.stage_d.lab import PaneLab, Start

PROBE: Final = """
import json, os, signal
fds = {}
for name in os.listdir("/proc/self/fd"):
    try:
        fds[name] = os.readlink("/proc/self/fd/" + name).split(":")[0]
    except OSError:
        pass
try:
    os.open("/dev/tty", os.O_RDWR)
    tty = True
except OSError:
    tty = False
status = dict(line.split(":", 1) for line in open("/proc/self/status") if ":" in line)
signals = {name: int(status[name], 16) for name in ("SigBlk", "SigIgn")}
print(json.dumps({
    "fds": fds, "tty": tty, **signals, "cwd": os.getcwd(), "env": dict(os.environ),
    "leads": os.getsid(0) == os.getpid() == os.getpgrp(), "umask": status["Umask"].strip(),
}))
"""


def p4_inherits_only_what_is_given(start: Start) -> None:
    """Descriptors, variables, signals, session, terminal, directory."""
    with start(COSMIX_SRC="/src", SECRET="s", BASH_ENV="/x", LD_LIBRARY_PATH="/nowhere") as lab:
        caller = lab.ready_caller()
        _argv(lab, caller)
        _source(lab, caller)
        _overlay(lab, caller)
        caller.run("export LATER=1; cd /; umask 077; exec 9>~/nine")
        _argv(lab, caller)


def _said(caller: ShellCaller, **fields: Any) -> dict[str, Any]:  # noqa: ANN401
    report = caller.report(**fields)
    assert report["outcome"] == {"kind": "exited", "code": 0}, report
    assert report["stderr"]["text"] == ""
    found: dict[str, Any] = json.loads(report["stdout"]["text"])
    return found


def _environment(lab: PaneLab) -> dict[str, str]:
    given = lab.term.environment()
    names = ("HOME", "PATH", "LANG", "USER", "COSMIX_SRC")
    return {**{name: given[name] for name in names}, "TERM": "dumb"}


def _argv(lab: PaneLab, caller: ShellCaller) -> None:
    said = _said(caller, argv=[sys.executable, "-I", "-S", "-c", PROBE], cwd="/usr")
    umask = said.pop("umask")
    assert int(umask, 8) in (0o022, 0o077), umask
    assert said == {
        "fds": {"0": "/dev/null", "1": "pipe", "2": "pipe"},
        "tty": False,
        # The interpreter ignores these by itself: SIGPIPE and SIGXFSZ.
        "SigBlk": 0,
        "SigIgn": 1 << 12 | 1 << 24,
        "cwd": "/usr",
        "env": _environment(lab),
        "leads": True,
    }


def _source(lab: PaneLab, caller: ShellCaller) -> None:
    """A script has one descriptor more, for its result; its shell adds variables of its own."""
    lab.file("probe.py").write_text(PROBE)
    said = _said(caller, source=f"exec {sys.executable} -I -S ~/probe.py")
    assert said["fds"] == {"0": "/dev/null", "1": "pipe", "2": "pipe", "3": "pipe"}
    assert said["env"].keys() - {"PWD", "SHLVL", "_", "OLDPWD"} == _environment(lab).keys()
    assert (said["tty"], said["leads"], said["SigBlk"]) == (False, True, 0)


def _overlay(lab: PaneLab, caller: ShellCaller) -> None:
    added = [["TERM", "more"], ["NEW", "n"], ["EMPTY", ""]]
    said = _said(caller, argv=[sys.executable, "-I", "-S", "-c", PROBE], env=added)
    assert said["env"] == {**_environment(lab), **dict(added)}
