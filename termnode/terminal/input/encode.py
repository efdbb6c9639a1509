"""Keys to bytes, as the program in the terminal has asked for them.

Sources: xterm's control sequences and its modifyOtherKeys; the kitty keyboard protocol, which goes
first where a program has asked for both.
"""

from __future__ import annotations

from collections.abc import Sequence

from termnode.terminal.engine import Modes
from termnode.terminal.input.keyboard import pressed
from termnode.terminal.input.kitty import encode_kitty, replaces_legacy
from termnode.terminal.input.legacy import encode_legacy
from termnode.terminal.input.names import CHAR, Key, parse_key
from termnode.terminal.input.other_keys import encode_other


def encode_key(key: Key, modes: Modes) -> bytes:
    """What pressing ``key`` sends: 1 to 40 bytes. Any key has an encoding in any modes."""
    physical = pressed(key)
    if replaces_legacy(modes.kitty_flags):
        return encode_kitty(physical, modes.kitty_flags)
    if modes.modify_other_keys > 0 and not _is_text(key):
        sequence = encode_other(physical, modes.modify_other_keys)
        if sequence is not None:
            return sequence
    return encode_legacy(physical, modes)


def encode_all(names: Sequence[str], modes: Modes) -> bytes:
    """What pressing all of them sends, in order. Raises UnknownKey before anything is encoded."""
    return b"".join([encode_key(key, modes) for key in [parse_key(name) for name in names]])


def _is_text(key: Key) -> bool:
    """A character by itself is text in every mode of xterm, even if it took Shift to write it."""
    return key.code == CHAR and not (key.ctrl or key.alt or key.shift)
