"""p0i_07: what the policy of the Term's record opens, and what it never closes."""

from __future__ import annotations

from tests.support.s4.caller import Caller, denied
from tests.support.s4.lab import Lab, Start, first
from tests.support.session_peer import Key

ANYTHING = "0" * 31 + "1"


def p0i_07_real_recipient_both_policies(start: Start) -> None:
    """An owner is let in under one policy only; a pane shell has its pane under both."""
    for policy in ("default-open", "restricted"):
        with start(COSMIX_TERM_POLICY=policy) as lab:
            one = first(lab)
            (two,) = lab.split()
            child, owner = lab.child(one), lab.owner()
            _open_posture(lab, owner, (one, two))
            lab.strict()
            if policy == "default-open":
                _has_it(lab, owner, (one, two))
            else:
                _has_nothing(lab, owner, (one, two))
            _own_pane_alone(lab, child, (one, two))
            _strangers(lab, (one, two))


def _open_posture(lab: Lab, owner: Caller, panes: tuple[int, int]) -> None:
    """There the policy closes nothing."""
    _has_it(lab, owner, panes)


def _has_it(lab: Lab, owner: Caller, panes: tuple[int, int]) -> None:
    one, two = lab.targets(*panes)
    said = owner.good("term.session", one)
    assert said["policy"] == lab.record()["policy"]
    assert said["request_epoch"] == owner.peer.connection_id
    assert [each["target"] for each in said["panes"]] == [one, two]
    assert "text" in owner.good("term.snapshot", two, contents=True)
    assert owner.done("term.pane.select", one, affected=[two])["selected"] == one
    assert owner.typed(two, " ")
    # What is not there and what is not told of is one and the same.
    denied(owner.ask("term.session", {**one, "pane_id": "99"}))
    denied(owner.ask("term.session", {**one, "instance_id": ANYTHING}))


def _has_nothing(lab: Lab, owner: Caller, panes: tuple[int, int]) -> None:
    one, two = lab.targets(*panes)
    for target in (one, two, {**one, "pane_id": "99"}, {**one, "instance_id": ANYTHING}):
        denied(owner.ask("term.session", target))
        denied(owner.ask("term.snapshot", target, contents=True))
        denied(owner.ask("no.such.verb", target))
    denied(owner.do("term.pane.close", one, affected=[two]))
    denied(owner.do("term.type", one, text="x", foreground_generation="1"))


def _own_pane_alone(lab: Lab, child: Caller, panes: tuple[int, int]) -> None:
    one, two = lab.targets(*panes)
    said = child.good("term.session", one)
    assert [each["target"] for each in said["panes"]] == [one]
    assert said["tabs"] == [], "a tab is told to who may read all of it"
    assert "text" in child.good("term.snapshot", one, contents=True)
    assert child.typed(one, " ")
    for verb in ("term.session", "term.snapshot", "term.panes", "no.such.verb"):
        denied(child.ask(verb, two))
    denied(child.do("term.pane.close", one, affected=[two]))
    denied(child.do("term.pane.select", one, affected=[two]))
    denied(child.do("term.tab.new", one, affected=[two]))


def _strangers(lab: Lab, panes: tuple[int, int]) -> None:
    """Another Term of the same user, and its own child under the very same pane id."""
    one, _ = lab.targets(*panes)
    term, shell = lab.peer(), lab.peer()
    record, key = term.allocate(Key()), Key()
    term.grant(record, key, (panes[0], int(one["pane_generation"])))
    name = lab.record()["name"]
    held = shell.attach(key)
    for peer, its in ((term, record), (shell, held)):
        stranger = Caller(peer, name, its)
        denied(stranger.ask("term.session", one))
        denied(stranger.ask("term.snapshot", one, contents=True))
        denied(stranger.do("term.type", one, text="x", foreground_generation="1"))
    assert shell.revoke(held) is True
    assert term.revoke(record) is True
