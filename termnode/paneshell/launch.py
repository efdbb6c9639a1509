"""What a sidecar is started with, and how its process ends: values, checked where they arrive."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, Self

MAX_PATH: Final = 4_096
"""Bytes of a path; the kernel takes no longer one."""


class BadLaunch(Exception):
    """A launch that cannot be carried out; the message names the field, never its value."""


@dataclass(frozen=True, slots=True)
class Launch:
    """One sidecar: where the broker is and which pane it stands for.

    ``tty`` is the path of the pane's terminal, for the one line about a broken launch (None: no
    line there). ``cwd`` is where the shell was started. ``service`` is Term's name on the bus.
    """

    runtime_dir: str
    pane: int
    tty: str | None
    shell_pid: int
    cwd: str
    service: str

    def to_record(self) -> dict[str, Any]:
        """The fields, by name."""
        return asdict(self)

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Self:
        """The launch in a record. Raises BadLaunch that names the first wrong field."""
        for field, check in _CHECKS.items():
            if not check(record.get(field)):
                raise BadLaunch(f"the launch of a pane shell has no usable {field}: give one")
        return cls(**{field: record[field] for field in _CHECKS})


@dataclass(frozen=True, slots=True)
class Ended:
    """How a sidecar's process ended: exactly one of ``code`` and ``signal`` is set."""

    code: int | None
    signal: int | None


def _is_count(value: object) -> bool:
    return type(value) is int and 0 < value < 2**63


def _is_path(value: object) -> bool:
    return (
        isinstance(value, str)
        and value.startswith("/")
        and "\0" not in value
        and len(value.encode("utf-8", "surrogateescape")) <= MAX_PATH
    )


_CHECKS: Final[Mapping[str, Callable[[Any], bool]]] = {
    "runtime_dir": _is_path,
    "pane": _is_count,
    "tty": lambda value: value is None or _is_path(value),
    "shell_pid": _is_count,
    "cwd": _is_path,
    "service": lambda value: isinstance(value, str) and 0 < len(value) <= 63,
}
