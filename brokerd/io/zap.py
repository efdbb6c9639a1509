"""The ZAP step: asked by libzmq about every new connection, answers with its identity.

The answer's user id is the connection id that the core minted; libzmq then attaches it to every
frame of that connection, and a peer cannot override it. The step waits on nothing but memory and
the kernel's process table. It fails closed: with ZAP_ENFORCE_DOMAIN a missing or broken handler
means that nobody gets in.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

import zmq

from brokerd.errors import Refusal
from brokerd.peers import PeerCredentials, parse_peer_address

ENDPOINT: Final = "inproc://zeromq.zap.01"
DOMAIN: Final = b"brokerd"
_AT_MOST: Final = 32
"""Connections judged per turn of the loop."""

_OK: Final = b"200"
_TEMPORARY: Final = b"300"
"""Try again later: what libzmq does by itself after this status."""

_DENIED: Final = b"400"


class Denied(Exception):
    """This connection is not let in; ``status`` is ZAP's, the text says nothing of others."""

    def __init__(self, status: bytes, text: str) -> None:
        super().__init__(text)
        self.status = status
        self.text = text


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks to be let in, as libzmq tells it; ``credentials`` are those of the mechanism."""

    address: str
    mechanism: bytes
    credentials: tuple[bytes, ...]


Judge: TypeAlias = Callable[[Caller], str]
"""Makes a connection id for a caller. Raises Denied, or Refusal: not now."""


class ZapHandler:
    """Owns the ZAP socket. Each socket's domain has its judge; another domain is not let in."""

    def __init__(
        self,
        context: zmq.Context[zmq.Socket[bytes]],
        epoch: str,
        judges: Mapping[bytes, Judge],
    ) -> None:
        self._judges = judges
        self._metadata = _property(b"X-Epoch", epoch.encode())
        self.socket = context.socket(zmq.REP)
        self.socket.linger = 0
        self.socket.bind(ENDPOINT)

    def step(self) -> None:
        """Judge the connections that wait, a bounded number of them. Any error ends the broker."""
        for _ in range(_AT_MOST):
            try:
                request = self.socket.recv_multipart(zmq.NOBLOCK)
            except zmq.Again:
                return
            self.socket.send_multipart(self.reply(request))

    def reply(self, request: list[bytes]) -> list[bytes]:
        """ZAP's answer to one request."""
        request_id = request[1] if len(request) > 1 else b""
        try:
            user_id = self._judge(request)
        except Denied as denial:
            return [b"1.0", request_id, denial.status, denial.text.encode(), b"", b""]
        return [b"1.0", request_id, _OK, b"OK", user_id.encode(), self._metadata]

    def close(self) -> None:
        """Close the socket."""
        self.socket.close(0)

    def _judge(self, request: list[bytes]) -> str:
        if len(request) < 6 or request[0] != b"1.0":
            raise never("not a ZAP 1.0 request")
        # The fifth is this socket's own routing id, not the peer's.
        domain, address, _, mechanism, *credentials = request[2:]
        judge = self._judges.get(domain)
        if judge is None:
            raise never("wrong domain")
        caller = Caller(address.decode("ascii", "replace"), mechanism, tuple(credentials))
        try:
            return judge(caller)
        except Refusal as refusal:
            raise Denied(_TEMPORARY, refusal.message) from None


def by_kernel(admit: Callable[[PeerCredentials], str]) -> Judge:
    """The judge of processes of this machine, whom the kernel vouches for."""

    def judge(caller: Caller) -> str:
        if caller.mechanism != b"NULL":
            raise never("wrong mechanism")
        peer = parse_peer_address(caller.address)
        if peer is None:
            raise never("the kernel does not say who is connecting")
        return admit(peer)

    return judge


def never(text: str) -> Denied:
    """A denial for good."""
    return Denied(_DENIED, text)


def not_now(text: str) -> Denied:
    """A denial that another try may get past."""
    return Denied(_TEMPORARY, text)


def _property(name: bytes, value: bytes) -> bytes:
    """One ZMTP metadata property."""
    return bytes((len(name),)) + name + struct.pack("!I", len(value)) + value
