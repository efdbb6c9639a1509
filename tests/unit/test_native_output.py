"""Output of a command as events: for who submitted it, who names it, and may read the pane then."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from termnode.control.native.callers import actor_of
from termnode.control.native.fields import EXEC_OUTPUT
from termnode.control.posture import Posture
from termnode.service.events.subscriptions import Subscriber, Subscription
from termnode.service.native.events import Reader
from termnode.service.native.output import AT_ONCE, EVERY_S, OutputTelling
from termnode.service.shells.streams import PIECE
from tests.unit.test_native_service_parts import ME, EventRig

OTHER = replace(ME, connection_id="7" * 32)


class Rig(EventRig):
    """With a pane 1 whose shell runs operation 7 of ``ME``."""

    def __init__(self, owner: Any = ME) -> None:  # noqa: ANN401
        super().__init__()
        self.now = 0.0
        self.output = OutputTelling(self.events, self.main, lambda: self.now)
        self.shell = SimpleNamespace(on_chunk=None, on_over=None)
        self.output.listen(cast("Any", SimpleNamespace(id=1, shell=self.shell)))
        target = SimpleNamespace(pane_id=1, pane_generation=1)
        go = SimpleNamespace(target=target, actor=actor_of(owner))
        self.output.accepted(cast("Any", go), 7)

    def write(self, data: bytes) -> None:
        cast("Any", self.shell).on_chunk("7", data)

    def told(self) -> list[Any]:
        """What is sent now."""
        before = len(self.sent)
        self.output.turn()
        self.deliver()
        return [body for _, body in self.sent[before:]]


def test_the_caller_is_told_what_its_command_writes() -> None:
    rig = Rig()
    rig.begin(kinds=[EXEC_OUTPUT])
    rig.write(b"one")
    rig.write(b" two")
    (told,) = rig.told()
    assert told["target"]["pane_id"] == "1"
    kept = {key: told[key] for key in told.keys() - {"seq", "previous", "time", "target"}}
    assert kept == {
        "kind": "exec.output", "pane": 1, "generation": 1, "operation_id": "7",
        "offset": 0, "bytes": 7, "text": "one two",
    }  # fmt: skip
    cast("Any", rig.shell).on_over("7")
    (last,) = rig.told()
    assert (last["offset"], last["bytes"], last["over"]) == (7, 0, True)


def test_what_came_before_the_subscription_is_told_too() -> None:
    rig = Rig()
    rig.write(b"early")
    assert rig.told() == []
    rig.begin(kinds=[EXEC_OUTPUT])
    assert [each["text"] for each in rig.told()] == ["early"]


@pytest.mark.parametrize("kinds", [None, ["prompt"]])
def test_who_does_not_name_it_is_not_told(kinds: list[str] | None) -> None:
    rig = Rig()
    own: dict[str, Any] = {} if kinds is None else {"kinds": kinds}
    rig.begin(**own)
    rig.write(b"x")
    assert rig.told() == []
    assert rig.main.ring.last == 0, "it takes no place among what is known"


def test_nobody_is_told_of_anothers_command() -> None:
    rig = Rig(owner=OTHER)
    rig.begin(kinds=[EXEC_OUTPUT])
    rig.main.subscribe(Subscriber("g", "e", 1), {"stop": False, "kinds": [EXEC_OUTPUT]})
    rig.write(b"secret")
    assert rig.told() == []
    rig.begin(OTHER, kinds=[EXEC_OUTPUT])
    assert len(rig.told()) == 1
    assert [connection for connection, _ in rig.sent] == [OTHER.connection_id]
    rig.begin(kinds=[EXEC_OUTPUT], after=0)
    assert rig.told() == [], "also not of what is still known"


def test_without_the_actor_it_would_be_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """The guard that the test above is about, taken out."""
    monkeypatch.setattr(Reader, "speaks_for", lambda *_: True)
    with pytest.raises(AssertionError):
        test_nobody_is_told_of_anothers_command()


def test_the_right_to_read_is_asked_in_the_step_of_the_sending() -> None:
    rig = Rig()
    rig.begin(kinds=[EXEC_OUTPUT])
    rig.write(b"x")
    rig.output.turn()
    assert rig.main.ring.last == 1
    rig.world.stance = Posture.STRICT
    assert rig.world.mine is not None
    restricted = replace(rig.world.mine.record, policy="restricted")
    rig.world.mine = replace(rig.world.mine, record=restricted)
    rig.deliver()
    assert rig.sent == []


def test_a_flood_is_told_in_turns() -> None:
    rig = Rig()
    rig.begin(kinds=[EXEC_OUTPUT])
    rig.write(b"x" * (AT_ONCE + 3) * PIECE)
    lost = (AT_ONCE + 3) * PIECE - 65_536
    rig.output.turn()
    told = rig.main.ring.last
    assert told == min(AT_ONCE, 65_536 // PIECE)
    first = next(iter(rig.main.ring.after(0)))
    assert (first.body["offset"], first.body["lost"]) == (lost, lost)


def test_what_is_written_in_a_while_is_told_together() -> None:
    async def main() -> None:
        rig = Rig()
        rig.begin(kinds=[EXEC_OUTPUT])
        async with trio.open_nursery() as nursery:
            nursery.start_soon(rig.output.run)
            await wait_all_tasks_blocked()
            for _ in range(50):
                rig.write(b"y")
                await wait_all_tasks_blocked()
            assert rig.main.ring.last == 0, "nothing had been written at the first turn"
            with trio.move_on_after(2 * EVERY_S):
                await trio.sleep_forever()
            assert rig.main.ring.last == 1
            nursery.cancel_scope.cancel()

    trio.run(main, clock=MockClock(autojump_threshold=1.0))


def test_a_subscription_takes_what_is_for_all_as_before() -> None:
    plain = Subscription(Subscriber("a", "e", 1), None, None, 0, 0)
    assert plain.would_take("bell", 1)
    assert not plain.would_take(EXEC_OUTPUT, 1)
    assert not plain.would_take("bell", 1, actor="me")
