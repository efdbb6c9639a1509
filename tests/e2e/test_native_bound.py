"""Who acts for a pane: confined to it in strict posture, never a person, and told of it alone."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.support.s4.caller import Caller, denied
from tests.support.s4.lab import DENIED, Lab, first, lab_of
from tests.support.session_peer import SessionPeer


@pytest.fixture
def lab() -> Iterator[Lab]:
    with lab_of() as made:
        yield made


def test_a_pane_shell_sees_and_changes_its_own_pane_alone(lab: Lab) -> None:
    mine, tab = first(lab), lab.tab()
    (other,) = lab.split()
    targets = {pane: lab.target(pane) for pane in (mine, tab, other)}
    lab.strict()
    child = lab.child(tab)
    session = child.good("term.session", targets[tab])
    assert [each["target"] for each in session["panes"]] == [targets[tab]]
    assert session["tabs"] == [], "one of its panes may not be read"
    assert session["request_epoch"] == child.peer.connection_id
    for elsewhere in (mine, other):
        denied(child.ask("term.session", targets[elsewhere]))
        denied(child.do("term.pane.rename", targets[elsewhere], title="x"))
    neighbours = [targets[other]]
    denied(child.do("term.pane.zoom", targets[tab], affected=neighbours))
    denied(child.do("term.pane.split", targets[tab], dir="h", affected=neighbours))
    denied(child.do("term.tab.new", targets[tab], affected=neighbours))
    seen = child.good("term.snapshot", targets[tab])["foreground_generation"]
    accepted = child.done("term.type", targets[tab], text=":\r", foreground_generation=seen)
    assert accepted["status"] == "accepted"
    lab.strict(on=False)
    assert len(child.good("term.session", targets[mine])["panes"]) == 3, "open: to everybody"


def test_the_log_names_a_bound_caller_by_its_record(lab: Lab) -> None:
    pane = first(lab)
    target = lab.target(pane)
    child = lab.child(pane)
    child.done("term.pane.rename", target, title="")
    entry = lab.term.good("term.log", {"limit": 1})["entries"][0]
    assert child.record is not None
    who = f"pane-shell {child.record['record_id'][:8]} uid "
    assert entry["principal"].startswith(who)


@pytest.mark.parametrize("ticket", [False, True])
def test_a_bound_connection_gets_no_view(lab: Lab, ticket: bool) -> None:
    pane = first(lab)
    child = lab.child(pane)
    body = {"ticket": lab.term.ready["view_ticket"]} if ticket else {}
    assert opened(child.peer, lab, body) == (10, DENIED)
    rc, answer = opened(lab.peer(), lab, body)
    assert rc == 0
    assert answer["token"]


def opened(peer: SessionPeer, lab: Lab, body: dict[str, str]) -> tuple[int | None, dict[str, str]]:
    """What is answered to who wants a view."""
    peer.ask(lab.term.name, json.dumps(body).encode(), id="view", command="term.view.open")
    header, raw, _ = peer.next_of(lambda header: header.id == "view")
    return header.rc, json.loads(raw)


def test_events_are_told_to_a_bound_caller_of_its_own_pane(lab: Lab) -> None:
    mine, tab = first(lab), lab.tab()
    targets = {pane: lab.target(pane) for pane in (mine, tab)}
    lab.strict()
    child, owner = lab.child(tab), lab.owner()
    denied(child.ask("term.events", targets[mine]))
    assert child.good("term.events", targets[tab], kinds=["layout"])["active"]
    owner.done("term.pane.rename", targets[mine], title="not told", affected=[targets[tab]])
    owner.done("term.pane.rename", targets[tab], title="told")
    told = next_event(child)
    assert (told["kind"], told["target"], told["verb"]) == (
        "layout",
        targets[tab],
        "term.pane.rename",
    )
    assert "panes" not in told


def test_a_caller_whose_record_ends_is_told_nothing_more(lab: Lab) -> None:
    mine, tab = first(lab), lab.tab()
    targets = {pane: lab.target(pane) for pane in (mine, tab)}
    lab.strict()
    child, owner = lab.child(tab), lab.owner()
    child.good("term.events", targets[tab], kinds=["layout"])
    after = lab.take_over(child, tab)
    owner.done("term.pane.rename", targets[tab], title="told to nobody")
    after.good("term.events", targets[tab], kinds=["layout"])
    owner.done("term.pane.rename", targets[tab], title="told")
    told = next_event(after)
    assert told["previous"] != told["seq"]
    assert not has_event(child)
    assert not has_event(after), "nothing of what happened before it asked"


def next_event(caller: Caller) -> dict[str, object]:
    """The next private event of that connection."""
    _, raw, _ = caller.peer.next_of(lambda h: (h.type, h.command) == ("event", "term.event"))
    found: dict[str, object] = json.loads(raw)
    return found


def has_event(caller: Caller) -> bool:
    """Whether an event came before the answer to what it asks now."""
    caller.peer.ask("brokerd", b"{}", id="now", command="session.hello")
    header, _, _ = caller.peer.next_of(
        lambda h: (h.type, h.command) == ("event", "term.event") or h.id == "now"
    )
    return bool(header.type == "event")
