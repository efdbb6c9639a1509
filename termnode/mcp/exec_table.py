"""The tools that run commands and tasks: for the table, as soon as the client has such calls."""

from __future__ import annotations

from typing import Final

from termnode.mcp import exec_arguments as of
from termnode.mcp import exec_facts as facts
from termnode.mcp import exec_tools as tools
from termnode.mcp.row import Row
from termnode.mcp.settings import Tier

EXEC_TABLE: Final = (
    Row(
        "exec",
        Tier.EXECUTE,
        "Run a command at a shared pane's own prompt, where the person sees it, and give its exit "
        "code and output. What still runs after the wait goes on: exec_result.",
        of.Exec,
        facts.RunFacts,
        tools.exec_,
    ),
    Row(
        "exec_result",
        Tier.EXECUTE,
        "Wait for the end of a command that exec began.",
        of.Result,
        facts.RunFacts,
        tools.exec_result,
        read_only=True,
    ),
    Row(
        "exec_cancel",
        Tier.EXECUTE,
        "Interrupt a command that exec began, as Ctrl-C does.",
        of.OfOperation,
        facts.CancelFacts,
        tools.exec_cancel,
    ),
    Row(
        "task",
        Tier.EXECUTE,
        "Run a program or a script beside a shared pane's shell, out of sight, and give its "
        "report. What still runs after the wait goes on: task_result.",
        of.Task,
        facts.RunFacts,
        tools.task,
    ),
    Row(
        "task_result",
        Tier.EXECUTE,
        "Wait for the report of a task.",
        of.Result,
        facts.RunFacts,
        tools.task_result,
        read_only=True,
    ),
    Row(
        "task_cancel",
        Tier.EXECUTE,
        "End a task.",
        of.OfOperation,
        facts.CancelFacts,
        tools.task_cancel,
    ),
)
