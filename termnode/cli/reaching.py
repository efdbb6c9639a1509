"""Which broker a command talks to: the user's own, another user's, or one of another machine."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from brokerd.client import Bus, connect, connect_node, locate_runtime_dir
from termnode.cli.exits import USAGE, CommandError
from termnode.service.keeping.instance import InstanceFiles

if TYPE_CHECKING:
    import argparse

MAX_KEY_FILE: Final = 4_096
_KEY: Final = re.compile(r"[0-9A-Za-z.\-:+=^!/*?&<>()\[\]{}@%$#]{40}")
"""32 bytes in Z85."""

_CONNECT_S: Final = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """How the broker is reached: by ``shared`` or by ``node``, else in ``runtime_dir``."""

    runtime_dir: str | None = None
    shared: str | None = None
    account: int | str | None = None
    """Whose the broker of ``shared`` may be besides this user's and root's: a uid or a name."""
    node: str | None = None
    server_key: str = ""
    key_file: str = ""

    @property
    def elsewhere(self) -> bool:
        """Whether the service may be one of another user or machine."""
        return self.shared is not None or self.node is not None


def reach(arguments: argparse.Namespace, environment: Mapping[str, str] = os.environ) -> Reach:
    """What the options say, else the environment; a pane's own service goes before the latter.

    Raises CommandError (exit code 2) when something that belongs to it is missing or wrong.
    """
    options = vars(arguments)
    if options.get("node") or options.get("shared") or options["runtime_dir"] is not None:
        return _chosen(options, environment)
    if "node" not in options or "TERMNODE_PANE" in environment:
        return Reach()
    named = {"node": environment.get("COSMIX_NODE"), "shared": environment.get("COSMIX_SHARED_DIR")}
    return _chosen({**options, **named}, environment)


def _chosen(options: Mapping[str, str | None], environment: Mapping[str, str]) -> Reach:
    def given(option: str, variable: str) -> str:
        return options.get(option) or environment.get(variable) or ""

    if node := options.get("node"):
        server_key = _server_key(given("server_key", "COSMIX_NODE_SERVER_KEY"))
        key_file = given("key", "COSMIX_NODE_KEY")
        if not key_file:
            raise CommandError("--node also takes --key FILE; 'brokerd keys new' makes one", USAGE)
        return Reach(node=node, server_key=server_key, key_file=key_file)
    if shared := options.get("shared"):
        return Reach(shared=shared, account=_account(given("account", "COSMIX_BROKER_ACCOUNT")))
    return Reach(runtime_dir=options["runtime_dir"])


def _server_key(given: str) -> str:
    """A public key, or that in a file: it holds characters that shells do not take unquoted."""
    text = given if _KEY.fullmatch(given) else _read(given, "--server-key") if given else ""
    found = _KEY.search(text)
    if found is None:
        raise CommandError(
            "--node also takes --server-key: the public key in the broker's ready line, or a file "
            "that holds it",
            USAGE,
        )
    return found[0]


def _account(given: str) -> int | str | None:
    uid = given.isascii() and given.isdigit() and len(given) < 11
    return int(given) if uid else given or None


def _read(path: str, option: str) -> str:
    try:
        with open(path, encoding="ascii") as file:
            return file.read(MAX_KEY_FILE)
    except (OSError, UnicodeDecodeError):
        raise CommandError(f"{option}: there is no key to be read there", USAGE) from None


def secret_key(path: str) -> str:
    """The secret key in a file that nobody else may read. Raises CommandError (exit code 2)."""
    text = _read(path, "--key")
    if stat.S_IMODE(os.stat(path).st_mode) & 0o077:
        raise CommandError("--key: others may read that file; chmod 600 it", USAGE)
    found = _KEY.search(text)
    if found is None:
        raise CommandError("--key: that file holds no key; 'brokerd keys new' makes one", USAGE)
    return found[0]


@asynccontextmanager
async def open_bus(where: Reach) -> AsyncIterator[Bus]:
    """A connection to that broker. Raises as `brokerd.client.connect`, and CommandError."""
    async with AsyncExitStack() as stack:
        try:
            bus = await stack.enter_async_context(_connection(where))
        except ValueError as error:  # names the argument, and tells what it takes
            raise CommandError(f"no broker can be named so: {error}", USAGE) from None
        yield bus


def _connection(where: Reach) -> AbstractAsyncContextManager[Bus]:
    if where.node is not None:
        return connect_node(
            where.node,
            server_key=where.server_key,
            secret_key=secret_key(where.key_file),
            timeout=_CONNECT_S,
        )
    if where.shared is not None:
        return connect(shared=where.shared, account=where.account)
    return connect(where.runtime_dir)


def own_files(where: Reach, name: str) -> InstanceFiles | None:
    """The files of the service, when it is one of this user's own; None elsewhere."""
    if where.elsewhere:
        return None
    return InstanceFiles(locate_runtime_dir(where.runtime_dir), name)


def not_connected(where: Reach, name: str) -> str:
    """What a person is told when no broker answers."""
    if where.node is not None:
        return (
            "no broker answers at that endpoint, or not to this key: 'brokerd keys allow' "
            "there lets it in"
        )
    files = own_files(where, name)
    if files is None:
        return "no broker answers there; its owner starts one with 'brokerd --shared DIR'"
    if files.running() is not None:
        return f"'{name}' runs, and its broker is being started again: try again"
    return (
        "no broker answers here; start a terminal with 'termnode up', or name its directory with "
        "--runtime-dir"
    )
