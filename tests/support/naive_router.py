"""A broker that believes its peers: what the adversary's checks must be able to catch.

No ZAP, so that READY's properties are believed; headers and extra frames go through as they came;
routing ids are whatever peers choose, and libzmq's own are guessable.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence

import msgpack
import zmq

EPOCH = "0" * 32


class Naive:
    """One loop, two verbs, and forwarding by name."""

    def __init__(self, path: str) -> None:
        self.socket = zmq.Context().socket(zmq.ROUTER)
        self.socket.setsockopt(zmq.ROUTER_HANDOVER, 1)
        self.socket.bind(f"ipc://{path}")
        self._names: dict[str, bytes] = {}

    def run(self) -> None:
        """For ever; whoever started it ends it."""
        while True:
            frames = self.socket.recv_multipart(copy=False)
            routing_id, *parts = (each.bytes for each in frames)
            if len(parts) > 1:
                self._act(routing_id, _believed(frames[-1], routing_id), parts)

    def _act(self, routing_id: bytes, stamp: dict[str, object], parts: Sequence[bytes]) -> None:
        header = msgpack.unpackb(parts[0])
        if header.get("to") == "brokerd":
            answer = self._verb(header["command"], routing_id, stamp, parts[1])
            answered = {"v": 1, "type": "response", "id": header["id"], "to": "x" * 5, "rc": 0}
            self._send(routing_id, {**answered, "from": "brokerd"}, json.dumps(answer).encode())
        elif header.get("to") in self._names:
            # A believer: the peer's own keys, and its own stamp if it brings one.
            stamped = [msgpack.packb(stamp), *parts[2:]][-1]
            self._send(self._names[header["to"]], {"from": "0" * 32, **header}, parts[1], stamped)

    def _verb(
        self, command: str, routing_id: bytes, stamp: dict[str, object], body: bytes
    ) -> dict[str, object]:
        if command == "broker.register":
            asked: dict[str, object] = json.loads(body)
            self._names[str(asked["name"])] = routing_id
            return asked
        return {"broker_epoch": EPOCH, "connection_id": stamp["connection_id"]}

    def _send(
        self, routing_id: bytes, header: dict[str, object], body: bytes, stamp: bytes = b""
    ) -> None:
        self.socket.send_multipart([routing_id, msgpack.packb(header), body, stamp])


def _believed(frame: zmq.Frame, routing_id: bytes) -> dict[str, object]:
    """A stamp out of whatever the peer says about itself."""
    _, uid, gid, pid = str(frame.get("Peer-Address")).rsplit(":", 3)
    try:
        user = str(frame.get("User-Id"))
    except zmq.ZMQError:
        user = routing_id.hex().rjust(32, "0")
    return {
        "version": 1,
        "assurance": "local-unix",
        "owner_node": "here",
        "unix_uid": int(uid),
        "unix_gid": int(gid),
        "peer_pid": int(pid),
        "broker_epoch": EPOCH,
        "connection_id": user,
        "session": None,
    }


if __name__ == "__main__":
    naive = Naive(sys.argv[1])
    print(time.monotonic(), flush=True)
    naive.run()
