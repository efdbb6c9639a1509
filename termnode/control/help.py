"""Help, made from the verb table: the bodies of INFO and HELP, and the tables in `specs/`."""

from __future__ import annotations

from collections.abc import Mapping

from brokerd.client import MAX_REQUEST_BODY, MAX_RESPONSE_BODY, MEANINGS
from termnode.control.describing import described, section, table
from termnode.control.fields import REQUEST_ID
from termnode.control.limits import MUTATIONS_WAITING, WAITS
from termnode.control.native.help import LANE, lanes_of, native_body, native_markdown
from termnode.control.posture import Posture
from termnode.control.retry import DONE
from termnode.control.spec import Field, VerbSpec
from termnode.control.verbs import TABLE, errors_of


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
    """The body of HELP: the whole tables of both lanes."""
    return {
        "verbs": [_verb(spec) for spec in TABLE],
        "native": native_body(),
        "errors": {str(code): meaning for code, meaning in MEANINGS.items()},
    }


def _verb(spec: VerbSpec) -> dict[str, object]:
    said: dict[str, object] = {
        "name": spec.name,
        "summary": spec.summary,
        "kind": str(spec.kind),
        "lanes": lanes_of(spec.name),
        "fields": [described(field) for field in fields_of(spec)],
        "result": dict(spec.result),
        "errors": [str(code) for code in errors_of(spec)],
    }
    if spec.capability is not None:
        said["capability"] = str(spec.capability)
    if spec.limits:
        said["limits"] = spec.limits
    if spec.example:
        said["example"] = dict(spec.example)
    return said


def fields_of(spec: VerbSpec) -> tuple[Field, ...]:
    """The fields that help shows: a request id only where it means something."""
    return (*spec.fields, REQUEST_ID) if spec.mutates else spec.fields


def verbs_markdown() -> str:
    """`specs/verbs.md`."""
    head = (
        "# The verbs\n\n"
        "Made by `python -m termnode.control.docs` from the tables in `termnode/control/verbs/` "
        "and `termnode/control/native/`; do not edit. First those of the global lane, as they are "
        "there, then those of the native lane.\n\n"
        "Reads are answered at once, mutations run one at a time in the order they arrive, waits "
        "run beside both; a subscription is answered at once and then tells of what happens. Every "
        "verb also takes `request_id`, and only mutations heed it. INFO and "
        "HELP may be in all upper or all lower case. An empty body will do for a verb without "
        "required fields.\n"
    )
    return "\n".join([head, *(_section(spec) for spec in TABLE), native_markdown()])


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
    return f"{head}\n{table(('code', 'meaning and what to do'), rows)}"


def _section(spec: VerbSpec) -> str:
    capability = f", capability `{spec.capability}`" if spec.capability else ""
    native = "; on the native lane too" if LANE in lanes_of(spec.name) else ""
    said = f"{str(spec.kind).capitalize()}{capability}{native}"
    head = f"## {spec.name}\n\n{spec.summary}\n\n{said}.\n"
    return section(head, spec, fields_of(spec), errors_of(spec), "Example")
