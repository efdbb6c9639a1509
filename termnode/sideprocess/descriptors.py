"""Descriptors that come with a packet."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Sequence


def received_descriptors(control: Sequence[tuple[int, int, bytes]]) -> list[int]:
    """The descriptors in the ancillary data of one packet, which the caller closes."""
    return [
        int.from_bytes(data[at : at + 4], sys.byteorder)
        for level, kind, data in control
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS)
        for at in range(0, len(data) - 3, 4)
    ]


def close_all(descriptors: Sequence[int]) -> None:
    """Close each of them."""
    for descriptor in descriptors:
        os.close(descriptor)
