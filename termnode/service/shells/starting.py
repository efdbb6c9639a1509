"""A pane's program as it is started: a shell that can have an integration gets it, others nothing.

Each such program has a control directory of its own, made before it starts and removed after its
end. What is left of a service that was killed is removed when its successor starts.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from termnode.paneshell.integration import ShellDir, plan
from termnode.paneshell.launch import ShellFacts


@dataclass(slots=True)
class Integration:
    """The integration of one program; ``close`` it once the program has ended."""

    kind: str
    directory: ShellDir

    @property
    def facts(self) -> ShellFacts:
        """As the pane's sidecar is told it."""
        return ShellFacts(self.kind, str(self.directory.path), self.directory.nonce)

    def close(self) -> None:
        """Remove the directory, and with the last one what they are in. Again is no error."""
        self.directory.close()
        with suppress(OSError):  # others are in it
            self.directory.path.parent.rmdir()


@dataclass(frozen=True, slots=True)
class Prepared:
    """What to exec really; ``integration`` is None when the program is started as it is."""

    argv: tuple[str, ...]
    environment: Mapping[str, str] = field(repr=False)
    integration: Integration | None = None

    def close(self) -> None:
        """It is not started after all."""
        if self.integration is not None:
            self.integration.close()


def shells_directory(directory: Path, service: str) -> Path:
    """Where the control directories of a service's shells are."""
    return directory / f"{service}.shells"


def prepare(argv: Sequence[str], environment: Mapping[str, str], parent: Path | None) -> Prepared:
    """How to start a program; ``parent`` is where control directories go, None for no integration.

    A shell whose directory cannot be made is started without: the person gets their shell.
    """
    as_it_is = Prepared(tuple(argv), environment)
    if parent is None or plan(argv, environment, parent) is None:
        return as_it_is
    try:
        parent.mkdir(mode=0o700, exist_ok=True)
        directory = ShellDir.make(parent)
    except OSError:
        return as_it_is
    planned = plan(argv, environment, directory.path)
    if planned is None:
        Integration("", directory).close()
        return as_it_is
    return Prepared(planned.argv, planned.env, Integration(planned.kind, directory))


def sweep(parent: Path) -> None:
    """Remove what a service that was killed left there; only for who holds the instance's lock."""
    shutil.rmtree(parent, ignore_errors=True)
