"""Control that is bound to a pane, from the command line, against a whole service."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.termnode_process import Service, eventually, service


@pytest.fixture(scope="module")
def shell() -> Iterator[Service]:
    with service() as made:
        made.at_prompt(1)
        eventually(lambda: "ready" in targets(made), "pane 1 is control-ready")
        yield made


def targets(made: Service) -> str:
    return made.run("panes", "--native", check=None).stdout


def listed(made: Service) -> list[dict[str, Any]]:
    found = json.loads(made.run("panes", "--native", "--json").stdout)["panes"]
    assert isinstance(found, list)
    return found


def native(made: Service, verb: str, body: dict[str, Any], *options: str, rc: int = 0) -> Any:  # noqa: ANN401
    """The body of a reply on the native lane."""
    done = made.run("call", verb, json.dumps(body), "--native", *options, check=min(rc, 1))
    told = json.loads(done.stdout)
    assert told["rc"] == rc, told
    return told["body"]


def test_targets_are_listed(shell: Service) -> None:
    head, row, *under = targets(shell).splitlines()
    assert head.split() == ["PANE", "GENERATION", "TAB", "SIZE", "STATE", "CONTROL", "TITLE"]
    assert row.split()[:6] == ["1", "1", "1", "80x24", "running", "ready"]
    assert [line.split()[0] for line in under] == ["instance", "incarnation", "policy"]
    (pane,) = listed(shell)
    assert pane["target"]["pane_id"] == "1"
    assert under[0].split()[1] == pane["target"]["instance_id"]


@pytest.mark.parametrize("verb", ["term.session", "term.list", "term.tabs", "term.panes"])
def test_reads_are_bound_to_the_pane_that_was_named(shell: Service, verb: str) -> None:
    told = native(shell, verb, {}, "--pane", "1")
    assert told["target"] == listed(shell)[0]["target"]


def test_verbs_that_are_only_there_go_there(shell: Service) -> None:
    done = shell.run("call", "term.props.get", '{"property":"contents"}', "--pane", "1")
    assert "text" in json.loads(done.stdout)["body"]


def test_what_is_typed_arrives_and_what_was_filled_in_is_shown(shell: Service) -> None:
    body = json.dumps({"text": "echo na$((1))tive", "enter": True})
    done = shell.run("call", "term.type", body, "--native", "--pane", "1", "--verbose")
    assert json.loads(done.stdout)["body"]["status"] == "accepted"
    shell.wait("^na1tive", 1)
    sent = [line for line in done.stderr.splitlines() if " term.type " in line]
    said = json.loads(sent[0].partition(" term.type ")[2])
    assert said["request_id"] == "1"
    assert said["target"] == listed(shell)[0]["target"]
    assert {"request_epoch", "foreground_generation"} <= said.keys()


def test_what_the_body_says_itself_is_not_filled_in(shell: Service) -> None:
    refused = native(
        shell, "term.type", {"text": "x", "foreground_generation": "99999"}, "--pane", "1", rc=10
    )
    assert refused["error_code"] == "STALE_GENERATION"
    target = {**listed(shell)[0]["target"], "pane_generation": "7"}
    assert native(shell, "term.session", {"target": target}, rc=10)["error_code"] == "FORBIDDEN"


def test_the_affected_panes_are_named_for_the_caller(shell: Service) -> None:
    native(shell, "term.pane.split", {"dir": "h", "argv": ["sleep", "1000"]}, "--pane", "1")
    eventually(lambda: targets(shell).count(" ready ") == 2, "the new pane is control-ready")
    new = listed(shell)[1]["target"]["pane_id"]
    native(shell, "term.pane.swap", {"with": new}, "--pane", "1")
    refused = native(shell, "term.pane.close", {"affected": []}, "--pane", new, rc=10)
    assert refused["error_code"] == "FORBIDDEN"
    closed = native(shell, "term.pane.close", {}, "--pane", new)
    assert closed["closed"]["pane_id"] == new


def test_it_goes_on_in_strict_posture(shell: Service) -> None:
    shell.run("posture", "strict")
    try:
        assert shell.run("call", "term.panes", check=1)
        assert native(shell, "term.session", {}, "--pane", "1")["policy"] == "default-open"
    finally:
        shell.run("posture", "open")


def test_wrong_use_is_said(shell: Service) -> None:
    for options, words in (
        (["term.panes", "--pane", "1"], "--pane goes with --native"),
        (["term.session", "--native"], "--pane N"),
        (["term.session", "[]", "--native", "--pane", "1"], "body"),
        (["term.session", "--native", "--pane", "1", "--node", "tcp://127.0.0.1:1"], "key"),
    ):
        assert words in shell.run("call", *options, check=2).stderr
    gone = shell.run("call", "term.session", "--native", "--pane", "77", check=1)
    assert "termnode panes --native" in gone.stderr


def test_without_a_service_there_are_the_usual_words(shell: Service) -> None:
    done = shell.run("call", "term.session", "--native", "--pane", "1", "--name", "nobody", check=3)
    assert "termnode" in done.stderr
    assert json.loads(done.stdout)["rc"] == -1
    assert shell.run("panes", "--native", "--name", "nobody", check=3).stderr


def test_a_terminal_without_an_identity_has_no_native_control() -> None:
    with service(COSMIX_TERM_POLICY="nonsense") as made:
        done = made.run("panes", "--native", check=3)
        assert "no verified session" in done.stderr
