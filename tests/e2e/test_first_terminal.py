"""The main job, through the command line: one shared terminal, seen and driven by others."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.support.termnode_process import COMMAND, Service, alive, eventually, service


@pytest.fixture(scope="module")
def term() -> Iterator[Service]:
    with service("--size", "80x24") as running:
        yield running


def test_what_is_typed_runs_and_shows(term: Service) -> None:
    pane = term.at_prompt(term.good("term.tab.new")["pane"])
    term.run("type", "echo hi-$((40+2))", "--enter", "--pane", str(pane))
    term.run("wait", "--until", "^hi-42", "--pane", str(pane))
    assert "hi-42" in term.run("screen", "--pane", str(pane)).stdout.splitlines()


def test_the_ready_line_says_where_and_what(term: Service) -> None:
    assert term.ready["name"] == "term"
    assert term.ready["runtime_dir"] == str(term.directory / "rt")
    assert term.ready["posture"] == "open"
    assert alive(term.ready["pid"])


def test_tabs_and_panes_are_listed_with_what_runs_in_them(term: Service) -> None:
    opened = term.good("term.tab.new", {"argv": ["sleep", "600"], "title": "nap", "cwd": "/"})
    listed = {pane["id"]: pane for pane in term.good("term.panes")["panes"]}
    pane = listed[opened["pane"]]
    assert pane["title"] == "nap"
    assert pane["cwd"] == "/"
    assert pane["state"] == "running"
    assert (pane["cols"], pane["rows"]) == (80, 24)
    eventually(
        lambda: (
            {p["id"]: p for p in term.good("term.panes")["panes"]}[opened["pane"]].get("command")
            == "sleep"
        ),
        "the foreground command is known",
    )
    rows = term.run("panes").stdout
    assert "nap" in rows
    term.good("term.tab.close", {"id": opened["id"]})
    assert not any(p["id"] == opened["pane"] for p in term.good("term.panes")["panes"])
    eventually(lambda: not alive(opened["pid"]), "a closed pane's program ends")


def test_a_split_inherits_the_directory_and_halves_the_room(term: Service, tmp_path: Path) -> None:
    tab = term.good("term.tab.new", {"cwd": str(tmp_path)})
    new = term.good("term.pane.split", {"dir": "v", "pane": tab["pane"]})
    term.at_prompt(new["id"])
    term.good("term.type", {"pane": new["id"], "text": "pwd", "enter": True})
    term.wait(f"^{tmp_path}$", new["id"])
    sizes = {p["id"]: (p["cols"], p["rows"]) for p in term.good("term.panes")["panes"]}
    assert sizes[tab["pane"]] == (80, 11)
    assert sizes[new["id"]] == (80, 12)
    term.good("term.type", {"pane": new["id"], "text": "stty size", "enter": True})
    term.wait("^12 80$", new["id"])
    term.good("term.tab.close", {"id": tab["id"]})


def test_the_pane_has_the_environment_that_was_asked_for(term: Service) -> None:
    script = 'echo "$TERM|$MARK|$TERMNODE_PANE|$TERMNODE_NAME"'
    opened = term.good("term.tab.new", {"argv": ["sh", "-c", script], "env": {"MARK": "m-1"}})
    term.wait(rf"^xterm-256color\|m-1\|{opened['pane']}\|term$", opened["pane"])


def test_a_resent_mutation_runs_once(term: Service) -> None:
    pane = term.at_prompt(term.good("term.tab.new")["pane"])
    typed = {"pane": pane, "text": "echo once", "enter": True, "request_id": "id-1"}
    first = term.good("term.type", typed)
    reordered = json.dumps(dict(reversed(typed.items())))
    done = term.run("call", "term.type", reordered)  # another process, another connection
    assert json.loads(done.stdout) == {"rc": 0, "body": first}
    rc, answer = term.call("term.type", {**typed, "text": "echo twice"})
    assert (rc, answer["error_code"]) == (10, "CONFLICT")
    term.good("term.type", {"pane": pane, "text": "echo end", "enter": True})
    term.wait("^end$", pane)
    screen = term.screen(pane)
    assert screen.count("once") == 1
    assert "twice" not in screen


def test_a_recorded_refusal_is_replayed_and_a_read_never_is(term: Service) -> None:
    missing = {"id": 10**6, "request_id": "id-2"}
    first = term.call("term.tab.select", missing)
    assert first[1]["error_code"] == "NOT_FOUND"
    assert term.call("term.tab.select", missing) == first
    before = term.good("term.tabs", {"request_id": "id-3"})
    opened = term.good("term.tab.new")
    after = term.good("term.tabs", {"request_id": "id-3"})
    assert len(after["tabs"]) == len(before["tabs"]) + 1
    term.good("term.tab.close", {"id": opened["id"]})


def test_an_ended_program_stays_readable_and_starts_again(term: Service, tmp_path: Path) -> None:
    flag = tmp_path / "flag"
    script = f"test -e {flag} && exec sleep 600; echo first; exit 3"
    opened = term.good("term.tab.new", {"argv": ["sh", "-c", script]})
    pane = opened["pane"]
    term.wait("^first$", pane)
    answer = eventually(
        lambda: (s := term.good("term.snapshot", {"pane": pane}))["state"] == "exited" and s,
        "the exit is reported",
    )
    assert answer["exit"] == {"code": 3}
    assert answer["duration_ms"] >= 0
    assert answer["text"].startswith("first\n")
    rc, refusal = term.call("term.type", {"pane": pane, "text": "x"})
    assert (rc, refusal["error_code"]) == (10, "DISCONNECTED")
    flag.touch()
    again = term.good("term.pane.restart", {"pane": pane})
    assert again["generation"] == opened["generation"] + 1
    assert term.good("term.snapshot", {"pane": pane})["state"] == "running"
    rc, refusal = term.call("term.pane.restart", {"pane": pane})
    assert (rc, refusal["error_code"]) == (10, "BUSY")


def test_a_pane_that_need_not_remain_goes_with_its_program(term: Service) -> None:
    opened = term.good("term.tab.new", {"argv": ["true"], "remain": 0})
    eventually(
        lambda: all(tab["id"] != opened["id"] for tab in term.good("term.tabs")["tabs"]),
        "the tab goes with its last pane",
    )


def test_a_program_killed_by_a_signal_says_so(term: Service) -> None:
    opened = term.good("term.tab.new", {"argv": ["sh", "-c", "kill -SEGV $$"]})
    ended = eventually(
        lambda: term.good("term.snapshot", {"pane": opened["pane"]}).get("exit"), "it ends"
    )
    assert ended["signal"] == 11


def test_a_wait_tells_matched_deadline_exited_and_gone_apart(term: Service) -> None:
    pane = term.good("term.tab.new", {"argv": ["sh", "-c", "echo a-1; read x; echo b-2"]})["pane"]
    seen = term.good("term.wait", {"pane": pane, "until": "a-[0-9]"})
    assert (seen["outcome"], seen["row"], seen["text"]) == ("matched", 0, "a-1")
    late = term.good("term.wait", {"pane": pane, "until": "never", "timeout_ms": 50})
    assert late["outcome"] == "deadline"
    waiting = subprocess.Popen(
        [*COMMAND, "call", "term.wait", json.dumps({"pane": pane, "until": "never"})],
        env=term.environment(),
        stdout=subprocess.PIPE,
    )
    eventually(lambda: term.good("INFO")["limits"], "the service answers")
    term.good("term.type", {"pane": pane, "text": "go", "enter": True})
    assert json.loads(waiting.communicate(timeout=60)[0])["body"]["outcome"] == "exited"
    sleeper = term.good("term.tab.new", {"argv": ["sleep", "600"]})
    waiting = subprocess.Popen(
        [
            *COMMAND,
            "call",
            "term.wait",
            json.dumps({"pane": sleeper["pane"], "until": "never"}),
        ],
        env=term.environment(),
        stdout=subprocess.PIPE,
    )
    term.good("term.tab.close", {"id": sleeper["id"]})
    body = json.loads(waiting.communicate(timeout=60)[0])["body"]
    # The pane may be closed before the wait has arrived: then it is not there to be waited for.
    assert body.get("outcome") == "gone" or body.get("error_code") == "NOT_FOUND"


def test_a_prompt_that_waits_for_input_matches_with_its_blank(term: Service) -> None:
    pane = term.good("term.tab.new", {"argv": ["sh", "-c", "printf 'name> '; read x"]})["pane"]
    for until in ("name> $", "name>$", "^name> ?$"):
        assert term.good("term.wait", {"pane": pane, "until": until})["outcome"] == "matched"
    late = term.good("term.wait", {"pane": pane, "until": "name>  $", "timeout_ms": 50})
    assert late["outcome"] == "deadline"


def test_a_pane_of_another_tab_is_not_selected_and_the_reason_is_said(term: Service) -> None:
    pane = term.good("term.tab.new")["pane"]
    term.good("term.tab.new")
    rc, answer = term.call("term.pane.select", {"id": pane})
    assert (rc, answer["error_code"], answer["details"]["reason"]) == (
        10,
        "NOT_FOUND",
        "in_another_tab",
    )


def test_a_call_without_a_reply_says_so_in_json(term: Service) -> None:
    elsewhere = ("--runtime-dir", str(term.directory / "none"))
    done = term.run("call", "INFO", *elsewhere, check=3)
    reply = json.loads(done.stdout)
    assert (reply["rc"], reply["body"]["error_code"]) == (-1, "UNAVAILABLE")
    large = subprocess.run(
        [*COMMAND, "call", "term.type", "-"],
        env=term.environment(),
        input=b" " * 2_000_000,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert large.returncode == 1
    assert json.loads(large.stdout)["body"]["error_code"] == "INVALID_ARGUMENT"


def test_a_missing_program_or_directory_is_refused_and_leaves_nothing(term: Service) -> None:
    before = term.good("term.tabs")
    for body, field in (
        ({"argv": ["no-such-program-here"]}, "argv"),
        ({"cwd": "/no/such/directory"}, "cwd"),
    ):
        rc, answer = term.call("term.tab.new", body)
        assert (rc, answer["error_code"]) == (10, "NOT_FOUND")
        assert answer["details"]["field"] == field
        assert "no-such" not in json.dumps(answer)
    assert term.good("term.tabs") == before


CANARY = "zq7canary"

BAD_BODIES = (
    ("term.tabs", f'{{"{CANARY}":1}}', "INVALID_ARGUMENT"),
    ("term.type", f'{{"text":["{CANARY}"]}}', "INVALID_ARGUMENT"),
    ("term.type", '{"text":"a","text":"b"}', "INVALID_ARGUMENT"),
    ("term.tab.select", '{"id":NaN}', "INVALID_ARGUMENT"),
    ("term.tab.select", '{"id":1.0}', "INVALID_ARGUMENT"),
    ("term.tab.select", '{"id":"1"}', "INVALID_ARGUMENT"),
    ("term.tab.select", '{"id":-1}', "INVALID_ARGUMENT"),
    ("term.tab.select", '{"id":' + "9" * 5000 + "}", "INVALID_ARGUMENT"),
    ("term.tab.select", '{"id":18446744073709551616}', "INVALID_ARGUMENT"),
    ("term.tab.select", '{"id":999999}', "NOT_FOUND"),
    ("term.snapshot", '{"pane":999999}', "NOT_FOUND"),
    ("term.tabs", "[" * 17 + "]" * 17, "INVALID_ARGUMENT"),
    ("term.tabs", " ", "INVALID_ARGUMENT"),
    ("term.type", '{"text":"' + "a" * 8193 + '"}', "INVALID_ARGUMENT"),
    ("term.type", f'{{"text":"{CANARY}\\u00e9"}}', "INVALID_ARGUMENT"),
    ("term.wait", f'{{"until":"({CANARY}"}}', "INVALID_ARGUMENT"),
    (f"term.{CANARY}", "{}", "UNSUPPORTED"),
)


@pytest.mark.parametrize(("verb", "body", "code"), BAD_BODIES)
def test_bad_input_is_refused_by_name_and_never_echoed(
    term: Service, verb: str, body: str, code: str
) -> None:
    done = term.run("call", verb, body, check=1)
    reply = json.loads(done.stdout)
    assert (reply["rc"], reply["body"]["error_code"]) == (10, code)
    assert CANARY not in done.stdout + done.stderr
    assert term.good("term.tabs")["tabs"]


def test_the_longest_text_passes_and_one_more_byte_does_not(term: Service) -> None:
    pane = term.good("term.tab.new", {"argv": ["sh", "-c", "stty raw; cat >/dev/null"]})["pane"]
    head, tail = f'{{"pane":{pane},"text":"', '"}'
    room = 8192 - len(head) - len(tail)
    assert json.loads(term.run("call", "term.type", head + "a" * room + tail).stdout)["rc"] == 0
    done = term.run("call", "term.type", head + "a" * (room + 1) + tail, check=1)
    assert json.loads(done.stdout)["body"]["error_code"] == "INVALID_ARGUMENT"


def test_a_line_that_the_kernel_would_cut_is_refused_not_run(term: Service) -> None:
    pane = term.good("term.tab.new", {"argv": ["sh", "-c", "echo ready; exec cat"]})["pane"]
    term.wait("^ready$", pane)
    rc, answer = term.call("term.type", {"pane": pane, "text": "a" * 4096 + "\r"})
    assert (rc, answer["error_code"]) == (10, "RESOURCE_LIMIT")
    assert answer["details"] == {"reason": "line_too_long", "limit": 4095}
    term.good("term.type", {"pane": pane, "text": "b" * 4095 + "\r"})
    term.good("term.type", {"pane": pane, "text": "end\r"})
    term.wait("^end$", pane)
    assert not any("a" in row for row in term.screen(pane) if row != "ready")


def test_input_that_nobody_reads_ends_with_a_count(term: Service) -> None:
    script = "stty raw; echo ready; sleep 600"
    pane = term.good("term.tab.new", {"argv": ["sh", "-c", script]})["pane"]
    term.wait("ready", pane)
    refused = None
    for _ in range(12):
        rc, answer = term.call("term.type", {"pane": pane, "text": "a" * 8000})
        if rc:
            refused = answer
            break
    assert refused is not None
    assert refused["error_code"] in {"EXPIRED", "RESOURCE_LIMIT"}
    if refused["error_code"] == "EXPIRED":
        assert 0 <= refused["details"]["written_bytes"] < refused["details"]["bytes"]
    assert term.good("term.tabs")["tabs"], "other verbs go on"


def test_the_log_says_who_did_what_and_no_payload(term: Service) -> None:
    pane = term.good("term.tab.new")["pane"]
    term.good("term.type", {"pane": pane, "text": f"echo {CANARY}"})
    done = term.run("log", "--json")
    last = [entry for entry in json.loads(done.stdout)["entries"] if entry["verb"] == "term.type"][
        -1
    ]
    assert last["pane"] == pane
    assert last["outcome"] == "ok"
    assert last["principal"].startswith(f"uid {os.geteuid()} pid ")
    assert CANARY not in done.stdout


def test_tabs_and_panes_are_opened_and_closed_by_command(term: Service, tmp_path: Path) -> None:
    opened = term.run("new", "--title", "nap", "--cwd", str(tmp_path), "--", "sleep", "600")
    tab, pane = map(int, opened.stdout.replace("tab", "").replace("pane", "").split())
    listed = {p["id"]: p for p in term.good("term.panes")["panes"]}
    assert (listed[pane]["title"], listed[pane]["cwd"]) == ("nap", str(tmp_path))
    split = json.loads(term.run("split", "--below", "--json", "--", "true").stdout)
    assert split["tab"] == tab
    eventually(
        lambda: term.good("term.snapshot", {"pane": split["id"]})["state"] == "exited", "it ends"
    )
    again = term.run("restart", "--pane", str(split["id"]), "--request-id", "again-1")
    assert (
        again.stdout
        == term.run("restart", "--pane", str(split["id"]), "--request-id", "again-1").stdout
    )
    assert term.run("select", "--pane", str(pane)).stdout == f"tab {tab} pane {pane}\n"
    term.run("select", check=2)
    term.run("close", "--tab", "1", "--pane", "1", check=2)
    assert term.run("close", "--pane", str(split["id"])).stdout == f"tab {tab} pane {split['id']}\n"
    assert term.run("close", "--tab", str(tab)).stdout == f"tab {tab}\n"
    assert "no such" in term.run("select", "--tab", str(tab), check=1).stderr


def test_exit_codes_are_for_scripts(term: Service) -> None:
    assert term.run("screen", "--pane", "999999", check=1).stdout == ""
    term.run("screen", "--pane", "x", check=2)
    term.run("frobnicate", check=2)
    absent = term.run("tabs", "--name", "nobody-here", check=3)
    assert "termnode up --name nobody-here" in absent.stderr
    elsewhere = term.run("tabs", "--runtime-dir", str(term.directory / "other"), check=3)
    assert "termnode up" in elsewhere.stderr


def test_a_second_one_of_the_same_name_is_refused(term: Service) -> None:
    done = term.run("up", "--detach", check=1)
    assert "already runs" in done.stderr
    assert "--name" in done.stderr
    assert alive(term.ready["pid"])


def test_named_services_run_side_by_side_and_end_alone(term: Service) -> None:
    other = Service(term.directory, "second")
    try:
        other.up()
        assert other.good("term.session")["service"] == "second"
        assert term.good("term.session")["service"] == "term"
    finally:
        other.down()
    assert not list((term.directory / "rt").glob("second.*"))
    assert term.good("term.tabs")["tabs"]


def test_down_leaves_no_process_and_no_file_and_the_other_alone() -> None:
    with service() as first, service() as second:
        pids = [first.ready["pid"], *_descendants(first)]
        assert len(pids) >= 4  # the service, its broker, its pane host, the shell
        first.run("down")
        for pid in pids:
            eventually(partial(_gone, pid), f"process {pid} is gone")
        assert list((first.directory / "rt").iterdir()) == []
        assert second.good("term.tabs")["tabs"]


def _gone(pid: int) -> bool:
    return not alive(pid)


def _descendants(running: Service) -> list[int]:
    """The processes of a service: its children, and theirs, by parent pid."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents.setdefault(int(fields[1]), []).append(int(entry.name))
    found: list[int] = []
    ask = [running.ready["pid"]]
    while ask:
        children = parents.get(ask.pop(), [])
        found += children
        ask += children
    return found


def test_strict_posture_answers_info_and_help_only_and_loses_no_pane() -> None:
    with service(COSMIX_MESH_OPEN="0") as running:
        assert running.ready["posture"] == "strict"
        assert running.call("INFO")[0] == 0
        assert running.call("help")[0] == 0
        refusals = {
            json.dumps(running.call(verb)) for verb in ("term.tabs", "term.type", "no.verb")
        }
        assert len(refusals) == 1
        assert json.loads(refusals.pop())[1]["error_code"] == "FORBIDDEN"
        assert running.run("posture").stdout.strip() == "strict"
        running.run("posture", "open")
        panes = running.good("term.panes")["panes"]
        running.run("posture", "strict")
        assert running.call("term.panes")[1]["error_code"] == "FORBIDDEN"
        (running.directory / "rt" / "term.posture").write_text("opne\n")
        assert running.call("term.panes")[1]["error_code"] == "FORBIDDEN"
        running.run("posture", "open")
        now = running.good("term.panes")["panes"]
        assert [(p["id"], p["pid"]) for p in now] == [(p["id"], p["pid"]) for p in panes]
        outcomes = [
            e["outcome"] for e in running.good("term.log")["entries"] if e["verb"] == "posture"
        ]
        assert outcomes[:2] == ["open", "strict"]
