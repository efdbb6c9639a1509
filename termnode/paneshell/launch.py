"""What a sidecar is started with, and how its process ends: values, checked where they arrive."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Self

MAX_PATH: Final = 4_096
"""Bytes of a path; the kernel takes no longer one."""


class BadLaunch(Exception):
    """A launch that cannot be carried out; the message names the field, never its value."""


KINDS: Final = frozenset({"bash", "zsh", "fish"})
"""Shells that an integration is there for."""


@dataclass(frozen=True, slots=True)
class ShellFacts:
    """The integration that the pane's shell was started with.

    ``directory`` is its control directory, ``nonce`` what its marks carry, which is not shown.
    """

    kind: str
    directory: str
    nonce: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Launch:
    """One sidecar: where the broker is and which pane it stands for.

    ``tty`` is the path of the pane's terminal, for the one line about a broken launch (None: no
    line there). ``cwd`` is where the shell was started. ``service`` is Term's name on the bus.
    ``shell`` is None for a program without integration.
    """

    runtime_dir: str
    pane: int
    tty: str | None
    shell_pid: int
    cwd: str
    service: str
    shell: ShellFacts | None = None

    def to_record(self) -> dict[str, Any]:
        """The fields, by name."""
        return asdict(self)

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Self:
        """The launch in a record. Raises BadLaunch that names the first wrong field."""
        for name, check in _CHECKS.items():
            if not check(record.get(name)):
                raise BadLaunch(f"the launch of a pane shell has no usable {name}: give one")
        given = {name: record[name] for name in _CHECKS}
        return cls(**given, shell=_shell(record.get("shell")))


@dataclass(frozen=True, slots=True)
class Ended:
    """How a sidecar's process ended: exactly one of ``code`` and ``signal`` is set."""

    code: int | None
    signal: int | None


def _shell(value: object) -> ShellFacts | None:
    """The integration in a record. Raises BadLaunch."""
    if value is None:
        return None
    fields = value if isinstance(value, dict) else {}
    kind, directory, nonce = (fields.get(name) for name in ("kind", "directory", "nonce"))
    sound = kind in KINDS and _is_path(directory) and isinstance(nonce, str) and len(nonce) <= 64
    if len(fields) != 3 or not sound:
        raise BadLaunch("the launch of a pane shell has no usable shell: give one")
    return ShellFacts(str(kind), str(directory), str(nonce))


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
