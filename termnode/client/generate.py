"""Writes the classes of ``termnode.sync``: ``python -m termnode.client.generate [--check]``.

They are those of ``termnode.client`` without the words that make them asynchronous, so that there
is one text to write and to read. Needs ruff, for the layout of the lines.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

MODULES: Final = (
    "asking",
    "events",
    "native",
    "native_exec",
    "native_input",
    "native_look",
    "native_operations",
    "native_output",
    "native_pane",
    "pane",
    "pane_input",
    "pane_look",
    "pane_waits",
    "session",
    "tab",
)

_MINE: Final = "|".join((*MODULES, "runner"))

_WORDS: Final = (
    (r"\basync (def|with|for)\b", r"\1"),
    (r"\bawait ", ""),
    (r"\b__a(enter|exit|iter)__\b", r"__\1__"),
    (r"\b__anext__\b", "__next__"),
    (r"\bStopAsyncIteration\b", "StopIteration"),
    (rf"\bfrom termnode\.client\.({_MINE}) import\b", r"from termnode.sync.\1 import"),
)

_NOTE: Final = "# Made from termnode/client/{}.py by python -m termnode.client.generate.\n"

_CLIENT: Final = Path(__file__).parent
_SYNC: Final = _CLIENT.parent / "sync"


def without_async(source: str) -> str:
    """The text of a module without the words that make it asynchronous."""
    for pattern, plain in _WORDS:
        source = re.sub(pattern, plain, source)
    return source


def render(module: str) -> str:
    """What a module of ``termnode.sync`` should hold. Raises OSError, CalledProcessError."""
    source = (_CLIENT / f"{module}.py").read_text(encoding="utf-8")
    return _laid_out(_NOTE.format(module) + without_async(source), _SYNC / f"{module}.py")


def stale() -> list[str]:
    """The modules that are missing or not what they should be."""
    return [module for module in MODULES if _content(module) != render(module)]


def main(arguments: Sequence[str] | None = None) -> int:
    """Write every module, or with ``--check`` name the stale ones; 0 when none is, else 1."""
    parser = argparse.ArgumentParser(prog="python -m termnode.client.generate")
    parser.add_argument("--check", action="store_true", help="change nothing, name stale modules")
    old = stale()
    if not parser.parse_args(arguments).check:
        for module in old:
            (_SYNC / f"{module}.py").write_text(render(module), encoding="utf-8")
        return 0
    for module in old:
        sys.stderr.write(f"termnode/sync/{module}.py is stale\n")
    return 1 if old else 0


def _content(module: str) -> str | None:
    path = _SYNC / f"{module}.py"
    return path.read_text(encoding="utf-8") if path.exists() else None


def _laid_out(source: str, path: Path) -> str:
    """With imports in order and lines of the project's length."""
    for command in (["check", "--fix-only", "--select", "I"], ["format"]):
        source = subprocess.run(
            [sys.executable, "-m", "ruff", *command, "--quiet", "--stdin-filename", str(path), "-"],
            cwd=_CLIENT.parent.parent,
            input=source,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
    return source


if __name__ == "__main__":
    raise SystemExit(main())
