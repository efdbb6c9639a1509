"""A submission to a pane's shell that waits for its end: what is held, asked again, and told."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from brokerd.client import forbidden
from termnode.paneshell.calls import Call
from termnode.paneshell.prompt import verbs
from termnode.paneshell.prompt.verbs import Execute
from tests.unit.test_prompt_desk import Rig, in_rig

FOREVER = 1 << 62


class Asking:
    """A submission with a wait; ``asked`` counts what was confirmed by the broker, and here."""

    def __init__(self, rig: Rig, *, wait_ms: int = 20_000, good_until: int = FOREVER) -> None:
        self.rig = rig
        self.asked: list[str] = []
        self.good_until = good_until
        self.refuse = ""
        call = rig.call()
        body = {**call.body, "wait_ms": wait_ms}
        self.call: Call = replace(
            call, body=body, ask_again=self._broker, look_again=lambda: self._note("here")
        )

    def _note(self, who: str) -> None:
        self.asked.append(who)
        if self.refuse == who:
            raise forbidden()

    async def _broker(self, _seconds: float) -> int:
        self._note("broker")
        return self.good_until

    async def answer(self) -> dict[str, Any]:
        return await Execute(self.rig.desk).answer(self.call)


def ends(rig: Rig, op: str) -> None:
    """The shell takes it, runs it, and Term tells what it wrote."""
    rig.admit(op)
    rig.tell(f"RUN 1 {op}", f"PROMPT 2 3 {op} /")
    output = {"op": op, "head": b"hello", "tail": b"", "bytes": 5, "status": 3, "generation": 2}
    rig.desk.watch.take({"type": "output", **output})


Test = Callable[[Rig], Awaitable[None]]


def test_the_end_is_told_with_the_acceptance(tmp_path: Path) -> None:
    async def test(rig: Rig) -> None:
        rig.on_press = lambda op: ends(rig, op)
        asking = Asking(rig)
        told = await asking.answer()
        assert (told["status"], told["state"]) == ("accepted", "finished")
        assert told["result"]["exit"] == {"code": 3}
        assert told["result"]["output"]["text"] == "hello"
        assert asking.asked == ["broker", "here"]
        assert (await Asking(rig).answer()) == told
        assert len(rig.pressed) == 1

    in_rig(tmp_path, test)


def test_without_a_wait_no_result_is_told(tmp_path: Path) -> None:
    async def test(rig: Rig) -> None:
        rig.on_press = lambda op: ends(rig, op)
        told = await Asking(rig, wait_ms=0).answer()
        assert "result" not in told

    in_rig(tmp_path, test)


def test_a_wait_that_is_over_leaves_it_running(tmp_path: Path) -> None:
    async def test(rig: Rig) -> None:
        told = await Asking(rig, wait_ms=1).answer()
        assert (told["state"], "result" in told) == ("running", False)

    in_rig(tmp_path, test)


def test_the_admission_is_over_while_an_end_is_waited_for(tmp_path: Path) -> None:
    async def test(rig: Rig) -> None:
        seen: list[bool] = []
        bell = rig.desk.watch.bell
        until = bell.until

        async def watched(check: Callable[[], bool], seconds: float) -> bool:
            seen.append(rig.desk._taken)
            return await until(check, seconds)

        bell.until = watched  # type: ignore[method-assign]  # to see what is held meanwhile
        rig.on_press = lambda op: ends(rig, op)
        await Asking(rig).answer()
        assert seen[-1] is False

    in_rig(tmp_path, test)


def asked_again_later(tmp_path: Path) -> None:
    async def test(rig: Rig) -> None:
        def late(op: str) -> None:
            ends(rig, op)
            rig.now += verbs.FRESH_MS

        rig.on_press = late
        asking = Asking(rig)
        assert "result" in await asking.answer()
        assert asking.asked == ["broker", "broker"]

    in_rig(tmp_path, test)


def test_what_was_confirmed_long_ago_is_asked_of_the_broker_again(tmp_path: Path) -> None:
    asked_again_later(tmp_path)


def test_it_would_not_be_asked_without_the_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = verbs.Execute._confirmed

    async def for_ever(self: Execute, call: Call) -> int:
        await real(self, call)
        return FOREVER

    monkeypatch.setattr(verbs.Execute, "_confirmed", for_ever)
    with pytest.raises(BaseExceptionGroup):
        asked_again_later(tmp_path)


def test_a_lease_that_is_over_sooner_is_asked_for_sooner(tmp_path: Path) -> None:
    async def test(rig: Rig) -> None:
        rig.on_press = lambda op: ends(rig, op)
        asking = Asking(rig, good_until=0)
        await asking.answer()
        assert asking.asked == ["broker", "broker"]

    in_rig(tmp_path, test)


def test_who_may_not_be_told_any_more_is_told_that_it_ran(tmp_path: Path) -> None:
    async def test(rig: Rig) -> None:
        rig.on_press = lambda op: ends(rig, op)
        asking = Asking(rig)
        asking.refuse = "here"
        told = await asking.answer()
        assert (told["status"], told["state"]) == ("accepted", "finished")
        assert "result" not in told

    in_rig(tmp_path, test)
