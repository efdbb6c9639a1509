"""The native lane's part of HELP and of `specs/verbs.md`, made from its table."""

from __future__ import annotations

from typing import Final

from termnode.control.describing import described, section, table
from termnode.control.native.fields import AFFECTED, ENVELOPE, REQUEST_EPOCH
from termnode.control.native.spec import NativeSpec
from termnode.control.native.table import NATIVE, errors_of

GLOBAL: Final = "global"
LANE: Final = "native"

_INTRO: Final = (
    "## The native lane\n\n"
    "Served at the Term's own allocated name (specs/control.md): the same bodies, but that "
    "`target` stands in the place of `pane`, of `id` and of the tab, and that a mutation says "
    "which request it is. A good reply to a mutation has `operation_id` too. The verb's own fields "
    "are those given here; around them are:\n"
)


def lanes_of(name: str) -> list[str]:
    """On which lanes a verb of the global lane is."""
    return [GLOBAL, LANE] if name in NATIVE else [GLOBAL]


def native_body() -> dict[str, object]:
    """The native lane as HELP says it."""
    return {
        "envelope": [
            {"name": name, "type": kind, "doc": doc} for name, (kind, doc) in ENVELOPE.items()
        ],
        "verbs": [_verb(spec) for spec in NATIVE.values()],
    }


def native_markdown() -> str:
    """The native lane's part of `specs/verbs.md`."""
    rows = ([f"`{name}`", kind, doc] for name, (kind, doc) in ENVELOPE.items())
    envelope = table(("field", "type", "meaning"), rows)
    return "\n".join([_INTRO, envelope, *(_section(spec) for spec in NATIVE.values())])


def _verb(spec: NativeSpec) -> dict[str, object]:
    said: dict[str, object] = {
        "name": spec.name,
        "kind": str(spec.kind),
        "capability": _capability(spec),
        "envelope": _envelope(spec),
        "fields": [described(field) for field in spec.fields],
        "result": dict(spec.result),
        "errors": [str(code) for code in errors_of(spec)],
    }
    if spec.base is None:
        said["summary"] = spec.summary
    if spec.limits:
        said["limits"] = spec.limits
    return said


def _envelope(spec: NativeSpec) -> list[str]:
    return [name for name in ENVELOPE if name in spec.known]


def _capability(spec: NativeSpec) -> str:
    if spec.stands_for:
        return "as the verb that it stands for"
    upgrade = spec.upgrade
    if upgrade is None:
        return str(spec.capability)
    beside = "instead of it" if upgrade.replaces else "too"
    return f"{spec.capability}, with {upgrade.field} {upgrade.capability} {beside}"


def _section(spec: NativeSpec) -> str:
    notes = [f"{spec.kind}, capability {_capability(spec)}"]
    if AFFECTED in spec.envelope and spec.layout:
        notes.append("manage_layout on what it affects, or terminate where that is closed")
    if REQUEST_EPOCH in spec.envelope and spec.needs_epoch:
        notes.append(f"{REQUEST_EPOCH} may never be left out")
    around = ", ".join(f"`{name}`" for name in _envelope(spec))
    said = f"{'; '.join(notes).capitalize()}. Around its own fields: {around}."
    head = f"### {spec.name} (native)\n\n{spec.summary}\n\n{said}\n"
    return section(head, spec, spec.fields, errors_of(spec), "Example of its own fields")
