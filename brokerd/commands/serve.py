"""``brokerd``: run a broker in the foreground until a signal ends it."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from brokerd import __version__
from brokerd.commands import arguments, settings
from brokerd.io.config import Config, Ready, Tcp
from brokerd.io.server import serve
from brokerd.keysdir import default_directory
from brokerd.rundir import RuntimeDirError

ENDED: Final = 0
CANNOT_START: Final = 3

_STDOUT: Final = 1

_EPILOG: Final = """\
exit codes: 0 ended by SIGTERM, SIGINT or SIGHUP; 2 wrong usage; 3 cannot start (says why)

environment: COSMIX_RUNTIME_DIR, XDG_RUNTIME_DIR and TMPDIR say where the runtime directory is
when --runtime-dir does not; XDG_CONFIG_HOME where the keys of other machines are.

`brokerd keys --help` tells how to let other machines in.

examples: brokerd --runtime-dir ~/.cosmix --json
          brokerd --shared /run/cosmix --tcp tcp://127.0.0.1:7000
"""


def main(argv: Sequence[str]) -> int:
    """Run the command and return its exit code."""
    parser = _parser()
    chosen = parser.parse_args(argv)
    if chosen.tcp and not chosen.tcp_public and not arguments.is_loopback(chosen.tcp):
        parser.error("argument --tcp: other machines can reach that address; add --tcp-public")
    try:
        serve(_config(chosen), lambda ready: _announce(ready, chosen.json, chosen.ready_fd))
    except RuntimeDirError as error:
        return _cannot_start(str(error))
    return ENDED


def _config(chosen: argparse.Namespace) -> Config:
    keys = chosen.tcp_keys or default_directory()
    return Config(
        runtime_dir=chosen.runtime_dir,
        node=chosen.node or arguments.host_name(),
        ephemeral=chosen.ephemeral,
        memory_mb=chosen.memory_mb,
        limits=settings.apply(chosen.set),
        shared=chosen.shared,
        tcp=Tcp(endpoint=chosen.tcp, keys=keys) if chosen.tcp else None,
        observable=frozenset(chosen.observe),
    )


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
    add(
        "--node", type=arguments.node, metavar="NAME", help="this node's name (default: the host's)"
    )
    add("--ephemeral", action="store_true", help="say in broker.info that this broker may be ended")
    add("--json", action="store_true", help="print the ready line as JSON")
    add(
        "--ready-fd",
        type=arguments.descriptor,
        metavar="N",
        help="write the JSON line to descriptor N, close it",
    )
    add(
        "--memory-mb",
        type=arguments.count,
        default=512,
        metavar="N",
        help="end when more memory than this is needed (default: 512; 0: no cap)",
    )
    _add_ways_in(parser)
    _add_tuning(parser)
    add("--version", action="version", version=f"brokerd {__version__}")
    return parser


def _add_ways_in(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--shared", type=Path, metavar="DIR", help="let other users of this machine in, at DIR")
    add(
        "--tcp",
        type=arguments.tcp_endpoint,
        metavar="tcp://ADDRESS:PORT",
        help="let other machines in whose keys are known; port 0 is any",
    )
    add(
        "--tcp-keys",
        type=Path,
        metavar="DIR",
        help="where their keys are (see `brokerd keys`; default: cosmix/keys of the configuration)",
    )
    add("--tcp-public", action="store_true", help="allow an address that is not this machine's own")


def _add_tuning(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--set",
        type=arguments.setting,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="change a limit; may be repeated (a wrong NAME lists them all)",
    )
    add(
        "--observe",
        type=arguments.service,
        action="append",
        default=[],
        metavar="SERVICE",
        help="let broker.observe watch that service; may be repeated",
    )


def _announce(ready: Ready, as_json: bool, descriptor: int | None) -> None:
    line = json.dumps({"ready": True, **dataclasses.asdict(ready)}, separators=(",", ":"))
    words = f"brokerd is ready at {ready.socket} (pid {ready.pid}, node {ready.node})"
    more = [each for each in (ready.shared, ready.tcp) if each is not None]
    _write(_STDOUT, line if as_json else ", and at ".join((words, *more)))
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
