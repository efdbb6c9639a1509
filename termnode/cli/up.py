"""``termnode up``: become the service, or start one in the background and attach to it."""

from __future__ import annotations

import logging
import os
import sys
from typing import TYPE_CHECKING, Any

import trio

from brokerd.client import BusError, Refusal, RuntimeDirError, resolve_runtime_dir
from termnode.cli.attach import View, attach_to, person_terminal, tab_size, ticket_of
from termnode.cli.exits import OK, REFUSED, TRANSPORT, USAGE, CommandError
from termnode.cli.explaining import first_error
from termnode.cli.mirror import refuse_own_pane
from termnode.cli.remote import json_line, print_json
from termnode.cli.starting import DEFAULT_SIZE, start
from termnode.panehost.client import HostLost
from termnode.service.config import Config
from termnode.service.keeping.broker_keeper import BrokerFailed
from termnode.service.keeping.instance import AlreadyRunning, InstanceFiles
from termnode.service.main import serve

if TYPE_CHECKING:
    import argparse


def run(arguments: argparse.Namespace) -> int:
    """Start the service and print its one JSON line when it is ready."""
    try:
        files = InstanceFiles(resolve_runtime_dir(arguments.runtime_dir), arguments.name)
    except RuntimeDirError as error:
        raise CommandError(str(error), TRANSPORT) from None
    if arguments.ready_fd is None and (arguments.detach or _for_a_person(arguments)):
        return _in_background(arguments, files)
    config = Config.from_environment(
        name=arguments.name,
        directory=files.directory,
        cwd=_directory(),
        environment=dict(os.environ),
        shell=_program(arguments.shell),
        size=arguments.size or DEFAULT_SIZE,
        integration=not arguments.no_integration,
        detached=arguments.ready_fd is not None,
        while_fd=arguments.while_fd,
    )
    return _serve(config, arguments.ready_fd)


def _for_a_person(arguments: argparse.Namespace) -> bool:
    """Whether somebody sits at a terminal who will want to see it."""
    return not arguments.foreground and person_terminal()


def _in_background(arguments: argparse.Namespace, files: InstanceFiles) -> int:
    """Start it as a process of its own; then say that it is ready, or attach to it."""
    attaches = not arguments.detach
    if attaches:
        refuse_own_pane(arguments, files, force=False)
    size = arguments.size or (tab_size() if attaches else DEFAULT_SIZE)
    ready = start(files, size, arguments.shell, integration=not arguments.no_integration)
    if not attaches:
        print(ready.line)
        return OK
    if arguments.json:
        print(ready.line, flush=True)
    return attach_to(arguments, files, View(ticket=ticket_of(ready)))


def _serve(config: Config, ready_fd: int | None) -> int:
    logging.basicConfig(format="%(asctime)s %(name)s: %(message)s", level=logging.WARNING)
    tell = _tell_parent(ready_fd) if ready_fd is not None else _tell_person
    try:
        trio.run(serve, config, tell)
    except Exception as error:  # noqa: BLE001  # explained here, or raised again as it is
        raise _explain(first_error(error)) from None
    return OK


def _explain(error: BaseException) -> BaseException:
    """Known reasons become a message and an exit code; anything else keeps its traceback."""
    if isinstance(error, AlreadyRunning):
        return CommandError(str(error), REFUSED)
    if isinstance(error, Refusal):
        return CommandError(f"the first tab could not be opened: {error.message}", REFUSED)
    if isinstance(error, OSError) and error.filename is not None:
        return CommandError(f"{error.filename}: {error.strerror}; correct that, or remove it")
    if isinstance(error, (BusError, BrokerFailed, HostLost)):
        return CommandError(str(error), TRANSPORT)
    return error


def _tell_person(ready: dict[str, object]) -> None:
    print_json(ready)
    sys.stdout.flush()
    if sys.stderr.isatty():
        name = "" if ready["name"] == "term" else f" --name {ready['name']}"
        print(
            f"ready. In another terminal: termnode attach{name}, termnode screen{name}, "
            f"termnode type 'ls' --enter{name}\n"
            "Ctrl-C here ends it and its programs.",
            file=sys.stderr,
        )


def _tell_parent(descriptor: int) -> Any:  # noqa: ANN401  # a callback of serve()
    def tell(ready: dict[str, object]) -> None:
        with os.fdopen(descriptor, "w", errors="replace") as pipe:
            pipe.write(json_line(ready))

    return tell


def _program(shell: str | None) -> str | None:
    """An absolute path for a program given by name, so that every pane finds the same one."""
    import shutil

    if shell is None:
        return None
    found = shutil.which(shell)
    if found is None:
        raise CommandError(
            f"--shell: '{shell}' is no program that can be executed; name one, without arguments",
            USAGE,
        )
    return os.path.abspath(found)


def _directory() -> str:
    """Where the first program starts: here, or at home when this directory has been removed."""
    try:
        return os.getcwd()
    except FileNotFoundError:
        return os.path.expanduser("~")
