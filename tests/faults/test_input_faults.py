"""Input that is read slowly, not at all, or by a program that goes: counts, closings, no mixing."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Awaitable, Callable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
import trio

from brokerd.client import connect
from tests.support.byte_programs import Reader, ended, paste, paste_over
from tests.support.termnode_process import DEADLINE_S, Service, eventually
from tests.support.termnode_process import plain_service as service
from tests.support.told import told

START, END = b"\x1b[200~", b"\x1b[201~"
BRACKETS = r"\x1b[?2004h"
MIB = 1024 * 1024


@pytest.fixture(scope="module")
def term() -> Iterator[Service]:
    with service("--size", "80x24") as running:
        yield running


def lines(size: int) -> str:
    """Text of so many bytes, no two lines alike."""
    text = "".join(f"{number:07d} abcdefghijklmnopqrstuvwxyz\n" for number in range(size // 35 + 1))
    return text[:size]


def test_a_mib_reaches_a_program_that_reads_slowly(term: Service, tmp_path: Path) -> None:
    """It takes longer than the two seconds in which nothing may be read."""
    reader = Reader(term, tmp_path / "read", BRACKETS, step=1_024, pause=0.003)
    text = lines(MIB)
    rc, answer = paste(term, reader.pane, text, part=7_000)
    assert (rc, answer["outcome"], answer["bytes"]) == (0, "written", MIB + 12)
    reader.reads(START + text.encode() + END)


def test_a_paste_that_is_not_read_ends_and_is_closed(term: Service, tmp_path: Path) -> None:
    reader = Reader(term, tmp_path / "read", BRACKETS, stopped=True)
    text = lines(200_000)
    rc, answer = paste(term, reader.pane, text, part=7_000)
    assert (rc, answer["error_code"]) == (10, "EXPIRED")
    written = answer["details"]["written_bytes"]
    assert 0 < written < answer["details"]["bytes"] == len(text) + 12
    reader.go_on()
    assert reader.reads_at_last(END) == (START + text.encode())[:written] + END
    term.good("term.keys", {"pane": reader.pane, "keys": ["q"]})
    assert reader.reads_at_last(b"q") == (START + text.encode())[:written] + END + b"q"


def test_a_paste_that_ends_early_is_told_of_its_own_pane(term: Service, tmp_path: Path) -> None:
    """Its parts after the first name the operation alone, and another pane is the active one."""
    reader = Reader(term, tmp_path / "read", stopped=True)
    active = term.good("term.tab.new", {"argv": ["cat"]})["pane"]
    text = lines(200_000)

    async def body() -> None:
        async with told(term.directory / "rt", kinds=["input"]) as one:
            part: dict[str, Any] = {"pane": reader.pane}
            for start in range(0, len(text), 7_000):
                more = start + 7_000 < len(text)
                part |= {"text": text[start : start + 7_000], "more": more}
                reply = await one.bus.request(term.name, "term.paste", part, timeout=DEADLINE_S)
                if more:
                    assert isinstance(reply.body, dict)
                    part = {"operation": reply.body["operation"], "offset": reply.body["received"]}
            assert reply.error is not None
            assert reply.error.code == "EXPIRED"
            event = await one.kind("input")
            assert (event["pane"], event["outcome"]) == (reader.pane, "EXPIRED")
            assert event["pane"] != active

    with_deadline(body)


def with_deadline(body: Callable[[], Awaitable[None]]) -> None:
    async def run() -> None:
        with trio.fail_after(DEADLINE_S * 2):
            await body()

    trio.run(run)


def paste_and(
    term: Service, reader: Reader, text: str, meanwhile: Callable[[], object]
) -> tuple[int, Any]:
    """Paste more than fits, do something when it is being written, and give the paste's reply."""
    replies: list[tuple[int, Any]] = []

    async def both() -> None:
        async with connect(term.directory / "rt") as bus, trio.open_nursery() as nursery:

            async def ask() -> None:
                replies.append(await paste_over(bus, term.name, reader.pane, text, 7_000))

            nursery.start_soon(ask)
            refused = None
            while refused is None:  # a key is, once the paste has taken all the room
                body = {"pane": reader.pane, "keys": ["x"]}
                reply = await bus.request(term.name, "term.keys", body, timeout=DEADLINE_S)
                refused = reply.body if reply.rc else None
            assert isinstance(refused, dict)
            assert refused["details"] == {"reason": "input_queue_room", "limit": 0}
            await trio.to_thread.run_sync(meanwhile)

    trio.run(both)
    return replies[0]


def test_a_paste_that_becomes_forbidden_is_closed(tmp_path: Path) -> None:
    with service() as strict:
        reader = Reader(strict, tmp_path / "read", BRACKETS, stopped=True)
        text = lines(150_000)

        def flip() -> None:
            (strict.directory / "rt" / "term.posture").write_text("strict\n")
            assert strict.call("INFO")[0] == 0  # a flip is seen at the next request

        rc, answer = paste_and(strict, reader, text, flip)
        assert (rc, answer["error_code"]) == (10, "CANCELLED")
        written = answer["details"]["written_bytes"]
        assert 0 < written < answer["details"]["bytes"] == len(text) + 12
        reader.go_on()
        data = reader.reads_at_last(END).lstrip(b"x")
        assert data == (START + text.encode())[:written] + END


def test_a_program_that_dies_in_a_paste_leaves_nothing_to_the_next_one(
    term: Service, tmp_path: Path
) -> None:
    reader = Reader(term, tmp_path / "read", BRACKETS, stopped=True)
    listed = {pane["id"]: pane for pane in term.good("term.panes")["panes"]}
    text = lines(150_000)
    rc, answer = paste_and(
        term, reader, text, lambda: os.kill(listed[reader.pane]["pid"], signal.SIGKILL)
    )
    assert (rc, answer["error_code"]) == (10, "DISCONNECTED")
    assert answer["details"]["written_bytes"] < answer["details"]["bytes"] == len(text) + 12
    ended(term, reader.pane)
    reader.go_on()
    assert term.good("term.pane.restart", {"pane": reader.pane})["generation"] == 2
    term.wait("READY", reader.pane)
    term.good("term.keys", {"pane": reader.pane, "keys": ["q"]})
    reader.reads(b"q")


def test_parts_for_a_program_that_was_started_anew_are_stale(term: Service, tmp_path: Path) -> None:
    pane = term.good("term.tab.new", {"argv": ["cat"]})["pane"]
    first = term.good("term.paste", {"pane": pane, "text": "one", "more": True})
    term.good("term.keys", {"pane": pane, "keys": ["C-d"]})
    ended(term, pane)
    last = {"operation": first["operation"], "offset": 3, "text": "two"}
    rc, answer = term.call("term.paste", last)
    assert (rc, answer["error_code"]) == (10, "DISCONNECTED")
    term.good("term.pane.restart", {"pane": pane})
    rc, answer = term.call("term.paste", last)
    assert (rc, answer["error_code"]) == (10, "STALE_GENERATION")
    rc, answer = term.call("term.paste", last)
    assert (rc, answer["error_code"]) == (10, "NOT_FOUND")


def test_requests_of_several_writers_are_never_mixed(term: Service, tmp_path: Path) -> None:
    """32 KB from one, keys and text from others, to a program that reads a little at a time."""
    reader = Reader(term, tmp_path / "read", step=700, pause=0.001)
    wanted = {"a": 32_000, "b": 7_000, "c": 7_000, "d": 7_000, "k": 200}

    async def write(letter: str) -> None:
        async with connect(term.directory / "rt") as bus:
            text = letter * wanted[letter]
            if letter == "a":
                rc, _ = await paste_over(bus, term.name, reader.pane, text)
            else:
                verb, given = ("term.keys", list(text)) if letter == "k" else ("term.type", text)
                body: dict[str, Any] = {"pane": reader.pane, verb.removeprefix("term."): given}
                body = body if letter == "k" else {"pane": reader.pane, "text": text}
                rc = (await bus.request(term.name, verb, body, timeout=DEADLINE_S)).rc
            assert rc == 0

    async def all_at_once() -> None:
        async with trio.open_nursery() as nursery:
            for letter in wanted:
                nursery.start_soon(write, letter)

    trio.run(all_at_once)
    eventually(lambda: len(reader.data) >= sum(wanted.values()), "all of it was read")
    runs = [(letter, len(list(same))) for letter, same in groupby(reader.data.decode())]
    assert sorted(runs) == sorted(wanted.items())


def test_a_confirmed_text_that_is_not_read_holds_the_pane_no_longer_than_it_waits(
    term: Service, tmp_path: Path
) -> None:
    reader = Reader(term, tmp_path / "read", stopped=True)
    full = {"pane": reader.pane, "text": "x" * 7_000}
    eventually(lambda: term.call("term.type", full)[0] == 10, "the terminal is full")
    body = {"pane": reader.pane, "text": "late", "enter": True, "confirm": True}
    rc, answer = term.call("term.type", body)
    assert (rc, answer["error_code"]) == (10, "EXPIRED")
    assert answer["details"] == {"written_bytes": 0, "bytes": 4}
    reader.go_on()
    term.good("term.keys", {"pane": reader.pane, "keys": ["q"]})
    assert b"late" not in reader.reads_at_last(b"q")


def test_a_program_that_ends_on_what_is_typed_never_gets_enter(term: Service) -> None:
    script = "stty raw -echo; printf READY; head -c 4 > /dev/null"
    pane = term.good("term.tab.new", {"argv": ["sh", "-c", script]})["pane"]
    term.wait("READY", pane)
    body = {"pane": pane, "text": "quit", "enter": True, "confirm": True}
    rc, answer = term.call("term.type", body)
    assert (rc, answer["error_code"]) == (10, "DISCONNECTED")
    assert answer["details"] == {"reason": "program_ended", "written_bytes": 4, "bytes": 5}


def test_a_pane_that_becomes_strict_meanwhile_gets_no_enter(tmp_path: Path) -> None:
    with service() as strict:
        reader = Reader(strict, tmp_path / "read")

        async def type_and_flip() -> Any:  # noqa: ANN401
            async with connect(strict.directory / "rt") as bus, trio.open_nursery() as nursery:
                replies: list[Any] = []

                async def ask() -> None:
                    body = {"pane": reader.pane, "text": "x", "enter": True, "confirm": True}
                    reply = await bus.request(strict.name, "term.type", body, timeout=DEADLINE_S)
                    replies.append((reply.rc, reply.body))

                nursery.start_soon(ask)
                await trio.to_thread.run_sync(eventually, lambda: reader.data, "it was typed")
                (strict.directory / "rt" / "term.posture").write_text("strict\n")
            return replies[0]

        rc, answer = trio.run(type_and_flip)
        assert (rc, answer["error_code"]) == (10, "CANCELLED")
        assert answer["details"] == {"written_bytes": 1, "bytes": 2}
        assert reader.data == b"x"


def test_a_pane_that_is_closed_after_enter_claims_no_answer(term: Service, tmp_path: Path) -> None:
    """Its emulator is freed then, and would show an empty screen: that is no answer to Enter."""
    show = "os.write(1, os.read(0, 9)); import time; time.sleep(60)"
    script = f"import os, tty; tty.setraw(0); os.write(1, b'READY'); {show}"
    pane = term.good("term.tab.new", {"argv": [sys.executable, "-S", "-c", script]})["pane"]
    term.wait("READY", pane)

    async def type_and_close() -> Any:  # noqa: ANN401
        async with connect(term.directory / "rt") as bus, trio.open_nursery() as nursery:
            replies: list[Any] = []

            async def ask() -> None:
                body = {"pane": pane, "text": "x", "enter": True, "confirm": True}
                reply = await bus.request(term.name, "term.type", body, timeout=DEADLINE_S)
                replies.append((reply.rc, reply.body))

            nursery.start_soon(ask)
            await trio.to_thread.run_sync(eventually, _typed(term, pane), "it was shown")
            await bus.request(term.name, "term.pane.close", {"pane": pane}, timeout=DEADLINE_S)
        return replies[0]

    rc, answer = trio.run(type_and_close)
    assert (rc, answer["outcome"], answer["bytes"]) == (0, "echoed", 2)


def _typed(term: Service, pane: int) -> Callable[[], bool]:
    """Whether the text is on the screen and keys are taken again: Enter was pressed."""

    def check() -> bool:
        if not any("READYx" in row for row in term.screen(pane)):
            return False
        return bool(term.call("term.keys", {"pane": pane, "keys": ["y"]})[0] == 0)

    return check
