"""Native input at a terminal that takes some bytes and then no more: counts, and who is told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import trio

from brokerd.client import ErrorCode, Refusal
from termnode.control.native.callers import caller_ref
from termnode.control.posture import Posture
from termnode.service.live_pane import LivePane
from termnode.service.native import input as native_input
from termnode.service.native.writers import Lease, Writer
from termnode.service.viewing.typing import press
from termnode.view.items import Focus, Key, Mouse
from tests.support.native_gate import AMBIENT, OWN, child
from tests.support.native_input import TEXT, NativeLab, in_native_lab, settled
from tests.support.person_lab import has_read, stop_file, until

OTHER = replace(AMBIENT, connection_id="9" * 32)


def reason(caught: pytest.ExceptionInfo[Refusal]) -> tuple[str, object]:
    return str(caught.value.code), caught.value.details.get("reason")


def delivered(lab: NativeLab, live: LivePane, numbers: list[int]) -> int:
    """Bytes of these operations that reached the terminal, as they say."""
    outcomes = [lab.operation(live, number) for number in numbers]
    return sum(int(str(each["delivered_bytes_lower_bound"])) for each in outcomes if each)


async def stopped_after(lab: NativeLab, act: Callable[[LivePane], object]) -> None:
    """Fill a terminal that nobody reads, ``act``; all who wait are told, and nothing comes after.

    The program must have read exactly what was counted, and the key that a person presses last.
    """
    live, path = await lab.reader(stopped=True)
    ids = [*lab.fill(live), lab.send(live, text="zzz")]
    partly, unbegun = ids[-2:]
    act(live)
    told = lab.told()
    for number, total in ((partly, len(TEXT)), (unbegun, 3)):
        outcome = lab.operation(live, number)
        assert outcome is not None
        count = outcome["delivered_bytes_lower_bound"]
        assert isinstance(count, int)
        assert 0 <= count < total
        assert outcome == {
            "operation_id": str(number),
            "status": "unknown",
            "boundary": "pty_write",
            "reason": "input_lease_ended",
            "delivered_bytes_lower_bound": count,
        }
        assert told[number].body["outcome"] == "partial_or_unknown"
        assert told[number].body["delivered_bytes_lower_bound"] == count
        assert (told[number].epoch, told[number].connection) == (
            AMBIENT.broker_epoch,
            AMBIENT.connection_id,
        )
    for number in ids[:-2]:  # all written: told as well, since the lease ended before its time
        assert told[number].body["outcome"] == "complete"
        assert told[number].body["delivered_bytes_lower_bound"] == len(TEXT)
    written = delivered(lab, live, ids)
    press(lab.person.state, live.id, [Key("q")])
    stop_file(path).unlink()
    assert await has_read(path, b"q") == (TEXT * len(ids)).encode()[:written] + b"q"


def test_a_person_ends_all_of_it_and_comes_next() -> None:
    async def body(lab: NativeLab) -> None:
        def person(live: LivePane) -> None:
            before = live.foreground.generation
            assert press(lab.person.state, live.id, [Key("p")])
            assert live.foreground.generation == before + 1

        live, path = await lab.reader(stopped=True)
        ids = [*lab.fill(live), lab.send(live, text="zzz")]
        person(live)
        assert lab.person.state.people.interrupted() is not None
        assert set(lab.told()) == set(ids)
        written = delivered(lab, live, ids)
        stop_file(path).unlink()
        assert await has_read(path, b"p") == (TEXT * len(ids)).encode()[:written] + b"p"
        lab.send(live, text="after")
        assert (await has_read(path, b"after")).endswith(b"pafter")

    in_native_lab(body)


RISES: dict[str, Callable[[NativeLab, LivePane], object]] = {
    "the layout changed": lambda _, live: live.foreground.raise_("layout"),
    "the broker is gone": lambda lab, _: vars(lab.world).update(up=False),
    "the record is gone": lambda lab, _: vars(lab.world).update(mine=None),
    "the own lease ended": lambda lab, _: vars(lab.world).update(mine=replace(OWN, remaining_ms=0)),
    "another connection": lambda lab, _: vars(lab.world).update(
        mine=replace(OWN, connection_id="1" * 32)
    ),
    "the pane is not ready": lambda lab, live: lab.world.facts.update(
        {live.id: lab.world.facts[live.id]._replace(ready=False)}
    ),
    "the pane has another generation": lambda lab, live: lab.world.facts.update(
        {live.id: lab.world.facts[live.id]._replace(generation=99)}
    ),
}


@pytest.mark.parametrize("cause", RISES)
def test_a_right_that_ends_takes_what_waits_with_it(cause: str) -> None:
    async def body(lab: NativeLab) -> None:
        def act(live: LivePane) -> None:
            RISES[cause](lab, live)
            lab.person.state.panes.recheck_permits()

        await stopped_after(lab, act)

    in_native_lab(body)


def test_restricted_and_strict_takes_what_an_ambient_caller_has_waiting() -> None:
    async def body(lab: NativeLab) -> None:
        lab.world.mine = replace(OWN, record=replace(OWN.record, policy="restricted"))

        def flip(_: LivePane) -> None:
            lab.world.stance = Posture.STRICT
            lab.person.state.panes.recheck_permits()

        await stopped_after(lab, flip)

    in_native_lab(body)


def test_strict_alone_leaves_what_its_owner_has_waiting() -> None:
    async def body(lab: NativeLab) -> None:
        live, path = await lab.reader(stopped=True)
        ids = [*lab.fill(live), lab.send(live, text="zzz")]
        lab.world.stance = Posture.STRICT
        lab.person.state.panes.recheck_permits()
        assert not lab.notices()
        stop_file(path).unlink()
        assert await has_read(path, b"zzz") == (TEXT * (len(ids) - 1)).encode() + b"zzz"

    in_native_lab(body)


def test_a_bound_caller_whose_lease_nobody_checked_loses_it_when_strict_comes() -> None:
    async def body(lab: NativeLab) -> None:
        live, path = await lab.reader(stopped=True)
        shell = child(live.id, live.id)
        ids = lab.fill(live, principal=shell)
        lab.world.stance = Posture.STRICT
        lab.person.state.panes.recheck_permits()
        assert set(lab.told()) == set(ids)
        stop_file(path).unlink()

    in_native_lab(body)


def test_without_the_recheck_it_is_seen_at_the_write_itself() -> None:
    """Nobody rechecks; the terminal has room again, and the permit is asked in that step."""

    async def body(lab: NativeLab) -> None:
        live, path = await lab.reader(stopped=True)
        ids = lab.fill(live)
        before = lab.operation(live, ids[-1])
        assert before is None
        lab.world.up = False
        stop_file(path).unlink()
        outcome = await settled(lab, live, ids[-1])
        assert outcome["status"] == "unknown"
        lab.world.up = True
        written = delivered(lab, live, ids)
        lab.send(live, text="!")
        assert await has_read(path, b"!") == (TEXT * len(ids)).encode()[:written] + b"!"

    in_native_lab(body)


def test_a_broken_permit_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same as above with one that is always given: it writes all of it."""
    monkeypatch.setattr(native_input, "_may_write", lambda *_: True)

    async def body(lab: NativeLab) -> None:
        live, path = await lab.reader(stopped=True)
        ids = lab.fill(live)
        lab.world.up = False
        stop_file(path).unlink()
        outcome = await settled(lab, live, ids[-1])
        assert outcome["status"] == "completed"

    in_native_lab(body)


# -- the deadline ----------------------------------------------------------------------------------


def test_what_is_not_read_in_time_is_discarded_and_told() -> None:
    async def body(lab: NativeLab) -> None:
        live, path = await lab.reader(stopped=True)
        ids = lab.fill(live)
        outcome = await settled(lab, live, ids[-1])
        assert outcome["status"] == "unknown"
        told = lab.told()
        assert list(told) == [ids[-1]]  # the others ended with their time: nobody is told
        count = told[ids[-1]].body["delivered_bytes_lower_bound"]
        assert count == outcome["delivered_bytes_lower_bound"]
        assert live.foreground.generation == 1
        written = delivered(lab, live, ids)
        stop_file(path).unlink()
        lab.send(live, text="!")
        assert await has_read(path, b"!") == (TEXT * len(ids)).encode()[:written] + b"!"

    in_native_lab(body)


def test_the_own_lease_may_end_sooner_than_two_seconds() -> None:
    async def body(lab: NativeLab) -> None:
        live, _ = await lab.reader(stopped=True)
        lab.world.mine = replace(OWN, remaining_ms=100)
        with trio.fail_after(1.9):
            await settled(lab, live, lab.fill(live)[-1])

    in_native_lab(body)


# -- the foreground --------------------------------------------------------------------------------


def test_the_generation_is_the_one_that_was_read() -> None:
    async def body(lab: NativeLab) -> None:
        live, path = await lab.reader()
        seen = live.observe_foreground()
        assert seen is not None
        for wrong in (seen - 1, seen + 1):
            with pytest.raises(Refusal) as caught:
                lab.send(live, text="no", foreground=wrong)
            assert reason(caught) == ("STALE_GENERATION", "foreground_generation")
        for item in (Focus(True), Mouse("move", "", 1, 1)):  # what the program did not ask for
            press(lab.person.state, live.id, [item])
        lab.send(live, text="yes", foreground=seen)
        assert await has_read(path, b"s") == b"yes"
        assert lab.person.state.people.last() is not None

    in_native_lab(body)


@pytest.mark.parametrize(
    ("verb", "args"),
    [
        ("term.type", {"text": "~", "enter": False}),
        ("term.keys", {"keys": ["~"]}),
        ("term.paste", {"text": "~", "more": False}),
        ("term.mouse", {"action": "click", "button": "left", "x": 1, "y": 1}),
    ],
)
def test_input_over_the_global_lane_takes_what_the_native_one_has_waiting(
    verb: str, args: dict[str, Any]
) -> None:
    async def body(lab: NativeLab) -> None:
        live, path = await lab.reader(r"\x1b[?1000h\x1b[?1006h", stopped=True)
        ids = lab.fill(live)
        seen = live.foreground.generation
        asked = await lab.person.agent(verb, pane=live.id, **args)
        assert live.foreground.generation == seen + 1
        assert set(lab.told()) == set(ids)
        with pytest.raises(Refusal) as caught:
            lab.send(live, text="no", foreground=seen)
        assert reason(caught) == ("STALE_GENERATION", "foreground_generation")
        written = delivered(lab, live, ids)
        stop_file(path).unlink()
        await asked.ended.wait()
        assert asked.refusal is None
        end = b"~" if verb != "term.mouse" else b"m"
        data = await has_read(path, end)
        assert data[:written] == (TEXT * len(ids)).encode()[:written]
        assert data[written:] == end or verb == "term.mouse"
        assert b"abc" not in data[written:]

    in_native_lab(body)


def test_a_text_of_the_global_lane_that_waits_for_its_enter_has_the_pane() -> None:
    async def body(lab: NativeLab) -> None:
        live, _ = await lab.reader(stopped=True)
        asked = await lab.person.agent(
            "term.type", pane=live.id, text="x", enter=True, confirm=True
        )
        with pytest.raises(Refusal) as caught:
            lab.send(live, text="no")
        assert reason(caught) == ("BUSY", "confirming")
        await asked.ended.wait()

    in_native_lab(body)


def _in_front(live: LivePane) -> str:
    """The name of the program whose group has the terminal."""
    return Path(f"/proc/{live.terminal.foreground_group()}/comm").read_text().strip()


def test_another_program_in_front_is_seen_when_it_is_looked_for() -> None:
    async def body(lab: NativeLab) -> None:
        live = await lab.person.program("/bin/bash", "--norc", "-i")
        lab.world.facts[live.id] = lab.world.facts[1]._replace(generation=live.id)
        await until(
            lambda: any(row.rstrip().endswith(("$", "#")) for row in live.terminal.engine.text())
        )
        seen = live.observe_foreground()
        lab.send(live, text="sleep 100\n", foreground=seen)
        # Not only in front: before its exec it would still heed Ctrl-C as the shell does.
        await until(lambda: _in_front(live) == "sleep")
        with pytest.raises(Refusal) as caught:
            lab.send(live, text="no", foreground=seen)
        assert reason(caught) == ("STALE_GENERATION", "foreground_generation")
        assert [each.body["outcome"] for each in lab.notices()] == ["complete"]
        lab.send(live, text="\x03")
        await until(lambda: live.terminal.foreground_group() == live.pid)

    in_native_lab(body)


def test_another_program_in_front_is_seen_at_the_write(monkeypatch: pytest.MonkeyPatch) -> None:
    async def body(lab: NativeLab) -> None:
        live, path = await lab.reader(stopped=True)
        ids = [*lab.fill(live), lab.send(live, text="zzz")]
        seen = live.foreground.generation
        monkeypatch.setattr(type(live.terminal), "foreground_group", lambda _: live.pid + 1)
        stop_file(path).unlink()
        outcome = await settled(lab, live, ids[-1])
        assert outcome["delivered_bytes_lower_bound"] == 0
        assert live.foreground.generation == seen + 1
        assert set(lab.told()) == set(ids)
        written = delivered(lab, live, ids)
        press(lab.person.state, live.id, [Key("q")])
        assert await has_read(path, b"q") == (TEXT * len(ids)).encode()[:written] + b"q"

    in_native_lab(body)


def test_without_a_known_group_in_front_nothing_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    async def body(lab: NativeLab) -> None:
        live, _ = await lab.reader()
        seen = live.foreground.generation
        monkeypatch.setattr(type(live.terminal), "foreground_group", lambda _: None)
        with pytest.raises(Refusal) as caught:
            lab.send(live, text="no", foreground=seen)
        assert caught.value.code is ErrorCode.FORBIDDEN
        assert live.terminal.bytes_in == 0

    in_native_lab(body)


def test_a_program_that_is_started_anew_has_a_higher_generation() -> None:
    async def body(lab: NativeLab) -> None:
        live = await lab.person.program("/bin/true")
        lab.world.facts[live.id] = lab.world.facts[1]._replace(generation=live.id)
        await until(lambda: live.ended is not None)
        before = live.foreground.generation
        again = await lab.person.state.panes.start(live.id, live.program, 80, 24)
        assert again.foreground.generation > before

    in_native_lab(body)


# -- one writer ------------------------------------------------------------------------------------


def test_strict_lets_one_caller_write_at_a_time() -> None:
    async def body(lab: NativeLab) -> None:
        live, path = await lab.reader()
        lab.world.stance = Posture.STRICT
        lab.send(live, text="a")
        lab.send(live, text="b")  # its own lease keeps nobody out but others
        with pytest.raises(Refusal) as caught:
            lab.send(live, text="no", principal=OTHER)
        assert reason(caught) == ("BUSY", "writer_busy")
        live.foreground.raise_("anything")
        lab.send(live, text="c", principal=OTHER)
        assert await has_read(path, b"c") == b"abc"

    in_native_lab(body)


def test_the_writer_is_free_when_its_two_seconds_are_over() -> None:
    async def body(lab: NativeLab) -> None:
        now = [100.0]
        live, path = await lab.reader()
        live.writer._clock = lambda: now[0]  # leases end by the pane's own clock
        lab.input._clock = lambda: now[0]
        lab.world.stance = Posture.STRICT
        lab.send(live, text="a")
        now[0] += 1.99
        with pytest.raises(Refusal) as caught:
            lab.send(live, text="no", principal=OTHER)
        assert reason(caught) == ("BUSY", "writer_busy")
        now[0] += 0.02
        lab.send(live, text="b", principal=OTHER)
        assert await has_read(path, b"b") == b"ab"
        assert not lab.notices()

    in_native_lab(body)


def test_open_lets_everybody_write_in_turn() -> None:
    async def body(lab: NativeLab) -> None:
        live, path = await lab.reader()
        lab.send(live, text="a")
        lab.send(live, text="b", principal=OTHER)
        assert await has_read(path, b"b") == b"ab"

    in_native_lab(body)


def test_a_successor_of_the_writers_attachment_frees_the_pane() -> None:
    async def body(lab: NativeLab) -> None:
        live, path = await lab.reader()
        lab.world.stance = Posture.STRICT
        shell = child(live.id, live.id)
        assert shell.session is not None
        number = lab.send(live, text="a", principal=shell)
        with pytest.raises(Refusal):
            lab.send(live, text="no", principal=OTHER)
        assert not lab.notices()
        lab.leases.drop(shell.session.record_id, 1)  # as the notice of its second attachment does
        lab.send(live, text="b", principal=OTHER)
        assert [*lab.told()] == [number]
        assert await has_read(path, b"b") == b"ab"

    in_native_lab(body)


def test_a_check_that_is_no_longer_fresh_ends_no_permit() -> None:
    """Only what the broker says does: within its two seconds nobody needs to ask again."""

    async def body(lab: NativeLab) -> None:
        live, path = await lab.reader(stopped=True)
        lab.world.stance = Posture.STRICT
        shell = child(live.id, live.id)
        ids = lab.fill(live, principal=shell)
        assert shell.session is not None
        assert lab.leases.get(caller_ref(shell.session), 10**15) is None
        lab.person.state.panes.recheck_permits()
        assert not lab.notices()
        stop_file(path).unlink()
        assert (await settled(lab, live, ids[-1]))["status"] == "completed"

    in_native_lab(body)


# -- what is spent, and what is not ----------------------------------------------------------------


def test_a_refusal_writes_nothing_and_spends_nothing() -> None:
    async def body(lab: NativeLab) -> None:
        live, path = await lab.reader()
        refused: list[tuple[str, dict[str, Any], str]] = [
            ("term.type", {"text": "naïve"}, "INVALID_ARGUMENT"),
            ("term.keys", {"keys": ["NoSuchKey"]}, "INVALID_ARGUMENT"),
            ("term.mouse", {"action": "click", "button": "left", "x": 1, "y": 1}, "UNSUPPORTED"),
        ]
        for verb, own, expected in refused:
            with pytest.raises(Refusal) as caught:
                lab.send(live, verb, **own)
            assert caught.value.code == expected
            lab.last_id -= 1  # the same id is still to be had
        assert lab.send(live, text="a") == 1
        assert await has_read(path, b"a") == b"a"
        assert live.writer.waiting == 0

    in_native_lab(body)


def test_no_room_in_the_queue_is_told_and_spends_nothing() -> None:
    async def body(lab: NativeLab) -> None:
        live, path = await lab.reader(stopped=True)
        lab.fill(live)
        for _ in range(9):
            if live.terminal._writer._queue.room >= len(TEXT):
                lab.send(live, text=TEXT)
        with pytest.raises(Refusal) as caught:
            lab.send(live, text=TEXT)
        assert reason(caught) == ("RESOURCE_LIMIT", "input_queue_room")
        assert lab.ledger.high_water(lab.actor) == lab.last_id - 1
        stop_file(path).unlink()

    in_native_lab(body)


def test_a_line_that_the_kernel_would_cut_is_refused_and_discarded_ones_do_not_count() -> None:
    async def body(lab: NativeLab) -> None:
        live = await lab.person.program("/bin/sh", "-c", "echo READY; exec cat")
        lab.world.facts[live.id] = lab.world.facts[1]._replace(generation=live.id)
        await until(lambda: any("READY" in row for row in live.terminal.engine.text()))
        with pytest.raises(Refusal) as caught:
            lab.send(live, text="x" * 4_096)
        assert reason(caught) == ("RESOURCE_LIMIT", "line_too_long")
        lab.send(live, text="x" * 4_000)
        assert live.line_begun == 4_000

    in_native_lab(body)


def test_a_paste_is_bracketed_and_closed_when_it_ends_early() -> None:
    async def body(lab: NativeLab) -> None:
        live, path = await lab.reader(r"\x1b[?2004h", stopped=True)
        ids = [lab.send(live, "term.paste", text=TEXT)]
        while lab.operation(live, ids[-1]) is not None:
            ids.append(lab.send(live, "term.paste", text=TEXT))
        press(lab.person.state, live.id, [Key("q")])
        count = delivered(lab, live, ids[-1:])
        stop_file(path).unlink()
        whole = b"\x1b[200~" + TEXT.encode() + b"\x1b[201~"
        closing = b"\x1b[201~" if count else b""
        assert await has_read(path, b"q") == (
            whole * (len(ids) - 1) + whole[:count] + closing + b"q"
        )

    in_native_lab(body)


# -- mutations of the guards, which must be seen ---------------------------------------------------


def test_a_writer_that_forgets_the_written_tells_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    def forgets(self: Writer, lease: Lease, sent: Any) -> None:  # noqa: ANN401 - as it is
        del self._waiting[lease]
        lease.settled(sent)

    monkeypatch.setattr(Writer, "settled", forgets)

    async def body(lab: NativeLab) -> None:
        with pytest.raises(KeyError):
            await stopped_after(lab, lambda live: live.foreground.raise_("anything"))

    in_native_lab(body)


def test_a_rise_that_ends_no_lease_writes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Writer, "end", lambda _: None)

    async def body(lab: NativeLab) -> None:
        with pytest.raises(AssertionError):
            await stopped_after(lab, lambda live: live.foreground.raise_("anything"))

    in_native_lab(body)
