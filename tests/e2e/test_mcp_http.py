"""The MCP server by HTTP: who gets in, whose terminals are whose, and what is left in the end."""

from __future__ import annotations

import json
import signal
import socket
import stat
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import trio

pytest.importorskip("mcp")

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.support.mcp_lab import TERMINAL, Asking, Lab, lab, run
from tests.support.termnode_process import alive, eventually

pytestmark = pytest.mark.filterwarnings(
    # The SDK's own client leaves generators of its HTTP library behind, under Trio.
    "ignore::pytest.PytestUnraisableExceptionWarning"
)

INITIALIZE: dict[str, Any] = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


@dataclass
class Served:
    """A server that listens."""

    place: Lab
    process: subprocess.Popen[bytes]
    port: int
    token_path: Path

    @property
    def token(self) -> str:
        return self.token_path.read_text().strip()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"

    @asynccontextmanager
    async def client(self, **given: Any) -> AsyncIterator[Asking]:  # noqa: ANN401
        headers = {"Authorization": f"Bearer {self.token}"}
        with trio.fail_after(120):
            async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
                transport = streamable_http_client(self.url, http_client=http)
                async with Client(transport, **given) as made:
                    yield Asking(made)

    def post(self, body: object = INITIALIZE, **changed: str | None) -> httpx2.Response:
        """One request by hand; headers by name with underscores, None leaves one out."""
        headers: dict[str, str] = {
            "authorization": f"Bearer {self.token}",
            "accept": "application/json, text/event-stream",
            "content-type": "application/json",
        }
        for name, value in changed.items():
            headers.pop(name.replace("_", "-"), None)
            if value is not None:
                headers[name.replace("_", "-")] = value
        with httpx2.Client(timeout=30) as http:
            return http.post(self.url, content=json.dumps(body), headers=headers)


@pytest.fixture(name="served", scope="module")
def _served() -> Iterator[Served]:
    with lab() as place, serving(place) as made:
        yield made


class serving:  # a context manager
    """A server, ended by a signal."""

    def __init__(self, place: Lab, number: int = signal.SIGTERM) -> None:
        self._place = place
        self._number = number

    def __enter__(self) -> Served:
        options = ("--http", "127.0.0.1:0", *TERMINAL, "--allow", "input")
        self._process = self._place.start(*options, stdin=subprocess.DEVNULL)
        assert self._process.stderr is not None
        line = self._process.stderr.readline().decode()
        assert line.startswith("listening on http://127.0.0.1:"), line
        port = int(line.partition("127.0.0.1:")[2].partition("/")[0])
        token = self._place.term.directory / "rt" / f"mcp-{port}.token"
        self._served = Served(self._place, self._process, port, token)
        return self._served

    def __exit__(self, *_: object) -> None:
        self._process.send_signal(self._number)
        out, err = self._process.communicate(timeout=30)
        assert (self._process.returncode, out) == (0, b""), err
        assert b"Traceback" not in err
        assert not self._served.token_path.exists()


def test_a_client_with_the_token_uses_the_tools(served: Served) -> None:
    async def work() -> None:
        for mode in ("auto", "legacy"):
            async with served.client(mode=mode) as ask:
                opened = await ask("term_open", cmd="cat")
                told = await ask("term_type", id=opened.facts["id"], text="by http\n")
                assert told.rows[:2] == ["by http", "by http"]
                assert (await ask("panes")).facts["panes"]

    run(work)


def test_the_token_is_for_the_user_alone(served: Served) -> None:
    found = served.token_path.lstat()
    assert stat.S_IMODE(found.st_mode) == 0o600
    assert len(bytes.fromhex(served.token)) == 32


@pytest.mark.parametrize(
    ("changed", "status"),
    [
        ({"authorization": None}, 401),
        ({"authorization": "Bearer " + "0" * 64}, 401),
        ({"authorization": "Basic Og=="}, 401),
        ({"host": "evil.example"}, 403),
        ({"host": "localhost"}, 403),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://evil.example", "authorization": None}, 403),
        ({"content_type": "text/plain"}, 400),
        ({"mcp_session_id": "made-up"}, 404),
        ({"mcp_protocol_version": "2026-07-28"}, 400),
    ],
)
def test_who_may_not_is_turned_away(
    served: Served, changed: dict[str, str | None], status: int
) -> None:
    answer = served.post(**changed)
    assert answer.status_code == status, answer.text
    assert served.token not in answer.text
    assert served.post().status_code == 200, "and who may is served"


def test_a_version_without_sessions_is_told_those_there_are(served: Served) -> None:
    body = {"jsonrpc": "2.0", "id": 7, "method": "tools/list", "params": {}}
    said = served.post(body, mcp_protocol_version="2026-07-28").json()
    assert said["id"] == 7
    assert said["error"]["code"] == -32022
    assert "2025-11-25" in said["error"]["data"]["supported"]


def raw(served: Served, request: bytes) -> bytes:
    """The first line that is answered to bytes, or b"" for none."""
    with socket.create_connection(("127.0.0.1", served.port), timeout=30) as link:
        link.sendall(request)
        link.shutdown(socket.SHUT_WR)
        return link.makefile("rb").readline()


def test_two_hosts_two_tokens_and_requests_that_hide_others_are_not_taken(served: Served) -> None:
    right = f"Host: 127.0.0.1:{served.port}\r\n".encode()
    token = f"Authorization: Bearer {served.token}\r\n".encode()
    head = b"POST /mcp HTTP/1.1\r\nContent-Length: 0\r\n"
    for lines in (
        right + b"Host: evil.example\r\n" + token,
        token,
        right + token + b"Authorization: Bearer x\r\n",
        right + token + b"Transfer-Encoding: chunked\r\n",
    ):
        answered = raw(served, head + lines + b"\r\n")
        assert answered.split(b" ")[1:2] in ([b"400"], [b"401"], [b"403"]), answered
    absolute = b"POST http://evil.example/mcp HTTP/1.1\r\nContent-Length: 0\r\n"
    assert b" 200 " not in raw(served, absolute + right + token + b"\r\n")
    upgrade = b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    key = b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
    assert b" 101 " not in raw(served, b"GET /mcp HTTP/1.1\r\n" + right + upgrade + key + b"\r\n")


def test_a_body_that_is_too_large_is_refused(served: Served) -> None:
    assert served.post({"x": "y" * (2 << 20)}).status_code == 413


def test_a_sessions_terminals_are_its_own_and_end_with_it(served: Served) -> None:
    async def work() -> int:
        async with served.client() as one, served.client() as two:
            opened = await one("term_open", cmd="sleep", args=["1000"])
            assert opened.facts["id"] == "t1"
            refused = await two.refused("term_screen", id="t1")
            assert refused.startswith("NOT_FOUND: ")
            second = await two("term_open", cmd="cat")
            await one("term_close", id="t1")
            assert "cat" in (await two("term_screen", id=second.facts["id"])).text
            await one("term_open", cmd="sleep", args=["1001"])
            panes = await trio.to_thread.run_sync(served.place.term.good, "term.panes")
            (found,) = [each["pid"] for each in panes["panes"] if each["command"] == "sleep"]
            return int(found)

    pid = run(work)
    eventually(lambda: not alive(pid), "its program has ended with the session")
    left = [each["id"] for each in served.place.term.good("term.panes")["panes"]]
    assert left == [1]


def test_the_end_closes_all_and_leaves_no_token() -> None:
    with lab() as place:
        with serving(place, signal.SIGINT) as made:

            async def work() -> None:
                with suppress(BaseExceptionGroup, OSError):  # its server ends before it
                    async with made.client() as ask:
                        await ask("term_open", cmd="sleep", args=["1000"])
                        made.process.send_signal(signal.SIGINT)
                        await trio.to_thread.run_sync(made.process.wait, 30)

            run(work)
        left = [each["id"] for each in place.term.good("term.panes")["panes"]]
        assert left == [1]


def test_another_server_cannot_have_its_port(served: Served) -> None:
    done = served.place.start("--http", f"127.0.0.1:{served.port}", stdin=subprocess.DEVNULL)
    out, err = done.communicate(timeout=60)
    assert (done.returncode, out) == (1, b"")
    assert b"cannot listen" in err
    assert served.token, "its token is left alone"
