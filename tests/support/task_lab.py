"""Real tasks of a real supervisor, without a bus: what the sidecar's side of them is told."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import trio
import trio.testing

from brokerd.client import boottime_ms
from termnode.paneshell.calls import Actor
from termnode.paneshell.operations import Operations
from termnode.paneshell.tasks.client import Tasks
from termnode.paneshell.tasks.model import Task
from termnode.paneshell.tasks.request import submission
from termnode.paneshell.tasks.starting import Supervisor, start_supervisor
from tests.support.pty_lab import children_of
from tests.support.sidecar_lab import WITHIN, until

ME: Actor = ("connection", os.getuid(), "epoch", "me")


class TaskLab:
    """One supervisor with its tasks, and the process that plays the pane's shell."""

    def __init__(
        self, supervisor: Supervisor, tasks: Tasks, shell: subprocess.Popen[bytes]
    ) -> None:
        self.supervisor = supervisor
        self.tasks = tasks
        self.shell = shell
        self._next_id = 0

    async def start(self, **fields: object) -> Task:
        """A task of these fields of a submission, accepted. Raises Refusal."""
        self._next_id += 1
        body = {"request_id": str(self._next_id), "cwd": "/", "timeout_ms": 60_000, **fields}
        followed = self.tasks.submit(ME, submission(body), b"digest")
        await followed.decided.wait()
        if followed.refusal is not None:
            raise followed.refusal
        return followed.task

    async def settled(self, task: Task) -> dict[str, Any]:
        """Its report."""
        followed = self.tasks.followed(task)
        if followed is not None:
            await followed.settled.wait()
        assert task.report is not None
        return task.report

    async def run(self, **fields: object) -> dict[str, Any]:
        """The report of a task of these fields."""
        return await self.settled(await self.start(**fields))

    async def sh(self, source: str, **fields: object) -> dict[str, Any]:
        """The report of a script."""
        return await self.run(source=source, **fields)

    @property
    def keepers(self) -> list[int]:
        """The processes of the keepers that live."""
        return children_of(self.supervisor.pid)


def in_task_lab(
    test: Callable[[TaskLab], Awaitable[None]], shell: str = "sh", within: float = WITHIN
) -> None:
    """Run a test with a lab; when it is over, nothing of the tasks may be alive."""
    with subprocess.Popen(["sleep", "1000"]) as stand_in:
        supervisor = start_supervisor(1, stand_in.pid)
        assert supervisor is not None
        try:
            trio.run(_main, test, supervisor, shell, stand_in, within)
        finally:
            supervisor.end()
            stand_in.kill()


async def _main(
    test: Callable[[TaskLab], Awaitable[None]],
    supervisor: Supervisor,
    shell: str,
    stand_in: subprocess.Popen[bytes],
    within: float,
) -> None:
    tasks = Tasks(supervisor, shell, Operations(), boottime_ms)
    with trio.fail_after(within):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(tasks.run)
            await trio.testing.wait_all_tasks_blocked()
            await test(TaskLab(supervisor, tasks, stand_in))
            nursery.cancel_scope.cancel()


async def pid_in(path: Path) -> int:
    """The process number that a script writes, whole, into a file."""

    def written() -> bool:
        with suppress(OSError):
            return path.read_bytes().endswith(b"\n")
        return False

    await until(written, f"a number in {path.name}")
    return int(await trio.Path(path).read_text())


def alive(pid: int) -> bool:
    """Whether there is such a process, be it dead and unreaped."""
    return Path(f"/proc/{pid}").exists()


def living(pid: int) -> bool:
    """Whether it runs: not one that is dead and waits for a reaper that is not ours."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZXx"
    return False
