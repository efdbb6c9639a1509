"""The server on standard streams: nothing but the protocol there, and an end when it is over."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp")

from tests.support.mcp_lab import TERMINAL, Lab, lab
from tests.support.termnode_process import alive, eventually

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


@pytest.fixture(name="place", scope="module")
def _place() -> Iterator[Lab]:
    with lab() as made:
        yield made


def lines(*messages: object) -> bytes:
    return b"".join(json.dumps(each).encode() + b"\n" for each in messages)


def call(number: int, tool: str, **arguments: Any) -> dict[str, Any]:  # noqa: ANN401
    params = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


class Talk:
    """A server that is talked to by hand."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process

    def say(self, *messages: object) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(lines(*messages))
        self.process.stdin.flush()

    def hear(self, number: int) -> dict[str, Any]:
        """The answer to a request."""
        assert self.process.stdout is not None
        while line := self.process.stdout.readline():
            found: dict[str, Any] = json.loads(line)
            if found.get("id") == number:
                return found
        raise AssertionError("it ended without an answer")

    def begin(self) -> None:
        self.say(INITIALIZE)
        self.hear(1)
        self.say(INITIALIZED)

    def tool(self, number: int, tool: str, **arguments: Any) -> dict[str, Any]:  # noqa: ANN401
        self.say(call(number, tool, **arguments))
        result: dict[str, Any] = self.hear(number)["result"]
        assert not result.get("isError"), result
        return result

    def end(self) -> int:
        _out, err = self.process.communicate(timeout=30)
        assert b"Traceback" not in err, err
        return self.process.returncode


def answers(out: bytes) -> list[dict[str, Any]]:
    """Every line of the output, each of which must be a message."""
    found = [json.loads(line) for line in out.splitlines()]
    assert all(each["jsonrpc"] == "2.0" for each in found)
    return found


def cpu_s(pid: int) -> float:
    """Processor time of a process, in seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_the_end_of_the_input_ends_it_after_what_was_asked_is_answered(place: Lab) -> None:
    done = place.start("--experimental-terminal")
    listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    out, err = done.communicate(lines(INITIALIZE, INITIALIZED, listing, call(3, "panes")), 60)
    assert done.returncode == 0, err
    assert [each["id"] for each in answers(out)] == [1, 2, 3]
    assert answers(out)[0]["result"]["serverInfo"]["name"] == "termnode"
    assert not err


@pytest.mark.parametrize("stdin", ["/dev/null", "file", "closed"])
def test_no_input_is_an_end_too(place: Lab, tmp_path: Path, stdin: str) -> None:
    path = Path(stdin)
    if stdin == "file":
        path = tmp_path / "requests"
        path.write_bytes(lines(INITIALIZE))
    if stdin == "closed":
        done = place.start(stdin=None, preexec_fn=lambda: os.close(0))
    else:
        with path.open("rb") as given:
            done = place.start(stdin=given)
    out, err = done.communicate(timeout=60)
    assert done.returncode == 0, err
    assert len(answers(out)) == (stdin == "file")


def test_a_client_that_only_waits_costs_nothing(place: Lab) -> None:
    with place.start() as process:
        talk = Talk(process)
        talk.begin()
        talk.tool(2, "panes")
        before = cpu_s(process.pid)
        talk.tool(3, "wait", pane=1, seconds=3.0, until="never shown")
        assert cpu_s(process.pid) - before < 1.0
        assert process.stdin is not None
        process.stdin.close()
        process.stdin = None
        assert talk.end() == 0


def test_a_message_may_come_one_byte_at_a_time(place: Lab) -> None:
    with place.start() as process:
        assert process.stdin is not None
        for at, byte in enumerate(lines(INITIALIZE)):
            process.stdin.write(bytes([byte]))
            if at % 8 == 0:
                process.stdin.flush()
        process.stdin.flush()
        assert Talk(process).hear(1)["result"]
        process.stdin.close()
        process.stdin = None
        assert Talk(process).end() == 0


def test_what_is_no_message_is_answered_and_the_next_one_is_served(place: Lab) -> None:
    wrong = b'no json\n{"jsonrpc":"2.0"}\n[]\n"\\ud800"\n\xff\xfe\n' + b"[" * 10_000 + b"\n"
    long = b'{"jsonrpc":"2.0","id":5,"method":"x","params":{"a":"' + b"x" * (5 << 20) + b'"}}\n'
    done = place.start()
    out, err = done.communicate(wrong + long + lines(INITIALIZE), 60)
    found = answers(out)
    assert [each["error"]["code"] for each in found[:7]] == [
        -32700, -32600, -32600, -32700, -32700, -32700, -32600,
    ], found  # fmt: skip
    assert all(each["id"] is None for each in found[:7])
    assert found[7]["id"] == 1
    assert "result" in found[7]
    assert (done.returncode, err) == (0, b"")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_it_in_a_wait_and_closes_its_terminals_and_nothing_else(
    place: Lab, number: signal.Signals
) -> None:
    with place.start(*TERMINAL) as process:
        talk = Talk(process)
        talk.begin()
        talk.tool(2, "term_open", cmd="cat")
        panes = place.term.good("term.panes")["panes"]
        mine = [pane["pid"] for pane in panes if pane["command"] == "cat"]
        assert mine
        talk.say(call(3, "term_wait", id="t1", seconds=60.0, until="never shown"))
        talk.tool(4, "panes")
        process.send_signal(number)
        assert talk.end() == 0
    eventually(lambda: not any(map(alive, mine)), "its terminal's program has ended")
    left = place.term.good("term.panes")["panes"]
    assert [pane["id"] for pane in left if pane["state"] == "running"] == [1]


def test_a_kill_closes_its_terminals_and_nothing_else(place: Lab) -> None:
    other = place.term.good("term.tab.new", {"argv": ["cat"], "background": True})
    with place.start(*TERMINAL) as process:
        talk = Talk(process)
        talk.begin()
        talk.tool(2, "term_open", cmd="sleep", args=["1000"])
        talk.tool(3, "term_open", cmd="cat")
        before = {pane["id"]: pane["pid"] for pane in place.term.good("term.panes")["panes"]}
        process.kill()
        process.wait()
    mine = set(before) - {1, other["pane"]}
    assert len(mine) == 2

    def gone() -> bool:
        return {pane["id"] for pane in place.term.good("term.panes")["panes"]} == {
            1, other["pane"],
        }  # fmt: skip

    eventually(gone, "its terminals are closed")
    eventually(lambda: not any(alive(before[pane]) for pane in mine), "their programs have ended")
    assert alive(before[1])
    assert alive(before[other["pane"]])
    place.term.good("term.tab.close", {"id": other["id"]})


def test_nobody_reading_the_output_ends_it(place: Lab) -> None:
    with place.start() as process:
        assert process.stdout is not None
        process.stdout.close()
        talk = Talk(process)
        talk.say(INITIALIZE)
        process.wait(30)
        process.stdout = None
        assert process.returncode == 0


def test_a_reader_that_is_slow_gets_everything(place: Lab) -> None:
    """More than a pipe holds, and nobody reads until it was all asked for."""
    listing = [{"jsonrpc": "2.0", "id": 10 + at, "method": "tools/list"} for at in range(30)]
    with place.start(*TERMINAL) as process:
        talk = Talk(process)
        talk.begin()
        writer = threading.Thread(target=talk.say, args=listing)
        writer.start()
        writer.join(10)
        assert not writer.is_alive(), "it goes on reading"
        for each in listing:
            assert talk.hear(each["id"])["result"]["tools"]  # type: ignore[arg-type]
        assert process.stdin is not None
        process.stdin.close()
        process.stdin = None
        assert talk.end() == 0


def test_its_terminals_programs_have_neither_its_input_nor_its_output(place: Lab) -> None:
    with place.start(*TERMINAL) as process:
        talk = Talk(process)
        talk.begin()
        talk.tool(2, "term_open", cmd="cat")
        first, second, errors = (os.readlink(f"/proc/{process.pid}/fd/{fd}") for fd in range(3))
        assert (first, second) == ("/dev/null", errors), "0 and 1 are not the protocol's"
        kin = [each for each in family(process.pid) if each != process.pid]
        mine = pipes_of(os.getpid()) & pipes_of(process.pid)
        assert len(mine) >= 2
        for each in kin:
            assert not (pipes_of(each) & (mine - {errors})), each
        assert process.stdin is not None
        process.stdin.close()
        process.stdin = None
        assert talk.end() == 0


def pipes_of(pid: int) -> set[str]:
    """The pipes that a process has open."""
    found = set()
    for each in Path(f"/proc/{pid}/fd").iterdir():
        try:
            found.add(os.readlink(each))
        except OSError:
            continue
    return {each for each in found if each.startswith("pipe:")}


def family(pid: int) -> list[int]:
    """A process and those that descend from it."""
    found = [pid]
    for each in found:
        for task in Path(f"/proc/{each}/task").iterdir():
            found += map(int, (task / "children").read_text().split())
    return found


def test_a_terminal_as_its_streams_is_left_as_it_was(place: Lab) -> None:
    """As when a person starts it by hand: Ctrl-D ends it, and the terminal still blocks."""
    ours, theirs = pty.openpty()
    try:
        process = place.start(stdin=theirs, stdout=theirs)
        flags = [os.get_blocking(each) for each in (ours, theirs)]
        os.write(ours, b"\x04")
        _out, err = process.communicate(timeout=60)
        assert process.returncode == 0, err
        assert [os.get_blocking(each) for each in (ours, theirs)] == flags == [True, True]
    finally:
        os.close(ours)
        os.close(theirs)


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["--allow", "Input"], 2, "input, execute, layout"),
        (["--allow", "input,all"], 2, "input, execute, layout"),
        (["--allow", ""], 2, "input, execute, layout"),
        (["--http", "0.0.0.0:0"], 2, "loopback"),
        (["--http", "localhost:0"], 2, "loopback"),
    ],
)
def test_wrong_options_start_nothing(place: Lab, options: list[str], code: int, words: str) -> None:
    done = place.start(*options, stdin=subprocess.DEVNULL)
    out, err = done.communicate(timeout=60)
    assert (done.returncode, out) == (code, b"")
    assert words in err.decode()


def test_a_wrong_word_in_the_configuration_starts_nothing(place: Lab, tmp_path: Path) -> None:
    config = tmp_path / "termnode" / "config.toml"
    config.parent.mkdir()
    config.write_text('[mcp]\nallow = ["everything"]\n')
    place.term.extra["XDG_CONFIG_HOME"] = str(tmp_path)
    try:
        done = place.start(stdin=subprocess.DEVNULL)
        out, err = done.communicate(timeout=60)
    finally:
        del place.term.extra["XDG_CONFIG_HOME"]
    assert (done.returncode, out) == (2, b"")
    assert b"config.toml" in err
    assert b"line 2" in err


def test_without_the_extra_it_says_what_to_install(place: Lab, tmp_path: Path) -> None:
    """A finder that finds no SDK stands before the others."""
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\n"
        "class Hide:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.partition('.')[0] in ('mcp', 'mcp_types', 'pydantic', 'hypercorn'):\n"
        "            raise ModuleNotFoundError(name, name=name)\n"
        "sys.meta_path.insert(0, Hide())\n"
    )
    place.term.extra["PYTHONPATH"] = str(tmp_path)
    try:
        done = place.start(stdin=subprocess.DEVNULL)
        out, err = done.communicate(timeout=60)
        assert place.term.run("panes").stdout
    finally:
        del place.term.extra["PYTHONPATH"]
    assert (done.returncode, out) == (69, b"")
    assert b"pip install 'termnode[mcp]'" in err
    assert b"Traceback" not in err


def test_another_version_is_answered_with_those_that_are_spoken(place: Lab) -> None:
    """An older or newer client: negotiated in the handshake, refused with both versions else."""
    params = {**INITIALIZE["params"], "protocolVersion": "1999-01-01"}  # type: ignore[dict-item]
    done = place.start()
    out, err = done.communicate(lines({**INITIALIZE, "params": params}), 60)
    assert answers(out)[0]["result"]["protocolVersion"] == "2025-11-25"
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2099-01-01",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {"_meta": meta}}
    later = place.start()
    out, err = later.communicate(lines(listing), 60)
    error = answers(out)[0]["error"]
    assert error["data"] == {"supported": ["2026-07-28"], "requested": "2099-01-01"}
    assert not err


def test_a_directory_that_cannot_be_used_is_said_with_what_to_do(
    place: Lab, tmp_path: Path
) -> None:
    tmp_path.chmod(0o777)
    with place.start("--runtime-dir", str(tmp_path)) as process:
        talk = Talk(process)
        talk.begin()
        talk.say(call(2, "panes"))
        result = talk.hear(2)["result"]
        assert result["isError"]
        assert result["content"][0]["text"].startswith("UNAVAILABLE: ")
        assert "chmod 700" in result["content"][0]["text"]
        assert process.stdin is not None
        process.stdin.close()
        process.stdin = None
        assert talk.end() == 0
