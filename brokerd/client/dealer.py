"""The client's kind of socket: one connection, never made again by itself, nothing lost in it."""

from __future__ import annotations

from collections.abc import Mapping

import zmq

from brokerd.limits import MAX_MESSAGE_BYTES, Limits


def dealer(
    context: zmq.Context[zmq.Socket[bytes]], limits: Limits, options: Mapping[int, int | bytes]
) -> zmq.Socket[bytes]:
    """A new socket, not connected; ``options`` are set on top of those that every one has."""
    socket = context.socket(zmq.DEALER)
    socket.linger = 0
    socket.setsockopt(zmq.IMMEDIATE, 1)  # no queueing for a connection that is not there
    socket.setsockopt(zmq.RECONNECT_IVL, -1)
    socket.setsockopt(zmq.SNDHWM, limits.send_hwm)
    socket.setsockopt(zmq.RCVHWM, limits.receive_hwm)
    socket.setsockopt(zmq.MAXMSGSIZE, MAX_MESSAGE_BYTES)
    for option, value in options.items():
        socket.setsockopt(option, value)
    return socket
