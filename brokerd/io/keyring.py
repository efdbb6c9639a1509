"""The keys of other machines as the broker knows them: read again when they may have changed."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from typing import Final

from brokerd.keysdir import KeysDir, KeysError

_SETTLED_NS: Final = 2_000_000_000
"""A directory that changed this recently may change again without a new time of change."""


class Keyring:
    """Who may come in. What cannot be read lets nobody in."""

    def __init__(self, keys: KeysDir, now_ns: Callable[[], int] = time.time_ns) -> None:
        self._keys = keys
        self._now_ns = now_ns
        self._known: Mapping[str, str] = {}
        self._seen: tuple[tuple[int, ...], ...] | None = None

    def name_of(self, key: str) -> str | None:
        """The machine with that public key (Z85), as of now."""
        for name, known in self.names().items():
            if known == key:
                return name
        return None

    def names(self) -> Mapping[str, str]:
        """Public key by name, as of now."""
        seen = self._look()
        if seen is None or seen != self._seen:
            self._known = self._read()
            self._seen = seen
        return self._known

    def _look(self) -> tuple[tuple[int, ...], ...] | None:
        """What tells one state of the directory from another; None when nothing does for now.

        Its files are looked at too: one that is written in place leaves the directory as it is.
        """
        try:
            found = [os.stat(self._keys.path), *self._keys.statuses()]
        except (OSError, KeysError):
            return None
        if self._now_ns() - max(each.st_ctime_ns for each in found) < _SETTLED_NS:
            return None
        return tuple(
            (each.st_dev, each.st_ino, each.st_mtime_ns, each.st_ctime_ns) for each in found
        )

    def _read(self) -> Mapping[str, str]:
        try:
            return self._keys.names()
        except KeysError:
            return {}
