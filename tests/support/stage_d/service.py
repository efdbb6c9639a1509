"""A terminal service, and its zygote, with one guard off or a place to stop at.

``python -m tests.support.stage_d.service GUARD SETTINGS ...`` is ``termnode ...``;
``python -m tests.support.stage_d.service GUARD SETTINGS zygote --fd N`` is the zygote that it
starts. GUARD ``none``: with all. SETTINGS are a JSON object as of `tests.support.broken_service`,
and ``stop``: the name of a step at which the process that comes to it stands still.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any

import trio

import termnode.cli.main
import termnode.cli.up  # all of it is there before anything is replaced
import termnode.paneshell.__main__ as zygote_main
from termnode.paneshell import sidecar as _sidecar  # noqa: F401 - as above
from tests.support import broken_service
from tests.support.stage_d.guards import IN_SHELLS, IN_SIDECARS, IN_TERM, edit_integration
from tests.support.stage_d.steps import stop_at


def _start_zygotes_like_this(guard: str, settings: str) -> None:
    """Have the zygote be this module with the same guard and settings."""
    opened = trio.lowlevel.open_process

    async def open_process(command: Sequence[str], **how: Any) -> trio.Process:  # noqa: ANN401
        if "termnode.paneshell" in command:
            at = command.index("termnode.paneshell")
            mine = ["tests.support.stage_d.service", guard, settings, "zygote"]
            command = [*command[:at], *mine, *command[at + 1 :]]
        return await opened(command, **how)

    vars(trio.lowlevel)["open_process"] = open_process


def main() -> int:
    """Take the guard off and be the command."""
    guard, raw = sys.argv.pop(1), sys.argv.pop(1)
    settings: dict[str, Any] = json.loads(raw)
    step = settings.pop("stop", None)
    if step is not None:
        stop_at(step)
    for each in guard.split("+"):
        for table in (IN_TERM, IN_SIDECARS):
            if each in table:
                table[each]()
        if each in IN_SHELLS:
            edit_integration(each)
    if sys.argv[1] == "zygote":
        zygote_main.main(sys.argv[2:])
        return 0
    _start_zygotes_like_this(guard, raw)
    broken_service._configure(settings)
    broken_service._tell_keys()
    return termnode.cli.main.main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
