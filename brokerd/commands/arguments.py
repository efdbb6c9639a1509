"""What the arguments of ``brokerd`` may be; each check raises ArgumentTypeError with the remedy."""

from __future__ import annotations

import argparse
import ipaddress
import os
import re
import socket
from typing import Final

from brokerd.commands import settings
from brokerd.wire import NODE_NAME, SERVICE_NAME

_TCP: Final = re.compile(r"tcp://(?:\[([0-9A-Fa-f:.]+)\]|([^\[\]:/]+)):([0-9]{1,5})", re.ASCII)


def node(value: str) -> str:
    """A node's name."""
    if not NODE_NAME.fullmatch(value):
        raise argparse.ArgumentTypeError("use lowercase letters, digits and inner hyphens, 1 to 63")
    return value


def service(value: str) -> str:
    """A service's name."""
    if not SERVICE_NAME.fullmatch(value):
        raise argparse.ArgumentTypeError(
            "use a service's name: lowercase, a letter, then 1 to 30 letters, digits and hyphens"
        )
    return value


def count(value: str) -> int:
    """A number without a sign."""
    if not re.fullmatch("[0-9]{1,9}", value, re.ASCII):
        raise argparse.ArgumentTypeError("use a number without a sign")
    return int(value)


def descriptor(value: str) -> int:
    """An open file descriptor."""
    number = count(value)
    try:
        os.fstat(number)
    except OSError:
        raise argparse.ArgumentTypeError("that descriptor is not open; pass it on") from None
    return number


def setting(value: str) -> settings.Setting:
    """A limit and its value."""
    try:
        return settings.parse(value)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def tcp_endpoint(value: str) -> str:
    """``tcp://ADDRESS:PORT`` as libzmq binds it; ``localhost`` becomes its address."""
    found = _TCP.fullmatch(value.replace("tcp://localhost:", "tcp://127.0.0.1:"))
    if found is None or int(found[3]) > 65_535 or _address(found[1] or found[2]) is None:
        raise argparse.ArgumentTypeError(
            "use tcp://ADDRESS:PORT with an IP address ([in brackets] for IPv6); port 0 is any"
        )
    return found[0]


def is_loopback(endpoint: str) -> bool:
    """Whether a checked endpoint is for this machine only."""
    found = _TCP.fullmatch(endpoint)
    address = _address(found[1] or found[2]) if found else None
    return address is not None and address.is_loopback


def host_name() -> str:
    """The host's name as far as it can be a node's: its first label, without odd characters."""
    label = socket.gethostname().lower().partition(".")[0]
    return re.sub("[^a-z0-9]+", "-", label)[:63].strip("-") or "localhost"


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None
