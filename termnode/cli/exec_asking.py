"""Asking about an operation: whoever holds it while it runs, else the result that was kept."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from brokerd.client import ErrorCode, RuntimeDirError, locate_runtime_dir
from termnode.cli.exec_files import OperationFiles, exchange
from termnode.cli.exits import NOT_ITS_OWN, TRANSPORT, TRY_AGAIN, CommandError

if TYPE_CHECKING:
    import argparse

PART_S: Final = 30.0
"""The longest single question for a result."""

RUNNING: Final = "running"

_AGAIN: Final = frozenset(
    {ErrorCode.BUSY, ErrorCode.STALE_GENERATION, ErrorCode.RESOURCE_LIMIT, ErrorCode.EXPIRED}
)
"""Codes of refusals after which nothing ran, and it may go well later."""


def operation_files(arguments: argparse.Namespace) -> OperationFiles:
    """Those of the chosen service. Raises CommandError."""
    try:
        return OperationFiles(locate_runtime_dir(arguments.runtime_dir), arguments.name)
    except RuntimeDirError as error:
        raise CommandError(str(error), TRANSPORT, ErrorCode.UNAVAILABLE) from None


def outcome(files: OperationFiles, operation: int, timeout: float | None) -> dict[str, Any]:
    """Where it stands, once it has ended or ``timeout`` seconds are over (None: once it has
    ended). Raises CommandError when nobody knows."""
    end = None if timeout is None else time.monotonic() + timeout
    while True:
        left = PART_S if end is None else min(PART_S, max(0.0, end - time.monotonic()))
        told = ask(files, operation, {"do": "result", "wait_s": left})
        if told.get("state") != RUNNING or (end is not None and time.monotonic() >= end):
            return told


def ask(files: OperationFiles, operation: int, question: Mapping[str, Any]) -> dict[str, Any]:
    """What is answered; of one that has ended, its result whatever was asked. Raises CommandError
    when nobody knows."""
    holder = files.connect(operation)
    told = None if holder is None else exchange(holder, question)
    told = told or files.result(operation)
    if told is None:
        raise CommandError(
            "UNKNOWN_OUTCOME: no such operation of yours is known here now; results are kept for 15"
            " minutes, and 'termnode screen' shows what the pane shows",
            NOT_ITS_OWN,
            ErrorCode.UNKNOWN_OUTCOME,
        )
    return told


def cancel(files: OperationFiles, operation: int) -> dict[str, Any]:
    """What was done about it. Raises CommandError when nobody knows the operation."""
    told = ask(files, operation, {"do": "cancel"})
    if "error" in told and "state" not in told:
        raise refused(told["error"])
    over = "state" in told
    return {"outcome": "already_finished", "delivery": "it had ended"} if over else told


def refused(problem: Mapping[str, Any]) -> CommandError:
    """The error that a person and a program are told of what did not go well."""
    code = problem.get("error_code")
    body = {"error_code": code, "message": problem.get("message"), **_details(problem)}
    return CommandError(
        str(problem.get("message")),
        TRY_AGAIN if code in _AGAIN else NOT_ITS_OWN,
        code,
        problem.get("details") or {},
        reply={"rc": -1 if code is None else 10, "body": body},
    )


def _details(problem: Mapping[str, Any]) -> dict[str, Any]:
    return {"details": problem["details"]} if problem.get("details") else {}
