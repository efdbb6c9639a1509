"""The HTTP server's outermost layer, with an application inside that only notes who came in."""

from __future__ import annotations

import json
from typing import Any, cast

import pytest
import trio

pytest.importorskip("mcp")

from termnode.mcp.address import Address
from termnode.mcp.doorkeeper import Answer, Doorkeeper, Headers
from termnode.mcp.guarded import Guarded
from termnode.mcp.presence import Presence

TOKEN = "a" * 64
RIGHT = [(b"host", b"127.0.0.1:4000"), (b"authorization", f"Bearer {TOKEN}".encode())]


class OpenDoor(Doorkeeper):
    """Turns nobody away: what the tests must notice."""

    def turn_away(self, path: str, headers: Headers) -> Answer | None:
        return None


class Inside:
    """What is behind the door."""

    def __init__(self, status: int = 200) -> None:
        self.came: list[str] = []
        self.gone: list[str] = []
        self.sent: list[dict[str, Any]] = []
        self._status = status

    async def __call__(self, scope: Any, _receive: Any, send: Any) -> None:  # noqa: ANN401
        self.came.append(scope["type"])
        await send({"type": "http.response.start", "status": self._status, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def over(self, session: str) -> None:
        self.gone.append(session)

    def visit(
        self,
        headers: list[tuple[bytes, bytes]],
        *,
        kind: str = "http",
        method: str = "POST",
        door: type[Doorkeeper] = Doorkeeper,
        body: tuple[bytes, ...] = (b"",),
        presence: Presence | None = None,
    ) -> int:
        """One request; the status that was answered, 0 when none was."""
        parts = list(body)

        async def receive() -> dict[str, Any]:
            part = parts.pop(0)
            return {"type": "http.request", "body": part, "more_body": bool(parts)}

        async def send(message: Any) -> None:  # noqa: ANN401
            self.sent.append(message)

        guarded = Guarded(
            cast(Any, self),
            door(Address("127.0.0.1", 4000), TOKEN),
            presence or Presence(),
            self.over,
        )
        scope = {"type": kind, "path": "/mcp", "headers": headers, "method": method}
        trio.run(guarded, scope, cast(Any, receive), cast(Any, send))
        starts = [each for each in self.sent if each["type"] == "http.response.start"]
        return int(starts[-1]["status"]) if starts else 0


WRONG = [
    (RIGHT[:1], 401),
    (RIGHT[1:], 403),
    ([*RIGHT, (b"origin", b"http://evil.example")], 403),
    ([*RIGHT[:1], (b"authorization", b"Bearer x")], 401),
]


@pytest.mark.parametrize(("headers", "status"), WRONG)
def test_nothing_inside_hears_of_who_may_not_come_in(
    headers: list[tuple[bytes, bytes]], status: int
) -> None:
    inside = Inside()
    assert inside.visit(headers) == status
    assert not inside.came
    said = [each for each in inside.sent if each["type"] == "http.response.body"]
    assert TOKEN not in said[0]["body"].decode()


@pytest.mark.parametrize("headers", [headers for headers, _ in WRONG])
def test_without_the_door_they_would(headers: list[tuple[bytes, bytes]]) -> None:
    inside = Inside()
    assert inside.visit(headers, door=OpenDoor) == 200
    assert inside.came == ["http"]


def test_a_websocket_is_closed_whoever_asks() -> None:
    inside = Inside()
    inside.visit(RIGHT, kind="websocket")
    assert inside.sent == [{"type": "websocket.close", "code": 1008}]
    assert not inside.came


def test_its_own_start_and_end_go_through() -> None:
    inside = Inside()
    inside.visit([], kind="lifespan")
    assert inside.came == ["lifespan"]


@pytest.mark.parametrize(
    ("method", "status", "gone"),
    [("DELETE", 200, ["s"]), ("DELETE", 405, []), ("POST", 200, []), ("POST", 404, ["s"])],
)
def test_the_end_of_a_session_is_told(method: str, status: int, gone: list[str]) -> None:
    inside = Inside(status)
    presence = Presence(0.0)
    inside.visit([*RIGHT, (b"mcp-session-id", b"s")], method=method, presence=presence)
    assert inside.gone == gone
    assert presence.silent(float("inf")) == ["s"], "its request is over"


LATER = (b"mcp-protocol-version", b"2026-07-28")


@pytest.mark.parametrize(
    ("body", "number"),
    [
        ((b'{"id": 7}',), 7),
        ((b'{"id"', b": 7}", b""), 7),
        ((b'{"id": "a"}',), "a"),
        ((b'{"id": true}',), None),
        ((b"no json",), None),
        ((b"[" * 60_000,), None),
        ((b"x" * 40_000, b"x" * 40_000), None),
    ],
)
def test_a_version_without_sessions_gets_the_protocols_own_error(
    body: tuple[bytes, ...], number: object
) -> None:
    inside = Inside()
    assert inside.visit([*RIGHT, LATER], body=body) == 400
    assert not inside.came
    said = json.loads(inside.sent[-1]["body"])
    assert said["id"] == number
    assert said["error"]["code"] == -32022
