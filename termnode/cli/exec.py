"""``termnode exec`` and ``termnode task``: run something in, or beside, the shell of a pane."""

from __future__ import annotations

import os
import sys
from contextlib import closing
from math import inf
from typing import TYPE_CHECKING, Any

from termnode.cli.exec_asking import operation_files, refused
from termnode.cli.exec_files import OperationFiles, read_line
from termnode.cli.exec_following import Following
from termnode.cli.exec_holder import Wanted, start
from termnode.cli.exec_words import note
from termnode.cli.exits import INTERRUPTED, NOT_ITS_OWN, OK, USAGE, CommandError
from termnode.cli.interrupts import Interrupts
from termnode.cli.keyboard import own_pane
from termnode.cli.remote import print_json
from termnode.cli.result import tell, words_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping
    from socket import socket


def run(arguments: argparse.Namespace) -> int:
    """Have it run, and wait for its end unless told not to."""
    wanted = _wanted(arguments)
    interrupts = Interrupts()
    interrupts.install()
    files = operation_files(arguments)
    files.sweep()
    told, interrupted = _submitted(files, wanted)
    started = _checked(arguments, wanted, told)
    if arguments.detach:
        return _detached(arguments, started)
    operation, live = int(started["operation"]), arguments.command == "exec" and not arguments.json
    # A task has its own time, and settles soon after that at the latest.
    timeout = arguments.timeout if arguments.command == "exec" else None
    with closing(Following(files, operation, timeout, live=live)) as following:
        told = _ended(following, interrupts, interrupted=interrupted)
        if told is None:
            note(f"it may still run: 'termnode result {operation}' waits for it")
            return INTERRUPTED
        return tell(arguments, told, following.rest if live else None)


def _wanted(arguments: argparse.Namespace) -> Wanted:
    pane = own_pane(arguments) if arguments.pane is None else arguments.pane
    source = sys.stdin.read() if arguments.source == "-" else arguments.source
    if arguments.command == "exec":
        return Wanted("exec", pane, source)
    if (source is None) == (not arguments.program):
        raise CommandError("task takes either a program, after '--', or --source TEXT", USAGE)
    return Wanted(
        "task",
        pane,
        source,
        tuple(arguments.program) or None,
        None if arguments.cwd is None else os.path.abspath(arguments.cwd),
        tuple(arguments.env or ()),
        arguments.timeout,
    )


def _submitted(files: OperationFiles, wanted: Wanted) -> tuple[dict[str, Any] | None, bool]:
    """What became of the submission, and whether Ctrl-C came meanwhile: it is decided first."""
    with start(files, wanted) as holder:
        try:
            return read_line(holder), False
        except KeyboardInterrupt:
            return _decided(holder), True


def _decided(holder: socket) -> dict[str, Any] | None:
    try:
        return read_line(holder)
    except KeyboardInterrupt:
        text = "it was asked for and may run: look at the pane"
        raise CommandError(text, INTERRUPTED) from None


def _checked(
    arguments: argparse.Namespace, wanted: Wanted, told: dict[str, Any] | None
) -> dict[str, Any]:
    """Of a submission that was accepted. Raises CommandError for any other."""
    if told is None:
        raise CommandError(
            "UNKNOWN_OUTCOME: the process that asked for it has ended: look at the pane",
            NOT_ITS_OWN,
            "UNKNOWN_OUTCOME",
        )
    if "error" in told:
        raise _refused(arguments, wanted, told["error"])
    return told


def _refused(
    arguments: argparse.Namespace, wanted: Wanted, problem: Mapping[str, Any]
) -> CommandError:
    """With what a person at this command line can do about it."""
    hint = _hint(arguments, wanted, problem)
    return refused({**problem, "message": f"{problem.get('message')}{hint}"})


def _hint(arguments: argparse.Namespace, wanted: Wanted, problem: Mapping[str, Any]) -> str:
    if wanted.kind != "exec":
        return ""
    details = problem.get("details") or {}
    if len(wanted.source or "") > details.get("limit", inf):
        return ": put it in a file, and run that"
    if problem.get("error_code") == "BUSY" and wanted.pane in {own_pane(arguments)} - {None}:
        return "; this command itself runs there: name another pane with --pane"
    if details.get("reason") == "no_integration":
        return " ('termnode task'); bash, zsh and fish take them: 'termnode doctor' tries yours"
    return ""


def _detached(arguments: argparse.Namespace, started: Mapping[str, Any]) -> int:
    if arguments.json:
        print_json({"operation_id": str(started["operation"]), "pane": started["pane"]})
    else:
        print(started["operation"])
    return OK


def _ended(
    following: Following, interrupts: Interrupts, *, interrupted: bool
) -> dict[str, Any] | None:
    """How it ended; None after a second Ctrl-C. Prints what a command writes, as it comes."""
    try:
        told = None if interrupted else _unless_interrupted(following)
        if told is None:
            done = following.cancel()
            again = "; Ctrl-C again stops waiting" if done.get("outcome") == "requested" else ""
            note(f"cancel {words_of(done)}{again}")
            interrupts.answered()
            told = following.told()
    except KeyboardInterrupt:
        return None
    return told


def _unless_interrupted(following: Following) -> dict[str, Any] | None:
    try:
        return following.told()
    except KeyboardInterrupt:
        return None
