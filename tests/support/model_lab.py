"""A model's terminals for tests: a home of their own, and a bounded run."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import trio

from termnode.modelterm import Limits, Settings, Shown, Terminals, open_terminals
from tests.support.termnode_process import DEADLINE_S

CAT = ["sh", "-c", "printf '\\033[H'; exec cat"]
"""cat that shows at once that it is there: who shows nothing is waited for a second."""

PYTHON = [sys.executable, "-S", "-c"]


@contextmanager
def model_home() -> Iterator[Path]:
    """A short directory that is HOME, and where no service runs."""
    home = Path(tempfile.mkdtemp(prefix="tmh-", dir="/tmp"))
    try:
        yield home
    finally:
        shutil.rmtree(home, ignore_errors=True)


def settings(home: Path, runtime: Path | None = None, **limits: float) -> Settings:
    """Of a set whose programs start in ``home``; ``runtime`` is where a service may run."""
    made = Limits(**limits)  # type: ignore[arg-type]  # floats where floats are
    runtime = runtime or home / "none"
    return Settings(home, environment(home), runtime, limits=made, place=place(home))


def place(home: Path) -> Path:
    """Where the set's directories are made."""
    made = home / "p"
    made.mkdir(exist_ok=True)
    return made


def environment(home: Path) -> dict[str, str]:
    """What a server would be started with; none of it is a person's own."""
    emulator = os.environ.get("TERMNODE_EMULATOR")
    chosen = {} if emulator is None else {"TERMNODE_EMULATOR": emulator}
    return {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8", **chosen}


def drive(given: Settings, body: Callable[[Terminals], Awaitable[None]]) -> None:
    """Run the body with a set of terminals, and fail it when it takes too long."""

    async def main() -> None:
        with trio.fail_after(DEADLINE_S * 3):
            async with open_terminals(given) as terminals:
                await body(terminals)

    trio.run(main)


def rows(shown: Shown) -> list[str]:
    """The rows of a screen as the model reads them, without their numbers; blanks folded out."""
    lines = shown.text.split("\n")[2:]
    return [line.partition("|")[2] for line in lines if not line.lstrip().startswith("~|")]


async def shows(terminals: Terminals, id_: str, pattern: str) -> Shown:
    """The screen once a row matches."""
    how, shown = await terminals.wait(id_, 30, pattern)
    assert how == "matched", (how, shown.text)
    return shown
