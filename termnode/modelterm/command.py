"""A command line as it is shown to a person, and run. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from termnode.modelterm.limits import DEFAULTS, Limits
from termnode.modelterm.results import wrong


def command_line(argv: Sequence[str]) -> str:
    """The words quoted for a shell; control characters and the like are written as escapes.

    ``$'...'`` is how bash and zsh write them: what is shown can be typed there.
    """
    return " ".join(map(_word, argv))


def check_argv(argv: Sequence[str], limits: Limits = DEFAULTS) -> list[str]:
    """The words, checked. Raises TermError INVALID_ARGUMENT."""
    words = list(argv)
    if not words or not words[0]:
        raise wrong("cmd is empty: give the name or path of a program")
    if len(words) > limits.argv:
        raise wrong(f"a command line has at most {limits.argv} words: put the rest in a file")
    if any("\0" in word for word in words):
        raise wrong("a word has a NUL in it: no program can be given one")
    return words


def program_name(argv: Sequence[str], limits: Limits = DEFAULTS) -> str:
    """The program's name for a header: the last part of its path, cut, nothing hidden in it."""
    name = argv[0].rstrip("/").rpartition("/")[2] or argv[0]
    seen = "".join("?" if _is_hidden(char) or char in "[]|" else char for char in name)
    return seen[: limits.name_chars]


def title(argv: Sequence[str], limits: Limits = DEFAULTS) -> str:
    """The title of the terminal's tab."""
    line = command_line(argv)
    cut = line if len(line) <= limits.title_chars else line[: limits.title_chars - 1] + "…"
    return f"model: {cut}"


def _word(word: str) -> str:
    if not any(map(_is_hidden, word)):
        return shlex.quote(word)
    escaped = "".join(
        _escape(char) if _is_hidden(char) else {"'": "\\'", "\\": "\\\\"}.get(char, char)
        for char in word
    )
    return f"$'{escaped}'"


def _escape(char: str) -> str:
    number = ord(char)
    short = {"\t": "\\t", "\n": "\\n", "\r": "\\r", "\x1b": "\\e"}.get(char)
    if short is not None:
        return short
    if number < 0x80:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def _is_hidden(char: str) -> bool:
    """Whether it is not seen, or not told from another: what moves others about, odd blanks."""
    return not char.isprintable()
