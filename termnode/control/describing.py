"""Fields of the verb tables in words, and the tables of the generated pages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from brokerd.client import ErrorCode, encode
from termnode.control.native.spec import NativeSpec
from termnode.control.spec import U64_MAX, Field, FieldType, VerbSpec

_UNITS: Final = {
    FieldType.INTEGER: "",
    FieldType.DECIMAL: "",
    FieldType.ARGV: " strings",
    FieldType.KEY_NAMES: " keys",
    FieldType.ENVIRONMENT: " variables",
    FieldType.PAIRS: " variables",
}


def described(field: Field) -> dict[str, object]:
    """A field as HELP says it."""
    said: dict[str, object] = {
        "name": field.name,
        "type": str(field.type),
        "required": field.required,
        "doc": field.doc,
    }
    if bounds(field):
        said["bounds"] = bounds(field)
    if field.default is not None:
        said["default"] = field.default
    return said


def bounds(field: Field) -> str:
    """A field's bounds or choices in words; empty when its type says it all."""
    if field.type is FieldType.BOOLEAN:
        return ""
    if field.type in {FieldType.CHOICE, FieldType.CHOICES}:
        return ", ".join(field.choices)
    high = "2^64-1" if field.high == U64_MAX else f"{field.high:,}"
    return f"{field.low} to {high}{_UNITS.get(field.type, ' characters')}"


def row(field: Field) -> list[str]:
    """A field as a row of `FIELD_HEAD`."""
    need = "required" if field.required else "optional"
    if field.default is not None:
        need = f"default {encode(field.default).decode()}"
    return [f"`{field.name}`", f"{field.type}, {need}", bounds(field), field.doc]


FIELD_HEAD: Final = ("field", "type", "bounds", "meaning")


def section(
    head: str,
    spec: VerbSpec | NativeSpec,
    fields: Sequence[Field],
    errors: Iterable[ErrorCode],
    example: str,
) -> str:
    """A verb's section: ``head``, then what its entry has; ``example`` says what that is of."""
    parts = [head]
    if fields:
        parts.append(table(FIELD_HEAD, map(row, fields)))
    parts.append(table(("result", "meaning"), ([f"`{name}`", text] for name, text in spec.result)))
    parts.append(f"Errors: {', '.join(errors)}.\n")
    if spec.limits:
        parts.append(f"Limits: {spec.limits}.\n")
    if spec.example:
        parts.append(f"{example}: `{encode(dict(spec.example)).decode()}`\n")
    return "\n".join(parts)


def table(head: tuple[str, ...], rows: Iterable[list[str]]) -> str:
    """A Markdown table."""
    lines = [_line(head), _line(["---"] * len(head)), *map(_line, rows)]
    return "\n".join(lines) + "\n"


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
