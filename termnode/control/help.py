"""Help, made from the verb table: the bodies of INFO and HELP, and the tables in `specs/`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from brokerd.client import MAX_REQUEST_BODY, MAX_RESPONSE_BODY, MEANINGS, encode
from termnode.control.fields import REQUEST_ID
from termnode.control.limits import MUTATIONS_WAITING, WAITS
from termnode.control.posture import Posture
from termnode.control.retry import DONE
from termnode.control.spec import U64_MAX, Field, FieldType, VerbSpec
from termnode.control.verbs import TABLE, errors_of

_UNITS: Final = {
    FieldType.INTEGER: "",
    FieldType.ARGV: " strings",
    FieldType.KEY_NAMES: " keys",
    FieldType.ENVIRONMENT: " variables",
}


def info_body(info: Mapping[str, object], posture: Posture) -> dict[str, object]:
    """The body of INFO: what the service says of itself, its posture, verbs and limits."""
    return {
        **info,
        "posture": str(posture),
        "verbs": [spec.name for spec in TABLE],
        "limits": {
            "request_bytes": MAX_REQUEST_BODY,
            "response_bytes": MAX_RESPONSE_BODY,
            "mutations": MUTATIONS_WAITING,
            "waits": WAITS,
            "remembered": DONE,
        },
    }


def help_body() -> dict[str, object]:
    """The body of HELP: the whole table."""
    return {
        "verbs": [_verb(spec) for spec in TABLE],
        "errors": {str(code): meaning for code, meaning in MEANINGS.items()},
    }


def _verb(spec: VerbSpec) -> dict[str, object]:
    described: dict[str, object] = {
        "name": spec.name,
        "summary": spec.summary,
        "kind": str(spec.kind),
        "fields": [_field(field) for field in fields_of(spec)],
        "result": dict(spec.result),
        "errors": [str(code) for code in errors_of(spec)],
    }
    if spec.capability is not None:
        described["capability"] = str(spec.capability)
    if spec.limits:
        described["limits"] = spec.limits
    if spec.example:
        described["example"] = dict(spec.example)
    return described


def _field(field: Field) -> dict[str, object]:
    described: dict[str, object] = {
        "name": field.name,
        "type": str(field.type),
        "required": field.required,
        "doc": field.doc,
    }
    if bounds(field):
        described["bounds"] = bounds(field)
    if field.default is not None:
        described["default"] = field.default
    return described


def fields_of(spec: VerbSpec) -> tuple[Field, ...]:
    """The fields that help shows: a request id only where it means something."""
    return (*spec.fields, REQUEST_ID) if spec.mutates else spec.fields


def bounds(field: Field) -> str:
    """A field's bounds or choices in words; empty when its type says it all."""
    if field.type is FieldType.BOOLEAN:
        return ""
    if field.type in {FieldType.CHOICE, FieldType.CHOICES}:
        return ", ".join(field.choices)
    high = "2^64-1" if field.high == U64_MAX else f"{field.high:,}"
    return f"{field.low} to {high}{_UNITS.get(field.type, ' characters')}"


def verbs_markdown() -> str:
    """`specs/verbs.md`."""
    head = (
        "# The verbs of the global lane\n\n"
        "Made by `python -m termnode.control.docs` from the tables in `termnode/control/verbs/`; "
        "do not edit.\n\n"
        "Reads are answered at once, mutations run one at a time in the order they arrive, waits "
        "run beside both; a subscription is answered at once and then tells of what happens. Every "
        "verb also takes `request_id`, and only mutations heed it. INFO and "
        "HELP may be in all upper or all lower case. An empty body will do for a verb without "
        "required fields.\n"
    )
    return "\n".join([head, *(_section(spec) for spec in TABLE)])


def errors_markdown() -> str:
    """`specs/errors.md`."""
    head = (
        "# The error codes\n\n"
        "Made by `python -m termnode.control.docs` from the table in `brokerd/errors.py`; do not "
        "edit.\n\n"
        "A refusal is a reply with return code 10 (20 for UNAVAILABLE) and the body "
        "`{error_code, message, details}`. There are no other codes. No message or detail repeats "
        "a value that the caller sent.\n"
    )
    rows = ([f"`{code}`", meaning] for code, meaning in MEANINGS.items())
    return f"{head}\n{_table(('code', 'meaning and what to do'), rows)}"


def _section(spec: VerbSpec) -> str:
    capability = f", capability `{spec.capability}`" if spec.capability else ""
    parts = [f"## {spec.name}\n\n{spec.summary}\n\n{str(spec.kind).capitalize()}{capability}.\n"]
    if fields_of(spec):
        parts.append(_table(("field", "type", "bounds", "meaning"), map(_row, fields_of(spec))))
    parts.append(_table(("result", "meaning"), ([f"`{name}`", text] for name, text in spec.result)))
    parts.append(f"Errors: {', '.join(errors_of(spec))}.\n")
    if spec.limits:
        parts.append(f"Limits: {spec.limits}.\n")
    if spec.example:
        parts.append(f"Example: `{encode(dict(spec.example)).decode()}`\n")
    return "\n".join(parts)


def _row(field: Field) -> list[str]:
    need = "required" if field.required else "optional"
    if field.default is not None:
        need = f"default {encode(field.default).decode()}"
    return [f"`{field.name}`", f"{field.type}, {need}", bounds(field), field.doc]


def _table(head: tuple[str, ...], rows: Iterable[list[str]]) -> str:
    lines = [_line(head), _line(["---"] * len(head)), *map(_line, rows)]
    return "\n".join(lines) + "\n"


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
