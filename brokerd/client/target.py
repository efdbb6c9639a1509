"""Where a broker is, and how to know that it is the right one."""

from __future__ import annotations

import os
import pwd
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Final, Protocol

import zmq

from brokerd.client.errors import NotConnected
from brokerd.client.watch import check_listening, check_owner
from brokerd.curvekeys import is_key, public_of
from brokerd.rundir import RuntimeDirMissing, check_shared, resolve, socket_path

_TCP: Final = re.compile(r"tcp://[^\s/;]{1,255}:[0-9]{1,5}", re.ASCII)
_HEARTBEAT_MS: Final = 5_000
_SILENCE_MS: Final = 15_000
"""A broker on another machine that is silent for so long is lost."""


class Target(Protocol):
    """A place to connect to."""

    endpoint: str
    options: Mapping[int, int | bytes]
    """Of the socket, on top of those that every one has."""
    seen: bool
    """Whether ``look`` tells what cannot be connected to; else a failure must be watched for."""

    def look(self) -> int | None:
        """The listener's pid, if it is known. Raises NotConnected, RuntimeDirError."""

    def judge(self, frame: zmq.Frame) -> int | None:
        """The broker's pid, if it is known, from its first message. Raises ForeignBroker."""


class LocalTarget:
    """A broker's socket on this machine; ``owners`` are the uids it may belong to."""

    seen = True

    def __init__(self, path: Path, owners: Collection[int] | None = None) -> None:
        self.endpoint = f"ipc://{path}"
        self.options: Mapping[int, int | bytes] = {}
        self._path = path
        self._owners = (os.geteuid(), 0) if owners is None else owners

    def look(self) -> int | None:
        """The listener's pid. Raises NotConnected."""
        return check_listening(self._path)

    def judge(self, frame: zmq.Frame) -> int | None:
        """The broker's pid, when one of the owners runs it. Raises ForeignBroker."""
        return check_owner(str(frame.get("Peer-Address") or ""), self._owners)


class SharedTarget(LocalTarget):
    """The socket in a directory that a broker shares; looked at again for each connection."""

    def __init__(self, directory: str | os.PathLike[str], account: int | str | None) -> None:
        self._directory = Path(directory).absolute()
        super().__init__(socket_path(self._directory), owners(account))

    def look(self) -> int | None:
        """The listener's pid. Raises NotConnected, RuntimeDirError."""
        try:
            check_shared(self._directory, self._owners)
        except RuntimeDirMissing as error:
            raise NotConnected(str(error)) from None
        return super().look()


class NodeTarget:
    """A broker on another machine, known by its key; whoever has not got that is not talked to."""

    seen = False

    def __init__(self, endpoint: str, server_key: str, secret_key: str) -> None:
        if _TCP.fullmatch(endpoint) is None:
            raise ValueError("endpoint: use tcp://HOST:PORT")
        if not is_key(server_key) or not is_key(secret_key):
            raise ValueError("server_key, secret_key: a key is 40 characters of Z85")
        self.endpoint = endpoint
        self.options: Mapping[int, int | bytes] = {
            zmq.CURVE_SERVERKEY: server_key.encode(),
            zmq.CURVE_PUBLICKEY: public_of(secret_key).encode(),
            zmq.CURVE_SECRETKEY: secret_key.encode(),
            zmq.HEARTBEAT_IVL: _HEARTBEAT_MS,
            zmq.HEARTBEAT_TIMEOUT: _SILENCE_MS,
            zmq.HEARTBEAT_TTL: _SILENCE_MS,
            zmq.IPV6: 1,
        }

    def look(self) -> int | None:
        """Nothing can be known before."""
        return None

    def judge(self, _frame: zmq.Frame) -> int | None:
        """Nothing to judge: the handshake has proved the key."""
        return None


def local(runtime_dir: str | os.PathLike[str] | None, *, make: bool) -> LocalTarget:
    """The broker of a runtime directory. Raises NotConnected, RuntimeDirError."""
    try:
        return LocalTarget(socket_path(resolve(runtime_dir, make=make)))
    except RuntimeDirMissing:
        raise NotConnected from None


def owners(account: int | str | None) -> frozenset[int]:
    """Whose a broker may be: root's, this user's, or that account's (a name or a uid).

    Raises ValueError when there is no such account.
    """
    expected = {0, os.geteuid()}
    if isinstance(account, str):
        try:
            account = pwd.getpwnam(account).pw_uid
        except KeyError:
            raise ValueError("account: there is no such user on this machine") from None
    return frozenset(expected if account is None else {*expected, account})
