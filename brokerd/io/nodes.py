"""Where other machines come in: a ROUTER over TCP, encrypted, for those whose keys are known.

Their processes cannot be watched, so libzmq's heartbeats end the connections of those that fell
silent, and the probes find that out. Known limit: libzmq holds what connects for the length of the
handshake, and every connection takes a descriptor; there must be more of these than a crowd makes.
"""

from __future__ import annotations

from typing import Final

import zmq
from zmq.utils import z85

from brokerd.curvekeys import public_of
from brokerd.io.config import Tcp
from brokerd.io.keyring import Keyring
from brokerd.io.pump import Pump
from brokerd.io.router import Router
from brokerd.io.zap import Caller, never
from brokerd.keysdir import KeysDir, KeysError
from brokerd.limits import Limits
from brokerd.peers import NodePeer
from brokerd.rundir import RuntimeDirError

DOMAIN: Final = b"brokerd-nodes"
_HEARTBEAT_MS: Final = 5_000
_SILENCE_MS: Final = 15_000
_LOOK_MS: Final = 1_000
"""How often the keys of those who are connected are looked at again."""


class NodeLane:
    """Owns the socket. ``judge`` is for the ZAP step, and must be there before ``bind``.

    Raises RuntimeDirError: the keys cannot be read, or the address cannot be bound.
    """

    def __init__(
        self, context: zmq.Context[zmq.Socket[bytes]], tcp: Tcp, pump: Pump, limits: Limits
    ) -> None:
        keys = KeysDir(tcp.keys)
        secret = _secret(keys)
        self.public_key = public_of(secret)
        self.endpoint = tcp.endpoint
        self._keyring = Keyring(keys)
        self._pump = pump
        self._look_ms = 0
        options: dict[int, int | bytes] = {
            zmq.CURVE_SERVER: 1,
            zmq.CURVE_SECRETKEY: secret.encode(),
            zmq.HEARTBEAT_IVL: _HEARTBEAT_MS,
            zmq.HEARTBEAT_TIMEOUT: _SILENCE_MS,
            zmq.HEARTBEAT_TTL: _SILENCE_MS,
            zmq.IPV6: int("[" in tcp.endpoint),
        }
        self.router = Router(context, limits, DOMAIN, options)

    def bind(self) -> None:
        """Listen; ``endpoint`` then has the real port."""
        try:
            self.router.bind(self.endpoint)
        except zmq.ZMQError as error:
            reason = error.strerror or "unknown error"
            raise RuntimeDirError(
                f"{self.endpoint} cannot be bound ({reason}): use another"
            ) from None
        self.endpoint = self.router.endpoint

    def judge(self, caller: Caller, now_ms: int) -> str:
        """The connection id of a machine whose key is known. Raises Denied, Refusal."""
        if caller.mechanism != b"CURVE" or len(caller.credentials) != 1:
            raise never("wrong mechanism")
        (raw,) = caller.credentials
        key = z85.encode(raw).decode() if len(raw) == 32 else ""
        name = self._keyring.name_of(key)
        if name is None:
            raise never("that key is not known here")
        return self._pump.admit_node(NodePeer(name, key), self.router, now_ms)

    def look(self, now_ms: int) -> None:
        """Forget the connections of those whose keys are known no more."""
        if now_ms < self._look_ms:
            return
        self._look_ms = now_ms + _LOOK_MS
        names = self._keyring.names()
        for connection_id, peer in self._pump.nodes():
            if names.get(peer.node) != peer.key:
                self._pump.left(connection_id, now_ms)

    def next_deadline(self) -> int | None:
        """When to ``look`` next; None while nobody is connected."""
        return self._look_ms if self._pump.nodes() else None

    def close(self) -> None:
        """Close the socket."""
        self.router.close()


def _secret(keys: KeysDir) -> str:
    try:
        return keys.server_secret()
    except KeysError as error:
        raise RuntimeDirError(str(error)) from None
