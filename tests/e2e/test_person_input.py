"""A person at the view socket of a real service, and agents on the bus, at the same panes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio

from brokerd.client import Bus, connect
from termnode.view.frames import Decoder, encode
from termnode.view.messages import (
    Ack,
    Attach,
    Do,
    Done,
    Focus,
    FromService,
    FromView,
    Input,
    Item,
    Key,
    Mouse,
    Page,
    PageWanted,
    PaneState,
    Pasted,
    Raw,
    Status,
    Text,
    Welcome,
)
from tests.support.byte_programs import Reader, paste_over
from tests.support.termnode_process import DEADLINE_S, Service, service
from tests.support.told import told

START, END = b"\x1b[200~", b"\x1b[201~"
MORE_THAN_FITS = 150_000
"""A paste of so many bytes takes all the room that there is, so that others are refused."""


@pytest.fixture(scope="module")
def term() -> Iterator[Service]:
    with service("--size", "80x24") as running:
        yield running


class Person:
    """A view without a screen: it sends what a person does and keeps what it is told."""

    def __init__(self, bus: Bus, stream: trio.SocketStream) -> None:
        self.bus = bus
        self.told: list[FromService] = []
        self._stream = stream
        self._decoder = Decoder()
        self._news = trio.Condition()
        self._sending = trio.Lock()

    async def send(self, *messages: FromView) -> None:
        async with self._sending:
            await self._stream.send_all(b"".join(map(encode, messages)))

    async def does(self, pane: int, *items: Item) -> None:
        """Items of input, in one message."""
        await self.send(Input(pane, items))

    async def listen(self) -> None:
        """Take in what the service tells, and say so."""
        while data := await self._stream.receive_some(1 << 16):
            self.told += self._decoder.feed(data)
            await self.send(Ack(len(self.told)))
            async with self._news:
                self._news.notify_all()

    async def until(self, true: Callable[[FromService], object]) -> FromService:
        """The first thing told, now or before, for which it is ``true``."""
        async with self._news:
            while not (found := [each for each in self.told if true(each)]):
                await self._news.wait()
        return found[0]

    async def done(self, req: int, verb: str, **body: object) -> Done:
        """A command, and what came of it."""
        await self.send(Do(req, verb, body))
        found = await self.until(lambda told: isinstance(told, Done) and told.req == req)
        assert isinstance(found, Done)
        return found

    async def good(self, verb: str, **body: object) -> dict[str, Any]:
        """An agent's verb, on the bus, which must be done."""
        reply = await self.bus.request("term", verb, body, timeout=DEADLINE_S)
        assert reply.ok, (verb, reply.error)
        return dict(reply.body or {})


@asynccontextmanager
async def person(term: Service, cols: int = 80, rows: int = 24) -> AsyncIterator[Person]:
    """An attached view of this process, with the ticket of the start."""
    async with connect(term.directory / "rt") as bus:
        ticket = {"ticket": term.ready["view_ticket"]}
        reply = await bus.request(term.name, "term.view.open", ticket, timeout=DEADLINE_S)
        assert reply.ok, reply.error
        assert reply.body is not None
        stream = await trio.open_unix_socket(str(reply.body["path"]))
        try:
            one = Person(bus, stream)
            await one.send(Attach(str(reply.body["token"]), cols, rows))
            async with trio.open_nursery() as nursery:
                nursery.start_soon(one.listen)
                await one.until(lambda told: isinstance(told, Welcome))
                yield one
                nursery.cancel_scope.cancel()
        finally:
            await trio.aclose_forcefully(stream)


def run(body: Callable[[], Awaitable[None]]) -> None:
    async def bounded() -> None:
        with trio.fail_after(DEADLINE_S * 2):
            await body()

    trio.run(bounded)


def test_agents_input_that_waits_gives_way_to_a_key(term: Service, tmp_path: Path) -> None:
    reader = Reader(term, tmp_path / "read", r"\x1b[?2004h", stopped=True)
    replies: list[tuple[int, Any]] = []

    async def body() -> None:
        async with (
            person(term) as one,
            told(term.directory / "rt", kinds=["input"], pane=reader.pane) as events,
            trio.open_nursery() as nursery,
        ):

            async def agent() -> None:
                text = "a" * MORE_THAN_FITS
                replies.append(await paste_over(one.bus, term.name, reader.pane, text, 7_000))

            nursery.start_soon(agent)
            await is_full(one, reader.pane)
            await one.does(reader.pane, Key("q"))
            cut = await one.until(lambda each: isinstance(each, Status) and each.interrupted)
            assert isinstance(cut, Status)
            assert cut.interrupted is not None
            assert cut.interrupted.pane == reader.pane
            assert cut.interrupted.verb == "term.paste"
            assert cut.interrupted.who.startswith("uid ")
            event = await events.until(lambda each: each["who"].startswith("person "))
            assert "bytes" not in event
            await one.until(
                lambda each: (
                    isinstance(each, Status)
                    and each.interrupted is None
                    and one.told.index(each) > one.told.index(cut)
                )
            )

    run(body)
    ((rc, answer),) = replies
    assert (rc, answer["error_code"]) == (10, "CANCELLED")
    details = answer["details"]
    assert details["reason"] == "person_typed"
    assert 0 < details["written_bytes"] < details["bytes"] == MORE_THAN_FITS + 12
    reader.go_on()
    data = reader.reads_at_last(b"q").lstrip(b"x")
    assert data == (START + b"a" * MORE_THAN_FITS)[: details["written_bytes"]] + END + b"q"


async def is_full(one: Person, pane: int) -> None:
    """Wait until the pane takes no more of agents: the paste before has all the room."""
    while True:
        body = {"pane": pane, "keys": ["x"]}
        reply = await one.bus.request("term", "term.keys", body, timeout=DEADLINE_S)
        if reply.rc:
            assert reply.error is not None
            assert reply.error.code == "RESOURCE_LIMIT"
            return


def test_all_kinds_of_input_arrive_as_the_program_asked(term: Service, tmp_path: Path) -> None:
    setup = r"\x1b[?1h\x1b[?2004h\x1b[?1000h\x1b[?1006h"
    reader = Reader(term, tmp_path / "read", setup)

    async def body() -> None:
        async with person(term) as one:
            await one.does(reader.pane, Key("Up"), Text("é"), Key("C-c"), Focus(True))
            await one.does(reader.pane, Pasted("a\n", more=True))
            await one.does(reader.pane, Pasted("b\x1b[201~"))
            await one.does(reader.pane, Mouse("press", "left", 1, 2), Mouse("drag", "left", 1, 3))
            await one.does(reader.pane, Raw(b"\xff\x00"), Key("e"))

    run(body)
    reader.reads(b"\x1bOA\xc3\xa9\x03" + START + b"a\nb" + END + b"\x1b[<0;2;3M\xff\x00e")


def test_a_new_size_is_there_before_the_key(term: Service) -> None:
    script = 'while read -r word; do stty size | sed "s/^/$word /"; done'

    async def body() -> None:
        async with person(term) as small, person(term, 132, 50) as large:
            pane = int((await small.good("term.tab.new", argv=["sh", "-c", script]))["pane"])
            await small.does(pane, Text("one"), Key("Enter"))
            await small.good("term.wait", pane=pane, until="one 24 80")
            await large.does(pane, Text("two"), Key("Enter"))
            await small.good("term.wait", pane=pane, until="two 50 132")
            await small.does(pane, Text("three"), Key("Enter"))
            await small.good("term.wait", pane=pane, until="three 24 80")

    run(body)


def test_commands_keep_their_order_with_agents_mutations(term: Service) -> None:
    async def body() -> None:
        async with person(term) as one:
            pane = int((await one.good("term.tab.new", argv=["sleep", "600"]))["pane"])
            for number in range(20):
                await one.good("term.pane.rename", pane=pane, title=f"agent {number}")
                done = await one.done(number, "term.pane.rename", pane=pane, title=f"me {number}")
                assert done.rc == 0
                (seen,) = [
                    each["title"]
                    for each in (await one.good("term.panes"))["panes"]
                    if each["id"] == pane
                ]
                assert seen == f"me {number}"
            split = await one.done(100, "term.pane.split", pane=pane, dir="v", argv=["cat"])
            assert split.rc == 0
            closed = await one.done(101, "term.pane.close", pane=split.body["id"])
            assert closed.body["remaining"] == 1
            typed = await one.done(102, "term.type", pane=pane, text="no")
            assert typed.body["error_code"] == "UNSUPPORTED"
            log = (await one.good("term.log", limit=50))["entries"]
            mine = [each for each in log if each["verb"] == "term.pane.split"]
            assert mine[-1]["principal"].startswith("person uid ")

    run(body)


def test_a_person_goes_on_in_strict_posture(tmp_path: Path) -> None:
    with service("--size", "80x24") as strict:
        reader = Reader(strict, tmp_path / "read")

        async def body() -> None:
            async with person(strict) as one:
                posture = trio.Path(strict.directory / "rt" / "term.posture")
                await posture.write_text("strict\n")
                await one.does(reader.pane, Text("typed"))
                assert (await one.done(1, "term.tab.rename", title="mine")).rc == 0
                reply = await one.bus.request("term", "term.panes", {}, timeout=DEADLINE_S)
                assert reply.rc == 10

        run(body)
        reader.reads(b"typed")


def test_a_person_scrolls_back(term: Service) -> None:
    async def body() -> None:
        async with person(term) as one:
            argv = ["sh", "-c", "seq 1 200; printf END; exec sleep 600"]
            pane = int((await one.good("term.tab.new", argv=argv))["pane"])
            await one.good("term.wait", pane=pane, until="END")
            seen = await one.until(lambda each: isinstance(each, PaneState) and each.pane == pane)
            assert isinstance(seen, PaneState)
            found: dict[int, str] = {}
            for req in range(1, 100):
                line = max(found, default=-1) + 1
                await one.send(PageWanted(req, pane, line, 100))
                got = await one.until(lambda each, r=req: isinstance(each, Page) and each.req == r)  # type: ignore[misc]
                assert isinstance(got, Page)
                if not got.lines:
                    break
                found.update((number, "".join(run[0] for run in row)) for number, row in got.lines)
            assert [found[number] for number in range(200)] == [str(n) for n in range(1, 201)]

    run(body)


def test_a_persons_line_and_an_agents_do_not_become_one(term: Service) -> None:
    """An agent's text waits for its Enter; the person types: that Enter is never pressed."""

    async def body() -> None:
        async with person(term) as one, trio.open_nursery() as nursery:
            script = "stty raw -echo; printf READY; exec cat >/dev/null"
            pane = int((await one.good("term.tab.new", argv=["sh", "-c", script]))["pane"])
            await one.good("term.wait", pane=pane, until="READY")
            replies: list[Any] = []

            async def agent() -> None:
                asked = {"pane": pane, "text": "rm x", "enter": True, "confirm": True}
                reply = await one.bus.request("term", "term.type", asked, timeout=DEADLINE_S)
                replies.append(reply.error)

            nursery.start_soon(agent)
            while True:  # until the text is there and holds the pane
                body = {"pane": pane, "text": "n"}
                reply = await one.bus.request("term", "term.type", body, timeout=DEADLINE_S)
                if reply.error is not None and reply.error.code == "BUSY":
                    break
            await one.does(pane, Text("mine"))
            await one.until(lambda each: isinstance(each, Status) and each.interrupted)
        (error,) = replies
        assert error.code == "CANCELLED"
        assert error.details == {"reason": "person_typed", "written_bytes": 4, "bytes": 5}

    run(body)
