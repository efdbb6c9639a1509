"""The parts of commands at the prompt without shell or broker: records, requests, ids, results."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import trio

from brokerd.client import Refusal, encode
from termnode.paneshell.calls import Actor
from termnode.paneshell.channel import SidecarEnd, TermEnd, channel_pair
from termnode.paneshell.integration import Request as ShellRequest
from termnode.paneshell.integration import ShellDir
from termnode.paneshell.launch import BadLaunch, Launch, ShellFacts
from termnode.paneshell.operations import (
    KEPT_MS,
    MAX_ACTORS,
    MAX_OPERATIONS,
    MAX_UNSPENT,
    Operations,
)
from termnode.paneshell.outbox import MAX_RECORDS
from termnode.paneshell.prompt import announce, refusals, requests, syntax
from termnode.paneshell.prompt.control_dir import CLAIMS_KEPT, ControlDir
from termnode.paneshell.prompt.executions import ABANDONED, Execution, exit_of
from termnode.paneshell.prompt.output import MAX_ENCODED, Output
from termnode.paneshell.prompt.records import (
    MAX_RECORD,
    Cont,
    Hello,
    Prompt,
    PromptRecord,
    RecordStream,
    ReplyWord,
    Run,
    parse,
)
from termnode.paneshell.prompt.reporting import merged, view
from termnode.paneshell.prompt.state import PromptState
from termnode.paneshell.status import EXITING, FOREGROUND_CHILD, STARTING, Observation, target_of
from tests.props.test_paneshell_status_props import ALLOWED, OWN

A: Actor = ("record", 1, "a", "b")
B: Actor = ("record", 1, "c", "d")
ONE, TWO = b"1" * 32, b"2" * 32


# Records of the shell


@pytest.mark.parametrize(
    ("raw", "record"),
    [
        (b"HELLO bash 5.2.15(1)-release 77", Hello("bash", "5.2.15(1)-release", 77)),
        (b"PROMPT 3 130 - /a\nRUN 9 9", Prompt(3, 130, None, b"/a\nRUN 9 9")),
        (b"PROMPT 3 0 12 /\xff b", Prompt(3, 0, "12", b"/\xff b")),
        (b"RUN 4 -", Run(4, None)),
        (b"CONT 5", Cont(5)),
        (b"REPLY 12 ADMITTED 4 0", ReplyWord("12", "ADMITTED", 4, 0)),
        (b"REPLY 12 MAYBE 4 0", None),
        (b"REPLY 12 BUSY 4", None),
        (b"REPLY 12 BUSY 04 0", None),
        (b"PROMPT -1 0 - /", None),
        (b"PROMPT 1 0 -", None),
        (b"CONT 5 ", None),
        (b"RUN 4 " + b"x" * 65, None),
        (b"RUN 99999999999999999999 -", None),
        (b"HELLO dash 1 2", None),
        (b"prompt 1 0 - /", None),
        (b"", None),
    ],
)
def test_a_record_is_exactly_one_or_none(raw: bytes, record: object) -> None:
    assert parse(raw) == record


def test_a_record_that_is_too_long_is_dropped_whole() -> None:
    stream = RecordStream()
    assert list(stream.feed(b"RUN 1 -\0" + b"x" * MAX_RECORD)) == [Run(1, None)]
    assert list(stream.feed(b"xx")) == []
    assert list(stream.feed(b"CONT 8\0CONT 9\0")) == [Cont(9)]  # its end may look like a record
    assert stream.malformed == 1


# The prompt's state


def test_generations_only_rise_and_an_end_is_for_good() -> None:
    state = PromptState()
    for record in (Prompt(4, 0, None, b"/a"), Run(4, "7"), Prompt(3, 0, "7", b"/b")):
        state.note(record)
    assert (state.phase, state.generation, state.cwd) == ("prompt-ready", 4, b"/b")
    state.note(Cont(5))
    assert (state.ready, state.continuation, state.generation) == (False, True, 5)
    state.end()
    state.note(Prompt(9, 0, None, b"/"))
    assert (state.phase, state.generation, state.integrated) == ("exiting", 5, False)


def test_hooks_found_lost_twice_in_a_row_are_given_up_until_a_prompt() -> None:
    state = PromptState()
    state.note(Prompt(1, 0, None, b"/"))
    lost = ReplyWord("1", "HOOKS_LOST", 1, 0)
    state.note(lost)
    refusals.check(state, 1, foreground_child=False)
    state.note(lost)
    with pytest.raises(Refusal) as caught:
        refusals.check(state, 1, foreground_child=False)
    assert (caught.value.code, caught.value.details["reason"]) == ("UNSUPPORTED", "hooks_lost")
    state.note(Prompt(2, 0, None, b"/"))
    refusals.check(state, 2, foreground_child=False)


def test_a_word_tells_a_successor_where_the_prompt_is() -> None:
    for word, phase in (
        ("READY", "prompt-ready"),
        ("BUSY", "prompt-ready"),
        ("RUNNING", "evaluating"),
    ):
        state = PromptState()
        state.note(ReplyWord("1", word, 7, 0))
        assert (state.phase, state.generation) == (phase, 7)


@pytest.mark.parametrize(
    ("records", "child", "generation", "code", "reason"),
    [
        ([], False, 1, "BUSY", "unknown_prompt"),
        ([Prompt(1, 0, None, b"/")], True, 2, "BUSY", "foreground_program"),
        ([Prompt(1, 0, None, b"/"), Cont(2)], False, 1, "STALE_GENERATION", None),
        ([Prompt(1, 0, None, b"/"), Cont(2)], False, 2, "BUSY", "continuation"),
        ([Prompt(1, 0, None, b"/"), Run(1, None)], False, 1, "BUSY", "running"),
    ],
)
def test_what_a_prompt_does_not_admit(
    records: list[Any], child: bool, generation: int, code: str, reason: str | None
) -> None:
    state = PromptState()
    for record in records:
        state.note(record)
    with pytest.raises(Refusal) as caught:
        refusals.check(state, generation, foreground_child=child)
    assert (caught.value.code, caught.value.details.get("reason")) == (code, reason)


def test_the_process_table_outweighs_the_shell_s_word() -> None:
    state = PromptState()
    assert merged(Observation(STARTING, b"/"), state).phase == STARTING
    assert view(state, 3).source == "none"
    state.note(Prompt(4, 0, None, b"/"))
    for seen, told in (
        (STARTING, "prompt-ready"),
        (FOREGROUND_CHILD, FOREGROUND_CHILD),
        (EXITING, EXITING),
    ):
        assert merged(Observation(seen, b"/"), state).phase == told
    assert (view(state, 3).source, view(state, 3).binding_generation) == ("integration", 3)
    state.lose_hooks()
    assert merged(Observation(STARTING, b"/"), state).phase == STARTING
    assert view(state, 3).source == "lost"


# Requests

EXECUTE: dict[str, Any] = {
    "version": 1,
    "target": target_of(OWN),
    "request_id": "1",
    "prompt_generation": "0",
    "source": "echo",
}


def raw(**changed: object) -> bytes:
    body = {**EXECUTE, **changed}
    return encode({key: value for key, value in body.items() if value is not None})


def test_a_sound_request_is_read() -> None:
    body = requests.read_execute(raw(source="é" * 2_048, on_behalf_of="x" * 96))
    assert (body["request_id"], body["prompt_generation"]) == (1, 0)


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"version": 2}, "version"),
        ({"target": {}}, "target"),
        ({"request_id": 1}, "request_id"),
        ({"request_id": "0"}, "request_id"),
        ({"request_id": "01"}, "request_id"),
        ({"request_id": str(2**64)}, "request_id"),
        ({"request_id": None}, "request_id"),
        ({"prompt_generation": None}, "prompt_generation"),
        ({"prompt_generation": -1}, "prompt_generation"),
        ({"source": None}, "source"),
        ({"source": " \n\t"}, "source"),
        ({"source": "a\0b"}, "source"),
        ({"source": "é" * 2_048 + "x"}, "source"),
        ({"source": ["ls"]}, "source"),
        ({"on_behalf_of": ""}, "on_behalf_of"),
        ({"on_behalf_of": "x" * 97}, "on_behalf_of"),
        ({"more": 1}, "body"),
        ({"wait_ms": 45_001}, "wait_ms"),
        ({"source": "x" * 8_192}, "body"),
    ],
)
def test_a_malformed_request_names_the_field_and_no_value(
    changed: dict[str, object], field: str
) -> None:
    with pytest.raises(Refusal) as caught:
        requests.read_execute(raw(**changed))
    assert (caught.value.code, caught.value.details["field"]) == ("INVALID_ARGUMENT", field)


def read(**fields: object) -> dict[str, Any]:
    return requests.read_result(
        json.dumps({"version": 1, "target": target_of(OWN), **fields}).encode()
    )


def test_a_wait_is_bounded() -> None:
    assert read(operation_id="5")["wait_ms"] == 0
    assert read(operation_id="5", wait_ms=45_000)["wait_ms"] == 45_000
    for wrong in (-1, 45_001, "1", True, 1.5):
        with pytest.raises(Refusal):
            read(operation_id="5", wait_ms=wrong)


# Operations


def code(table: Operations, actor: Actor, request_id: int, digest: bytes, now: int = 0) -> str:
    try:
        found = table.find(actor, request_id, digest, now)
    except Refusal as refusal:
        return str(refusal.details.get("reason", refusal.code))
    return "new" if found is None else "known"


def test_an_id_is_spent_once_whatever_it_was_for() -> None:
    table = Operations()
    spent = table.spend("execute", A, 5, ONE, now_ms=0)
    assert code(table, A, 5, ONE) == "known"
    assert code(table, A, 5, TWO) == "request_mismatch"
    assert code(table, A, 4, ONE) == "retired_request_id"
    assert code(table, A, 6, ONE) == code(table, B, 5, ONE) == "new"
    assert table.get(spent.id, A, "execute", 0) is spent
    for actor, family in ((B, "execute"), (A, "task")):
        with pytest.raises(Refusal, match="UNKNOWN_OUTCOME"):
            table.get(spent.id, actor, family, 0)


def test_an_id_that_came_before_a_higher_one_was_spent_may_still_be_used() -> None:
    table = Operations()
    for number in (1, 2):
        table.arrived(A, number)
    table.give_back(table.spend("execute", A, 1, ONE, now_ms=0))
    table.spend("execute", A, 2, ONE, now_ms=0)
    assert code(table, A, 1, ONE) == "new"
    table.spend("execute", A, 1, ONE, now_ms=0)
    table.forget(table.get(next(iter(table)).id, A, "execute", 0))
    assert code(table, A, 2, ONE) in ("known", "retired_request_id")


def test_an_id_that_was_spent_is_never_new_again() -> None:
    table = Operations()
    spent = table.spend("execute", A, 3, ONE, now_ms=0)
    table.settle(spent, 10)
    assert code(table, A, 3, ONE, 10 + KEPT_MS - 1) == "known"
    assert code(table, A, 3, ONE, 10 + KEPT_MS) == "retired_request_id"
    table.arrived(A, 3)
    assert code(table, A, 3, ONE, 10 + KEPT_MS) == "retired_request_id"


def test_one_that_runs_is_kept_however_long() -> None:
    table = Operations()
    table.spend("execute", A, 3, ONE, now_ms=0)
    assert code(table, A, 3, ONE, 10 * KEPT_MS) == "known"


def test_the_table_is_bounded_and_settled_ones_give_way() -> None:
    table = Operations()
    made = [table.spend("task", A, n, ONE, now_ms=0) for n in range(1, MAX_OPERATIONS + 1)]
    with pytest.raises(Refusal, match="RESOURCE_LIMIT"):
        table.spend("task", A, 1_000, ONE, now_ms=0)
    table.settle(made[7], 0)
    table.spend("task", A, 1_000, ONE, now_ms=0)
    assert len(table) == MAX_OPERATIONS
    assert code(table, A, 8, ONE) == "retired_request_id"


def test_callers_are_bounded() -> None:
    table = Operations()
    for number in range(MAX_ACTORS):
        table.spend("task", ("record", number, "", ""), 1, ONE, now_ms=0)
    with pytest.raises(Refusal) as caught:
        table.check_room(A, 0)
    assert caught.value.details["reason"] == "operation_actors"
    table.check_room(("record", 0, "", ""), 0)


def test_ids_that_are_not_spent_are_remembered_within_bounds() -> None:
    table = Operations()
    for number in range(1, MAX_UNSPENT + 3):
        table.arrived(A, number)
    table.spend("task", A, 1_000, ONE, now_ms=0)
    assert code(table, A, 1, ONE) == "retired_request_id"
    assert code(table, A, 3, ONE) == "new"


# Results


def ended(*records: PromptRecord, output: Output | None = None, now: int = 50) -> Execution:
    made = Execution("7", 0, 1)
    for record in records:
        made.note(record, now)
    if output is not None:
        made.note_output(output, now)
    return made


ADMITTED = ReplyWord("7", "ADMITTED", 1, 0)
OUTPUT = Output("7", b"hi", b"", 2, 0)
END = Prompt(2, 0, "7", b"/x")


def test_the_end_waits_for_the_other_side_for_a_second() -> None:
    both = ended(ADMITTED, Run(1, "7"), END, output=OUTPUT)
    assert both.settle_if_due(50)
    for half in (ended(ADMITTED, Run(1, "7"), END), ended(ADMITTED, Run(1, "7"), output=OUTPUT)):
        assert half.due_ms() == 1_050
        assert not half.settle_if_due(1_049)
        assert half.settle_if_due(1_050)
        assert half.result is not None
        assert half.result["exit"] == {"code": 0}


def test_what_the_shell_took_and_never_ran_was_not_started() -> None:
    """Its line was given up, or had nothing to run: the status is of what ran before."""
    made = ended(ADMITTED, Prompt(2, 130, "7", b"/"))
    assert made.settle_if_due(50)
    assert made.result is not None
    output: Any = made.result["output"]
    assert (made.result["outcome"], made.result["reason"]) == ("not_started", ABANDONED)
    assert (made.result["exit"], output["text"], output["bytes"]) == (None, "", 0)


@pytest.mark.parametrize(
    ("record", "outcome"),
    [
        (Prompt(2, 0, None, b"/"), "not_started"),
        (Prompt(2, 130, "7", b"/"), "not_started"),
        (Prompt(2, 0, "8", b"/"), "not_started"),
        (Run(1, None), "not_started"),
        (ReplyWord("8", "READY", 1, 0), "not_started"),
        (ReplyWord("8", "READY", 2, 0), "not_started"),
        (Prompt(3, 0, None, b"/"), "unknown"),  # what lay between was lost
        (Prompt(1, 0, None, b"/"), None),  # told late
        (Run(2, None), None),
        (ReplyWord("8", "BUSY", 1, 5), None),  # it may be its line
        (ReplyWord("8", "RUNNING", 1, 0), None),
        (ReplyWord("8", "READY", 3, 0), None),
        (Cont(2), None),
    ],
)
def test_what_settles_a_command_of_which_nobody_could_say(
    record: PromptRecord, outcome: str | None
) -> None:
    made = ended()
    made.doubted = True
    made.note(record, 60)
    made.settle_if_due(60)
    assert (None if made.result is None else made.result["outcome"]) == outcome


@pytest.mark.parametrize("proof", [Prompt(2, 0, None, b"/"), ReplyWord("8", "READY", 1, 0)])
def test_while_it_is_being_admitted_nothing_settles_it(proof: PromptRecord) -> None:
    made = ended(proof)
    assert not made.settle_if_due(50)
    made.doubted = True
    assert made.settle_if_due(60) == isinstance(proof, Prompt)  # what was ready before, was before


def test_one_that_was_doubted_and_runs_after_all_ends_as_any_other() -> None:
    made = ended()
    made.doubted = True
    for record in (Run(1, "7"), ReplyWord("8", "READY", 1, 0), END):
        made.note(record, 60)
    made.note_output(OUTPUT, 60)
    assert made.settle_if_due(60)
    assert made.result is not None
    assert (made.result["outcome"], made.result["exit"]) == ("completed", {"code": 0})


def test_a_source_that_the_shell_wants_more_of_was_not_started() -> None:
    made = ended(ADMITTED, Cont(2), Prompt(3, 130, "7", b"/"))
    assert made.settle_if_due(50)
    assert made.result is not None
    assert (made.result["outcome"], made.result["reason"]) == ("not_started", "unfinished_source")


def test_another_prompt_without_its_end_leaves_it_unknown() -> None:
    made = ended(ADMITTED, Run(1, "7"), Prompt(2, 0, None, b"/"))
    assert made.result is not None
    assert made.result["outcome"] == "unknown"
    assert ended(Prompt(2, 0, None, b"/")).result is None  # it may still be taken


def test_the_program_s_end_is_told_as_it_is_known() -> None:
    for records, outcome in (((ADMITTED,), "completed"), ((), "unknown")):
        made = ended(*records)
        made.note_program({"signal": 9}, 60)
        assert made.result is not None
        assert made.result["outcome"] == outcome
        made.note_lost(70)
        made.note(END, 80)
        assert made.result["outcome"] == outcome  # a result never changes


@pytest.mark.parametrize(
    ("status", "told"),
    [
        (0, {"code": 0}),
        (127, {"code": 127}),
        (128, {"code": 128}),
        (130, {"signal": 2}),
        (137, {"signal": 9}),
        (148, {"stopped": 20}),
        (255, {"code": 255}),
    ],
)
def test_a_status_is_a_code_a_signal_or_a_stop(status: int, told: dict[str, int]) -> None:
    assert exit_of(status) == told


def test_an_output_is_bounded_and_says_what_is_left_out() -> None:
    whole = Output("7", "aé".encode()[:2], "é".encode()[1:] + b"b", 4, 0).body()
    assert (whole["text"], whole["omitted"], whole["gap"]) == ("aéb", 0, None)
    cut = Output("7", b"head", b"tail", 100, 0).body()
    assert (cut["text"], cut["omitted"], cut["gap"]) == ("headtail", 92, 4)
    escapes = Output("7", b"\x1b" * 32_768, b"\x1b" * 32_768, 65_536, 0).body()
    assert len(json.dumps(escapes["text"])) <= MAX_ENCODED + 2
    assert escapes["truncated"] is True
    assert len(str(escapes["text"])) + int(str(escapes["omitted"])) == 65_536


@pytest.mark.parametrize(
    "wrong",
    [
        {"op": 7},
        {"head": "x"},
        {"bytes": 1},
        {"bytes": True},
        {"status": "0"},
        {"tail": b"x" * 65_536},
    ],
)
def test_an_output_that_is_none_is_passed_over(wrong: dict[str, object]) -> None:
    good = {"op": "7", "head": b"hi", "tail": b"", "bytes": 2, "status": None}
    assert Output.from_record(good) is not None
    assert Output.from_record({**good, **wrong}) is None


# Announcements


def test_who_is_announced_is_the_stamp_or_whom_the_term_names() -> None:
    assert announce.originator(ALLOWED["ambient"], None) == "uid 1000 pid 5"
    assert announce.originator(ALLOWED["parent"], None) == "Term 66666666"
    assert announce.originator(ALLOWED["itself"], None) == "PaneShell 11111111"
    line = announce.line(announce.originator(ALLOWED["parent"], "me via Term: rm"), "ls")
    assert line == "# me\\x20via\\x20Term\\x3a rm via Term: ls"


def test_a_long_source_shows_its_head_and_how_much_more() -> None:
    line = announce.line("x", "a" * 600)
    assert line.startswith("# x: aaa")
    assert " bytes, sha256 " in line
    shown = announce.shown("a" * 600)
    assert len(shown) == announce.MAX_SOURCE
    assert f"+{600 - shown.count('a', 0, shown.index('['))} bytes" in shown


# Syntax


@pytest.mark.parametrize("kind", ["bash", "zsh", "fish"])
@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("echo a", None),
        ("# a", None),
        ("echo a\necho b\n", None),
        ("echo a |", "unfinished_source"),
        ("echo a &&", "unfinished_source"),
        ("echo 'a", "unfinished_source"),
        ("echo a\\", "unfinished_source"),
        ("echo a\\\\", None),
        ("echo )", "syntax"),
    ],
)
def test_the_shell_itself_says_whether_a_source_is_whole(
    kind: str, source: str, reason: str | None
) -> None:
    assert shutil.which(kind), f"{kind} is needed here"
    if reason is None:
        trio.run(syntax.check, kind, 1, source)
        return
    with pytest.raises(Refusal) as caught:
        trio.run(syntax.check, kind, 1, source)
    assert (caught.value.code, caught.value.details["reason"]) == ("INVALID_ARGUMENT", reason)


def test_nothing_of_a_source_runs_while_it_is_checked(tmp_path: Path) -> None:
    for kind in ("bash", "zsh", "fish"):
        trio.run(syntax.check, kind, 1, f"touch {tmp_path}/{kind}; echo $(touch {tmp_path}/{kind})")
    assert list(tmp_path.iterdir()) == []


# Directory and channel


def test_a_directory_retires_what_a_predecessor_left_and_bounds_its_claims(tmp_path: Path) -> None:
    shared = ShellDir.make(tmp_path)
    first = ControlDir(str(shared.path))
    first.put(ShellRequest("5", 1, "", "echo"))
    first.close()
    second = ControlDir(str(shared.path))
    second.retire()
    assert not second.claim("5")
    assert not (shared.path / "req").exists()
    for number in range(100, 100 + CLAIMS_KEPT + 5):
        assert second.claim(str(number))
        second.withdraw(str(number))
    assert len(list(shared.path.glob("claim.*"))) == CLAIMS_KEPT + 1
    second.close()
    shared.close()
    with pytest.raises(OSError, match="ctl"):
        ControlDir(str(shared.path))


FACTS = ShellFacts("bash", "/run/x", "ab" * 8)
LAUNCH = Launch("/run/some", 3, None, 4242, "/", "term", FACTS)


def test_a_launch_brings_its_shell() -> None:
    assert Launch.from_record(LAUNCH.to_record()) == LAUNCH
    assert "abab" not in repr(LAUNCH)
    for wrong in ({"kind": "dash"}, {"directory": "x"}, {"nonce": None}, {"more": 1}):
        record = replace(LAUNCH).to_record()
        record["shell"] = {**record["shell"], **wrong}
        with pytest.raises(BadLaunch, match="no usable shell"):
            Launch.from_record(record)


def test_records_arrive_in_order_and_what_finds_no_room_is_said_to_be_lost() -> None:
    async def main() -> None:
        ours, theirs = channel_pair()
        term, sidecar = TermEnd(ours), SidecarEnd(theirs)
        got: list[Any] = []
        sidecar.on_record = got.append
        posted = 0
        while term.post({"type": "chunk", "n": posted, "data": b"x" * 1_000}):
            posted += 1
        assert posted >= MAX_RECORDS
        assert not term.post({"type": "chunk"}, best_effort=True)
        assert not term.post({"type": "chunk", "data": b"x" * 200_000})
        with trio.fail_after(30):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(term.run)
                nursery.start_soon(sidecar.wait_end)
                while len(got) < posted:
                    await trio.lowlevel.checkpoint()
                nursery.cancel_scope.cancel()
        assert [record["n"] for record in got] == list(range(posted))
        term.close()
        assert not term.post({"type": "chunk"})
        theirs.close()

    trio.run(main)
