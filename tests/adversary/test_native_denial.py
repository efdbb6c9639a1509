"""One denial for everything: the same bytes whatever it is for, and nothing is spent by it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import pytest

from brokerd.client import encode, forbidden
from tests.support.native_strangers import FOREIGN, SHARED, Local, Said, Stranger, other_user
from tests.support.s4.caller import Caller, body_of
from tests.support.s4.lab import NOTHING_OFF, Lab, first, lab_of
from tests.support.session_peer import Fields, Key

NOWHERE: Final = "0" * 31 + "1"
SPENT: Final = "7000"
"""Every mutation that is denied has this id; lower ones must be good after it."""

DENIED: Final = Said(10, encode(forbidden().body()))


class Cause(NamedTuple):
    """Something that is denied: who asks, for what."""

    caller: Caller
    verb: str
    target: Fields
    more: Mapping[str, Any] = MappingProxyType({})

    def ask(self) -> Said:
        body = {"target": self.target, **self.more}
        return Local(self.caller.peer).ask(self.caller.name, self.verb, body_of(body))


def _mutation(caller: Caller, **own: Any) -> dict[str, Any]:  # noqa: ANN401
    return {"request_id": SPENT, "request_epoch": caller.peer.connection_id, **own}


def _input(caller: Caller, **own: Any) -> dict[str, Any]:  # noqa: ANN401
    return _mutation(caller, foreground_generation="1", **own)


def _of_the_owner(lab: Lab, panes: tuple[int, int]) -> dict[str, Cause]:
    """What nobody is given in strict posture, not even who owns everything."""
    owner = lab.owner()
    one, two = lab.targets(*panes)
    gone = {**one, "pane_id": "99"}
    number = owner.done("term.pane.rename", one, affected=[two], title="mine")["operation_id"]
    named = _mutation(owner, affected=[{**two, "pane_generation": "77"}])
    return {
        "no such pane": Cause(owner, "term.session", gone),
        "no such pane, mutation": Cause(owner, "term.pane.rename", gone, _mutation(owner)),
        "later generation": Cause(owner, "term.session", {**one, "pane_generation": "77"}),
        "generation 0": Cause(owner, "term.snapshot", {**one, "pane_generation": "0"}),
        "another instance": Cause(owner, "term.session", {**one, "instance_id": NOWHERE}),
        "another incarnation": Cause(owner, "term.panes", {**one, "incarnation": NOWHERE}),
        "no such verb there": Cause(owner, "no.such.verb", {**one, "instance_id": NOWHERE}),
        "not all affected": Cause(owner, "term.pane.select", one, _mutation(owner)),
        "affected, of another generation": Cause(owner, "term.pane.select", one, named),
        "operation of another pane": Cause(owner, "term.operation", two, {"operation_id": number}),
        "nothing to close": Cause(owner, "term.pane.close", gone, _mutation(owner)),
        "input nowhere": Cause(owner, "term.type", gone, _input(owner, text="x")),
    }


def _of_a_shell(lab: Lab, panes: tuple[int, int]) -> dict[str, Cause]:
    """What the shell of a pane has not: another pane, new panes, what it was not granted."""
    one, two = lab.targets(*panes)
    all_of_it, reader = lab.child(panes[0]), lab.child(panes[1])
    split = _mutation(all_of_it, dir="v", affected=[two])
    return {
        "another's pane": Cause(all_of_it, "term.snapshot", two),
        "another's contents": Cause(all_of_it, "term.snapshot", two, {"contents": True}),
        "input into another's": Cause(all_of_it, "term.keys", two, _input(all_of_it, keys=["x"])),
        "another's operation": Cause(all_of_it, "term.operation", two, {"operation_id": "1"}),
        "a new pane": Cause(all_of_it, "term.pane.split", one, split),
        "a new tab": Cause(all_of_it, "term.tab.new", one, _mutation(all_of_it)),
        "contents not granted": Cause(reader, "term.snapshot", two, {"contents": True}),
        "wait not granted": Cause(reader, "term.wait", two, {"until": "x", "timeout_ms": 1}),
        "events not granted": Cause(reader, "term.events", two),
        "input not granted": Cause(reader, "term.type", two, _input(reader, text="x")),
        "end not granted": Cause(reader, "term.pane.close", two, _mutation(reader)),
        "start not granted": Cause(reader, "term.pane.restart", two, _mutation(reader)),
    }


def _of_strangers(lab: Lab, panes: tuple[int, int]) -> dict[str, Cause]:
    """Another Term of the same user, and its shell under the very same pane id."""
    one, _ = lab.targets(*panes)
    term, shell, key = lab.peer(), lab.peer(), Key()
    name = lab.record()["name"]
    record = term.allocate(Key())
    term.grant(record, key, (panes[0], int(one["pane_generation"])))
    shell.attach(key)
    other, others = Caller(term, name), Caller(shell, name)
    return {
        "another Term": Cause(other, "term.session", one),
        "another Term, mutation": Cause(other, "term.pane.close", one, _mutation(other)),
        "another Term's shell": Cause(others, "term.session", one),
        "another Term's shell, input": Cause(others, "term.type", one, _input(others, text="x")),
    }


Strict = tuple[Lab, tuple[int, int]]


@contextmanager
def strict_lab(off: str = NOTHING_OFF) -> Iterator[Strict]:
    """Two panes; the shell of the second may read what it is, and no more."""
    settings = {"capabilities": {"2": ["read_state"]}}
    with lab_of(*SHARED, settings=settings, off=off) as lab:
        one = first(lab)
        (two,) = lab.split()
        lab.strict()
        yield lab, (one, two)


def _causes(lab: Lab, panes: tuple[int, int]) -> dict[str, Cause]:
    strangers = _of_strangers(lab, panes)
    return {**_of_the_owner(lab, panes), **_of_a_shell(lab, panes), **strangers}


def _not_denied(causes: dict[str, Cause]) -> dict[str, Said]:
    answers = {why: cause.ask() for why, cause in causes.items()}
    return {why: said for why, said in answers.items() if said != DENIED}


def test_what_is_denied_is_denied_in_the_same_bytes_and_spends_nothing() -> None:
    with strict_lab() as (lab, panes):
        causes = _causes(lab, panes)
        assert len(causes) >= 20
        assert _not_denied(causes) == {}
        _nothing_was_spent(lab, panes, causes)


@pytest.mark.parametrize(
    ("off", "why"),
    [
        ("scope", "another's pane"),
        ("capability", "contents not granted"),
        ("generation", "later generation"),
        ("affected", "not all affected"),
    ],
)
def test_without_a_guard_that_would_be_seen(off: str, why: str) -> None:
    with strict_lab(off) as (lab, panes):
        assert why in _not_denied(_causes(lab, panes))


def _nothing_was_spent(lab: Lab, panes: tuple[int, int], causes: dict[str, Cause]) -> None:
    one, two = lab.targets(*panes)
    owner = causes["no such pane"].caller
    shell, reader = causes["another's pane"].caller, causes["input not granted"].caller
    marks = {
        who: caller.good("term.session", target)["request_high_water"]
        for who, caller, target in (
            ("owner", owner, one), ("shell", shell, one), ("reader", reader, two)
        )
    }  # fmt: skip
    assert marks == {"owner": "1", "shell": "0", "reader": "0"}
    assert owner.done("term.pane.rename", one, affected=[two], title="after")
    assert shell.typed(one, "x")


@pytest.mark.parametrize("off", [NOTHING_OFF, "policy"])
def test_restricted_policy_denies_an_owner_everything_in_the_same_bytes(off: str) -> None:
    with lab_of(COSMIX_TERM_POLICY="restricted", off=off) as lab:
        one = first(lab)
        lab.strict()
        owner, target = lab.owner(), lab.target(one)
        owner.peer.serve(f"pane-shell-{one}")  # a name is no authority
        found = _told(owner, target)
    assert (found == {DENIED}) == (off == NOTHING_OFF), found


def _told(owner: Caller, target: Fields) -> set[Said]:
    """All that is answered to somebody who asks for everything, also not knowing how."""
    bodies: dict[str, Fields] = {
        "term.session": {}, "term.snapshot": {"contents": True}, "term.wait": {"until": "x"},
        "term.events": {}, "term.operation": {"operation_id": "1"}, "no.such.verb": {},
        "term.type": _input(owner, text="x"), "term.pane.close": _mutation(owner),
        "term.tab.new": _mutation(owner), "term.pane.restart": _mutation(owner),
        "term.props.get": {"property": "state"},
        "term.props.set": {"property": "input", "value": "x", **_input(owner)},
    }  # fmt: skip
    local = Local(owner.peer)
    causes = [
        Cause(owner, verb, where, {**more, "timeout_ms": 1} if verb == "term.wait" else more)
        for verb, more in bodies.items()
        for where in (target, {**target, "pane_id": "99"})
    ]
    wrong = (b"", b"[]", b"{", b'{"target":1}', b"x" * 9_000)
    said = {local.ask(owner.name, "term.session", raw) for raw in wrong}
    return said | {cause.ask() for cause in causes}


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become another user")
@pytest.mark.parametrize("off", [NOTHING_OFF, "users"])
def test_another_user_is_denied_in_strict_posture_and_let_in_in_open(off: str) -> None:
    with strict_lab(off) as (lab, panes):
        one, two = lab.targets(*panes)
        name = lab.record()["name"]
        with other_user(lab.term.directory / "s" / "bus.sock", FOREIGN) as foreign:
            denied = _answers(foreign, name, one) == {DENIED}
            assert denied == (off == NOTHING_OFF)
            lab.strict(on=False)
            said = foreign.ask(name, "term.session", body_of({"target": one}))
            assert said.code == "ok", said
            renamed = {"target": one, "affected": [two], "request_id": "1", "title": "theirs"}
            assert foreign.ask(name, "term.pane.rename", body_of(renamed)).code == "ok"
            lab.strict()
            assert (_answers(foreign, name, one) == {DENIED}) == denied


def _answers(stranger: Stranger, name: str, one: Fields) -> set[Said]:
    gone = {**one, "instance_id": NOWHERE}
    asked: list[tuple[str, bytes]] = [
        (verb, body_of({"target": target, **more}))
        for target in (one, gone)
        for verb, more in _STRANGERS_ASK.items()
    ]
    asked += [("term.session", b""), ("term.session", b"{"), ("INFO", b"{}")]
    return {stranger.ask(name, verb, raw) for verb, raw in asked}


_STRANGERS_ASK: Final[dict[str, dict[str, Any]]] = {
    "term.session": {},
    "term.snapshot": {"contents": True},
    "no.such.verb": {},
    "term.operation": {"operation_id": "1"},
    "term.tab.new": {"request_id": "1"},
    "term.type": {"request_id": "1", "text": "x", "foreground_generation": "1"},
}
