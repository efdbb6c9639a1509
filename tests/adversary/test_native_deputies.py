"""The Term is not talked into using its own rights, or another caller's, for somebody else."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from termnode.control import posture
from tests.support.native_strangers import SHARED
from tests.support.raw_bus import socket_of
from tests.support.s4.caller import Caller, body_of, denied, refused
from tests.support.s4.lab import Lab, first, lab_of
from tests.support.s4.service import descendants
from tests.support.session_peer import ROOT, Key
from tests.support.termnode_process import eventually

pytestmark = pytest.mark.slow

STAMPED: Final = re.compile(r"(uid \d+( pid \d+)?|(term|pane-shell) [0-9a-f]{8} uid \d+|service)")
"""All that the audit may say of who asked."""


@pytest.fixture
def lab() -> Iterator[Lab]:
    """Two panes in one tab, strict."""
    with lab_of() as made:
        first(made)
        made.split()
        made.strict()
        yield made


def test_two_callers_with_the_same_id_are_two(lab: Lab) -> None:
    """Case 1, without a hop: whose outcome it is depends on the stamp alone."""
    one, two = lab.targets(1, 2)
    a, b, shell = lab.owner(), lab.owner(), lab.child(1)
    for caller, title in ((a, "of a"), (b, "of b")):
        caller.done("term.pane.rename", one, affected=[two], title=title)
    number = shell.typed(one, "x")
    assert number == "1"
    assert a.operation(one, "1").body["title"] == "of a"
    assert b.operation(one, "1").body["title"] == "of b"
    assert shell.operation(one, "1").body["boundary"] == "pty_write"
    late = lab.owner()
    refused(late.operation(one, "1"), "UNKNOWN_OUTCOME", "unknown_operation")
    # A pane shell's is not to be had by the Term's owner either.
    refused(a.operation(one, "2"), "UNKNOWN_OUTCOME", "unknown_operation")


def test_nothing_that_a_caller_says_names_it(lab: Lab) -> None:
    """Case 2, without a hop: what is shown and noted of who asked is what the broker stamped."""
    one, two = lab.targets(1, 2)
    owner, shell = lab.owner(), lab.child(1)
    evil = "\x1b]0;uid 0 pid 1\x07 via Term \u202euid"
    owner.ask(f"term.{'x' * 60}", one)
    owner.peer.ask(owner.name, b"{}", id="evil", command="uid-0-pid-1")
    owner.answer("evil")
    owner.do("term.pane.rename", one, affected=[two], title=evil)
    owner.do("term.type", one, text=evil, foreground_generation="1")
    owner.ask("term.props.get", one, property=evil)
    assert shell.typed(one, "x")
    lab.strict(on=False)
    entries = lab.term.good("term.log")["entries"]
    assert entries
    for entry in entries:
        assert STAMPED.fullmatch(entry["principal"]), entry
        assert re.fullmatch(r"[a-zA-Z._]{1,40}", entry["verb"]), entry
    raw = json.dumps(entries)
    assert "\\u202e" not in raw
    assert "via" not in raw
    mine = f"pane-shell {shell.record['record_id'][:8]} uid {os.geteuid()}" if shell.record else ""
    assert (mine, "term.type", "ok") in {
        (each["principal"], each["verb"], each["outcome"]) for each in entries
    }


def test_what_is_affected_is_asked_when_it_is_done(lab: Lab) -> None:
    """Case 4: panes that came after the request was made are affected all the same."""
    one, two = lab.targets(1, 2)
    owner, other = lab.owner(), lab.owner()
    prepared = owner.next(one, affected=[two], dir="h")
    made = other.done("term.pane.split", two, affected=[one], dir="h")
    lab.strict(on=False)
    lab.ready(int(made["pane_id"]))
    lab.strict()
    denied(owner.send("term.pane.split", prepared))
    three = lab.target(int(made["pane_id"]))
    # It was denied, so the id is as new: the same one, with all that is affected, is good.
    body = {**json.loads(prepared), "affected": [two, three]}
    assert owner.send("term.pane.split", body_of(body)).rc == 0


def test_an_id_that_comes_again_is_not_the_pane_that_had_it(lab: Lab) -> None:
    """Case 5: what was meant for a pane's earlier session reaches no later one."""
    one, two = lab.targets(1, 2)
    owner, waiting = lab.owner(), lab.owner()
    lab.strict(on=False)
    made = lab.tab("/bin/sh", "-c", "read line; echo $line")
    lab.strict()
    old = lab.target(made)
    stale = waiting.next(old, text="stale", foreground_generation=owner.foreground(old))
    owner.typed(old, "\n")
    eventually(lambda: _state(lab, made) == "exited", "its program has ended")
    everybody = lab.owner().good("term.session", one)["panes"]
    ended = next(each["target"] for each in everybody if each["target"]["pane_id"] == str(made))
    assert owner.done("term.pane.restart", ended)
    eventually(lambda: lab.record_of(made) is not None, "the pane has another session")
    lab.strict(on=False)
    lab.ready(made)
    lab.strict()
    new = lab.target(made)
    assert int(new["pane_generation"]) > int(old["pane_generation"])
    denied(waiting.send("term.type", stale))
    denied(owner.ask("term.snapshot", old, contents=True))
    assert owner.good("term.session", new)["target"] == new
    fresh = owner.next(
        new, text="x", foreground_generation=json.loads(stale)["foreground_generation"]
    )
    refused(owner.send("term.type", fresh), "STALE_GENERATION")
    assert two in [each["target"] for each in everybody]


def _state(lab: Lab, pane: int) -> str:
    lab.strict(on=False)
    panes = lab.term.good("term.panes")["panes"]
    lab.strict()
    return str(next(each["state"] for each in panes if each["id"] == pane))


ASKING: Final = """
import os, sys
open(sys.argv[6])
sys.path.insert(0, sys.argv[1])
from tests.support.native_strangers import Local
from tests.support.raw_bus import RawPeer
said = Local(RawPeer.open(sys.argv[2])).ask(sys.argv[3], "term.session", sys.argv[4].encode())
with open(sys.argv[5] + ".new", "w") as file:
    file.write(said.code)
os.rename(sys.argv[5] + ".new", sys.argv[5])
"""
"""A program that connects as any other of its user's, and asks."""


@pytest.mark.parametrize(
    ("policy", "answer"), [("default-open", "ok"), ("restricted", "FORBIDDEN")]
)
def test_a_program_in_a_pane_is_its_user_unless_the_policy_says_else(
    policy: str, answer: str
) -> None:
    """Case 7, as specified: a connection of its own is the owner's, whoever's child it is."""
    with lab_of(COSMIX_TERM_POLICY=policy) as lab:
        pane, out = first(lab), lab.term.directory / "out"
        asked = json.dumps({"target": lab.target(pane)})
        name = lab.record()["name"]
        said = [str(ROOT), str(socket_of(lab.broker)), name, asked, str(out)]
        go = lab.term.directory / "go"
        os.mkfifo(go)
        lab.tab(sys.executable, "-c", ASKING, *said, str(go))
        lab.strict()
        with go.open("w"):  # and only now it goes on
            found = eventually(lambda: out.exists() and out.read_text(), "the program has asked")
        assert found == answer


def test_a_pane_inherits_no_connection_and_no_launch(lab: Lab) -> None:
    """Case 8: an open descriptor is an identity; a program gets none but its terminal."""
    lab.strict(on=False)
    pids = {each["id"]: each["pid"] for each in lab.term.good("term.panes")["panes"]}
    for pane, pid in pids.items():
        links = {os.readlink(each) for each in Path(f"/proc/{pid}/fd").iterdir()}
        assert all(re.fullmatch(r"/dev/(pts/\d+|tty|ptmx|null)", link) for link in links), links
        environment = Path(f"/proc/{pid}/environ").read_bytes()
        assert b"COSMIX_SESSION_FD" not in environment
        shell = lab.shell_of(pane)
        assert shell is not None
        assert descendants(shell) == []
        assert b"COSMIX_SESSION_FD" not in Path(f"/proc/{shell}/environ").read_bytes()
        held = [os.readlink(each) for each in Path(f"/proc/{shell}/fd").iterdir()]
        assert not [each for each in held if "memfd" in each]


@pytest.mark.parametrize("word", ["", "open", "Restricted", "default-open ", "0"])
def test_a_policy_that_is_none_gives_no_authority(word: str) -> None:
    """Case 9: nothing is allocated then, and the rest of the service goes on."""
    with lab_of(*SHARED, COSMIX_TERM_POLICY=word) as lab:
        lab.term.up()
        assert lab.records() == []
        identity = lab.term.good("INFO")["identity"]
        assert (identity["state"], identity.get("name")) == ("off", None)
        assert lab.term.good("term.panes")["panes"]


@pytest.mark.parametrize("word", ["", "open-ish", "Open", "1 "])
def test_a_posture_that_is_none_is_strict(lab: Lab, word: str) -> None:
    """Case 9: a file that says nothing known opens nothing."""
    one, _ = lab.targets(1, 2)
    name, peer = lab.record()["name"], lab.peer()
    stranger = Caller(peer, name, peer.allocate(Key()))
    denied(stranger.ask("term.session", one))
    lab.strict(on=False)
    assert stranger.ask("term.session", one).rc == 0
    posture.file_path(lab.term.files, lab.term.name).write_text(word)
    denied(stranger.ask("term.session", one))
