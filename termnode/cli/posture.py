"""``termnode posture``: who may use a running terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brokerd.client import RuntimeDirError, resolve_runtime_dir
from termnode.cli.exits import OK, TRANSPORT, CommandError
from termnode.cli.remote import ask, print_json
from termnode.control import posture
from termnode.service.keeping.instance import InstanceFiles

if TYPE_CHECKING:
    import argparse
    from pathlib import Path


def run(arguments: argparse.Namespace) -> int:
    """Show the posture, or write a new one; the service reads it at its next request."""
    path = _posture_file(arguments)
    if arguments.posture is not None:
        posture.write(path, posture.Posture(arguments.posture))
        ask(arguments, "INFO", {})  # any request makes the service see the flip, and log it
    now = posture.read(path)
    if arguments.json:
        print_json({"name": arguments.name, "posture": str(now)})
    else:
        print(now)
    return OK


def _posture_file(arguments: argparse.Namespace) -> Path:
    try:
        files = InstanceFiles(
            resolve_runtime_dir(arguments.runtime_dir, make=False), arguments.name
        )
    except RuntimeDirError as error:
        raise CommandError(str(error), TRANSPORT) from None
    if files.running() is None:
        raise CommandError(
            f"no service named '{arguments.name}' runs in {files.directory}; "
            f"start it with 'termnode up --name {arguments.name}'",
            TRANSPORT,
        )
    return files.posture
