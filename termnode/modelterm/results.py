"""What the primitives take and give back: settings, a screen as shown, a refusal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from brokerd.client import ErrorCode
from termnode.modelterm.limits import Limits


class TermError(Exception):
    """A refusal: ``code`` is one of specs/errors.md, ``message`` says what to do instead.

    It never repeats what was typed.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = str(code)
        self.message = message


def wrong(message: str) -> TermError:
    """INVALID_ARGUMENT: what to write instead."""
    return TermError(ErrorCode.INVALID_ARGUMENT, message)


@dataclass(frozen=True, slots=True)
class Settings:
    """Of one set of terminals.

    Programs start in ``root`` (`find_root`) with what `clean` keeps of ``environment``. The service
    is that called ``name`` in ``runtime_dir`` (None: as ``environment`` says, else the user's own);
    when none runs there, a private one. ``call_log`` is a file for one line a call. ``place`` is
    where the set's own directories are made: a short path, since there will be sockets in them.
    """

    root: Path
    environment: Mapping[str, str]
    runtime_dir: Path | None = None
    name: str = "term"
    call_log: Path | None = None
    limits: Limits = field(default_factory=Limits)
    place: Path = Path("/tmp")


@dataclass(frozen=True, slots=True)
class Shown:
    """What the model is shown of a terminal: ``text``, and the facts in it.

    ``state`` is running, exited N, killed by SIG, or closed. ``cursor`` is (row, column) from 1.
    ``person_typed``: a person typed there since the model's last look. ``changed`` are the rows
    that changed since the revision asked for, from 1; None when all rows are given.
    """

    text: str
    id: str
    state: str
    cols: int
    rows: int
    cursor: tuple[int, int]
    full_screen: bool
    revision: int
    person_typed: bool = False
    changed: tuple[int, ...] | None = None
