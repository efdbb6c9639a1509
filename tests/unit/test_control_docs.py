"""The verb table itself, and everything that is made from it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from brokerd.client import MAX_RESPONSE_BODY, MEANINGS, ErrorCode, encode
from termnode.control.audit import Audit
from termnode.control.docs import PAGES, main, stale, write
from termnode.control.help import help_body, info_body, verbs_markdown
from termnode.control.posture import Posture
from termnode.control.schema import validate
from termnode.control.spec import Kind
from termnode.control.verbs import BY_NAME, TABLE, errors_of, find

SPECS = Path(__file__).parents[2] / "specs"


def test_the_generated_pages_are_up_to_date() -> None:
    assert stale(SPECS) == []


def test_that_check_finds_a_page_that_is_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path), "--check"]) == 1
    assert main([str(tmp_path)]) == 0
    page = tmp_path / "verbs.md"
    page.write_text(page.read_text("utf-8").replace("term.tabs", "term.lids"), "utf-8")
    assert stale(tmp_path) == ["verbs.md"]
    capsys.readouterr()
    assert main([str(tmp_path), "--check"]) == 1
    assert "verbs.md is stale" in capsys.readouterr().err
    write(tmp_path)
    assert stale(tmp_path) == []
    assert set(PAGES) == {path.name for path in tmp_path.iterdir()}


def test_names_are_unique_and_found_only_as_spelt() -> None:
    assert len(BY_NAME) == len(TABLE)
    for spec in TABLE:
        assert find(spec.name) is spec
        assert len({field.name for field in spec.fields}) == len(spec.fields)
    assert find("info") is find("INFO")
    assert find("help") is find("HELP")
    for wrong in ("Info", "iNFO", "TERM.TABS", "term", ""):
        assert find(wrong) is None


@pytest.mark.parametrize("spec", TABLE, ids=lambda spec: str(spec.name))
def test_each_entry_is_complete_and_its_example_is_valid(spec: object) -> None:
    found = BY_NAME[getattr(spec, "name", "")]
    assert found.summary.endswith(".")
    assert found.result
    assert all(field.doc for field in found.fields)
    example = dict(found.example)
    needed = any(field.required for field in found.fields)
    assert bool(example) >= needed
    assert not example or validate(found, example)
    assert ("request_id" in example) == found.mutates
    assert (found.capability is None) == found.always
    assert found.always == (found.name in {"INFO", "HELP", "term.view.open"})


def test_waits_and_mutations_are_what_the_contract_names() -> None:
    waits = {spec.name for spec in TABLE if spec.kind is Kind.WAIT}
    reads = {spec.name for spec in TABLE if spec.kind is Kind.READ}
    subscriptions = {spec.name for spec in TABLE if spec.kind is Kind.SUBSCRIPTION}
    assert waits == {"term.wait", "term.ask"}
    assert subscriptions == {"term.events", "term.view.open"}
    assert reads == {
        "INFO", "HELP", "term.session", "term.tabs", "term.panes", "term.snapshot", "term.log",
    }  # fmt: skip


def test_errors_of_a_mutation_include_conflict_and_of_a_read_do_not() -> None:
    for spec in TABLE:
        codes = errors_of(spec)
        assert len(set(codes)) == len(codes)
        assert (ErrorCode.CONFLICT in codes) == spec.mutates
        assert set(codes) <= set(MEANINGS)


def test_help_is_json_within_the_limit_and_has_everything() -> None:
    raw = encode(help_body())
    assert len(raw) <= MAX_RESPONSE_BODY
    body = json.loads(raw)
    assert [verb["name"] for verb in body["verbs"]] == list(BY_NAME)
    split = next(verb for verb in body["verbs"] if verb["name"] == "term.pane.split")
    assert [field["name"] for field in split["fields"]] == [
        "dir", "pane", "argv", "cwd", "env", "title", "remain", "background",
        "clean_env", "with_caller", "request_id",
    ]  # fmt: skip
    assert split["fields"][0]["bounds"] == "h, horizontal, v, vertical"
    assert split["fields"][6]["default"] == 600
    assert split["capability"] == "manage_layout"
    assert set(body["errors"]) == set(ErrorCode)
    verbs = {verb["name"]: verb for verb in body["verbs"]}
    bounds = {field["name"]: field.get("bounds") for field in verbs["term.events"]["fields"]}
    assert bounds["kinds"] == "quiet, prompt, command, title, bell, exit, layout, input"
    assert verbs["term.keys"]["fields"][0]["bounds"] == "1 to 200 keys"


def test_info_says_posture_verbs_and_limits() -> None:
    body = info_body({"service": "term"}, Posture.STRICT)
    assert (body["service"], body["posture"]) == ("term", "strict")
    assert body["limits"] == {
        "request_bytes": 8192,
        "response_bytes": 262_144,
        "mutations": 64,
        "waits": 64,
        "remembered": 128,
    }


def test_the_page_names_every_verb_field_and_result() -> None:
    page = verbs_markdown()
    for spec in TABLE:
        section = page.split(f"## {spec.name}\n")[1].split("\n## ")[0]
        for name in (*(field.name for field in spec.fields), *(name for name, _ in spec.result)):
            assert f"| `{name}` |" in section
        assert ("`request_id`" in section) == spec.mutates


def test_the_audit_keeps_the_last_entries_and_their_numbers() -> None:
    audit = Audit(entries=3)
    for number in range(5):
        audit.add(time=number, principal="uid 0", verb="term.tabs", outcome="ok")
    assert [entry["seq"] for entry in audit.tail()] == [3, 4, 5]
    assert [entry["seq"] for entry in audit.tail(2)] == [4, 5]
    assert audit.tail(0) == []
    assert "pane" not in audit.tail(1)[0]
    assert audit.statistics() == {"seq": 5, "kept": 3}


def test_a_full_log_fits_into_a_reply() -> None:
    audit = Audit()
    for _ in range(1024):
        audit.add(
            time=2**53, principal="uid 4294967295 pid 4294967295", verb="term.pane.restart",
            outcome="RESOURCE_LIMIT", pane=2**64 - 1, duration_ms=45_000, request_id=True,
        )  # fmt: skip
    assert len(audit.tail()) == 1024
    assert len(encode({"entries": audit.tail(1000)})) < MAX_RESPONSE_BODY
