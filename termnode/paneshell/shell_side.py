"""The sidecar's side to the pane's shell: what is seen of it, and what is put to its prompt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import trio

from brokerd.client import boottime_ms, where
from termnode.paneshell import loud
from termnode.paneshell.calls import Verb
from termnode.paneshell.channel import SidecarEnd
from termnode.paneshell.launch import Launch
from termnode.paneshell.operations import Operations
from termnode.paneshell.prompt.desk import Desk
from termnode.paneshell.prompt.reporting import merged, view
from termnode.paneshell.prompt.verbs import execute_verbs
from termnode.paneshell.shell_process import ShellProcess
from termnode.paneshell.status import CAPABILITIES, NO_PROMPT, PROMPT_CAPABILITIES, Tracker

TASKS: Final = "submit-result-and-cancel"
"""What is said of isolated tasks where there are any."""


class ShellSide:
    """Watches one pane's shell from the sidecar's start on."""

    def __init__(self, launch: Launch, channel: SidecarEnd, operations: Operations) -> None:
        self._shell = ShellProcess(launch.shell_pid)
        self._tracker = Tracker(launch.cwd.encode("utf-8", "surrogateescape"), boottime_ms())
        self._desk = _open_desk(launch, self._shell, channel, operations)

    async def run(self) -> None:
        """Watch it until cancelled."""
        if self._desk is not None:
            await self._desk.run()
        await trio.sleep_forever()

    def verbs(self) -> Mapping[str, Verb]:
        """Those of commands at the prompt; without integration they refuse."""
        return execute_verbs(self._desk)

    def report(self, binding_generation: int, *, tasks: bool) -> dict[str, object]:
        """The answer to shell.status, by the record of this binding.

        ``tasks``: whether isolated ones may be submitted.
        """
        now, seen = boottime_ms(), self._shell.observe()
        prompt, capabilities = NO_PROMPT, CAPABILITIES
        if self._desk is not None:
            self._desk.watch.drain()
            seen = merged(seen, self._desk.watch.state)
            prompt = view(self._desk.watch.state, binding_generation)
            capabilities = PROMPT_CAPABILITIES
        if tasks:
            capabilities = {**capabilities, "isolated_task": TASKS}
        self._tracker.note(seen, now)
        return self._tracker.answer(now, prompt, capabilities)


def _open_desk(
    launch: Launch, shell: ShellProcess, channel: SidecarEnd, operations: Operations
) -> Desk | None:
    """Where commands are put to the prompt; None without integration."""
    if launch.shell is None:
        return None
    try:
        desk = Desk(launch.shell, shell, channel, operations, clock_ms=boottime_ms)
    except OSError as error:
        loud.say(f"its shell takes no commands ({where(error)})", None)
        return None
    channel.on_record = desk.watch.take
    return desk
