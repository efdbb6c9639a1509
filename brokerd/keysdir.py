"""The directory of keys: which other machines may come in, and who this broker is to them.

One text file per machine, ``NAME.pub``, with its public key (CURVE, 40 characters of Z85); the
broker's own secret is ``server.key``, mode 0600. The directory must be ours or root's and not
writable by others: whoever can write to it decides who comes in.
"""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from brokerd.curvekeys import is_key, new_pair
from brokerd.wire import NODE_NAME

SUFFIX: Final = ".pub"
SECRET_SUFFIX: Final = ".secret"
SERVER: Final = "server.key"
MAX_NAMES: Final = 1_024
_MAX_FILE_BYTES: Final = 256


class KeysError(Exception):
    """A key or the directory cannot be used; the message says why and what to do."""


def default_directory(environment: Mapping[str, str] = os.environ) -> Path:
    """``cosmix/keys`` in the user's configuration directory."""
    base = environment.get("XDG_CONFIG_HOME", "")
    # A relative one is to be ignored (XDG base directory rules).
    root = Path(base) if os.path.isabs(base) else Path(environment.get("HOME") or "/") / ".config"
    return root / "cosmix" / "keys"


class KeysDir:
    """The keys in ``path``, read from disk at each call. Raises KeysError everywhere."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def names(self) -> dict[str, str]:
        """Public key by name; files that hold none, or of no proper name, are passed over."""
        self._check()
        found: dict[str, str] = {}
        for name in sorted(self._listed()):
            key = _read(self.path / (name + SUFFIX))
            if key is not None:
                found[name] = key
        return found

    def statuses(self) -> list[os.stat_result]:
        """What the file system says of each file that ``names`` reads, in one order."""
        found = []
        for name in self._listed():
            # One that was removed meanwhile changes the directory itself.
            with contextlib.suppress(OSError):
                found.append(os.lstat(self.path / (name + SUFFIX)))
        return found

    def allow(self, name: str, key: str) -> None:
        """Let the machine with that key in under ``name``; the same again is no error."""
        if not is_key(key):
            raise KeysError("that is not a public key; give the 40 characters `keys new` printed")
        self.make()
        names = self.names()
        if names.get(name) == key:
            return
        if name in names:
            raise KeysError(f"{name} has another key; revoke it first: brokerd keys revoke {name}")
        if key in names.values():
            raise KeysError("that key is there under another name; see: brokerd keys list")
        if len(names) >= MAX_NAMES:
            raise KeysError(f"there are {MAX_NAMES} keys, the most; revoke some first")
        self._replace(self.path / (name + SUFFIX), key, 0o644)

    def revoke(self, name: str) -> bool:
        """Let that machine in no more; False when it was not known."""
        self._check()
        try:
            (self.path / (name + SUFFIX)).unlink()
        except FileNotFoundError:
            return False
        except OSError as error:
            raise KeysError(f"the key of {name} cannot be removed ({error.strerror})") from None
        return True

    def new_secret(self, name: str) -> tuple[Path, str]:
        """Make a key pair: where its secret is (a new file, 0600), and the public key."""
        self.make()
        return self._new_secret(self.path / (name + SECRET_SUFFIX))

    def server_secret(self) -> str:
        """The broker's own secret key, made at first use."""
        self.make()
        path = self.path / SERVER
        if not os.path.lexists(path):
            self._new_secret(path)
        return read_secret(path)

    def make(self) -> None:
        """Make the directory, 0700, when it is missing; it is checked in any case."""
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.path.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise KeysError(f"{self.path} cannot be made ({error.strerror})") from None
        self._check()

    def _new_secret(self, path: Path) -> tuple[Path, str]:
        if os.path.lexists(path):
            raise KeysError(f"{path} is there already; use it, or move it away and try again")
        public, secret = new_pair()
        self._replace(path, secret, 0o600)
        return path, public

    def _check(self) -> None:
        try:
            status = os.stat(self.path, follow_symlinks=False)
        except OSError as error:
            raise KeysError(f"{self.path} cannot be read ({error.strerror})") from None
        if not stat.S_ISDIR(status.st_mode):
            raise KeysError(f"{self.path} is not a directory; name another one")
        if status.st_uid not in (os.geteuid(), 0):
            raise KeysError(f"{self.path} belongs to another user; name a directory of your own")
        if status.st_mode & 0o022:
            raise KeysError(f"{self.path} can be written by others; run: chmod go-w {self.path}")

    def _listed(self) -> Iterable[str]:
        try:
            with os.scandir(self.path) as entries:
                files = [entry.name for entry in entries if entry.name.endswith(SUFFIX)]
        except OSError as error:
            raise KeysError(f"{self.path} cannot be read ({error.strerror})") from None
        names = (file.removesuffix(SUFFIX) for file in sorted(files)[:MAX_NAMES])
        return [name for name in names if NODE_NAME.fullmatch(name)]

    def _replace(self, path: Path, text: str, mode: int) -> None:
        """Write a file that is there whole or not at all; the directory's time tells of it."""
        try:
            descriptor, temporary = tempfile.mkstemp(prefix=".new-", dir=self.path)
            with os.fdopen(descriptor, "w") as file:
                os.fchmod(descriptor, mode)
                file.write(text + "\n")
            os.replace(temporary, path)
        except OSError as error:
            raise KeysError(f"{path} cannot be written ({error.strerror})") from None


def read_secret(path: Path) -> str:
    """The secret key in a file of one's own that is closed to others. Raises KeysError."""
    _check_secret(path)
    secret = _read(path)
    if secret is None:
        raise KeysError(f"{path} holds no key; make one with: brokerd keys new")
    return secret


def _check_secret(path: Path) -> None:
    try:
        status = os.stat(path)
    except OSError as error:
        raise KeysError(f"{path} cannot be read ({error.strerror})") from None
    if status.st_uid not in (os.geteuid(), 0) or status.st_mode & 0o077:
        raise KeysError(f"{path} is open to others; run: chmod 600 {path}")


def _read(path: Path) -> str | None:
    """The key in a file, or None for any file that does not hold exactly one."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        data = os.read(descriptor, _MAX_FILE_BYTES)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    text = data.decode("ascii", "replace").strip()
    return text if is_key(text) else None
