"""Benchmarks of Termnode. Every figure is a ratio within one run: machines are shared and noisy.

flood: while a pane runs ``yes``, how much slower is ``term.panes`` from another process than a bare
two-hop ZeroMQ echo beside the same flood? Passes when its p95 is at most 10 times the echo's, and
no call took over a second.

screen: an agent follows a ten-minute build (simulated, 600 looks at 120x40). Passes when whole
screens are at least 10 times the bytes of what is new since the last look, and when a look at
nothing new takes less than 1.2 times as long as ``term.session`` (p50).

attach: how long does a key take to its echo on a person's terminal, beside tmux on another?
Passes when, in the best of five rounds, its median is at most 3 times tmux's, its p99 while ``yes``
runs in the pane beside at most 5 times tmux's, and what is written to the terminal stays bounded.

panes: how long does a new pane's shell take to its first prompt, beside the same shell started
plainly? Passes when, in the best of three rounds, the median of fifty is at most 1.3 times the
plain one's, all have their verified session in the end, and the process beside each takes less
than 8 MiB of its own.

sessions: how much slower is a broker with full tables of sessions than an empty one? Passes when
the median of ``session.hello`` is at most 1.2 times that of an empty broker beside it, one more of
each is refused with its reason, and after two rounds of filling three more add under 5 % of memory.

gate: what does a decision about a request that is bound to a pane cost? Passes when, in the best of
five rounds, its median is under 25 microseconds (a look, an input), with full tables at most 1.2
times that with empty ones, and a look through the native lane takes at most 1.15 times as long as
the same look through the global one, over the bus.

exec: how long does a command at a shell's prompt take, from its submission to its result, beside
libtmux (send_keys and capture_pane), and beside pexpect's REPLWrapper? Passes when its median over
all three rounds is under both of theirs.

mcp: what does a fixed edit in neovim cost a model, and how long does a look take? Passes when the
characters of the whole conversation are at least 3 times fewer with what changed than with whole
screens, and ``term_screen`` over stdio takes at most 3 times as long as the echo of a bare server
of the same SDK (p50). Needs nvim.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping
from typing import Any, Final

from scripts.bench_attach import attach
from scripts.bench_exec import execute
from scripts.bench_flood import flood
from scripts.bench_gate import gate
from scripts.bench_mcp import mcp
from scripts.bench_panes import panes
from scripts.bench_screen import screen
from scripts.bench_sessions import sessions

BENCHMARKS: Final[Mapping[str, Callable[[int], dict[str, Any]]]] = {
    "flood": flood,
    "screen": screen,
    "attach": attach,
    "panes": panes,
    "sessions": sessions,
    "gate": gate,
    "exec": execute,
    "mcp": mcp,
}


def main() -> int:
    """Run one benchmark, print one JSON line; 1 when its bar is not met."""
    parser = argparse.ArgumentParser(
        prog="scripts/bench", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("benchmark", choices=tuple(BENCHMARKS))
    parser.add_argument("--calls", type=int, default=200, help="timed calls; default: 200")
    arguments = parser.parse_args()
    result = BENCHMARKS[arguments.benchmark](arguments.calls)
    print(json.dumps(result))
    return 0 if result["passed"] else 1


if __name__ == "__main__":
    sys.exit(main())
