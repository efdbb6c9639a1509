"""``termnode up``: become the service, or start one in the background."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any, TextIO

import trio

from brokerd.client import BusError, Refusal, RuntimeDirError, resolve_runtime_dir
from termnode.cli.exits import OK, REFUSED, TRANSPORT, CommandError
from termnode.cli.remote import first_error, print_json
from termnode.panehost.client import HostLost
from termnode.service.broker_keeper import BrokerFailed
from termnode.service.config import Config
from termnode.service.instance import AlreadyRunning, InstanceFiles
from termnode.service.main import serve

if TYPE_CHECKING:
    import argparse
    from pathlib import Path


def run(arguments: argparse.Namespace) -> int:
    """Start the service and print its one JSON line when it is ready."""
    try:
        files = InstanceFiles(resolve_runtime_dir(arguments.runtime_dir), arguments.name)
    except RuntimeDirError as error:
        raise CommandError(str(error), TRANSPORT) from None
    if arguments.detach:
        return _detached(arguments, files)
    config = Config.from_environment(
        name=arguments.name,
        directory=files.directory,
        cwd=_directory(),
        environment=dict(os.environ),
        shell=_program(arguments.shell),
        size=arguments.size,
    )
    return _serve(config, arguments.ready_fd)


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
            f"ready. In another terminal: termnode screen{name}, termnode type 'ls' --enter{name}\n"
            "Ctrl-C here ends it and its programs.",
            file=sys.stderr,
        )


def _tell_parent(descriptor: int) -> Any:  # noqa: ANN401  # a callback of serve()
    def tell(ready: dict[str, object]) -> None:
        with os.fdopen(descriptor, "w") as pipe:
            json.dump(ready, pipe)

    return tell


def _program(shell: str | None) -> str | None:
    """An absolute path for a program given by name, so that every pane finds the same one."""
    import shutil

    if shell is None:
        return None
    found = shutil.which(shell)
    if found is None:
        raise CommandError("--shell: there is no such program, or it cannot be executed")
    return os.path.abspath(found)


def _directory() -> str:
    """Where the first program starts: here, or at home when this directory has been removed."""
    try:
        return os.getcwd()
    except FileNotFoundError:
        return os.path.expanduser("~")


def _detached(arguments: argparse.Namespace, files: InstanceFiles) -> int:
    """Start the service as a process of its own, wait until it is ready, print its line."""
    pid = files.running()
    if pid is not None:
        raise CommandError(str(AlreadyRunning(files.name, files.directory, pid)), REFUSED)
    reader, writer = os.pipe()
    with _open_log(files.log) as log:
        with os.fdopen(writer, "w"):
            process = subprocess.Popen(
                _command(arguments, files, writer),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=[writer],
                start_new_session=True,
            )
        with os.fdopen(reader) as pipe:
            line = pipe.read()
        if line:
            print(line)
            return OK
        code = process.wait()
        log.seek(0)
        words = log.read().strip().removeprefix("termnode: ")
    if files.running() is None:
        files.log.unlink(missing_ok=True)
    raise CommandError(
        words or "the service ended before it was ready and did not say why",
        code if code in {REFUSED, TRANSPORT} else REFUSED,
    )


def _open_log(path: Path) -> TextIO:
    try:
        return open(path, "w+", opener=_private)
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}; remove it and try again") from None


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW, 0o600)


def _command(arguments: argparse.Namespace, files: InstanceFiles, ready_fd: int) -> list[str]:
    cols, rows = arguments.size
    # -P: no module is ever taken from the directory that this was called in.
    command = [sys.executable, "-P", "-m", "termnode.cli.main", "up", "--ready-fd", str(ready_fd)]
    command += ["--name", arguments.name, "--runtime-dir", str(files.directory)]
    command += ["--size", f"{cols}x{rows}"]
    return [*command, "--shell", arguments.shell] if arguments.shell else command
