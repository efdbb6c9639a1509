"""The primitives over a running service: real programs on real terminals, as a model uses them."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import trio

from brokerd.client import connect
from termnode.modelterm import Settings, TermError, Terminals
from termnode.terminal.input.names import key_names
from termnode.view.messages import Text
from tests.e2e.test_key_bytes import APPLICATION, BETWEEN, END, NORMAL, PROGRAM
from tests.e2e.test_person_input import person
from tests.support.model_lab import PYTHON, drive, rows, settings, shows
from tests.support.programs import need
from tests.support.termnode_process import Service, alive, eventually, plain_service

SH = ["sh"]


@pytest.fixture(scope="module")
def term() -> Iterator[Service]:
    with plain_service() as running:
        yield running


@pytest.fixture
def given(term: Service) -> Settings:
    return settings(term.directory, term.directory / "rt")


async def refused(work: Any, code: str) -> str:  # noqa: ANN401  # an awaitable of anything
    with pytest.raises(TermError) as caught:
        await work
    assert caught.value.code == code, caught.value
    return caught.value.message


def panes(term: Service) -> set[int]:
    return {pane["id"] for pane in term.good("term.panes")["panes"]}


def test_a_program_has_a_terminal_of_its_own_in_a_tab_of_the_service(
    given: Settings, term: Service
) -> None:
    before = term.good("term.tabs")["tabs"]

    async def body(terminals: Terminals) -> None:
        assert terminals.session is not None
        assert not terminals.private
        shown = await terminals.open(["sh", "-c", "test -t 0 && stty size && pwd && exec sh"])
        await shows(terminals, "t1", str(term.directory))
        assert rows(await terminals.screen("t1"))[:2] == ["30 100", str(term.directory)]
        assert (shown.id, shown.cols, shown.rows) == ("t1", 100, 30)
        other = await terminals.open(["sh", "-c", "stty size; exec cat"], 2, 2)
        assert (other.cols, other.rows) == (2, 2)

        async with connect(term.directory / "rt") as bus:
            reply = await bus.request("term", "term.tabs", {})
        assert reply.body is not None
        tabs: Any = reply.body["tabs"]
        mine = [tab for tab in tabs if tab["title"].startswith("model: ")]
        assert [(tab["cols"], tab["rows"], tab["active"]) for tab in mine] == [
            (100, 30, False), (2, 2, False),
        ]  # fmt: skip
        assert mine[0]["title"].startswith("model: sh -c 'test -t 0 && stty size")

    drive(given, body)
    assert term.good("term.tabs")["tabs"] == before


def test_the_environment_of_a_program_is_clean(given: Settings) -> None:
    dirty = {**given.environment, "AWS_SECRET_ACCESS_KEY": "x", "TMUX": "/x,1,0", "LANG": "C"}

    async def body(terminals: Terminals) -> None:
        await terminals.open(["sh", "-c", "exec 3>&1; env > env.txt; echo done; exec cat"])
        await shows(terminals, "t1", "done")
        lines = (given.root / "env.txt").read_text().splitlines()
        names = {line.partition("=")[0] for line in lines} - {"PWD", "OLDPWD", "SHLVL", "_"}
        assert names == {"PATH", "HOME", "LANG", "LC_ALL", "TERM", "TMUX_TMPDIR"}
        assert "TERM=xterm-256color" in lines

    drive(replace(given, environment=dirty), body)


def test_text_is_echoed_and_a_newline_presses_enter(given: Settings) -> None:
    async def body(terminals: Terminals) -> None:
        await terminals.open(SH)
        await terminals.type("t1", "cat\n")
        await terminals.type("t1", "grüße 漢字\n")
        shown = await shows(terminals, "t1", "^grüße 漢字$")
        assert shown.state == "running"

    drive(given, body)


RAW = """
import os, sys, tty
setup, count, path = sys.argv[1:]
tty.setraw(0)
os.write(1, setup.encode().decode("unicode_escape").encode() + b"ready")
data = b""
while len(data) < int(count):
    data += os.read(0, 65536)
open(path, "wb").write(data)
os.write(1, b"\\r\\nread")
os.read(0, 1)
"""


@pytest.mark.parametrize("paste", [False, True])
def test_every_byte_of_the_longest_text_arrives(
    given: Settings, tmp_path: Path, paste: bool
) -> None:
    text = ("é漢\t;;x\n" * 2_000).encode()[:16_380].decode(errors="ignore")
    data = text.encode() if paste else text.replace("\n", "\r").encode()
    data = b"\x1b[200~" + data + b"\x1b[201~" if paste else data

    async def body(terminals: Terminals) -> None:
        argv = [*PYTHON, RAW, r"\x1b[?2004h", str(len(data)), str(tmp_path / "read")]
        await terminals.open(argv)
        await shows(terminals, "t1", "ready")
        await terminals.type("t1", text, paste=paste)
        await shows(terminals, "t1", "read$")
        assert (tmp_path / "read").read_bytes() == data

    drive(given, body)


@pytest.mark.parametrize(
    ("modes", "table"),
    [("", NORMAL), (r"\x1b[?1h\x1b=", APPLICATION)],
    ids=["normal", "application"],
)
def test_every_named_key_sends_its_bytes(
    given: Settings, tmp_path: Path, modes: str, table: dict[str, str]
) -> None:
    assert set(key_names()) <= set(table)
    path = tmp_path / "keys"

    async def body(terminals: Terminals) -> None:
        await terminals.open([sys.executable, "-c", PROGRAM, modes, str(path)])
        await shows(terminals, "t1", "ready")
        await terminals.keys("t1", [key for name in table for key in (name, BETWEEN)])
        await terminals.type("t1", END)
        how, _ = await terminals.wait("t1", 30, "never")
        assert how == "exited"
        found = path.read_bytes().split(BETWEEN.encode())[:-1]
        assert dict(zip(table, found, strict=True)) == {
            name: data.encode() for name, data in table.items()
        }

    drive(given, body)


def test_a_wrong_key_or_text_presses_nothing(given: Settings) -> None:
    async def body(terminals: Terminals) -> None:
        await terminals.open(["cat"])
        message = await refused(terminals.keys("t1", ["a", "Entre", "b"]), "INVALID_ARGUMENT")
        assert "Enter" in message
        await refused(terminals.type("t1", "a\x1bb"), "INVALID_ARGUMENT")
        await refused(terminals.type("t1", "x" * 16_385), "INVALID_ARGUMENT")
        shown = await terminals.keys("t1", ["c", "Enter"])
        assert rows(shown)[:2] == ["c", "c"]

    drive(given, body)


def test_a_program_that_asks_where_the_cursor_is_gets_an_answer(given: Settings) -> None:
    program = (
        "import os,sys,tty; tty.setraw(0); os.write(1, b'\\x1b[5;7H\\x1b[6n'); "
        "got = os.read(0, 99); os.write(1, b'\\r\\n' + repr(got).encode()); os.read(0, 1)"
    )

    async def body(terminals: Terminals) -> None:
        await terminals.open([*PYTHON, program])
        await shows(terminals, "t1", r"b'\\x1b\[5;7R'")

    drive(given, body)


def test_history_is_scrolled_and_a_full_screen_program_has_none(given: Settings) -> None:
    need("less")

    async def body(terminals: Terminals) -> None:
        await terminals.open(["sh", "-c", "seq -f line-%g 200; exec sh"])
        await shows(terminals, "t1", "line-200")
        page = await terminals.screen("t1", offset=40)
        head = page.text.split("\n")[0]
        assert " | back 40 of " in head
        now = rows(await terminals.screen("t1"))
        first = int(rows(page)[0].removeprefix("line-"))
        assert first == int(now[0].removeprefix("line-")) - 40
        assert rows(page) == [f"line-{n}" for n in range(first, first + 30)]
        top = await terminals.screen("t1", offset=5_000)
        assert rows(top)[0] == "line-1"
        assert "| back 1" in top.text.split("\n")[0]

        await terminals.type("t1", "seq 500 | less\n")
        shown = await shows(terminals, "t1", "^:")
        assert shown.full_screen
        assert "| full-screen |" in shown.text.split("\n")[0]
        message = await refused(terminals.screen("t1", offset=10), "UNSUPPORTED")
        assert "its own keys" in message
        await terminals.keys("t1", ["G"])
        await shows(terminals, "t1", "^500")
        after = await terminals.keys("t1", ["q"])
        assert not after.full_screen

    drive(given, body)


def test_a_wait_ends_for_each_reason_and_says_which(given: Settings) -> None:
    async def body(terminals: Terminals) -> None:
        await terminals.open(["sh", "-c", "echo here; exec sh"])
        shown = await shows(terminals, "t1", "here")  # it is there already
        assert (await terminals.wait("t1", 0.3, "here", since=shown.revision))[0] == "deadline"
        assert (await terminals.wait("t1", 5))[0] == "quiet"
        await terminals.type("t1", "while :; do echo x; done\n")
        assert (await terminals.wait("t1", 0.7))[0] == "deadline"
        assert (await terminals.wait("t1", 60, "nothing", most=0.3))[0] == "deadline"
        await terminals.keys("t1", ["C-c"])
        await terminals.type("t1", "exit 7\n")
        how, shown = await terminals.wait("t1", 30, "nothing")
        assert (how, shown.state) == ("exited", "exited 7")
        message = await refused(terminals.wait("t1", 1, "ab[c"), "INVALID_ARGUMENT")
        assert "at character 2" in message

    drive(given, body)


def test_a_program_that_ended_stays_to_be_read_and_takes_no_input(given: Settings) -> None:
    async def body(terminals: Terminals) -> None:
        await terminals.open(["sh", "-c", "echo last words; exit 3"])
        how, shown = await terminals.wait("t1", 30)
        assert (how, shown.state, rows(shown)[0]) == ("exited", "exited 3", "last words")
        for work in (terminals.type("t1", "x"), terminals.keys("t1", ["x"])):
            message = await refused(work, "DISCONNECTED")
            assert "t1 is gone (exited 3)" in message
        last = await terminals.close("t1")
        assert last.state == "closed"
        assert last.text.startswith("[t1 sh] closed, exited 3 | ")
        assert rows(last)[0] == "last words"
        for again in (terminals.close("t1"), terminals.screen("t1"), terminals.wait("t1")):
            assert "(closed, exited 3)" in await refused(again, "NOT_FOUND")

    drive(given, body)


def test_closing_hangs_up_and_kills_who_does_not_hear(given: Settings) -> None:
    async def body(terminals: Terminals) -> None:
        await terminals.open(SH)
        assert "closed, killed by SIGHUP" in (await terminals.close("t1")).text
        await terminals.open(
            ["sh", "-c", "trap 'echo bye; exit 4' HUP; echo on; while :; do sleep 0.1; done"]
        )
        await shows(terminals, "t2", "on")
        assert "closed, exited 4" in (await terminals.close("t2")).text
        await terminals.open(["sh", "-c", "trap '' HUP; echo deaf $$; while :; do sleep 1; done"])
        shown = await shows(terminals, "t3", "deaf")
        pid = int(rows(shown)[0].split()[1])
        assert "closed, killed by SIGKILL" in (await terminals.close("t3")).text
        assert not alive(pid)

    drive(given, body)


def test_a_fourth_is_refused_by_naming_the_three(given: Settings) -> None:
    async def body(terminals: Terminals) -> None:
        for program in (["cat"], SH, ["sh", "-c", "exit 0"]):
            await terminals.open(program)
        message = await refused(terminals.open(SH), "RESOURCE_LIMIT")
        assert "t1 cat, t2 sh, t3 sh" in message
        await terminals.close("t3")
        assert (await terminals.open(SH)).id == "t4"

    drive(given, body)


def test_what_cannot_be_started_says_why_and_takes_no_place(given: Settings) -> None:
    async def body(terminals: Terminals) -> None:
        for _ in range(4):
            await refused(terminals.open(["no-such-program-there"]), "NOT_FOUND")
        await refused(terminals.open(SH, 1, 30), "INVALID_ARGUMENT")
        await terminals.open(SH)

    drive(given, body)


def test_all_are_hung_up_when_the_set_ends_even_by_an_error(given: Settings, term: Service) -> None:
    before = panes(term)
    pids: list[int] = []

    async def body(terminals: Terminals) -> None:
        for n in range(3):
            await terminals.open(["sh", "-c", "echo pid $$; exec cat"])
            shown = await shows(terminals, f"t{n + 1}", "pid")
            pids.append(int(rows(shown)[0].split()[1]))
        assert all(map(alive, pids))
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        drive(given, body)
    assert not any(map(alive, pids))
    assert panes(term) == before


def test_since_gives_what_changed_by_row(given: Settings) -> None:
    async def body(terminals: Terminals) -> None:
        await terminals.open(["sh", "-c", "printf 'a\\nb\\nc\\n'; exec cat"])
        first = await shows(terminals, "t1", "^c")
        after = await terminals.type("t1", "d")
        changed = await terminals.screen("t1", since=first.revision)
        assert f"| changed since {first.revision}" in changed.text.split("\n")[0]
        assert (changed.changed, rows(changed)) == ((4,), ["d"])
        same = await terminals.screen("t1", since=after.revision)
        assert (same.changed, rows(same)) == ((), [])
        unknown = await terminals.screen("t1", since=after.revision + 999)
        assert "all rows: too long ago" in unknown.text
        assert rows(unknown)[:4] == ["a", "b", "c", "d"]
        await terminals.resize("t1", 90, 20)
        other = await terminals.screen("t1", since=after.revision)
        assert "all rows: too long ago" in other.text

    drive(given, body)


def test_a_terminal_gets_another_size(given: Settings) -> None:
    async def body(terminals: Terminals) -> None:
        await terminals.open(SH)
        shown = await terminals.resize("t1", 70, 25)
        assert (shown.cols, shown.rows) == (70, 25)
        await terminals.type("t1", "stty size\n")
        await shows(terminals, "t1", "^25 70$")
        await refused(terminals.resize("t1", 501, 25), "INVALID_ARGUMENT")

    drive(given, body)


MENU = """
import curses
def main(screen):
    curses.curs_set(0)
    chosen, names = 0, ["apple", "pear", "plum"]
    while True:
        for y, name in enumerate(names):
            screen.addstr(y, 2, name, curses.A_REVERSE if y == chosen else curses.A_NORMAL)
        screen.refresh()
        key = screen.getch()
        chosen = (chosen + (key == curses.KEY_DOWN) - (key == curses.KEY_UP)) % 3
        if key == 10:
            break
    open("chosen", "w").write(names[chosen])
curses.wrapper(main)
"""


def test_a_menu_that_shows_its_choice_in_reverse_can_be_read_and_answered(given: Settings) -> None:
    async def body(terminals: Terminals) -> None:
        await terminals.open([sys.executable, "-c", MENU])
        await shows(terminals, "t1", "plum")
        plain = rows(await terminals.screen("t1"))
        assert plain[:3] == ["  apple", "  pear", "  plum"]
        styled = rows(await terminals.screen("t1", style=True))
        assert styled[:3] == ["  apple {reverse 3-7}", "  pear", "  plum"]
        await terminals.keys("t1", ["Down"])
        styled = rows(await terminals.screen("t1", style=True))
        assert styled[:3] == ["  apple", "  pear {reverse 3-6}", "  plum"]
        await terminals.keys("t1", ["Enter"])
        assert (await terminals.wait("t1", 30, "never"))[0] == "exited"
        assert (given.root / "chosen").read_text() == "pear"

    drive(given, body)


CLICKED = """
import os, sys, tty
tty.setraw(0)
os.write(1, sys.argv[1].encode().decode("unicode_escape").encode() + b"ready\\r\\n")
while data := os.read(0, 99):
    os.write(1, repr(data).encode() + b"\\r\\n")
"""


def test_the_mouse_is_told_to_who_asked_for_it(given: Settings) -> None:
    async def body(terminals: Terminals) -> None:
        await terminals.open([*PYTHON, CLICKED, r"\x1b[?1000h\x1b[?1006h"])
        await shows(terminals, "t1", "ready")
        await terminals.click("t1", 3, 14, "left")
        await shows(terminals, "t1", r"\[<0;14;3M.*\[<0;14;3m")
        await refused(terminals.click("t1", 31, 1), "INVALID_ARGUMENT")
        await refused(terminals.click("t1", 1, 1, "thumb"), "INVALID_ARGUMENT")
        await terminals.open(["cat"])
        await refused(terminals.click("t2", 1, 1), "UNSUPPORTED")

    drive(given, body)


def test_a_write_that_nobody_reads_fails_and_says_how_much_went_in(term: Service) -> None:
    quick = settings(term.directory, term.directory / "rt", write_s=0.3)
    deaf = "import tty, time; tty.setraw(0); print('deaf', flush=True); time.sleep(600)"

    async def body(terminals: Terminals) -> None:
        await terminals.open([*PYTHON, deaf])
        await shows(terminals, "t1", "deaf")
        message = await refused(terminals.type("t1", "x" * 16_000), "EXPIRED")
        count = int(message.split(": ")[1].split(" of ")[0])
        assert 0 < count < 16_000
        assert "of 16000 bytes went in" in message

    drive(quick, body)


def test_a_person_who_typed_there_is_named_once(term: Service) -> None:
    async def body(terminals: Terminals) -> None:
        await terminals.open(["cat"])
        assert terminals.session is not None
        pane = max(pane.id for pane in await terminals.session.panes)
        async with person(term) as one:
            await one.does(pane, Text("from a person"))
            shown = await shows(terminals, "t1", "from a person")
            assert shown.person_typed
            assert shown.text.split("\n")[0].endswith("| a person typed here")
            assert not (await terminals.screen("t1")).person_typed
            assert (shown.cols, shown.rows) == (100, 30)  # the person's own screen is smaller
            await one.does(pane, Text("x"))
            await shows(terminals, "t1", "personx")
            # The model's own typing is no person's.
            assert not (await terminals.type("t1", "y")).person_typed

            done = await one.done(1, "term.pane.close", pane=pane)
            assert done.rc == 0
            assert "t1 is gone (closed)" in await refused(terminals.type("t1", "z"), "NOT_FOUND")
            assert (await terminals.open(["cat"])).id == "t2"

    drive(settings(term.directory, term.directory / "rt"), body)


def test_neovim_opens_a_file_takes_an_insertion_and_writes_it(given: Settings) -> None:
    need("nvim")
    (given.root / "note.txt").write_text("first\nlast\n")

    async def body(terminals: Terminals) -> None:
        shown = await terminals.open(["nvim", "--clean", "note.txt"])
        shown = await shows(terminals, "t1", "^first")
        assert shown.full_screen
        await terminals.keys("t1", ["o"])
        await shows(terminals, "t1", "INSERT")
        await terminals.type("t1", "between ü")
        await terminals.keys("t1", ["Escape"])
        await terminals.type("t1", ":wq\n")
        how, shown = await terminals.wait("t1", 30, "never")
        assert (how, shown.state) == ("exited", "exited 0")
        assert (given.root / "note.txt").read_text() == "first\nbetween ü\nlast\n"

    drive(given, body)


def test_less_and_top_and_a_repl_are_driven(given: Settings) -> None:
    need("top")

    async def body(terminals: Terminals) -> None:
        await terminals.open(["top"])
        await shows(terminals, "t1", "PID +USER")
        await terminals.keys("t1", ["q"])
        await terminals.open([sys.executable, "-q"])
        await shows(terminals, "t2", ">>>")
        await terminals.type("t2", "6 * 7\n")
        await shows(terminals, "t2", "^42$")

    drive(given, body)


def test_tmux_splits_is_left_and_attached_again_and_ends_with_the_set(given: Settings) -> None:
    need("tmux")
    socket = f"tmux-{os.geteuid()}/default"
    found: list[Path] = []

    async def body(terminals: Terminals) -> None:
        await terminals.open(["sh", "-c", "echo dir $TMUX_TMPDIR; exec sh"])
        shown = await shows(terminals, "t1", "dir /")
        found.append(Path(rows(shown)[0].split()[1]))
        await terminals.type("t1", "tmux -f /dev/null new-session -s work sh\n")
        await shows(terminals, "t1", r"\[work\]")
        assert (found[0] / socket).is_socket()
        await terminals.type("t1", "echo one=$((1+0))\n")
        await shows(terminals, "t1", "^one=1")
        await terminals.keys("t1", ["C-b", "%"])
        await terminals.type("t1", "echo two=$((1+1))\n")
        await shows(terminals, "t1", "one=1.*│|│.*two=2")
        await terminals.keys("t1", ["C-b", "d"])
        await shows(terminals, "t1", r"\[detached")
        await terminals.close("t1")
        assert (found[0] / socket).is_socket()  # the server outlives the terminal
        await terminals.open(["tmux", "attach", "-t", "work"])
        shown = await shows(terminals, "t2", "one=1")
        assert "two=2" in shown.text

    drive(given, body)
    assert not found[0].exists()
    assert shutil.which("tmux")


def test_calls_at_once_do_not_wait_for_each_other(given: Settings) -> None:
    async def body(terminals: Terminals) -> None:
        await terminals.open(["cat"])
        await terminals.open(["cat"])
        ended: list[str] = []

        async def wait() -> None:
            await shows(terminals, "t1", "go on")
            ended.append("waited")

        async with trio.open_nursery() as nursery:
            nursery.start_soon(wait)
            await terminals.type("t2", "x\n")
            assert ended == []
            await terminals.type("t1", "go on\n")
        assert ended == ["waited"]

    drive(given, body)


def test_an_opening_that_is_cancelled_leaves_nothing(given: Settings, term: Service) -> None:
    before = panes(term)

    async def body(terminals: Terminals) -> None:
        with trio.move_on_after(0.3) as scope:
            await terminals.open(["sh", "-c", "while :; do echo x; sleep 0.05; done"])
        assert scope.cancelled_caught
        for _ in range(3):
            await terminals.open(["cat"])
        await terminals.close("t2")

    drive(given, body)
    assert panes(term) == before


def test_a_cancelled_wait_ends_the_wait_and_not_the_program(given: Settings) -> None:
    async def body(terminals: Terminals) -> None:
        await terminals.open(["cat"])
        with trio.move_on_after(0.2) as scope:
            await terminals.wait("t1", 60, "never")
        assert scope.cancelled_caught
        assert (await terminals.type("t1", "x")).state == "running"

    drive(given, body)


def test_strict_posture_lets_no_model_in(term: Service, given: Settings) -> None:
    async def body(terminals: Terminals) -> None:
        await terminals.open(["cat"])
        with_posture("strict")
        try:
            await refused(terminals.type("t1", "x"), "FORBIDDEN")
        finally:
            with_posture("open")
        await terminals.type("t1", "x")

    def with_posture(word: str) -> None:
        term.run("posture", word)

    drive(given, body)
    eventually(lambda: len(panes(term)) == 1, "nothing of the model's is left")
