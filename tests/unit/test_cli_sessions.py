"""The command line's words on sessions, and which broker it chooses to talk to."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st
from wcwidth import wcswidth

from termnode.cli import doctor_sessions, look, reaching, session_rows, sessions
from termnode.cli.exits import USAGE, CommandError
from termnode.cli.parser import build
from termnode.cli.reaching import Reach, reach
from termnode.cli.redraw import Redraw
from termnode.version import VERSION

KEY = "YXjm>}f#rxnYwTJ)s]YJ(5OZu6cp7/)8k5EgegFR"
NODE = ["--node", "tcp://127.0.0.1:1", "--server-key", KEY, "--key", "mine"]
AT_NODE = Reach(node="tcp://127.0.0.1:1", server_key=KEY, key_file="mine")


def chosen(arguments: list[str], **environment: str) -> Reach:
    return reach(build(VERSION).parse_args(arguments), environment)


@pytest.mark.parametrize(
    ("arguments", "environment", "expected"),
    [
        ([], {}, Reach()),
        (["--runtime-dir", "d"], {"COSMIX_SHARED_DIR": "s"}, Reach(runtime_dir="d")),
        (["--shared", "s"], {"COSMIX_NODE": "tcp://h:1"}, Reach(shared="s")),
        (["--shared", "s", "--account", "7"], {}, Reach(shared="s", account=7)),
        (
            [],
            {"COSMIX_SHARED_DIR": "s", "COSMIX_BROKER_ACCOUNT": "ann"},
            Reach(shared="s", account="ann"),
        ),
        (NODE, {}, AT_NODE),
        (NODE, {"TERMNODE_PANE": "1"}, AT_NODE),
        (
            [],
            {
                "COSMIX_NODE": "tcp://127.0.0.1:1",
                "COSMIX_NODE_SERVER_KEY": KEY,
                "COSMIX_NODE_KEY": "mine",
                "COSMIX_SHARED_DIR": "s",
            },
            AT_NODE,
        ),
        # In a pane the service around it goes before what the person's environment says.
        ([], {"TERMNODE_PANE": "1", "COSMIX_SHARED_DIR": "s"}, Reach()),
    ],
)
def test_options_go_before_the_pane_and_that_before_the_environment(
    arguments: list[str], environment: dict[str, str], expected: Reach
) -> None:
    assert chosen(["panes", *arguments], **environment) == expected


@pytest.mark.parametrize("command", ["up", "attach", "down", "watch", "posture", "doctor"])
def test_commands_about_the_own_machine_take_no_other_broker(command: str) -> None:
    assert chosen([command], COSMIX_SHARED_DIR="s", COSMIX_NODE="tcp://h:1") == Reach()
    with pytest.raises(SystemExit):
        chosen([command, "--shared", "s"])


@pytest.mark.parametrize(
    "arguments",
    [
        ["--node", "tcp://h:1"],
        ["--node", "tcp://h:1", "--server-key", KEY],
        ["--node", "tcp://h:1", "--server-key", "no-such-file", "--key", "k"],
    ],
)
def test_a_node_needs_both_keys(arguments: list[str]) -> None:
    with pytest.raises(CommandError) as refused:
        chosen(["panes", *arguments])
    assert refused.value.code == USAGE
    assert "key" in str(refused.value)


def test_a_server_key_may_stand_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "server.pub"
    file.write_text(f"{KEY}\n")
    found = chosen(["panes", "--node", "tcp://h:1", "--server-key", str(file), "--key", "mine"])
    assert found.server_key == KEY


def test_a_secret_that_others_may_read_is_not_used(tmp_path: Path) -> None:
    file = tmp_path / "mine.secret"
    file.write_text(f"{KEY}\n")
    file.chmod(0o640)
    with pytest.raises(CommandError, match="chmod 600") as refused:
        reaching.secret_key(str(file))
    assert KEY not in str(refused.value)
    file.chmod(0o600)
    assert reaching.secret_key(str(file)) == KEY
    file.write_text("none")
    with pytest.raises(CommandError, match="holds no key"):
        reaching.secret_key(str(file))


def record(number: int, **fields: object) -> dict[str, Any]:
    term = {
        "name": f"t0-{number}",
        "record_id": f"r{number}",
        "instance_id": f"i{number}",
        "role": "term",
        "parent_instance": None,
        "pane_id": None,
        "state": "attached",
        "binding_generation": "1",
        "capabilities": ["execute", "input"],
        "policy": "restricted",
        "lease_remaining_ms": "14999",
    }
    return {**term, **fields}


def child(number: int, parent: int, pane: int) -> dict[str, Any]:
    return record(
        number,
        name=f"c0-{number}",
        role="pane-shell",
        parent_instance=f"i{parent}",
        pane_id=str(pane),
        state="pending",
        lease_remaining_ms=None,
    )


def test_records_are_marked_where_they_are_the_services() -> None:
    records = [record(1), record(2), child(3, 1, 1), child(4, 2, 1)]
    marked = session_rows.with_service(records, "term", "t0-1")
    assert [each["service"] for each in marked] == ["term", None, "term", None]
    for unknown in (None, "t0-9"):
        marked = session_rows.with_service(records, "term", unknown)
        assert not any(each["service"] for each in marked)


def test_the_service_is_asked_again_only_when_another_term_came_or_went() -> None:
    terms, asked, told = ["t0-1"], [0], [""]

    async def listed() -> list[Any]:
        views = [record(number, name=name) for number, name in enumerate(terms)]
        return [SimpleNamespace(**view, to_json=view.copy) for view in views]

    async def request(*_: object, **__: object) -> object:
        asked[0] += 1
        return SimpleNamespace(ok=True, body={"identity": {"name": told[0] or None}})

    bus: Any = SimpleNamespace(sessions=SimpleNamespace(list=listed), request=request)
    looks = sessions.Looks("term")

    def look() -> tuple[list[str], int]:
        records = trio.run(looks.look, bus)
        return [each["name"] for each in records if each["service"]], asked[0]

    assert [look(), look()] == [([], 1), ([], 2)], "asked until it tells"
    told[0] = "t0-1"
    assert [look(), look()] == [(["t0-1"], 3), (["t0-1"], 3)]
    terms.append("t0-2")
    told[0] = "t0-2"
    assert [look(), look()] == [(["t0-2"], 4), (["t0-2"], 4)]
    terms.clear()
    assert [look(), look()] == [([], 4), ([], 4)]


def test_the_table_has_each_term_before_its_panes() -> None:
    records = [child(5, 1, 10), child(4, 1, 2), record(1), record(2)]
    head, *rows = session_rows.lines(session_rows.with_service(records, "term", "t0-1"))
    assert head.split()[:3] == ["NAME", "ROLE", "SERVICE"]
    assert [row.split()[0] for row in rows] == ["t0-1", "c0-4", "c0-5", "t0-2"]
    assert rows[0].split()[2:] == [
        "term", "-", "attached", "1", "execute", "input", "restricted", "14s",
    ]  # fmt: skip
    assert rows[1].split()[-1] == "-"
    assert session_rows.lines([]) != []


def test_capabilities_are_short() -> None:
    assert session_rows.capabilities(["read_state", "terminate"]) == "state end"
    assert session_rows.capabilities(["any"] * 6) == "all"


Records = dict[str, dict[str, Any]]
Changes = Callable[[Records, Records], Iterable[tuple[str, dict[str, Any]]]]


def told(changes: Changes) -> list[tuple[str, str]]:
    before = {each["record_id"]: each for each in (record(1), record(2), record(3))}
    now = (
        record(1, lease_remaining_ms="3"),
        record(2, state="suspended", lease_remaining_ms=None),
        record(4),
    )
    after = {each["record_id"]: each for each in now}
    return [(what, each["record_id"]) for what, each in changes(before, after)]


def test_a_change_is_what_lasts_and_a_lease_that_runs_is_none() -> None:
    expected = [("changed", "r2"), ("new", "r4"), ("gone", "r3")]

    def naive(before: Records, after: Records) -> list[tuple[str, dict[str, Any]]]:
        both = before.keys() & after.keys()
        return [("changed", after[each]) for each in both if before[each] != after[each]]

    assert told(session_rows.changes) == expected
    assert told(naive) != expected, "the check sees a lease that counts as a change"


def test_a_change_is_one_line() -> None:
    assert session_rows.words("gone", child(3, 1, 2)).split() == [
        "gone", "c0-3", "pane-shell", "pane", "2", "generation", "1",
    ]  # fmt: skip
    assert "suspended" in session_rows.words("changed", record(1, state="suspended"))


@given(
    st.lists(st.lists(st.text(st.sampled_from("ab日2m"), max_size=12), max_size=8), max_size=4),
    st.integers(1, 10),
    st.integers(1, 6),
)
def test_a_redrawn_table_never_leaves_its_place(
    tables: list[list[str]], cols: int, rows: int
) -> None:
    place = Redraw()
    drawn = 0
    for lines in tables:
        text = place.draw(lines, cols, rows)
        up = text.partition("\r")[0]
        assert up == (f"\x1b[{drawn}A" if drawn else "")
        body = text.partition("\r")[2].removesuffix("\x1b[J")
        drawn = body.count("\n")
        assert drawn <= max(1, rows - 1)
        assert all(wcswidth(line) <= cols for line in body.replace("\x1b[K", "").split("\n"))


def test_colours_stay_in_a_line_that_fits_and_go_with_a_cut() -> None:
    line = "\x1b[2mNAME\x1b[0m"
    assert line in Redraw().draw([line], 4, 5)
    assert Redraw().draw([line], 3, 5) == "\rNAM\x1b[K\n\x1b[J"


@pytest.mark.parametrize(
    ("binding", "words"),
    [
        (None, ""),
        ({"state": "attached", "reason": "", "ready": True}, "ready"),
        ({"state": "attached", "reason": "", "ready": False}, "enrolling"),
        ({"state": "enrolling", "reason": "granted", "ready": False}, "enrolling"),
        ({"state": "waiting", "reason": "", "ready": False}, "waiting"),
        ({"state": "suspended", "reason": "", "ready": False}, "suspended"),
        ({"state": "unbound", "reason": "five ends", "ready": False}, "unbound: five ends"),
        ({"state": "unbound", "reason": "", "ready": False}, "unbound"),
        ({"state": "over", "reason": "", "ready": False}, ""),
        ({"state": "off", "reason": "", "ready": False}, "off"),
    ],
)
def test_a_pane_says_whether_it_has_its_session(
    binding: dict[str, object] | None, words: str
) -> None:
    assert look.binding_words({"binding": binding}) == words
    assert look.binding_words({}) == ""


READY = {"id": 1, "binding": {"state": "attached", "ready": True}}
UNBOUND = {"id": 2, "binding": {"state": "unbound", "reason": "no\x1b[31m", "ready": False}}
ENDED = {"id": 3, "exit": {"code": 0}}


def test_the_doctor_counts_live_panes_and_names_those_without_a_session() -> None:
    good = doctor_sessions.pane_shells([READY, ENDED])
    assert (good.state, good.found) == ("ok", "1 of 1 ready")
    bad = doctor_sessions.pane_shells([READY, UNBOUND, ENDED])
    assert bad.state == "warn"
    assert "1 of 2 ready" in bad.found
    assert "2 unbound: no" in bad.found
    assert "\x1b" not in bad.found
    many = doctor_sessions.pane_shells([UNBOUND] * 9)
    assert many.found.endswith(", ...")
    assert doctor_sessions.pane_shells(None).remedy


def test_the_doctor_says_what_to_do_about_an_identity() -> None:
    ready = doctor_sessions.identity({"state": "ready", "policy": "restricted"})
    assert (ready.state, ready.remedy) == ("ok", "")
    off = doctor_sessions.identity({"state": "off", "problem": "bad policy"})
    assert off.state == "warn"
    assert "COSMIX_TERM_POLICY" in off.remedy
    lost = doctor_sessions.identity({"state": "lost", "policy": "restricted", "problem": "gone"})
    assert "gone" in lost.found
    assert "COSMIX_TERM_POLICY" not in lost.remedy
    assert doctor_sessions.identity(None).state == "warn"


def test_the_doctor_warns_when_no_terminal_more_can_have_a_session() -> None:
    assert doctor_sessions.records(["term"] * 63 + ["pane-shell"]).state == "ok"
    assert doctor_sessions.records(["term"] * 64).state == "warn"
    assert doctor_sessions.records(None).state == "warn"
    assert doctor_sessions.zygote(None).state == "warn"
    assert doctor_sessions.zygote(7).state == "ok"


def test_a_mark_of_another_broker_is_no_pane_of_ours() -> None:
    from termnode.cli.keyboard import own_pane

    arguments = argparse.Namespace(name="term", runtime_dir=None, shared="s", node=None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TERMNODE_NAME", "term")
        patch.setenv("TERMNODE_PANE", "4")
        assert own_pane(arguments) is None
        assert own_pane(argparse.Namespace(name="term", runtime_dir=None)) == 4
