"""What the client writes: the headers of its three kinds of message, and the size of the whole."""

from __future__ import annotations

from collections.abc import Mapping

from brokerd import wire
from brokerd.client.errors import MessageTooLarge
from brokerd.limits import MAX_MESSAGE_BYTES


def request_header(request_id: str, to: str, command: str) -> bytes:
    """Raises ValueError when a part is far too long (the broker judges the rest)."""
    return _header({"type": wire.REQUEST, "id": request_id, "to": to, "command": command})


def response_header(request_id: str, to: str, rc: int) -> bytes:
    """The answer to a request of the connection ``to``."""
    return _header({"type": wire.RESPONSE, "id": request_id, "to": to, "rc": rc})


def event_header(command: str, recipient_connection: str) -> bytes:
    """A directed event. Raises ValueError as ``request_header``."""
    fields = {"command": command, "recipient_connection": recipient_connection}
    return _header({"type": wire.EVENT, **fields})


def check_size(header: bytes, body: bytes) -> None:
    """Raise MessageTooLarge for what the bus would not carry."""
    size = len(header) + len(body)
    if size > MAX_MESSAGE_BYTES:
        raise MessageTooLarge(size, MAX_MESSAGE_BYTES)


def _header(fields: Mapping[str, object]) -> bytes:
    try:
        return wire.encode_header({"v": wire.VERSION, **fields})
    except wire.HeaderError as error:
        raise ValueError(f"{error.message}; shorten the name or the command") from None
