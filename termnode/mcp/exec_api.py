"""What the execute tools need of the client's panes (specs/execute.md)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol


class Running(Protocol):
    """A command or a task under way."""

    @property
    def id(self) -> int:
        """Its operation's number."""

    async def cancel(self) -> Any:  # noqa: ANN401  # with ``outcome``
        """Ask for its end."""


class Command(Running, Protocol):
    """At a prompt."""

    async def result(self, *, timeout: float | None) -> Any:  # noqa: ANN401  # an Executed
        """How it ended. Raises WaitTimeout while it runs."""


class Task(Running, Protocol):
    """Beside a shell."""

    async def report(self, *, timeout: float | None) -> Any:  # noqa: ANN401  # a TaskReport
        """How it ended. Raises WaitTimeout while it runs."""


class Shell(Protocol):
    """A pane whose shell takes commands."""

    async def submit(self, source: str) -> Command:
        """Run a command at the prompt."""

    def execution(self, operation_id: int) -> Command:
        """One that was submitted before."""

    async def submit_task(
        self,
        program: Sequence[str] | None,
        *,
        source: str | None,
        cwd: str | None,
        timeout: float,
    ) -> Task:
        """Run a program or script beside the shell."""

    def task_of(self, operation_id: int) -> Task:
        """One that was submitted before."""
