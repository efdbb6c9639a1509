"""Where a model's terminals live, and that nothing of them is left, however it ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import trio

from termnode.modelterm import Settings, TermError, Terminals, open_terminals
from termnode.modelterm.environment import clean
from tests.support.model_lab import drive, environment, model_home, place, rows, settings, shows
from tests.support.private_tmux import private_tmux
from tests.support.programs import need
from tests.support.termnode_process import Service, alive, eventually, plain_service

CHILD = """
import json, os, sys
from pathlib import Path
import trio
from termnode.modelterm import Settings, open_terminals

async def main():
    home = Path(sys.argv[1])
    place = home / "p"
    place.mkdir(exist_ok=True)
    given = Settings(home, dict(os.environ), Path(sys.argv[2]), place=place)
    async with open_terminals(given) as terminals:
        for _ in range(2):
            await terminals.open(["sh", "-c", "echo pid $$; exec cat"])
        session = terminals.session
        info = await session.info()
        panes = [pane.id for pane in await session.panes if pane.id != 1]
        pids = [pane.pid for pane in await session.panes]
        print(json.dumps({"service": info.pid, "panes": panes, "pids": pids}), flush=True)
        await trio.sleep_forever()

trio.run(main)
"""


@pytest.fixture
def home() -> Iterator[Path]:
    with model_home() as made:
        yield made


@contextmanager
def child(home: Path, runtime: Path) -> Iterator[tuple[subprocess.Popen[str], Any]]:
    """A process that has two terminals open, and what it says of them."""
    process = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(home), str(runtime)],
        env=environment(home),
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        yield process, json.loads(process.stdout.readline())
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def panes(term: Service) -> set[int]:
    return {pane["id"] for pane in term.good("term.panes")["panes"]}


def leftovers(home: Path) -> list[Path]:
    """Directories of sets."""
    return list((home / "p").glob("tnm-*"))


def test_a_private_service_is_there_with_the_first_terminal_and_gone_with_the_set(
    home: Path,
) -> None:
    pids: list[int] = []

    async def body(terminals: Terminals) -> None:
        none = terminals.session
        assert none is None
        await terminals.open(["sh", "-c", "echo pid $$; exec cat"])
        shown = await shows(terminals, "t1", "pid")
        pids.append(int(rows(shown)[0].split()[1]))
        assert terminals.private
        assert terminals.session is not None
        pids.append((await terminals.session.info()).pid)
        made = leftovers(home)
        assert [path.stat().st_mode & 0o777 for path in made] == [0o700, 0o700]

    drive(settings(home), body)
    eventually(lambda: not any(map(alive, pids)), "nothing of it runs")
    assert leftovers(home) == []


def test_a_service_that_was_started_later_is_found(home: Path) -> None:
    with plain_service(directory=home) as term:
        term.down()
        given = settings(home, home / "rt")

        async def main() -> None:
            async with open_terminals(given) as terminals:
                assert terminals.session is None
                await trio.to_thread.run_sync(term.up)
                assert await terminals.find() is not None
                await terminals.open(["cat"])
                assert not terminals.private

        trio.run(main)
        assert len(panes(term)) == 1


def test_a_service_that_ended_takes_its_terminals_and_the_next_finds_another(home: Path) -> None:
    with plain_service(directory=home) as term:

        async def main() -> None:
            async with open_terminals(settings(home, home / "rt")) as terminals:
                await terminals.open(["cat"])
                await trio.to_thread.run_sync(term.down)
                with pytest.raises(TermError, match=r"^UNAVAILABLE: .*has ended"):
                    await terminals.screen("t1")
                with pytest.raises(TermError, match="t1 is gone"):
                    await terminals.screen("t1")
                await trio.to_thread.run_sync(term.up)
                assert (await terminals.open(["cat"])).id == "t2"
                assert not terminals.private

        trio.run(main)


def test_killed_it_takes_its_terminals_along_and_nothing_else(home: Path) -> None:
    with plain_service(directory=home) as term:
        other = term.good("term.tab.new", {"argv": ["cat"]})["pane"]
        with child(home, home / "rt") as (process, said):
            assert said["service"] == term.ready["pid"]
            assert len(said["panes"]) == 3  # two of its own, and the other one
            process.send_signal(signal.SIGKILL)
            process.wait()
            eventually(lambda: panes(term) == {1, other}, "its panes are closed, the others stay")


def test_killed_it_takes_its_private_service_along(home: Path) -> None:
    with child(home, home / "none") as (process, said):
        pids = [said["service"], *said["pids"]]
        assert all(map(alive, pids))
        process.send_signal(signal.SIGKILL)
        process.wait()
        eventually(lambda: not any(map(alive, pids)), "its service and programs have ended")

    assert leftovers(home) != []

    async def body(terminals: Terminals) -> None:
        await terminals.open(["cat"])

    drive(settings(home), body)  # the next set clears away what it left
    assert leftovers(home) == []


def test_another_tmux_server_of_the_user_survives_the_end_of_the_set(home: Path) -> None:
    need("tmux")
    with private_tmux() as persons, plain_service(directory=home) as term:
        persons.start(["sleep", "600"], 80, 24, {})
        mine = {**environment(home), "TMUX": f"{persons.socket},1,0"}
        given = Settings(home, mine, term.directory / "rt", place=place(home))

        async def main() -> None:
            async with open_terminals(given) as terminals:
                await terminals.open(["tmux", "-f", "/dev/null", "new-session", "-s", "work", "sh"])
                await shows(terminals, "t1", r"\[work\]")

        trio.run(main)
        assert "sleep 600" in persons.run("list-panes", "-a", "-F", "#{pane_start_command}")


def test_a_pane_with_its_caller_is_closed_with_it_and_another_is_not(home: Path) -> None:
    with plain_service(directory=home) as term:
        # Each call of the lab is a connection of this process, which goes on.
        stays = term.good("term.tab.new", {"argv": ["cat"], "with_caller": True})["pane"]
        split = {"dir": "h", "pane": stays, "argv": ["cat"], "with_caller": True}
        body = json.dumps({"argv": ["cat"], "with_caller": True, "background": True})
        made = json.loads(term.run("call", "term.tab.new", body).stdout)["body"]
        term.run("call", "term.pane.split", json.dumps(split))
        without = json.loads(term.run("call", "term.tab.new", '{"argv": ["cat"]}').stdout)["body"]
        left = {1, stays, without["pane"]}
        eventually(lambda: panes(term) == left, "only those with their callers are gone")
        assert made["pane"] not in left


def test_a_clean_environment_has_nothing_of_the_service(home: Path) -> None:
    with plain_service(directory=home, OF_THE_SERVICE="1") as term:
        wanted = clean({"PATH": os.environ["PATH"], "A": "1"})
        argv = ["sh", "-c", "env > said; echo done; exec cat"]
        body = {"argv": argv, "cwd": str(home), "env": wanted, "clean_env": True}
        pane = term.good("term.tab.new", body)["pane"]
        term.wait("done", pane)
        said = (home / "said").read_text()
        assert "OF_THE_SERVICE" not in said
        assert "TERMNODE" not in said
        assert "COSMIX" not in said
        assert "TERM=xterm-256color" in said
        # Started anew it is the same program, in the same environment.
        assert term.good("term.pane.close", {"pane": pane, "wait": True})["exit"] == {
            "signal": signal.SIGHUP, "core": False,
        }  # fmt: skip


def test_a_tab_of_its_own_size_keeps_it_and_goes_with_its_pane(home: Path) -> None:
    with plain_service(directory=home) as term:
        pane = term.good("term.tab.new", {"argv": ["cat"], "cols": 100, "rows": 30})["pane"]

        def size() -> tuple[int, int]:
            (found,) = [each for each in term.good("term.panes")["panes"] if each["id"] == pane]
            return found["cols"], found["rows"]

        assert size() == (100, 30)
        term.good("term.resize", {"cols": 60, "rows": 20})
        assert size() == (100, 30)
        resized = term.good("term.pane.resize", {"pane": pane, "cols": 90})
        assert (resized["cols"], resized["rows"]) == (90, 30)
        # A split shares it as any tab's room is shared.
        term.good("term.pane.split", {"pane": pane, "dir": "h", "argv": ["cat"]})
        assert size()[1] == 30
        assert size()[0] < 90


def test_who_typed_last_can_be_read(home: Path) -> None:
    with plain_service(directory=home) as term:
        pane = term.good("term.tab.new", {"argv": ["cat"]})["pane"]
        assert "typed_last" not in term.good("term.snapshot", {"pane": pane})
        term.good("term.type", {"pane": pane, "text": "x"})
        found = term.good("term.snapshot", {"pane": pane})
        assert found["typed_last"]["verb"] == "term.type"
        assert "person_inputs" not in found
        (listed,) = [each for each in term.good("term.panes")["panes"] if each["id"] == pane]
        assert listed["typed_last"] == found["typed_last"]


def test_the_call_log_says_what_was_done_and_nothing_of_it(home: Path) -> None:
    with plain_service(directory=home) as term:
        path = home / "calls"
        given = replace(settings(home, term.directory / "rt"), call_log=path)

        async def body(terminals: Terminals) -> None:
            await terminals.open(["sh", "-c", "exec cat # hunter2"])
            await terminals.type("t1", "hunter2")
            with pytest.raises(TermError):
                await terminals.keys("t1", ["hunter2"])

        drive(given, body)
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        assert [(line["tool"], line["outcome"]) for line in lines] == [
            ("term_open", "ok"), ("term_type", "ok"), ("term_keys", "refused"),
        ]  # fmt: skip
        assert "hunter2" not in path.read_text()
