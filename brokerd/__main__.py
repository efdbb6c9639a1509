"""The command ``brokerd``: run a broker in the foreground until a signal ends it."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import json
import os
import re
import socket
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from brokerd import __version__
from brokerd.io.server import Config, Ready, serve
from brokerd.rundir import RuntimeDirError
from brokerd.wire import NODE_NAME

ENDED: Final = 0
CANNOT_START: Final = 3

_STDOUT: Final = 1

_EPILOG: Final = """\
exit codes: 0 ended by SIGTERM, SIGINT or SIGHUP; 2 wrong usage; 3 cannot start (says why)

environment: COSMIX_RUNTIME_DIR, XDG_RUNTIME_DIR and TMPDIR say where the runtime directory is
when --runtime-dir does not.

example: brokerd --runtime-dir ~/.cosmix --json
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    arguments = _parser().parse_args(argv)
    config = Config(
        runtime_dir=arguments.runtime_dir,
        node=arguments.node or _host_name(),
        ephemeral=arguments.ephemeral,
        memory_mb=arguments.memory_mb,
    )
    try:
        serve(config, lambda ready: _announce(ready, arguments.json, arguments.ready_fd))
    except RuntimeDirError as error:
        return _cannot_start(str(error))
    return ENDED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="brokerd",
        description="The mesh broker: says who its peers are, and carries messages between them.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("--runtime-dir", type=Path, metavar="DIR", help="where the socket and the lock are")
    add("--node", type=_node, metavar="NAME", help="this node's name (default: the host's)")
    add("--ephemeral", action="store_true", help="say in broker.info that this broker may be ended")
    add("--json", action="store_true", help="print the ready line as JSON")
    add(
        "--ready-fd",
        type=_descriptor,
        metavar="N",
        help="write the JSON line to descriptor N, close it",
    )
    add(
        "--memory-mb",
        type=_count,
        default=512,
        metavar="N",
        help="end when more memory than this is needed (default: 512; 0: no cap)",
    )
    add("--version", action="version", version=f"brokerd {__version__}")
    return parser


def _node(value: str) -> str:
    if not NODE_NAME.fullmatch(value):
        raise argparse.ArgumentTypeError("use lowercase letters, digits and inner hyphens, 1 to 63")
    return value


def _count(value: str) -> int:
    if not re.fullmatch("[0-9]{1,9}", value):
        raise argparse.ArgumentTypeError("use a number without a sign")
    return int(value)


def _descriptor(value: str) -> int:
    number = _count(value)
    try:
        os.fstat(number)
    except OSError:
        raise argparse.ArgumentTypeError("that descriptor is not open; pass it on") from None
    return number


def _host_name() -> str:
    """The host's name as far as it can be a node's: its first label, without odd characters."""
    label = socket.gethostname().lower().partition(".")[0]
    return re.sub("[^a-z0-9]+", "-", label)[:63].strip("-") or "localhost"


def _announce(ready: Ready, as_json: bool, descriptor: int | None) -> None:
    line = json.dumps({"ready": True, **dataclasses.asdict(ready)}, separators=(",", ":"))
    words = f"brokerd is ready at {ready.socket} (pid {ready.pid}, node {ready.node})"
    _write(_STDOUT, line if as_json else words)
    if descriptor is not None:
        _write(descriptor, line)
        os.close(descriptor)


def _write(descriptor: int, line: str) -> None:
    # A reader that has gone is no reason not to run.
    with contextlib.suppress(OSError):
        os.write(descriptor, f"{line}\n".encode())


def _cannot_start(reason: str) -> int:
    print(f"brokerd: cannot start: {reason}", file=sys.stderr)
    return CANNOT_START


if __name__ == "__main__":
    sys.exit(main())
