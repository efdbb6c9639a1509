"""Snapshots: everything a pane shows and remembers, as bytes.

Both screens, history, modes, cursors, the title, and even an unfinished sequence are kept; replies
and events not yet taken are not. Damaged input is refused as a whole. The format belongs to the
library: a snapshot is read only by the version that wrote it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final

from termnode.terminal.ghostty_engine.actions import MAX_TITLES, State
from termnode.terminal.ghostty_engine.library import NULL, SUCCESS, CData, ffi, lib
from termnode.terminal.ghostty_engine.options import CONTINUATION_BYTES, own_terminal
from termnode.terminal.ghostty_engine.prefilter import HELD_MAX

_MAGIC: Final = b"termnode-ghostty-1\n"
_MAX_HEAD: Final = 256 * 1024


class SnapshotError(ValueError):
    """A snapshot cannot be taken now (try again after more output), or cannot be read."""


@dataclass(frozen=True, slots=True)
class Saved:
    """A terminal from a snapshot, with what is kept beside it."""

    terminal: CData
    held: bytes
    state: State


def encode(terminal: CData, held: bytes, state: State) -> bytes:
    """Encode ``terminal``, the filter's held bytes and the engine's own state.

    Raises SnapshotError inside a sequence that is longer than the library remembers.
    """
    out, size = ffi.new("uint8_t **"), ffi.new("size_t *")
    if lib.ghostty_snapshot_encode_alloc(terminal, NULL, out, size) != SUCCESS:
        raise SnapshotError("output stops inside a long sequence; try again after more of it")
    try:
        body = bytes(ffi.buffer(out[0], size[0]))
    finally:
        lib.ghostty_free(NULL, out[0], size[0])
    head = json.dumps([held.hex(), state.titles, state.modify_other_keys]).encode()
    return b"%b%b\n%b" % (_MAGIC, head, body)


def decode(data: bytes) -> Saved:
    """The terminal in ``data``; SnapshotError when it is damaged or of another version."""
    end = data.find(b"\n", len(_MAGIC), _MAX_HEAD)
    if not data.startswith(_MAGIC) or end < 0:
        raise SnapshotError("this is no snapshot of this version; start the pane without it")
    held, state = _head(data[len(_MAGIC) : end])
    return Saved(_terminal(data[end + 1 :]), held, state)


def _head(raw: bytes) -> tuple[bytes, State]:
    try:
        held, titles, keys = json.loads(raw)
        state = State([str(title) for title in titles][:MAX_TITLES], int(keys))
        return bytes.fromhex(held)[:HELD_MAX], state
    except (ValueError, TypeError):
        raise SnapshotError("the snapshot is damaged; start the pane without it") from None


def _terminal(body: bytes) -> CData:
    source = ffi.from_buffer(body)
    decoder = ffi.new("GhosttySnapshotDecoder *")
    terminal = ffi.new("GhosttyTerminal *")
    if lib.ghostty_snapshot_decoder_new_buf(NULL, decoder, source, len(body)) != SUCCESS:
        raise SnapshotError("the snapshot is damaged; start the pane without it")
    try:
        _accept_continuation(decoder[0])
        if lib.ghostty_snapshot_decoder_decode(decoder[0], terminal) != SUCCESS:
            raise SnapshotError("the snapshot is damaged; start the pane without it")
    finally:
        lib.ghostty_snapshot_decoder_free(decoder[0])
    return own_terminal(terminal[0])


def _accept_continuation(decoder: CData) -> None:
    """Let the snapshot bring an unfinished sequence, as long as those that are written."""
    limit = ffi.new("size_t *", CONTINUATION_BYTES)
    lib.ghostty_snapshot_decoder_set(
        decoder, lib.GHOSTTY_SNAPSHOT_DECODER_OPT_MAX_CONTINUATION_BYTES, limit
    )
    lib.ghostty_snapshot_decoder_set(
        decoder, lib.GHOSTTY_SNAPSHOT_DECODER_OPT_RETAIN_CONTINUATION, ffi.new("bool *", True)
    )


def continuation(terminal: CData) -> bytes:
    """The beginning of a sequence or character that output has not finished yet."""
    size = ffi.new("size_t *")
    buffer = ffi.new("uint8_t[]", CONTINUATION_BYTES)
    result = lib.ghostty_terminal_continuation_buf(terminal, buffer, CONTINUATION_BYTES, size)
    return bytes(ffi.buffer(buffer, size[0])) if result == SUCCESS else b""
