"""The native table itself, and what HELP and the pages in specs/ say of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from brokerd.client import DEFAULTS, MAX_RESPONSE_BODY, ErrorCode, encode
from termnode.control.help import help_body, verbs_markdown
from termnode.control.limit_page import limits_markdown
from termnode.control.native import limits
from termnode.control.native.fields import ENVELOPE
from termnode.control.native.table import NATIVE, errors_of
from termnode.control.schema import checked
from termnode.control.spec import Capability, Kind
from termnode.control.verbs import BY_NAME

CONTRACT = (Path(__file__).parents[2] / "specs" / "control.md").read_text("utf-8")

GLOBAL_ONLY = {"INFO", "HELP", "term.ask", "term.log", "term.resize", "term.view.open"}
OF_SHELL = {name for name, spec in NATIVE.items() if spec.forwarded is not None}
NATIVE_ONLY = {"term.list", "term.operation", "term.props.get", "term.props.set", *OF_SHELL}


def test_the_lanes_have_the_verbs_that_the_contract_names() -> None:
    assert BY_NAME.keys() - NATIVE.keys() == GLOBAL_ONLY
    assert NATIVE.keys() - BY_NAME.keys() == NATIVE_ONLY
    assert all(name == spec.name for name, spec in NATIVE.items())
    for name in NATIVE_ONLY | {"term.session", "term.snapshot", "term.tab.close"}:
        assert f"`{name}`" in CONTRACT


@pytest.mark.parametrize("spec", NATIVE.values(), ids=lambda spec: str(spec.name))
def test_each_entry_is_complete(spec: object) -> None:
    found = NATIVE[getattr(spec, "name", "")]
    assert found.summary.endswith(".")
    assert found.result
    own = {field.name for field in found.fields}
    assert not own & ({"pane", "id", "tab"} | ENVELOPE.keys())
    assert found.envelope <= ENVELOPE.keys()
    assert ("request_id" in found.envelope) == found.mutates == ("request_epoch" in found.envelope)
    assert found.layout <= ("affected" in found.envelope)
    assert set(errors_of(found)) <= set(ErrorCode)
    assert (ErrorCode.NOT_FOUND in errors_of(found)) == (found.name == "term.task.submit")
    if not found.stands_for:
        assert found.example.keys() <= own
        assert found.input <= ("foreground_generation" in found.envelope)
        needed = any(field.required for field in found.fields)
        assert bool(found.example) >= needed
        assert not found.example or checked(found.fields, found.example, found.check)
    if found.base is not None:
        assert found.kind is found.base.kind


def test_waits_and_subscriptions_stay_what_they_are() -> None:
    kinds = {name: spec.kind for name, spec in NATIVE.items() if not spec.mutates}
    assert {name for name, kind in kinds.items() if kind is not Kind.READ} == {
        "term.wait",
        "term.events",
        "term.exec.result",
        "term.task.result",
    }


def test_what_is_for_a_shell_needs_leave_to_execute_and_an_epoch() -> None:
    assert len(OF_SHELL) == 6
    for name in OF_SHELL:
        spec = NATIVE[name]
        assert spec.needs({}) == (Capability.EXECUTE,)
        assert spec.needs_epoch == spec.mutates
        assert ("operation_id" in spec.envelope) != spec.mutates


def test_help_marks_the_lanes_and_has_the_native_one() -> None:
    raw = encode(help_body())
    assert len(raw) <= MAX_RESPONSE_BODY
    body = json.loads(raw)
    lanes = {verb["name"]: verb["lanes"] for verb in body["verbs"]}
    assert {name for name in lanes if "native" not in lanes[name]} == GLOBAL_ONLY
    native = {verb["name"]: verb for verb in body["native"]["verbs"]}
    assert native.keys() == NATIVE.keys()
    assert native["term.type"]["envelope"] == [
        "target", "request_id", "request_epoch", "foreground_generation",
    ]  # fmt: skip
    assert native["term.snapshot"]["capability"] == (
        "read_state, with contents read_contents instead of it"
    )
    assert [each["name"] for each in body["native"]["envelope"]] == [*ENVELOPE]


def test_the_page_has_a_section_for_each_native_verb() -> None:
    page = verbs_markdown()
    for spec in NATIVE.values():
        section = page.split(f"### {spec.name} (native)\n")[1].split("\n### ")[0]
        for field in spec.fields:
            assert f"| `{field.name}` |" in section
        for name in spec.envelope:
            assert f"`{name}`" in section.split("\n| field")[0]


def test_the_limits_page_has_every_limit_once_per_part() -> None:
    page = limits_markdown()
    native = page.split("## The native lane")[1].split("\n## ")[0]
    for name in (name for name in vars(limits) if name.isupper()):
        row = next(line for line in native.split("\n") if line.startswith(f"| `{name.lower()}` |"))
        assert f"| {getattr(limits, name):,} |" in row
    assert f"| `lease_ms` | {DEFAULTS.sessions.lease_ms:,} |" in page
    assert f"| `names_per_uid` | {DEFAULTS.names_per_uid} |" in page
    assert "| `max_request_body` | 8,192 |" in page
    assert "| `retention_s` | 900 |" in page
