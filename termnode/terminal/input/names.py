"""Names of keys, as tmux writes them: ``Up``, ``C-c``, ``M-S-F5``, ``^X``, ``0x41``, ``é``.

Names and prefixes are taken in any case. A character is itself, so ``a`` and ``A`` are two keys;
with Ctrl they are one, as everywhere: ``C-C`` is ``C-c``, and with Shift it is ``C-S-c``.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

CHAR: Final = "char"
"""The code of a key that is a character."""

MAX_NAME: Final = 32
"""Characters. The longest name with all its prefixes has fewer; a longer one is unknown unread."""

MAX_NEAREST: Final = 3

_SPELLINGS: Final[Mapping[str, tuple[str, ...]]] = {
    **{f"F{number}": () for number in range(1, 13)},
    **dict.fromkeys(("Up", "Down", "Left", "Right", "Home", "End"), ()),
    "Insert": ("IC",),
    "Delete": ("DC",),
    "PageDown": ("NPage", "PgDn"),
    "PageUp": ("PPage", "PgUp"),
    **dict.fromkeys(("Tab", "BTab", "Space", "BSpace", "Enter", "Escape"), ()),
    **{f"KP{key}": () for key in (*"0123456789/*-+.", "Enter")},
}
"""The canonical name of each key, with its other names."""

_NAMED: Final[Mapping[str, str]] = {
    spelling.lower(): name for name, others in _SPELLINGS.items() for spelling in (name, *others)
}

_ELSEWHERE: Final[Mapping[str, str]] = {
    "return": "Enter",
    "ret": "Enter",
    "cr": "Enter",
    "esc": "Escape",
    "del": "Delete",
    "ins": "Insert",
    "backspace": "BSpace",
    "bs": "BSpace",
    "spc": "Space",
    "backtab": "BTab",
}
"""What other programs call some keys: not taken, but it shows what was meant."""

_PREFIXES: Final = re.compile(r"(\^(?=.))?((?:[CMS]-(?=.))*)", re.IGNORECASE | re.DOTALL)
_WORDS: Final = re.compile(
    r"(?:(?:ctrl|control|alt|meta|option|shift|[cms])[-+](?=.))+", re.IGNORECASE
)
_LETTER_OF: Final[Mapping[str, str]] = {"c": "C", "a": "M", "m": "M", "o": "M", "s": "S"}
_HEX: Final = re.compile(r"0x([0-9a-f]{1,6})", re.IGNORECASE)

_CONTROLS: Final[Mapping[int, tuple[str, str, bool]]] = {
    **{number: (CHAR, chr(number | 0x60), True) for number in range(1, 27)},
    **{number: (CHAR, chr(number | 0x40), True) for number in range(28, 32)},
    0: (CHAR, " ", True),
    9: ("Tab", "", False),
    13: ("Enter", "", False),
    27: ("Escape", "", False),
    127: ("BSpace", "", False),
}
"""The keys that send the control characters: code, character, and whether Ctrl is held."""


class UnknownKey(ValueError):
    """A name that no key has. ``nearest`` has at most MAX_NEAREST names that look like it.

    The text goes after the name of a field, and never repeats what the caller wrote.
    """

    def __init__(self, nearest: list[str]) -> None:
        known = "keys are Up, F5, C-c, M-x or one character; term.type types words"
        advice = f"did you mean {', '.join(nearest)}?" if nearest else known
        super().__init__(f"has a name that is no key: {advice}")
        self.nearest = nearest


@dataclass(frozen=True, slots=True)
class Key:
    """A key and what is held with it. ``code`` is a canonical name, or CHAR with ``char``."""

    code: str
    char: str = ""
    ctrl: bool = False
    alt: bool = False
    shift: bool = False


def parse_key(name: str) -> Key:
    """The key that ``name`` means. Raises UnknownKey when it means none."""
    key = _key(name) if len(name) <= MAX_NAME else None
    if key is None:
        raise UnknownKey(_nearest(name))
    return key


def key_names() -> tuple[str, ...]:
    """The canonical names of all keys that have one, for help and completion."""
    return tuple(_SPELLINGS)


def _key(name: str) -> Key | None:
    found = _PREFIXES.match(name)
    assert found is not None  # it matches the empty string too
    held = found[2].upper()
    base = _base(name[found.end() :])
    if base is None:
        return None
    code, char, ctrl = base
    ctrl = ctrl or found[1] is not None or "C" in held
    return Key(code, _with_ctrl(char) if ctrl else char, ctrl, "M" in held, "S" in held)


def _with_ctrl(char: str) -> str:
    """Ctrl goes with the key and not with its capital: ^C and C-C are C-c; Shift is S-."""
    return char.lower() if char.isascii() else char


def _base(rest: str) -> tuple[str, str, bool] | None:
    """Code, character, and whether the name itself means Ctrl."""
    if len(rest) == 1:
        return _character(rest)
    name = _NAMED.get(rest.lower())
    if name is not None:
        return (CHAR, " ", False) if name == "Space" else (name, "", False)
    number = _HEX.fullmatch(rest)
    return None if number is None else _code_point(int(number[1], 16))


def _code_point(number: int) -> tuple[str, str, bool] | None:
    if number in _CONTROLS:
        return _CONTROLS[number]
    return _character(chr(number)) if number <= 0x10FFFF else None


def _character(char: str) -> tuple[str, str, bool] | None:
    """A character that is no control character and no half of a surrogate pair."""
    return None if unicodedata.category(char) in {"Cc", "Cs"} else (CHAR, char, False)


def _nearest(name: str) -> list[str]:
    """Known names that look like ``name``, best first, with its prefixes in tmux's spelling."""
    if len(name) > MAX_NAME:
        return []
    words = _WORDS.match(name)
    end = words.end() if words else 0
    prefix = "".join(
        f"{_LETTER_OF[word[0]]}-" for word in re.split("[-+]", name[:end].lower())[:-1]
    )
    rest = _with_ctrl(name[end:]) if "C" in prefix else name[end:]
    return [prefix + guess for guess in dict.fromkeys(_guesses(rest))][:MAX_NEAREST]


def _guesses(rest: str) -> Iterator[str]:
    if len(rest) == 1 and rest.isascii() and rest.isprintable():
        yield rest
        return
    known = {**_NAMED, **_ELSEWHERE}
    if rest.lower() in known:
        yield known[rest.lower()]
    for spelling in difflib.get_close_matches(rest.lower(), known, n=2 * MAX_NEAREST):
        yield known[spelling]
