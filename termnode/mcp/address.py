"""Where the HTTP server listens: a loopback address, and nothing else."""

from __future__ import annotations

import ipaddress
import socket
from dataclasses import dataclass
from typing import Final

BACKLOG: Final = 64


class AddressError(ValueError):
    """An address that is not to be listened on."""


@dataclass(frozen=True, slots=True)
class Address:
    """A loopback address and a port; port 0 is any that is free."""

    host: str
    port: int

    @property
    def authority(self) -> str:
        """As a Host header has it."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def origin(self) -> str:
        """As an Origin header has it."""
        return f"http://{self.authority}"


def parse(text: str) -> Address:
    """``127.0.0.1:PORT`` or ``[::1]:PORT``. Raises AddressError: names may lead anywhere."""
    host, colon, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]") if host.startswith("[") else host
    try:
        loopback = ipaddress.ip_address(host).is_loopback
    except ValueError:
        loopback = False
    if not (colon and loopback and "%" not in host):
        raise AddressError("only a loopback address is listened on: 127.0.0.1:PORT or [::1]:PORT")
    if not (port.isascii() and port.isdigit() and int(port) <= 65_535):
        raise AddressError("the port is a number up to 65535; 0 is any that is free")
    return Address(str(ipaddress.ip_address(host)), int(port))


def listen(wanted: Address) -> tuple[socket.socket, Address]:
    """A socket that listens there, and where that is. Raises OSError."""
    family = socket.AF_INET6 if ":" in wanted.host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((wanted.host, wanted.port))
        made.listen(BACKLOG)
        made.setblocking(False)
    except OSError:
        made.close()
        raise
    return made, Address(wanted.host, made.getsockname()[1])
