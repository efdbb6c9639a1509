"""What the execute tools take."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from termnode.mcp.arguments import FromLine, OfPane, Program, Seconds


class Exec(OfPane):
    """Of ``exec``."""

    command: str = Field(
        min_length=1, max_length=4_096, pattern=r"^[^\x00]*$", description="for the pane's shell"
    )
    seconds: Seconds = 30.0


class OfOperation(OfPane):
    """Of a tool about one command or task."""

    operation: Annotated[int, Field(ge=1, description="as exec or task named it")]


class Result(OfOperation):
    """Of ``exec_result`` and ``task_result``."""

    seconds: Seconds = 10.0
    from_line: FromLine = 1


class Task(Program):
    """Of ``task``."""

    pane: Annotated[int, Field(ge=1, description="beside whose shell it runs")]
    source: Annotated[
        str | None, Field(min_length=1, max_length=65_536, description="a script, instead of argv")
    ] = None
    limit: float = Field(
        default=60.0, ge=1.0, le=600.0, description="seconds after which it is ended"
    )
    seconds: Seconds = 30.0

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.argv is None) == (self.source is None):
            raise ValueError("give argv or source, one of them")
        return self
