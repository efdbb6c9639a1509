"""Commands that every shell reads alike, so that none must be asked: a name and plain words."""

from __future__ import annotations

import re
from typing import Final

_NAME: Final = r"[A-Za-z_./][A-Za-z0-9_./+-]*"
_WORD: Final = r"[A-Za-z0-9_./:,@+][A-Za-z0-9_./:,@+-]*"
_OPTION: Final = r"-[A-Za-z0-9_./:,@+=-]*"
"""The first character says which of the four a word is, so a search never has to turn back."""
_SINGLE: Final = r"'[ -&(-\[\]-~]*'"
"""No backslash in it: fish lets one quote there."""
_DOUBLE: Final = r'"[ #%-\[\]-_a-~]*"'
"""Nothing in it that any shell expands: ``! " $ \\`` and the backquote."""

_PLAIN: Final = re.compile(f"({_NAME})(?: (?:{_WORD}|{_OPTION}|{_SINGLE}|{_DOUBLE}))*", re.ASCII)

_GRAMMAR: Final = re.compile(
    r"and|begin|break|builtin|case|command|continue|coproc|declare|do|done|elif|else|end|esac|"
    r"eval|exec|export|fi|float|for|foreach|function|if|in|integer|local|nocorrect|noglob|not|or|"
    r"readonly|repeat|return|select|set|source|switch|then|time|typeset|until|while"
)
"""First words that one of the shells looks at when it reads a line, and not only when it runs it;
and a few more, which costs no more than the question."""


def is_plain(source: str) -> bool:
    """Whether the source is one simple command in bash, zsh and fish, and whole.

    One line of words with one blank between them, some of them in quotes that hide nothing. False
    says nothing at all: the shell itself must be asked then.
    """
    found = _PLAIN.fullmatch(source)
    return found is not None and not _GRAMMAR.fullmatch(found[1])
