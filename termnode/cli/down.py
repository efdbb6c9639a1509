"""``termnode down``: end one service, and only that one."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
from typing import TYPE_CHECKING, Final

import trio

from brokerd.client import RuntimeDirError, resolve_runtime_dir
from termnode.cli.exits import OK, TRANSPORT, CommandError
from termnode.cli.remote import print_json
from termnode.service.keeping.broker_retire import retire_if_unused
from termnode.service.keeping.instance import AlreadyRunning, InstanceFiles

if TYPE_CHECKING:
    import argparse

GRACE_S: Final = 15.0
"""A service hangs its programs up, waits for them and ends its broker: seconds, as a rule one."""


def run(arguments: argparse.Namespace) -> int:
    """End the service and wait until it is gone; also clears up after one that was killed."""
    try:
        files = InstanceFiles(
            resolve_runtime_dir(arguments.runtime_dir, make=False), arguments.name
        )
    except RuntimeDirError as error:
        raise CommandError(str(error), TRANSPORT) from None
    ended = _end(files)
    left = _clear_up(files)
    if not (ended or left):
        raise CommandError(f"no service named '{files.name}' runs in {files.directory}", TRANSPORT)
    if arguments.json:
        print_json({"name": files.name, "ended": ended})
    elif sys.stdout.isatty():
        print(f"'{files.name}' has ended" if ended else f"cleared up after '{files.name}'")
    return OK


def _end(files: InstanceFiles) -> bool:
    """SIGTERM, and SIGKILL if it does not end; False when there was none."""
    found = files.open_process()
    if found is None:
        return False
    _pid, descriptor = found
    try:
        for number in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError):  # it ended just now: then it is readable
                signal.pidfd_send_signal(descriptor, number)
                signal.pidfd_send_signal(descriptor, signal.SIGCONT)  # were it stopped
            if select.select([descriptor], [], [], GRACE_S)[0]:
                return True
    finally:
        os.close(descriptor)
    raise CommandError("the service does not end, not even when killed; see its process state")


def _clear_up(files: InstanceFiles) -> bool:
    """Remove what a killed service left; whether there was anything.

    Under the lock: another service of this name may be starting, and its files are its own.
    """
    left = files.lock.exists()
    try:
        lock = files.acquire()
    except AlreadyRunning:
        return False
    files.clean()
    lock.release()
    trio.run(retire_if_unused, files.directory)
    return left
