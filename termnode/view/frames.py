"""Frames: four bytes of length (big endian) and a msgpack map with ``t``, the message's type."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import msgpack

from termnode.view.codec import BadFrame
from termnode.view.messages import FromService, FromView, Line, Message, PaneState
from termnode.view.shapes import BY_CLASS, FROM_SERVICE, FROM_VIEW, LINE, Shape, unpack

__all__ = ["MAX_FRAME", "BadFrame", "Decoder", "ServiceDecoder", "encode", "encode_line",
           "encode_pane"]  # fmt: skip

MAX_FRAME: Final = 1 << 20
"""Bytes of a frame's map."""

MAX_PANE_LINES: Final = MAX_FRAME - 65_536
"""Bytes of the encoded lines of one pane frame: the rest is for all else in it."""

_HEAD: Final = 4
_VIEW: Final = {shape.name: shape for shape in FROM_VIEW}
_SERVICE: Final = {shape.name: shape for shape in FROM_SERVICE}


def encode(message: Message) -> bytes:
    """The frame of a message. Raises ValueError for one that is too large."""
    shape = BY_CLASS[type(message)]
    fields = {name: codec.pack(getattr(message, name)) for name, codec in shape.fields.items()}
    return _framed(msgpack.packb({"t": shape.name, **fields}))


def encode_line(line: Line) -> bytes:
    """One line as it stands in pane frames: to be encoded once, whoever is told of it."""
    packed: bytes = msgpack.packb(LINE.pack(line))
    return packed


def encode_pane(state: PaneState, lines: Sequence[bytes]) -> Iterable[bytes]:
    """The frames of a pane with these encoded lines (``state.lines`` is not looked at).

    More than one when the lines do not fit into one frame; only the first is ``full`` then. The
    lines of one frame replace those of the same number, so what comes between shows no harm.
    """
    shape = BY_CLASS[PaneState]
    for number, part in enumerate(_parts(lines)):
        packer = msgpack.Packer(autoreset=False)
        packer.pack_map_header(len(shape.fields) + 1)
        packer.pack("t")
        packer.pack(shape.name)
        for name, codec in shape.fields.items():
            if name == "lines":
                continue
            packer.pack(name)
            value = getattr(state, name)
            packer.pack(value and number == 0 if name == "full" else codec.pack(value))
        packer.pack("lines")
        packer.pack_array_header(len(part))
        yield _framed(packer.bytes() + b"".join(part))


def _parts(lines: Sequence[bytes]) -> Iterable[Sequence[bytes]]:
    begin = size = 0
    for at, line in enumerate(lines):
        size += len(line)
        if size > MAX_PANE_LINES and at > begin:
            yield lines[begin:at]
            begin, size = at, len(line)
    yield lines[begin:]


def _framed(body: bytes) -> bytes:
    if len(body) > MAX_FRAME:
        raise ValueError("the message is too large for a frame")
    return len(body).to_bytes(_HEAD, "big") + body


class _Frames:
    """Cuts a stream into frames and checks each. After BadFrame it is of no more use."""

    def __init__(self, shapes: Mapping[str, Shape]) -> None:
        self._shapes = shapes
        self._buffer = bytearray()

    def _messages(self, data: bytes) -> list[Any]:
        """The messages that are complete now. Raises BadFrame."""
        self._buffer += data
        found, at = [], 0
        while (end := self._end(at)) is not None:
            found.append(self._message(bytes(self._buffer[at + _HEAD : end])))
            at = end
        del self._buffer[:at]
        return found

    def _end(self, at: int) -> int | None:
        """Where the frame that begins at ``at`` ends, None while it is not complete."""
        if len(self._buffer) < at + _HEAD:
            return None
        length = int.from_bytes(self._buffer[at : at + _HEAD], "big")
        if length > MAX_FRAME:
            raise BadFrame("a frame is too large")
        end = at + _HEAD + length
        return end if len(self._buffer) >= end else None

    def _message(self, body: bytes) -> Message:
        try:
            values = msgpack.unpackb(body, strict_map_key=True)
        except (ValueError, TypeError, RecursionError, msgpack.exceptions.UnpackException) as error:
            raise BadFrame("a frame is no msgpack") from error
        return unpack(self._shapes, values)


class Decoder(_Frames):
    """What a view reads: the service's messages."""

    def __init__(self) -> None:
        super().__init__(_SERVICE)

    def feed(self, data: bytes) -> list[FromService]:
        """The messages that are complete now. Raises BadFrame."""
        return self._messages(data)


class ServiceDecoder(_Frames):
    """What the service reads: a view's messages."""

    def __init__(self) -> None:
        super().__init__(_VIEW)

    def feed(self, data: bytes) -> list[FromView]:
        """The messages that are complete now. Raises BadFrame."""
        return self._messages(data)
