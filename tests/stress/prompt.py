"""A person at random against agents that never tire, at one prompt.

``python -m tests.stress.prompt --seconds 20 --shell bash`` prints what came of it, and fails when
anything of the person's was merged, lost or run twice, or an agent was told what is not so.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from typing import Final

from tests.stress.agents import Agent
from tests.stress.interrupter import Interrupter
from tests.stress.judging import Figures, judge
from tests.support.s4.lab import NOTHING_OFF
from tests.support.stage_d.lab import PaneLab, pane_lab
from tests.support.typist import LOG, Typist
from tests.support.view_client import Viewer, viewer

SHELLS: Final = ("bash", "zsh", "fish")
AGENTS: Final = "ab"

RC: Final = {
    "bash": "PS1='$ '\ncommand_not_found_handle() { echo \"BAD $*\" >>~/ran.log; }\n",
    "zsh": "PS1='$ '\ncommand_not_found_handler() { echo \"BAD $*\" >>~/ran.log; }\n",
    "fish": "function fish_prompt; echo '$ '; end\n"
    "set -g fish_greeting\nset -g fish_autosuggestion_enabled 0\n"
    'function fish_command_not_found; echo "BAD $argv" >>~/ran.log; end\n',
}
"""Startup files: a line that is no command is put into the log with the rest."""


def stress(
    shell: str,
    seconds: float,
    seed: int,
    without: str = NOTHING_OFF,
    *,
    interrupts: bool = False,
) -> Figures:
    """What came of it. ``without`` names guards that are off.

    With ``interrupts`` the person presses C-c and nothing else.
    """
    with pane_lab(shell, rc=RC[shell], off=without) as lab, viewer(lab.term) as view:
        lab.ready_caller()
        typist = _person(lab, view, shell, seed, interrupts=interrupts)
        agents = [Agent(name, lab.caller(), LOG) for name in AGENTS]
        try:
            stuck = _typed(typist, time.monotonic() + seconds)
        finally:
            for agent in agents:
                agent.stop()
        for agent in agents:
            agent.join()
        stuck = stuck or _waited(typist, typist.last)
        return _judged(lab, typist, agents, stuck)


def _person(
    lab: PaneLab, view: Viewer, shell: str, seed: int, *, interrupts: bool
) -> Typist | Interrupter:
    def has_run(word: str) -> bool:
        return word in lab.lines("ran.log")

    if interrupts:
        return Interrupter(view, seed, has_run)
    return Typist(view, shell, seed, has_run)


def _typed(typist: Typist | Interrupter, end: float) -> list[str]:
    """Have the person type until then; what they waited for in vain."""
    stuck: list[str] = []
    while not stuck and time.monotonic() < end:
        stuck = _waited(typist, typist.act)
    return stuck


def _waited(typist: Typist | Interrupter, deed: Callable[[], None]) -> list[str]:
    """Have the person do it; how it stood when they had waited in vain."""
    try:
        deed()
    except AssertionError:  # what they entered was not run, or what they typed is not there
        return [*typist.deeds[-5:], *typist.sees()]
    return []


def _judged(
    lab: PaneLab, typist: Typist | Interrupter, agents: Sequence[Agent], stuck: Sequence[str]
) -> Figures:
    attempts = [attempt for agent in agents for attempt in agent.attempts]
    figures = judge(lab.lines("ran.log"), typist.entered, attempts)
    figures.wrong["stuck"] = list(stuck)
    return figures


def main(arguments: Sequence[str]) -> int:
    """Run it for each shell that is named; 1 when one went wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.stress.prompt", description=__doc__)
    parser.add_argument("--seconds", type=float, default=20.0, metavar="S", help="for each shell")
    parser.add_argument("--shell", action="append", choices=SHELLS, help="all, when none is named")
    parser.add_argument("--seed", type=int, default=1, help="of what the person does")
    parser.add_argument("--without", default=NOTHING_OFF, help="guards to take off, joined by +")
    parser.add_argument("--interrupts", action="store_true", help="the person presses C-c alone")
    asked = parser.parse_args(arguments)
    well = True
    for shell in asked.shell or SHELLS:
        figures = stress(
            shell, asked.seconds, asked.seed, asked.without, interrupts=asked.interrupts
        )
        print(f"{shell}: {figures}", flush=True)
        for what, which in figures.wrong.items():
            if which:
                print(f"  {what}: {which[:20]}", flush=True)
        well = well and figures.well
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
