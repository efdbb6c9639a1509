"""p0i_07: each capability opens its own verbs and nothing else, and only on the own pane."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from tests.support.s4.caller import Caller, denied
from tests.support.s4.lab import Lab, Start, first
from tests.support.session_peer import ALL, Fields


class Verb(NamedTuple):
    """A verb with sound fields of its own, and the capability that it needs."""

    name: str
    needs: str
    fields: Fields
    mutates: bool


VERBS: Final = (
    Verb("term.session", "read_state", {}, False),
    Verb("term.list", "read_state", {}, False),
    Verb("term.tabs", "read_state", {}, False),
    Verb("term.panes", "read_state", {}, False),
    Verb("term.snapshot", "read_state", {}, False),
    Verb("term.props.get", "read_state", {"property": "state"}, False),
    Verb("term.snapshot", "read_contents", {"contents": True}, False),
    Verb("term.props.get", "read_contents", {"property": "contents"}, False),
    Verb("term.wait", "read_contents", {"until": ".", "timeout_ms": 10_000}, False),
    Verb("term.type", "input", {"text": " ", "foreground_generation": "0"}, True),
    Verb("term.keys", "input", {"keys": ["Enter"], "foreground_generation": "0"}, True),
    Verb("term.paste", "input", {"text": "x", "foreground_generation": "0"}, True),
    Verb("term.props.set", "input",
         {"property": "input", "value": "x", "foreground_generation": "0"}, True),
    Verb("term.pane.rename", "manage_layout", {"title": "named"}, True),
    Verb("term.pane.select", "manage_layout", {}, True),
    Verb("term.props.set", "manage_layout", {"property": "selected", "value": True}, True),
    Verb("term.tab.select", "manage_layout", {}, True),
    Verb("term.pane.zoom", "manage_layout", {"on": False}, True),
    Verb("term.pane.close", "terminate", {}, True),
    Verb("term.tab.close", "terminate", {}, True),
    Verb("term.pane.restart", "execute", {}, True),
)  # fmt: skip


def p0i_07_capability_separation_and_bound_termination(start: Start) -> None:
    """Pane shells with one capability each; the one that may end its pane ends just that."""
    granted = {str(pane): [each] for pane, each in enumerate(ALL, 2)}
    with start(settings={"capabilities": granted}) as lab:
        whole = first(lab)
        single = dict(zip(ALL, [lab.tab() for _ in ALL], strict=True))
        lab.strict()
        targets = {pane: lab.target(pane) for pane in (whole, *single.values())}
        children = {each: lab.child(pane) for each, pane in single.items()}
        for each, child in children.items():
            assert child.record is not None
            assert child.record["capabilities"] == [each]
            _just_that(child, each, targets[single[each]])
            _nowhere_else(child, targets[whole])
            _opens_nothing(child, targets[single[each]])
        everything = lab.child(whole)
        _nowhere_else(everything, targets[single["input"]])
        _opens_nothing(everything, targets[whole])
        _bound_termination(lab, children["terminate"], everything, (whole, single))


def _asked(caller: Caller, verb: Verb, target: Fields, **more: Any) -> Any:  # noqa: ANN401
    if verb.mutates:
        return caller.do(verb.name, target, **verb.fields, **more)
    return caller.ask(verb.name, target, **verb.fields)


def _just_that(child: Caller, capability: str, target: Fields) -> None:
    """Verbs of other capabilities are denied; its own get past the gate's own denial."""
    for verb in VERBS:
        if verb.needs != capability:
            denied(_asked(child, verb, target))
        elif capability in ("read_state", "read_contents"):
            assert _asked(child, verb, target).rc == 0, verb
        elif capability == "input":
            # Not the foreground generation of now: so far, and no further.
            assert _asked(child, verb, target).why[0] == "STALE_GENERATION", verb


def _nowhere_else(child: Caller, target: Fields) -> None:
    for verb in VERBS:
        denied(_asked(child, verb, target))


def _opens_nothing(child: Caller, target: Fields) -> None:
    denied(child.do("term.tab.new", target))
    denied(child.do("term.pane.split", target, dir="h"))
    denied(child.do("term.pane.split", target, dir="h", argv=["/bin/true"]))


def _bound_termination(
    lab: Lab, ending: Caller, everything: Caller, panes: tuple[int, dict[str, int]]
) -> None:
    """Closing shows another pane: without a right to that one, it needs to be the last."""
    whole, single = panes
    own, rest = lab.target(single["terminate"]), lab.targets(whole)
    denied(ending.do("term.pane.close", own))
    denied(ending.do("term.pane.close", own, affected=rest))
    denied(everything.do("term.pane.close", rest[0]))
    owner = lab.owner()
    for pane in (whole, *(single[each] for each in ALL if each != "terminate")):
        left = [each for each in (whole, *single.values()) if lab.record_of(each)]
        named = lab.targets(*(each for each in left if each != pane))
        gone = lab.target(pane)
        assert owner.done("term.pane.close", gone, affected=named)["closed"] == gone
        denied(owner.ask("term.session", gone))
    body = ending.next(own)
    done = ending.send("term.pane.close", body)
    assert done.rc == 0, done.body
    assert done.body["closed"] == own
    denied(owner.ask("term.session", own))
    # Its record went with the pane: the connection is nobody now.
    lost = ending.send("term.pane.close", body)
    assert lost.why in {("EXPIRED", "binding_lost"), ("FORBIDDEN", None)}, lost.body
