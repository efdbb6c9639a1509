"""One script, the same results: the clients for Trio, for asyncio and for plain scripts."""

from __future__ import annotations

import asyncio
import gc
import os
import random
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import pytest

import termnode.aio
import termnode.client
import termnode.sync
from brokerd.client import broker_pid
from termnode.aio.runner import Runner as AioRunner
from termnode.client import (
    Busy,
    Disconnected,
    InvalidArgument,
    Match,
    NotFound,
    PaneGone,
    ProgramEnded,
    ServiceRestarted,
    ServiceUnavailable,
    Session,
    SessionClosed,
    TermnodeError,
    UnknownOutcome,
    Unsupported,
    WaitTimeout,
)
from termnode.client.served import Served
from termnode.sync.runner import Runner as SyncRunner
from tests.support.programs import need
from tests.support.termnode_process import Service, alive, eventually
from tests.support.termnode_process import plain_service as service
from tests.support.three_clients import THREE, Script, Together, rt


@pytest.fixture(scope="module")
def term() -> Iterator[Service]:
    with service("--size", "80x24") as running:
        yield running


# -- the script --------------------------------------------------------------------------------


async def opens_types_and_waits(session: Session, _together: Together) -> object:
    before = len(await session.tabs)
    tab = await session.new_tab(["sh"], title="one", env={"PS1": "$ "})
    pane = await tab.active_pane
    first = await pane.wait_prompt()
    await pane.send_keys("echo hi-$((40+2))")
    match = await pane.wait_for("^hi-42$")
    seen = [match.text, match.stale, match.revision > first.revision]
    await pane.wait_prompt()
    typed = await pane.type("echo never", confirm=True)
    # Not C-c: a shell that is interrupted drops what it has read, the next words with it.
    pressed = await pane.press("C-u", "C-u")
    await pane.send_keys(["e", "x", "i", "t", "Space", "3", "Enter"])
    ended = await pane.wait_exit()
    shown = [line for line in await pane.capture() if "hi-" in line]
    await pane.restart()
    await pane.wait_prompt()
    names = [tab.title, (await tab.refresh()).id == tab.id, len(await session.tabs) - before]
    await tab.close()
    return seen, typed.outcome, pressed.bytes, ended.code, shown, names, pane.info.generation


async def pastes_of_any_size(session: Session, _together: Together) -> object:
    tab = await session.new_tab(
        ["sh", "-c", "stty raw -echo; printf READY; head -c 59802 | wc -c; read x"]
    )
    pane = await tab.active_pane
    await pane.wait_for("READY")
    pasted = await pane.paste("ü" + "line\tof text\n" * 4_600 + "\x1b")
    match = await pane.wait_for("59802")
    await tab.close()
    return pasted.outcome, pasted.bytes, pasted.removed, pasted.bracketed, match.text


async def looks(session: Session, _together: Together) -> object:
    program = "seq -f line%g 0 59; read x; printf '\\033[31mred'; read x"
    tab = await session.new_tab(["sh", "-c", program])
    pane = await tab.active_pane
    match = await pane.wait_for("line59")
    rows, history = await pane.capture(), await pane.capture(scrollback=1000)
    before = await pane.screen()
    await pane.send_keys("")
    await pane.wait_for("red")
    news = await pane.screen(since=before.revision, format="styled")
    nothing = await pane.screen(since=news.revision)
    page = await pane.screen(line=10, lines=2)
    html = await pane.screen(format="html")
    await tab.close()
    runs = [dict(run) for line in news.lines for run in line.runs if run["text"] == "red"]
    frame = (before.cols, before.rows, before.cursor is not None, before.alternate, before.state)
    seen = (match.line, rows[-1], len(history), history[0], frame, runs, nothing.lines)
    return seen, page.text, page.first_line, (html.html or "")[:9].lower()


async def moves_panes(session: Session, _together: Together) -> object:
    tab = await session.new_tab("sleep 1000")
    one = await tab.active_pane
    two = await one.split("sleep 1000", below=True)
    three = await two.split(["sleep", "1000"])
    sizes = [(pane.cols, pane.rows) for pane in await tab.panes]
    await two.resize(rows=5)
    resized = two.rows
    await one.swap(three)
    await two.rename("mine")
    await tab.rename("all")
    await tab.layout("even-vertical")
    await three.zoom()
    zoomed = three.info.zoomed
    await three.zoom(on=False)
    await three.break_out()
    moved = three.tab != tab.id
    await three.join(one, below=True)
    await one.select()
    active = (await session.active_pane) == one and (await session.active_tab) == tab
    commands = [pane.command for pane in await tab.panes]
    names = (two.title, tab.title, await session.pane(two.id) == two)
    await two.close()
    left = len(await tab.panes)
    await tab.close()
    return sizes, resized, zoomed, moved, three.tab == tab.id, active, commands, names, left


async def is_told_what_happens(session: Session, _together: Together) -> object:
    tab = await session.new_tab(["sh", "-c", "read x; exit 4"])
    pane = await tab.active_pane
    async with session.events(pane=pane, kinds=["input", "exit"]) as events:
        await pane.send_keys("x")
        first, second = await events.next(timeout=20), await events.next(timeout=20)
        try:
            await events.next(timeout=0.05)
        except WaitTimeout as error:
            late = error.code
    kinds = []
    async for event in session.events(pane=pane, after=first.seq - 1, timeout=20):
        kinds.append((event.kind, event.missed))
        if event.kind == "exit":
            break
    rest = [event.kind async for event in events]
    await tab.close()
    told = (first.kind, first.verb, first.bytes, second.kind, second.exit and second.exit.code)
    return told, kinds, late, rest


async def refuses_with_types(session: Session, _together: Together) -> object:
    tab = await session.new_tab(["sh", "-c", "echo READY; read x; exit 5"])
    pane = await tab.active_pane
    await pane.wait_for("READY")
    found = []
    for attempt in (
        lambda: pane.press("PageUpp"),
        lambda: pane.click(1, 1),
        pane.restart,
        lambda: session.pane(9_999),
        lambda: session.call("term.nonsense"),
        lambda: pane.wait_for("(", timeout=5),
        lambda: pane.wait_for("not there", timeout=0.05),
        pane.resize,
    ):
        try:
            await attempt()
        except TermnodeError as error:
            found.append((type(error), error.details.get("field")))
    await pane.send_keys("x")
    for attempt in (
        lambda: pane.wait_for("not there", timeout=20),
        lambda: pane.send_keys("x"),
        pane.close,
        lambda: pane.wait_for("not there", timeout=20),
        pane.refresh,
    ):
        try:
            await attempt()
        except TermnodeError as error:
            ended = getattr(error, "exit", None)
            found.append((type(error), ended and ended.code))
    return found


REFUSALS = [
    (InvalidArgument, "keys"),
    (Unsupported, None),
    (Busy, None),
    (NotFound, None),
    (Unsupported, None),
    (InvalidArgument, "until"),
    (WaitTimeout, None),
    (InvalidArgument, "cols"),
    (ProgramEnded, 5),
    (Disconnected, None),
    (PaneGone, None),
    (NotFound, None),
]


async def waits_a_hundred_times_at_once(session: Session, together: Together) -> object:
    tab = await session.new_tab(["sh", "-c", "read x; read x; seq -f 'w%g-' 0 99; read x"])
    pane = await tab.active_pane
    await pane.send_keys("from here on")

    def waiting(number: int) -> Callable[[], Awaitable[Match]]:
        return lambda: pane.wait_for(f"^w{number}-$", timeout=90)

    found = await together(*map(waiting, range(100)), lambda: pane.send_keys("go"))
    await tab.close()
    return [match.text for match in found[:100]]


async def hears_silence_in_a_crowd(session: Session, together: Together) -> object:
    tab = await session.new_tab("sleep 1000")
    pane = await tab.active_pane
    found = await together(*[lambda: pane.wait_quiet(1.2, timeout=60)] * 60)
    await tab.close()
    return {answer.outcome for answer in found}


async def goes_on_from_a_change(session: Session, _together: Together) -> object:
    tab = await session.new_tab(
        ["sh", "-c", "stty -echo; echo READY; while read x; do echo got-$x; done"]
    )
    pane = await tab.active_pane
    await pane.wait_for("READY")
    await pane.send_keys("a")
    first = await pane.wait_change()
    await pane.wait_for("got-a")
    await pane.wait_quiet(0.2)
    revision = (await pane.screen()).revision
    if first.revision < revision:
        await pane.wait_change()
    try:
        await pane.wait_change(timeout=0.05)
    except WaitTimeout as error:
        late = error.revision == revision
    old = await pane.wait_for("READY", after=None)
    try:
        await pane.wait_for("READY", timeout=0.05)
    except WaitTimeout:
        stood_before = True
    info, log = await session.info(), await session.log(3)
    counted = info.panes == len(await session.panes)
    await tab.close()
    return late, old.text, old.stale, stood_before, counted, len(log)


SCRIPTS = (
    opens_types_and_waits,
    pastes_of_any_size,
    looks,
    moves_panes,
    is_told_what_happens,
    refuses_with_types,
    waits_a_hundred_times_at_once,
    hears_silence_in_a_crowd,
    goes_on_from_a_change,
)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.__name__)
def test_all_three_give_the_same(term: Service, script: Script) -> None:
    found = {name: run(term, script) for name, run in THREE.items()}
    assert found["trio"] == found["aio"] == found["sync"]
    EXPECTED[script](found["trio"])


def waited(found: object) -> None:
    assert isinstance(found, tuple)
    seen, outcome, pressed, code, shown, names, generation = found
    assert seen == ["hi-42", False, True]
    assert (outcome, pressed, code, generation) == ("echoed", 2, 3, 2)
    assert shown[-1] == "hi-42"
    assert names == ["one", True, 1]


def looked(found: object) -> None:
    assert isinstance(found, tuple)
    (line, last, rows, first, frame, runs, nothing), page, number, html = found
    assert (line, last, rows, first) == (59, "line59", 60, "line0")
    assert frame == (80, 24, True, False, "running")
    assert runs == [{"text": "red", "fg": 1}]
    assert (nothing, page, number, html) == ((), "line10\nline11", 10, "<!doctype")


def equals(expected: object) -> Callable[[object], None]:
    def check(found: object) -> None:
        assert found == expected

    return check


EXPECTED: dict[Script, Callable[[object], None]] = {
    opens_types_and_waits: waited,
    pastes_of_any_size: equals(("written", 59_802, 1, False, "READY59802")),
    looks: looked,
    moves_panes: equals(
        (
            [(80, 11), (39, 12), (40, 12)],
            5,
            True,
            True,
            True,
            True,
            ["sleep", "sleep", "sleep"],
            ("mine", "all", True),
            2,
        )
    ),
    is_told_what_happens: equals(
        (
            ("input", "term.type", 2, "exit", 4),
            [("input", 0), ("exit", 0)],
            "EXPIRED",
            [],
        )
    ),
    refuses_with_types: equals(REFUSALS),
    waits_a_hundred_times_at_once: equals([f"w{number}-" for number in range(100)]),
    hears_silence_in_a_crowd: equals({"quiet"}),
    goes_on_from_a_change: equals((True, "READY", True, True, True, 3)),
}


# -- ends --------------------------------------------------------------------------------------


def leftovers() -> tuple[set[str], int]:
    return {thread.name for thread in threading.enumerate()}, len(os.listdir("/proc/self/fd"))


@pytest.mark.parametrize("flavour", THREE)
def test_nothing_is_left_after_the_block_whatever_happened(term: Service, flavour: str) -> None:
    before = leftovers()
    with pytest.raises(KeyError):
        THREE[flavour](term, fails)
    assert leftovers() == before


async def fails(session: Session, _together: Together) -> object:
    await session.events().__aenter__()
    raise KeyError("the block's own")


def test_a_session_without_a_block_ends_when_nobody_has_it(term: Service) -> None:
    before = leftovers()
    pane = termnode.sync.connect(rt(term)).active_pane
    assert pane.refresh() is pane
    del pane
    eventually(lambda: leftovers() == before, "its thread has ended")


def test_a_program_that_forgets_to_close_ends_all_the_same(term: Service) -> None:
    script = "import sys, termnode.sync; s = termnode.sync.connect(sys.argv[1]); print(s.panes)"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script, rt(term)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "Pane 1" in done.stdout


def test_a_task_that_is_cancelled_while_it_connects_leaves_nothing(term: Service) -> None:
    async def main() -> None:
        async def use() -> None:
            async with termnode.aio.connect(rt(term)):
                await asyncio.sleep(3600)

        for turns_before in range(4):
            task = asyncio.create_task(use())
            for _ in range(turns_before):
                await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    before = leftovers()
    asyncio.run(main())
    assert leftovers() == before


def test_a_closed_session_says_so_also_to_other_threads(term: Service) -> None:
    session = termnode.sync.connect(rt(term))
    pane = session.active_pane
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(pane.wait_for, "never seen", timeout=None)
        eventually(lambda: turns(session) == 1, "the other thread waits")
        session.close()
        with pytest.raises(SessionClosed):
            waiting.result(timeout=30)
    with pytest.raises(SessionClosed):
        session.info()
    session.close()


def turns(session: Session | termnode.sync.Session) -> int:
    """How many waits of a session are with the service."""
    runner = session._asking.runner
    assert isinstance(runner, SyncRunner | AioRunner)
    return runner._portal._link._turns.borrowed_tokens


def test_an_interrupt_ends_a_wait_at_once_and_the_session_goes_on(term: Service) -> None:
    main = threading.main_thread().ident
    assert main is not None
    with termnode.sync.connect(rt(term)) as session:
        pane = session.active_pane

        def interrupt() -> None:
            eventually(lambda: turns(session) == 1, "the main thread waits")
            signal.pthread_kill(main, signal.SIGINT)

        other = threading.Thread(target=interrupt)
        other.start()
        with pytest.raises(KeyboardInterrupt):
            pane.wait_for("never seen", timeout=None)
        other.join()
        eventually(lambda: turns(session) == 0, "the wait is cancelled over there")
        assert session.info().service == "term"


def test_a_cancelled_task_cancels_what_it_asked_for(term: Service) -> None:
    async def main() -> None:
        async with termnode.aio.connect(rt(term)) as session:
            pane = await session.active_pane
            task = asyncio.create_task(pane.wait_for("never seen", timeout=None))
            await asyncio.to_thread(eventually, lambda: turns(session) == 1, "it waits")
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await asyncio.to_thread(eventually, lambda: turns(session) == 0, "it is cancelled")
            assert (await session.info()).service == "term"

    asyncio.run(main())


def test_a_second_cancellation_leaves_nothing_either(term: Service) -> None:
    """It comes while the session is being closed: with a stream that takes some steps."""

    async def main() -> None:
        async def use() -> None:
            async with termnode.aio.connect(rt(term)) as session:
                await session.events().__aenter__()
                connected.set()
                await asyncio.sleep(3600)

        before = leftovers()
        for turns_between in range(4):
            connected = asyncio.Event()
            task = asyncio.create_task(use())
            await connected.wait()
            for _ in range(2):
                task.cancel()
                for _ in range(1 + turns_between):
                    await asyncio.sleep(0)
            with pytest.raises(asyncio.CancelledError):
                await task
            assert leftovers() == before

    asyncio.run(main())


def test_a_loop_that_is_closed_too_early_keeps_nothing(term: Service) -> None:
    before = leftovers()
    loop = asyncio.new_event_loop()
    connection = termnode.aio.connect(rt(term))
    session = loop.run_until_complete(connection.__aenter__())
    assert loop.run_until_complete(session.info()).service == "term"
    loop.close()
    del session, connection
    eventually(lambda: gc.collect() >= 0 and leftovers() == before, "its thread has ended")


FORKS = """
import os, sys, termnode.sync
with termnode.sync.connect(sys.argv[1]) as session:
    if not (child := os.fork()):
        try:
            session.info()
        except termnode.sync.SessionClosed:
            session.close()
            with termnode.sync.connect(sys.argv[1]) as own:
                sys.exit(0 if own.info().panes else 3)
    ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    print(ended, session.info().service)
"""


def test_a_fork_has_no_session_and_can_have_its_own(term: Service) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", FORKS, rt(term)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("0 term\n", "")


def test_a_finalizer_that_runs_in_the_sessions_thread_does_not_wait_for_itself(
    term: Service,
) -> None:
    with termnode.sync.connect(rt(term)) as session:
        said: Future[BaseException | None] = Future()

        def finalizer() -> None:
            try:
                session.info()
            except RuntimeError as error:
                said.set_result(error)

        session._asking.runner.soon(finalizer)
        assert isinstance(said.result(timeout=30), RuntimeError)
        assert session.info().service == "term"


class Interrupting:
    """Does the work, and then is interrupted before anybody has what came of it."""

    def __init__(self, session: termnode.sync.Session) -> None:
        self._runner = session._asking.runner
        self.soon = self._runner.soon

    def run(self, *work: Any) -> object:  # noqa: ANN401  # whatever the session asks for
        self._runner.run(*work)
        raise KeyboardInterrupt


def test_an_interrupt_loses_no_event_and_leaves_no_stream(
    term: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    with termnode.sync.connect(rt(term)) as session, monkeypatch.context() as patched:
        pane = session.active_pane
        before = leftovers()
        patched.setattr(session._asking, "runner", Interrupting(session))
        events = session.events(pane=pane, kinds=["input"])
        with pytest.raises(KeyboardInterrupt):
            events.next()
        patched.undo()
        eventually(lambda: leftovers() == before, "its connection is closed")
        with events:
            pane.press("a")
            patched.setattr(session._asking, "runner", Interrupting(session))
            for _ in range(2):
                with pytest.raises(KeyboardInterrupt):
                    events.next(timeout=20)
            patched.undo()
            pane.press("C-u")
            assert [events.next(timeout=20).bytes for _ in range(2)] == [1, 1]
            with pytest.raises(WaitTimeout):
                events.next(timeout=0)


def test_events_that_nobody_has_any_more_are_let_go(term: Service) -> None:
    with termnode.sync.connect(rt(term)) as session:
        session.info()
        before = leftovers()
        events = session.events(after=0)
        next(iter(events))
        assert leftovers() != before
        del events
        eventually(lambda: leftovers() == before, "their connection is closed")


def test_a_broker_that_dies_is_a_delay(term: Service) -> None:
    """Nothing is typed twice, no event is missed, and a wait goes on."""
    with termnode.sync.connect(rt(term)) as session:
        pane = session.new_tab(["sh", "-c", "stty -echo; cat"]).active_pane
        with session.events(pane=pane, kinds=["input"]) as events, ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(pane.wait_for, "^end$", timeout=60)
            eventually(lambda: turns(session) == 1, "it waits")
            seen = []
            for number in range(6):
                if number in {2, 4}:
                    kill_broker(term)
                pane.send_keys(f"n{number}")
                seen.append(events.next(timeout=30).bytes)
            pane.send_keys("end")
            assert waiting.result(timeout=60).text == "end"
        assert seen == [3] * 6
        assert [line for line in pane.capture() if line.startswith("n")] == [
            f"n{number}" for number in range(6)
        ]
        pane.close()


def types_into_the_service_that_came_after(term: Service) -> list[str]:
    """What that one shows; a session of the one before must not have written there."""
    with termnode.sync.connect(rt(term)) as session:
        pane, events = session.active_pane, session.events()
        os.kill(term.ready["pid"], signal.SIGKILL)
        eventually(lambda: not alive(term.ready["pid"]), "the service is dead")
        term.up("--size", "80x24")
        for attempt in (lambda: pane.send_keys("wrong"), events.next, session.info):
            with pytest.raises((ServiceRestarted, UnknownOutcome)):
                attempt()
    with termnode.sync.connect(rt(term)) as session:
        pane = session.active_pane
        pane.wait_prompt()
        pane.send_keys("echo ri''ght")
        pane.wait_for("^right")
        return pane.capture()


def test_nothing_is_typed_into_another_service() -> None:
    """The broker goes on, so that nothing but the end of the process tells."""
    with service("--size", "80x24") as running:
        assert not [
            line for line in types_into_the_service_that_came_after(running) if "wrong" in line
        ]


def test_that_check_fails_for_a_client_that_does_not_watch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Served, "_watch", lambda _served, _pid: None)
    with service("--size", "80x24") as running:
        assert [line for line in types_into_the_service_that_came_after(running) if "wrong" in line]


@dataclass
class Deeds:
    """What was asked for, and what was said of it."""

    said: dict[str, str] = field(default_factory=dict)

    def do(self, name: str, deed: Callable[[], object]) -> None:
        try:
            deed()
            self.said[name] = "done"
        except TermnodeError as error:
            self.said[name] = error.code


def test_whenever_the_broker_is_killed_nothing_is_done_twice(term: Service) -> None:
    """At any moment of a mutation. What was said to be done is there; nothing is there twice."""
    deeds, over = Deeds(), threading.Event()
    got = term.directory / "got"

    def kill() -> None:
        moments = random.Random(5)
        while not over.wait(moments.uniform(0.05, 0.4)):
            pid = broker_pid(term.directory / "rt")
            if pid:  # 0 is a broker that is just starting, and to kill that is to kill oneself
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    with termnode.sync.connect(rt(term)) as session:
        pane = session.new_tab(["sh", "-c", f"stty -echo; echo READY; cat > {got}"]).active_pane
        pane.wait_for("READY")

        def work(worker: int) -> None:
            for number in range(60):
                name = f"w{worker}n{number}"
                deeds.do(name, lambda name=name: pane.send_keys(name))  # type: ignore[misc]  # bound

        with ThreadPoolExecutor(5) as pool:
            killing = pool.submit(kill)
            try:
                for each in [pool.submit(work, worker) for worker in range(4)]:
                    each.result()
            finally:
                over.set()
            killing.result()
        eventually(lambda: broker_pid(term.directory / "rt"), "a broker is back")
        pane.press("C-d")
        assert pane.wait_exit().ok
        pane.close()
    found = Counter(got.read_text().split())
    assert set(found.values()) == {1}
    assert set(found) <= set(deeds.said)
    lost = {name for name, code in deeds.said.items() if code == "done" and not found[name]}
    assert not lost
    unsaid = {code for name, code in deeds.said.items() if code != "done" and found[name]}
    assert unsaid <= {"UNKNOWN_OUTCOME"}


def kill_broker(term: Service) -> None:
    pid = eventually(lambda: broker_pid(term.directory / "rt"), "a broker is there")
    assert pid
    os.kill(pid, signal.SIGKILL)
    eventually(lambda: not alive(pid), "the broker is dead")


def test_one_that_is_not_there_is_said(term: Service) -> None:
    for where, name in ((rt(term), "nobody"), (str(term.directory / "none"), "term")):
        before = leftovers()
        with pytest.raises(ServiceUnavailable):
            termnode.sync.connect(where, name=name)
        assert leftovers() == before


FEW_DESCRIPTORS = """
import os, resource, sys, termnode.sync
said, hard = set(), resource.getrlimit(resource.RLIMIT_NOFILE)[1]
used = max(map(int, os.listdir("/proc/self/fd")))
for spare in range(2, 50):
    resource.setrlimit(resource.RLIMIT_NOFILE, (used + spare, hard))
    try:
        with termnode.sync.connect(sys.argv[1]) as session:
            session.info()
            with session.events():
                said.add("good")
    except termnode.sync.ServiceUnavailable:
        said.add("said")
print(sorted(said))
"""


def test_a_program_that_has_no_descriptors_left_is_told_and_goes_on(term: Service) -> None:
    """libzmq would end it."""
    done = subprocess.run(
        [sys.executable, "-c", FEW_DESCRIPTORS, rt(term)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "['good', 'said']\n"), done.stderr


def test_one_that_is_not_there_is_started_where_wanted(term: Service) -> None:
    need("sh")
    with termnode.sync.connect(rt(term), name="other", start=True) as session:
        pid = session.info().pid
    try:
        with termnode.sync.connect(rt(term), name="other", start=True) as session:
            assert session.info().pid == pid
    finally:
        term.run("down", "--name", "other")
    eventually(lambda: not alive(pid), "it has ended")
