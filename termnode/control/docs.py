"""Write the generated pages of `specs/`: ``python -m termnode.control.docs [--check] [DIR]``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from termnode.control.help import errors_markdown, verbs_markdown
from termnode.control.limit_page import limits_markdown

PAGES: Final[Mapping[str, Callable[[], str]]] = {
    "verbs.md": verbs_markdown,
    "errors.md": errors_markdown,
    "limits.md": limits_markdown,
}


def stale(directory: Path) -> list[str]:
    """Names of the pages in ``directory`` that are missing or not what the tables say now."""
    return [name for name, render in PAGES.items() if _content(directory / name) != render()]


def write(directory: Path) -> None:
    """Write every page. Raises OSError."""
    for name, render in PAGES.items():
        (directory / name).write_text(render(), encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the pages, or with ``--check`` name the stale ones; 0 when none is, else 1."""
    parser = argparse.ArgumentParser(prog="python -m termnode.control.docs", description=__doc__)
    parser.add_argument("directory", nargs="?", type=Path, default=Path("specs"))
    parser.add_argument("--check", action="store_true", help="change nothing, name stale pages")
    options = parser.parse_args(arguments)
    if not options.check:
        write(options.directory)
    old = stale(options.directory)
    for name in old:
        sys.stderr.write(f"{name} is stale: run python -m termnode.control.docs\n")
    return 1 if old else 0


def _content(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.exists() else None


if __name__ == "__main__":
    raise SystemExit(main())
