"""How a program is started so that it is a shell with its integration. Reads nothing but names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

DIRECTORY_VARIABLE: Final = "TERMNODE_SHELL_DIR"
"""Tells the integration where its directory is; it is unset before anything of the person's."""

HERE: Final = Path(__file__).parent
_LOGIN: Final = frozenset(("-l", "--login"))
_PLAIN: Final = _LOGIN | {"-i"}


@dataclass(frozen=True, slots=True)
class Plan:
    """A shell to start: ``kind`` bash, zsh or fish, its whole ``argv`` and its whole ``env``.

    A shell that turns out too old (bash before 5.1, zsh before 5.8, fish before 3.3) runs as ever
    and never says HELLO.
    """

    kind: str
    argv: tuple[str, ...]
    env: dict[str, str]


def plan(argv: Sequence[str], env: Mapping[str, str], directory: Path) -> Plan | None:
    """How to start ``argv`` with its integration, whose directory is ``directory``.

    None for what is no such shell, or has arguments other than -i, -l and --login.
    """
    if not argv or not _PLAIN.issuperset(argv[1:]):
        return None
    name = argv[0].rpartition("/")[2]
    start = _STARTS.get(name)
    if start is None:
        return None
    started, extra = start(tuple(argv), env)
    return Plan(name, started, {**env, **extra, DIRECTORY_VARIABLE: str(directory)})


_Started = tuple[tuple[str, ...], dict[str, str]]


def _bash(argv: tuple[str, ...], env: Mapping[str, str]) -> _Started:
    script = str(HERE / "bash.sh")
    if _LOGIN.isdisjoint(argv):
        return (argv[0], "--rcfile", script, *argv[1:]), {}
    # A login shell reads no rc file, but in POSIX mode it reads ENV and nothing else: the script
    # leaves that mode and reads what a login shell reads, and it is a real login shell.
    options = tuple("-l" if word in _LOGIN else word for word in argv[1:])
    return (argv[0], "--posix", *options), {"ENV": script, **_kept("TERMNODE_ENV", env.get("ENV"))}


def _zsh(argv: tuple[str, ...], env: Mapping[str, str]) -> _Started:
    kept = _kept("TERMNODE_ZDOTDIR", env.get("ZDOTDIR"))
    return argv, {"ZDOTDIR": str(HERE / "zsh"), **kept}


def _fish(argv: tuple[str, ...], env: Mapping[str, str]) -> _Started:
    del env
    quoted = str(HERE / "fish.fish").replace("\\", "\\\\").replace("'", "\\'")
    return (*argv, "-C", f"source '{quoted}'"), {}


def _kept(name: str, value: str | None) -> dict[str, str]:
    return {} if value is None else {name: value}


_STARTS: Final[Mapping[str, Callable[[tuple[str, ...], Mapping[str, str]], _Started]]] = {
    "bash": _bash,
    "zsh": _zsh,
    "fish": _fish,
}
