"""Sessions at the command line, and services of another user and another machine."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from ptyprocess import PtyProcess

from brokerd.client import broker_pid
from tests.support.broker_process import BrokerProcess, short_directory
from tests.support.termnode_process import COMMAND, Service, eventually, service

FOREIGN = 65_533


@pytest.fixture(scope="module")
def shell() -> Iterator[Service]:
    with service() as made:
        ready_panes(made, 1)
        yield made


def panes(made: Service) -> list[dict[str, Any]]:
    return list(made.good("term.panes")["panes"])


def ready_panes(made: Service, count: int) -> None:
    def ready() -> bool:
        return sum(bool(pane["binding"]["ready"]) for pane in panes(made)) == count

    eventually(ready, "the shells of the panes have their sessions")


def test_the_sessions_of_a_service_are_listed_as_its_own(shell: Service) -> None:
    head, *rows = (row.split() for row in shell.run("sessions").stdout.splitlines())
    assert head[:4] == ["NAME", "ROLE", "SERVICE", "PANE"]
    assert rows[0][1:5] == ["term", "term", "-", "attached"]
    assert rows[1][1:5] == ["pane-shell", "term", "1", "attached"]
    records = json.loads(shell.run("sessions", "--json").stdout)["records"]
    assert {row[0] for row in rows} <= {record["name"] for record in records}
    assert all(record["service"] == "term" for record in records)


def test_sessions_of_a_name_that_nobody_serves_are_nobodys(shell: Service) -> None:
    records = json.loads(shell.run("sessions", "--json", "--name", "other").stdout)["records"]
    assert records
    assert not any(record["service"] for record in records)


def test_panes_say_that_they_are_ready(shell: Service) -> None:
    head, row = shell.run("panes").stdout.splitlines()
    assert row[head.index("SESSION") :].split()[0] == "ready"


def test_the_doctor_finds_everything_in_order(shell: Service) -> None:
    checks = json.loads(shell.run("doctor", "--json").stdout)["checks"]
    found = {check["check"]: check for check in checks}
    for name in ("cryptography", "identity", "zygote", "pane shells", "broker sessions"):
        assert found[name]["state"] == "ok", found[name]


def test_the_doctor_says_when_no_service_runs() -> None:
    with short_directory() as directory:
        done = Service(directory).run("doctor", "--json", check=None)
        checks = json.loads(done.stdout)["checks"]
    (found,) = (check for check in checks if check["check"] == "sessions")
    assert (found["state"], found["found"]) == ("ok", "no service named 'term' runs here")


def test_without_a_broker_there_are_the_usual_words() -> None:
    with short_directory() as directory:
        for options in ([], ["--watch"]):
            done = Service(directory).run("sessions", *options, check=3)
            assert "termnode up" in done.stderr


def test_a_watch_that_is_no_terminal_tells_changes(shell: Service) -> None:
    process = subprocess.Popen(
        [*COMMAND, "sessions", "--watch", "--json"],
        env=shell.environment(),
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        first = [json.loads(process.stdout.readline()) for _ in range(2)]
        assert {line["change"] for line in first} == {"new"}
        opened = shell.good("term.tab.new", {})
        _read_until(process.stdout, str(opened["pane"]), "attached")
        shell.good("term.tab.close", {"id": opened["id"]})
        _read_until(process.stdout, str(opened["pane"]), None)
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
    finally:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def _read_until(lines: Iterable[str], pane: str, state: str | None) -> None:
    """Until a change of that pane's record to ``state``; None: that it is gone."""
    for line in lines:
        told = json.loads(line)
        gone = told["change"] == "gone"
        if told["record"]["pane_id"] == pane and (
            gone if state is None else told["record"]["state"] == state and not gone
        ):
            return
    raise AssertionError("the watch ended")


def test_a_watch_on_a_terminal_is_drawn_again_in_its_place(shell: Service) -> None:
    watch = PtyProcess.spawn(
        [*COMMAND, "sessions", "--watch"],
        env={**shell.environment(), "TERM": "xterm"},
        dimensions=(20, 60),
    )
    try:
        text = b""
        while text.count(b"NAME") < 2:
            text += watch.read(4_096)
        assert b"A\r" in text[text.index(b"NAME") :], "it goes up to where it began"
        rows = text.replace(b"\x1b[K", b"").split(b"\r\n")
        plain = [row for row in rows if row.startswith((b"t", b"c"))]
        assert plain
        assert all(len(row) <= 60 for row in plain)
        watch.sendintr()
        watch.wait()
        assert watch.exitstatus == 130
    finally:
        watch.close(force=True)


@contextlib.contextmanager
def shared_service() -> Iterator[tuple[Service, BrokerProcess]]:
    """A service whose broker also serves a shared directory and TCP."""
    with short_directory() as directory:
        directory.chmod(0o755)
        broker = BrokerProcess(
            directory / "rt",
            *("--shared", str(directory / "shared")),
            *("--tcp", "tcp://127.0.0.1:0", "--tcp-keys", str(directory / "keys")),
        )
        broker.start()
        try:
            with service(directory=directory) as made:
                yield made, broker
        finally:
            broker.close()


@pytest.fixture(scope="module")
def open_house() -> Iterator[tuple[Service, BrokerProcess]]:
    with shared_service() as both:
        yield both


def elsewhere(made: Service, **environment: str) -> Service:
    """The same command line, which knows nothing of the service's own directory."""
    away = made.directory / "away"
    away.mkdir(exist_ok=True)
    return Service(away, extra=environment)


def test_a_shared_broker_is_reached_by_option_and_environment(
    open_house: tuple[Service, BrokerProcess],
) -> None:
    made, _ = open_house
    shared = str(made.directory / "shared")
    by_option = elsewhere(made).run("panes", "--shared", shared).stdout
    by_environment = elsewhere(made, COSMIX_SHARED_DIR=shared).run("tabs", "--json").stdout
    assert "PANE" in by_option
    assert json.loads(by_environment)["tabs"]
    assert "its owner" in elsewhere(made).run("panes", "--shared", shared + "x", check=3).stderr
    gone = elsewhere(made).run("panes", "--shared", shared, "--name", "nobody", check=3)
    assert "its owner starts it" in gone.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become another user")
def test_another_user_sees_the_panes_and_has_no_session_of_them(
    open_house: tuple[Service, BrokerProcess],
) -> None:
    made, _ = open_house
    shared = str(made.directory / "shared")
    code, text = as_user(FOREIGN, ["tabs", "--json", "--shared", shared])
    assert (code, bool(json.loads(text)["tabs"])) == (0, True)
    code, text = as_user(FOREIGN, ["sessions", "--json", "--shared", shared])
    assert (code, json.loads(text)) == (0, {"records": []})


def as_user(uid: int, arguments: list[str]) -> tuple[int, str]:
    """Exit code and output of a command line of that user, whose files of it are loaded before."""
    script = (
        "import os, sys\n"
        "import trio, zmq, brokerd.client.link, brokerd.client.target\n"
        "import termnode.cli.look, termnode.cli.sessions, termnode.cli.main\n"
        "trio.run(trio.sleep, 0)\n"
        f"os.setgroups([]); os.setgid({uid}); os.setuid({uid})\n"
        "os.environ['HOME'] = '/'\n"
        "code = termnode.cli.main.main(sys.argv[1:])\n"
        "sys.stdout.flush(); os._exit(code)\n"
    )
    with tempfile.TemporaryFile("w+") as words:
        done = subprocess.run(
            [sys.executable, "-c", script, *arguments],
            env={"PATH": os.environ["PATH"], "LANG": "C.UTF-8"},
            stdout=subprocess.PIPE,
            stderr=words,
            text=True,
            timeout=60,
            cwd=Path(__file__).parents[2],
            check=False,
        )
        words.seek(0)
        assert done.returncode in {0, 1, 2, 3}, words.read()
        return done.returncode, done.stdout


def test_a_machine_whose_key_is_known_gets_in_until_it_is_revoked(
    open_house: tuple[Service, BrokerProcess],
) -> None:
    made, broker = open_house
    keys, mine = made.directory / "keys", made.directory / "mine"
    public = brokerd("keys", "new", "--name", "laptop", "--dir", str(mine)).strip()
    away = elsewhere(
        made,
        COSMIX_NODE=str(broker.ready["tcp"]),
        COSMIX_NODE_SERVER_KEY=str(broker.ready["tcp_public_key"]),
        COSMIX_NODE_KEY=str(mine / "laptop.secret"),
    )
    refused = away.run("panes", check=3)
    assert "brokerd keys allow" in refused.stderr
    assert public not in refused.stderr
    brokerd("keys", "allow", "laptop", public, "--dir", str(keys))
    eventually(lambda: away.run("panes", check=None).returncode == 0, "the key is known")
    assert "node laptop" in made.run("log").stdout
    assert "leave --node out" in away.run("sessions", check=2).stderr
    brokerd("keys", "revoke", "laptop", "--dir", str(keys))
    eventually(lambda: away.run("panes", check=None).returncode == 3, "the key is known no more")


def brokerd(*arguments: str) -> str:
    return subprocess.run(
        [sys.executable, "-m", "brokerd", *arguments],
        check=True,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ).stdout


def test_a_service_without_an_identity_says_so_once_and_serves() -> None:
    with service(COSMIX_TERM_POLICY="odd") as made:
        head, row, *_ = made.run("panes").stdout.splitlines()
        assert row[head.index("SESSION") :].split()[0] == "off"
        checks = json.loads(made.run("doctor", "--json").stdout)["checks"]
    states = {check["check"]: check["state"] for check in checks}
    assert states["identity"] == "warn"
    assert "zygote" not in states
    assert "pane shells" not in states


def test_a_watch_outlives_its_broker() -> None:
    with service() as made:
        ready_panes(made, 1)
        watch = subprocess.Popen(
            [*COMMAND, "sessions", "--watch", "--json"],
            env=made.environment(),
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            assert watch.stdout is not None
            _read_until(watch.stdout, "1", "attached")
            pid = eventually(lambda: broker_pid(made.directory / "rt"), "the broker's pid")
            os.kill(pid, signal.SIGKILL)
            _read_until(watch.stdout, "1", None)
            assert watch.poll() is None
        finally:
            watch.kill()
            watch.wait()
            assert watch.stdout is not None
            watch.stdout.close()
