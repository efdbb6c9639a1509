"""Who may import whom, and a reader of source that finds who does not keep to it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]

BELOW = (
    "cli",
    "attach",
    "cast",
    "mcp",
    "modelterm",
    "sync",
    "aio",
    "client",
    "service",
    "view",
    "lanes",
    "control",
    "workspace",
    "terminal",
    "paneshell",
    "panehost",
    "sideprocess",
    "version",
)
"""Parts of termnode, top first: each may import itself and what is below it."""

ONLY = {
    "attach": {"view", "terminal", "control", "version"},
    "cast": {"view", "terminal", "control", "version"},
    "mcp": {"modelterm", "client", "control", "version"},
    "modelterm": {"client", "control", "version"},
    "view": {"terminal"},
    "paneshell": {"sideprocess"},
    "panehost": {"sideprocess"},
    "client": {"control", "version"},
    "sync": {"client", "control", "version"},
    "aio": {"client", "control", "version"},
}
"""Those that stand beside the service, and what alone of what is below them they may import."""

BROKER_SURFACE = "brokerd.client"


def modules(root: Path = ROOT) -> Iterator[tuple[str, str]]:
    """(dotted name, source) of every module of both packages."""
    for package in ("brokerd", "termnode"):
        for path in sorted((root / package).rglob("*.py")):
            parts = path.relative_to(root).with_suffix("").parts
            yield ".".join(part for part in parts if part != "__init__"), path.read_text("utf-8")


def violations(name: str, source: str, *, package: bool = False) -> list[str]:
    """What the module imports and may not; ``package`` for an ``__init__``."""
    return [
        f"{name} imports {target}: {why}"
        for target in imported(name, source, package=package)
        if (why := objection(name, target)) is not None
    ]


def imported(name: str, source: str, *, package: bool = False) -> Iterator[str]:
    """Dotted names that the source imports, anywhere in it, `from` names included."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = _base(name, node, package=package)
            yield from (f"{base}.{alias.name}" for alias in node.names)


def _base(name: str, node: ast.ImportFrom, *, package: bool) -> str:
    if not node.level:
        return node.module or ""
    up = node.level - 1 if package else node.level
    parents = name.split(".")[: len(name.split(".")) - up]
    return ".".join([*parents, *([node.module] if node.module else [])])


def objection(importer: str, target: str) -> str | None:
    """Why ``importer`` may not import ``target``; None when it may."""
    theirs = target.split(".")
    if importer.split(".", maxsplit=1)[0] == "brokerd":
        return "brokerd knows nothing of termnode" if theirs[0] == "termnode" else None
    if theirs[0] == "brokerd":
        return _broker_objection(importer, target)
    return _layer_objection(importer, theirs) if theirs[0] == "termnode" else None


def _broker_objection(importer: str, target: str) -> str | None:
    if layer(importer) in {"panehost", "sideprocess"}:
        return "what starts programs has nothing to do with the broker"
    inside = target.removeprefix(BROKER_SURFACE)
    if inside == target or inside.count(".") > 1 or inside.startswith("._"):
        return f"only the public names of {BROKER_SURFACE} are for others"
    return None


def _layer_objection(importer: str, target: list[str]) -> str | None:
    mine, theirs = layer(importer), target[1] if len(target) > 1 else None
    if mine == theirs:
        return None
    if theirs is None or theirs.startswith("_"):
        return None  # the package itself: its version and the like
    if theirs not in BELOW:
        return f"{theirs} has no place in the order yet: give it one in tests/support/imports.py"
    if mine is None:
        return None  # termnode/__main__ and the like are above everything
    if mine not in BELOW:
        return f"{mine} has no place in the order yet: give it one in tests/support/imports.py"
    fit = BELOW.index(mine) < BELOW.index(theirs) and theirs in ONLY.get(mine, BELOW)
    return None if fit else f"{theirs} is not below {mine}"


def layer(name: str) -> str | None:
    """The part of termnode that a module is in; None for one at the top."""
    parts = name.split(".")
    inside = len(parts) > 1 and (ROOT / "termnode" / parts[1]).is_dir()
    return parts[1] if inside or (len(parts) > 1 and parts[1] in BELOW) else None
