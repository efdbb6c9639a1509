"""Messages between Term and the pane host: one msgpack map per SOCK_SEQPACKET record.

Text is UTF-8 with surrogate escapes, so that a path or an environment value of any bytes passes
through unchanged.
"""

from __future__ import annotations

import os
import resource
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Self, TypeGuard

from termnode.sideprocess import records

MAX_MESSAGE: Final = 192 * 1024
"""Bytes of one encoded message (specs/pane-host.md)."""

MAX_CHILDREN: Final = 4_096
"""Programs one host keeps; the kernel's usual limit of pseudo-terminals is the same."""

MAX_CELLS: Final = 65_535
"""Columns or rows that the kernel's window size can hold."""

Message = records.Record


class Failure(Exception):
    """A request that was refused, as it goes over the wire.

    ``code`` is NOT_FOUND, INVALID_ARGUMENT or RESOURCE_LIMIT; ``details`` holds names of fields
    and reasons, never values.
    """

    def __init__(self, code: str, message: str, **details: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.details: dict[str, str] = details


@dataclass(frozen=True, slots=True)
class UserSettings:
    """What Term changes in its own process and a user's program must get back.

    ``capture`` it before Term sets its own umask and raises its descriptor limit.
    """

    umask: int
    nofile: tuple[int, int]
    """Soft and hard RLIMIT_NOFILE."""

    @classmethod
    def capture(cls) -> Self:
        """Read the settings of this process (umask can only be read by setting it)."""
        umask = os.umask(0o077)
        os.umask(umask)
        return cls(umask, resource.getrlimit(resource.RLIMIT_NOFILE))


@dataclass(frozen=True, slots=True)
class ExitStatus:
    """How a program ended, from its wait status: exactly one of ``code`` and ``signal`` is set."""

    code: int | None
    signal: int | None
    core: bool = False


@dataclass(frozen=True, slots=True)
class SpawnRequest:
    """A checked request for a program on a new pseudo-terminal."""

    argv: list[str]
    cwd: str
    env: dict[str, str]
    cols: int
    rows: int

    @classmethod
    def from_message(cls, message: Mapping[str, Any]) -> Self:
        """Check the shape; raise Failure(INVALID_ARGUMENT) that names the field."""
        for field, check in _SPAWN_CHECKS.items():
            if not check(message.get(field)):
                raise Failure("INVALID_ARGUMENT", _SPAWN_HINTS[field], field=field)
        return cls(**{field: message[field] for field in _SPAWN_CHECKS})


def encode(message: Mapping[str, Any]) -> bytes:
    """Encode one message; raise RecordTooLarge over MAX_MESSAGE bytes."""
    return records.encode(message, MAX_MESSAGE)


def decode(data: bytes) -> Message:
    """Decode one message; raise RecordError unless it is a map with a text ``type``."""
    return records.decode(data, MAX_MESSAGE)


def is_int(value: object) -> TypeGuard[int]:
    """Whether ``value`` is an integer, and not a bool as Python would have it."""
    return isinstance(value, int) and not isinstance(value, bool)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and "\0" not in value


def _is_argv(value: object) -> bool:
    return isinstance(value, list) and bool(value and value[0]) and all(map(_is_text, value))


def _is_cwd(value: object) -> bool:
    return _is_text(value) and str(value).startswith("/")


def _is_env(value: object) -> bool:
    return isinstance(value, dict) and all(
        _is_text(name) and name and "=" not in name and _is_text(text)
        for name, text in value.items()
    )


def _is_cells(value: object) -> bool:
    return is_int(value) and 1 <= value <= MAX_CELLS


_SPAWN_CHECKS: Final = {
    "argv": _is_argv,
    "cwd": _is_cwd,
    "env": _is_env,
    "cols": _is_cells,
    "rows": _is_cells,
}

_SPAWN_HINTS: Final = {
    "argv": "argv is a list of texts without NUL that starts with a program: give one",
    "cwd": "cwd is an absolute path without NUL: give one",
    "env": "env maps names without '=' to texts, all without NUL: remove the others",
    "cols": f"cols is a number from 1 to {MAX_CELLS}: give one",
    "rows": f"rows is a number from 1 to {MAX_CELLS}: give one",
}
