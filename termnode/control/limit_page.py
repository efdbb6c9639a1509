"""`specs/limits.md`, made from the modules in which the limits stand, with what is said there."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from types import ModuleType
from typing import Final

from brokerd.client import DEFAULTS
from termnode.control import audit, limits, retry
from termnode.control.describing import table
from termnode.control.native import actors, ledger
from termnode.control.native import limits as native

Row = tuple[str, object, str]

_INTRO: Final = (
    "# The limits\n\n"
    "Made by `python -m termnode.control.docs` from the modules in which they stand; do not edit. "
    "They are defaults: each can be set to another value where its part is made. A name that ends "
    "in `ms` is in milliseconds, in `s` in seconds; what is no size is a count. Where no "
    "meaning is given the name says it.\n"
)

_SECTIONS: Final[tuple[tuple[str, tuple[ModuleType, ...]], ...]] = (
    ("The native lane", (native, ledger, actors)),
    ("The global lane", (limits, retry, audit)),
)


def limits_markdown() -> str:
    """`specs/limits.md`."""
    broker = sys.modules[type(DEFAULTS).__module__]
    parts = [_INTRO]
    for title, modules in _SECTIONS:
        rows = (each for module in modules for each in _constants(module))
        parts.append(f"## {title}\n\n{_table(rows)}")
    parts.append(f"## The bus\n\n{_table((*_constants(broker), *_fields(DEFAULTS)))}")
    parts.append(f"## Verified sessions\n\n{_table(_fields(DEFAULTS.sessions))}")
    return "\n".join(parts)


def _constants(module: ModuleType) -> Iterator[Row]:
    """The numbers that a module sets, by their public names."""
    for name, doc in _documented(inspect.getsource(module)):
        value = getattr(module, name)
        if not name.startswith("_") and _is_number(value):
            yield name, value, doc


def _fields(values: object) -> Iterator[Row]:
    """The numbers in an instance of a dataclass."""
    assert is_dataclass(values), "limits are fields of dataclasses"
    docs = dict(_documented(inspect.cleandoc(inspect.getsource(type(values)))))
    for field in fields(values):
        value = getattr(values, field.name)
        if _is_number(value):
            yield field.name, value, docs[field.name]


def _documented(source: str) -> Iterator[tuple[str, str]]:
    """Names that the source annotates with a value, and the string under each; else ''."""
    body = _body(ast.parse(source))
    for statement, following in zip(body, [*body[1:], None], strict=True):
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            yield statement.target.id, _text(following)


def _body(tree: ast.Module) -> list[ast.stmt]:
    """Of the module, or of the class that it begins with."""
    first = tree.body[0]
    return first.body if isinstance(first, ast.ClassDef) else tree.body


def _text(statement: ast.stmt | None) -> str:
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        return inspect.cleandoc(str(statement.value.value)).replace("\n", " ")
    return ""


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _table(rows: Iterable[Row]) -> str:
    return table(
        ("limit", "value", "meaning"),
        ([f"`{name.lower()}`", _number(value), doc] for name, value, doc in rows),
    )


def _number(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,g}"
