"""term.ask without a bus: who may ask, who is asked, and what becomes of a question."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest
import trio
import trio.testing

from brokerd.client import Principal, Refusal
from termnode.service.state import State
from termnode.service.viewing import asked
from termnode.service.viewing.asking import MAX_OPEN, Asking
from tests.support.lane import Local, Remote

ME = Principal(
    owner_node="here",
    unix_uid=os.geteuid(),
    unix_gid=os.getegid(),
    peer_pid=4242,
    broker_epoch="e" * 32,
    connection_id="c" * 32,
)
ARGS = {"title": "open it", "text": "Open it?\x1b[2J", "timeout_ms": 60_000}


class Desk:
    """A person's answers, and the service's questions."""

    def __init__(self, *, there: bool = True) -> None:
        self.asking = Asking()
        self.asking.can_answer = lambda: there
        self.open_of: Counter[int] = Counter()

    async def ask(self, caller: object = ME, **changed: object) -> dict[str, object]:
        state = cast("State", SimpleNamespace(asking=self.asking))
        return await asked.ask(cast(Any, caller), state, {**ARGS, **changed}, open_of=self.open_of)

    def answer(self, yes: bool) -> None:
        (question,) = self.asking.open()
        assert self.asking.answer(question.ask, yes)


def refused(desk: Desk, caller: object = ME) -> Refusal:
    with pytest.raises(Refusal) as caught:
        trio.run(desk.ask, caller)
    return caught.value


@pytest.mark.parametrize("yes", [True, False])
def test_the_answer_is_the_persons_and_who_asks_the_services_word(yes: bool) -> None:
    desk = Desk()

    async def main() -> None:
        said: list[dict[str, object]] = []
        async with trio.open_nursery() as nursery:
            nursery.start_soon(lambda: _note(said, desk))
            await trio.testing.wait_all_tasks_blocked()
            (question,) = desk.asking.open()
            assert question.title == f"uid {os.geteuid()} pid 4242 asks: open it"
            assert question.text == "Open it?\ufffd[2J"
            desk.answer(yes)
        assert said[0]["answer"] == ("yes" if yes else "no")
        assert not desk.asking.open()
        assert not desk.open_of

    trio.run(main)


async def _note(said: list[dict[str, object]], desk: Desk) -> None:
    said.append(await desk.ask())


def test_silence_is_no_yes_and_the_question_is_gone() -> None:
    desk = Desk()

    async def main() -> dict[str, object]:
        return await desk.ask(timeout_ms=100)

    clock = trio.testing.MockClock(autojump_threshold=0)
    assert trio.run(main, clock=clock)["answer"] == "none"
    assert not desk.asking.open()


def test_a_cancelled_wait_withdraws_the_question() -> None:
    desk = Desk()

    async def main() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(desk.ask)
            await trio.testing.wait_all_tasks_blocked()
            assert desk.asking.open()
            nursery.cancel_scope.cancel()
        assert not desk.asking.open()
        assert not desk.open_of

    trio.run(main)


STRANGERS = [
    None,
    Local(unix_uid=os.geteuid()),  # what a lane's tests use is no principal of the broker
    Remote(),
    replace(ME, unix_uid=os.geteuid() + 1),
]


@pytest.mark.parametrize("caller", STRANGERS)
def test_only_the_services_own_user_on_this_machine_may_ask(caller: object) -> None:
    desk = Desk()
    assert refused(desk, caller).code == "FORBIDDEN"
    assert not desk.asking.open()


def test_where_nobody_may_answer_nobody_is_asked() -> None:
    refusal = refused(Desk(there=False))
    assert (refusal.code, refusal.details["reason"]) == ("UNAVAILABLE", "no_view")


def test_one_process_leaves_room_for_others() -> None:
    desk = Desk()

    async def main() -> None:
        async with trio.open_nursery() as nursery:
            for _ in range(asked.PER_PROCESS):
                nursery.start_soon(desk.ask)
            await trio.testing.wait_all_tasks_blocked()
            with pytest.raises(Refusal) as caught:
                await desk.ask()
            assert caught.value.code == "RESOURCE_LIMIT"
            nursery.start_soon(desk.ask, replace(ME, peer_pid=1))
            await trio.testing.wait_all_tasks_blocked()
            assert len(desk.asking.open()) == asked.PER_PROCESS + 1 < MAX_OPEN
            nursery.cancel_scope.cancel()

    trio.run(main)


def test_a_service_that_nobody_told_of_views_asks_nobody() -> None:
    assert not Asking().can_answer()
