"""Any history of panes, pane shells and brokers leaves the table of children true to the broker."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from termnode.service.identity.asking import MAX_REVOKES, Asking
from termnode.service.identity.child import Child
from tests.support.identity_lab import Lab

MAX_PANES = 6

STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("open"), st.just(0)),
        st.tuples(
            st.sampled_from(
                ("enrol", "resume", "suspend", "revoke", "end", "close", "over", "again", "deaf")
            ),
            st.integers(0, MAX_PANES - 1),
        ),
        st.tuples(st.just("wait"), st.sampled_from((0, 1, 20, 70, 130, 700))),
        st.tuples(st.sampled_from(("broker", "away", "back", "gap", "zygote")), st.just(0)),
    ),
    max_size=60,
)


class World:
    """A lab driven by steps, in which no grant is made too soon.

    Knows which panes there are, and whether Term holds its record: it hears nothing while not.
    """

    def __init__(self) -> None:
        self.lab = Lab()
        self.panes: list[int] = []
        self.held = True
        self.launching = True

    def run(self, steps: list[tuple[str, int]]) -> None:
        for name, value in steps:
            getattr(self, f"_{name}")(value)
            if not self.held:
                self.lab.broker.notices.clear()
            self.lab.settle()
            self.check()
        self._back(0)
        self.lab.advance(5.0)
        self.check()
        self._leave()

    # -- steps ---------------------------------------------------------------------------------

    def _open(self, _: int) -> None:
        if len(self.panes) < MAX_PANES:
            self.panes.append(self.lab.open())

    def _pane(self, at: int) -> int | None:
        return self.panes[at] if at < len(self.panes) else None

    def _child(self, at: int) -> Child | None:
        pane = self._pane(at)
        return next((child for child in self.lab.running if child.pane == pane), None)

    def _change(self, at: int, before: tuple[str, ...], state: str) -> None:
        child = self._child(at)
        record = None if child is None or child.record is None else child.record.record_id
        found = self.lab.broker.records.get(record or "")
        if found is not None and found.state in before:
            self.lab.broker.set(found.record_id, state)

    def _enrol(self, at: int) -> None:
        self._change(at, ("pending",), "attached")

    def _resume(self, at: int) -> None:
        self._change(at, ("attached", "suspended"), "attached")

    def _suspend(self, at: int) -> None:
        self._change(at, ("attached",), "suspended")

    def _revoke(self, at: int) -> None:
        self._change(at, ("attached", "suspended"), "revoked")

    def _end(self, at: int) -> None:
        child = self._child(at)
        if child is not None:
            self.lab.end(child)

    def _close(self, at: int) -> None:
        pane = self._pane(at)
        if pane is not None:
            self.panes.remove(pane)
            self.lab.children.pane_gone(pane)

    def _over(self, at: int) -> None:
        pane = self._pane(at)
        if pane is not None:
            self.lab.children.program_ended(pane)

    def _again(self, at: int) -> None:
        pane = self._pane(at)
        if pane is not None:
            self.lab.children.pane_started(pane, self.lab.now)

    def _wait(self, seconds: int) -> None:
        self.lab.advance(float(seconds))

    def _broker(self, _: int) -> None:
        self.lab.new_broker()
        self.held = True

    def _away(self, _: int) -> None:
        self.lab.asking.authority(None, self.lab.now)
        self.held = False

    def _back(self, _: int) -> None:
        self.held = True
        self.lab.asking.authority(self.lab.broker.parent, self.lab.now)

    def _gap(self, _: int) -> None:
        self.lab.asking.gap(self.lab.now)

    def _deaf(self, at: int) -> None:
        """A notice is lost, and the gap is told."""
        self._suspend(at)
        self.lab.broker.notices.clear()
        self.lab.asking.gap(self.lab.now)

    def _zygote(self, _: int) -> None:
        self.launching = not self.launching
        self.lab.children.launching(possible=self.launching)

    # -- what holds ----------------------------------------------------------------------------

    def check(self) -> None:
        lab = self.lab
        assert len(lab.asking.refs()) <= MAX_REVOKES + MAX_PANES
        assert {child.pane for child in lab.running} <= set(self.panes)
        if self.held:
            for pane in self.panes:
                assert lab.children.control_ready(pane) == self._attached(pane), pane
                assert len(lab.broker.of_pane(pane)) <= 1
            children = [each for each in lab.broker.records.values() if each.role != "term"]
            known = {*self.panes, lab.last_pane + 1}
            assert {record.pane_id for record in children} <= known, "a record is left over"

    def _attached(self, pane: int) -> bool:
        """As the broker has it, for the pane's own shell under its last grant."""
        child = next((each for each in self.lab.running if each.pane == pane), None)
        if child is None or child.record is None:
            return False
        found = self.lab.broker.records.get(child.record.record_id)
        return (
            found is not None
            and found.state == "attached"
            and found.pane_generation == child.generation
        )

    def _leave(self) -> None:
        """With the last pane, everything goes but a bundle."""
        for pane in self.panes:
            self.lab.children.pane_gone(pane)
        self.lab.settle()
        assert self.lab.running == []
        self.panes.clear()
        self.check()


@settings(max_examples=300, deadline=None)
@given(STEPS)
def test_the_table_is_true_to_the_broker_whatever_happens(steps: list[tuple[str, int]]) -> None:
    World().run(steps)


CLOSED = [("open", 0), ("wait", 1), ("enrol", 0), ("close", 0)]
MISSED = [("open", 0), ("wait", 1), ("enrol", 0), ("deaf", 0)]


@pytest.mark.parametrize(
    ("owner", "name", "steps"),
    [(Child, "told", MISSED), (Asking, "_compare", MISSED), (Asking, "revoke", CLOSED)],
)
def test_the_property_can_fail(
    monkeypatch: pytest.MonkeyPatch, owner: type, name: str, steps: list[tuple[str, int]]
) -> None:
    World().run(steps)
    monkeypatch.setattr(owner, name, lambda *_: None)
    with pytest.raises(AssertionError):
        World().run(steps)
