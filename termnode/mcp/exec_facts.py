"""The typed part of results about commands and tasks. It has nothing of what they wrote."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field


class RunFacts(BaseModel):
    """How far a command or task is, or how it ended."""

    pane: int
    operation: int = Field(description="name it to ask for the result, or to cancel")
    state: str = Field(
        description="running, completed, cancelled, timeout, not_started (nothing ran), unknown"
    )
    ended: str | None = Field(default=None, description="exit code N, or signal N")
    cwd: str | None = Field(default=None, description="of the shell, after a command")
    duration_ms: int | None = None
    cut: bool = Field(default=False, description="the output was too long to be kept whole")
    value: Any = Field(default=None, description="what a script wrote to its descriptor 3")
    next: str | None = Field(default=None, description="what to ask for to see the rest")


class CancelFacts(BaseModel):
    """What a cancel did."""

    pane: int
    operation: int
    outcome: str = Field(description="requested, already_finished, already_settled, unknown")
