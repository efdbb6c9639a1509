"""p0i_07: what a change touches must be named and allowed, as it is when it is decided."""

from __future__ import annotations

from tests.support.s4.caller import Caller, denied, refused
from tests.support.s4.lab import Lab, Start, first
from tests.support.session_peer import Fields
from tests.support.termnode_process import eventually


def p0i_07_affected_set_and_live_generation_authority(start: Start) -> None:
    """A change is refused while it touches a pane that is not named under its live generation."""
    with start() as lab:
        one = first(lab)
        two, three = lab.split(2)
        other = lab.tab()
        lab.term.good("term.tab.select", {"id": 1})
        lab.strict()
        owner = lab.owner()
        _must_be_named(lab, owner, (one, two, three))
        _live_generations(lab, owner, (one, two, three))
        _other_tabs(lab, owner, other, (one, two))
        _closes(lab, owner, (one, two, other))


def _panes(owner: Caller, target: Fields) -> set[int]:
    found = owner.good("term.session", target)["panes"]
    return {int(each["target"]["pane_id"]) for each in found}


def _must_be_named(lab: Lab, owner: Caller, panes: tuple[int, int, int]) -> None:
    one, *rest = lab.targets(*panes)
    before = _panes(owner, one)
    for named in ([], rest[:1], rest[1:], [one]):
        denied(owner.do("term.pane.close", one, affected=named))
        denied(owner.do("term.pane.resize", one, affected=named, rows=5))
        denied(owner.do("term.pane.swap", one, affected=named, **{"with": str(panes[2])}))
    assert _panes(owner, one) == before
    assert owner.good("term.session", one)["request_high_water"] == "0", "a refusal spent an id"
    assert owner.done("term.pane.swap", one, affected=rest, **{"with": str(panes[2])})
    assert owner.done("term.pane.select", one, affected=rest)["selected"] == one


def _live_generations(lab: Lab, owner: Caller, panes: tuple[int, int, int]) -> None:
    """A generation that is over, or is yet to come, is as good as no pane."""
    one, two, three = lab.targets(*panes)
    held = int(three["pane_generation"])
    for number in (0, held - 1, held + 1, 2**64 - 1):
        stale = lab.target(panes[2], number)
        denied(owner.ask("term.session", stale))
        denied(owner.do("term.pane.rename", stale, title="x", affected=[one, two]))
        denied(owner.do("term.pane.close", one, affected=[two, stale]))
    refused(owner.do("term.pane.restart", three), "BUSY", "still_running")
    owner.typed(three, "exit\n")
    eventually(lambda: owner.ask("term.session", three).rc != 0, "its program has ended")
    denied(owner.do("term.pane.restart", {**three, "pane_generation": str(held + 1)}))
    owner.done("term.pane.restart", three)

    def again() -> Fields | None:
        record = lab.record_of(panes[2])
        if record is None or int(record["pane_generation"]) <= held:
            return None
        fresh = lab.target(panes[2], int(record["pane_generation"]))
        return fresh if owner.ask("term.session", fresh).rc == 0 else None

    fresh = eventually(again, "the pane is ready under a later generation")
    denied(owner.ask("term.session", three))
    denied(owner.do("term.pane.close", one, affected=[two, three]))
    assert owner.done("term.pane.close", fresh, affected=[one, two])["closed"] == fresh
    denied(owner.ask("term.session", fresh))


def _other_tabs(lab: Lab, owner: Caller, other: int, panes: tuple[int, int]) -> None:
    """To show another tab is to hide the one that is shown."""
    (there,) = lab.targets(other)
    shown = lab.targets(*panes)
    for named in ([], shown[:1]):
        denied(owner.do("term.pane.select", there, affected=named))
    assert owner.done("term.pane.select", there, affected=shown)["selected"] == there
    denied(owner.do("term.pane.select", shown[0], affected=shown[1:]))
    assert owner.done("term.pane.select", shown[0], affected=[shown[1], there])


def _closes(lab: Lab, owner: Caller, panes: tuple[int, int, int]) -> None:
    one, two, other = lab.targets(*panes)
    denied(owner.do("term.tab.close", one, affected=[two]))
    denied(owner.do("term.tab.close", one, affected=[other]))
    assert _panes(owner, other) == set(panes)
    assert owner.done("term.tab.close", one, affected=[two, other])["closed"] == one
    assert _panes(owner, other) == {panes[2]}
