"""Whether a command line looks as if there was a credential in it. Pure.

It is asked before a person is: a secret in a command line is in every list of processes, in
histories and logs. False alarms cost a turn, so what is looked for is narrow: well-known shapes of
tokens, words that say what follows, and long words of high entropy that are no path, hash or name.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

_TOKENS: Final = re.compile(
    r"(?<![A-Za-z0-9])(?:"
    r"gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,}"
    r"|glpat-[A-Za-z0-9_-]{18,}"
    r"|sk-(?:[a-z]+[0-9]*-)*[A-Za-z0-9_-]{20,}"
    r"|[sr]k_(?:live|test)_[A-Za-z0-9]{16,}"
    r"|xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-[A-Za-z0-9-]{10,}"
    r"|(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])"
    r"|AIza[A-Za-z0-9_-]{35}|ya29\.[A-Za-z0-9_-]{20,}"
    r"|npm_[A-Za-z0-9]{36}|pypi-[A-Za-z0-9_-]{40,}|hf_[A-Za-z0-9]{30,}"
    r"|dop_v1_[a-f0-9]{64}|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"
    r"|eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"
    r")"
)
"""Tokens that say by their beginning what they are."""

_KEY: Final = re.compile(r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY")
_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,20}://[^/\s:@'\"]*:([^/\s@'\"]+)@")
_NAMES: Final = (
    r"(?:pass(?:word|wd|phrase)?|pwd|secret|token|api[_-]?key|access[_-]?key|secret[_-]?key"
    r"|auth[_-]?token|access[_-]?token|client[_-]?secret|private[_-]?key|credentials?)"
)
_OPTION: Final = re.compile(rf"--?(?:[a-z0-9]{{1,16}}[_-]){{0,4}}{_NAMES}", re.IGNORECASE)
_ASSIGNED: Final = re.compile(
    rf"(?<![A-Za-z0-9])[A-Za-z0-9]{{0,8}}{_NAMES}\s{{0,8}}[=:]\s{{0,8}}[\"']?([^\s\"']+)",
    re.IGNORECASE,
)
"""Every repetition before the value is bounded: the time is that of the text, whatever it is."""

_HEADER: Final = re.compile(
    r"authorization\s{0,8}:\s{0,8}([^\s\"']+)(?:\s{1,8}([^\s\"']+))?"
    r"|\bbearer\s{1,8}([A-Za-z0-9._~+/=-]{8,})"
    r"|\b(?:x-api-key|x-auth-token|private-token|cookie)\s{0,8}:\s{0,8}([^\s\"']+)",
    re.IGNORECASE,
)
_MYSQL: Final = frozenset({"mysql", "mysqldump", "mysqladmin", "mariadb", "mariadb-dump", "mycli"})
_USER: Final = frozenset({"curl", "wget", "http", "https"})
_BLANK: Final = re.compile(
    r"[*x.]{1,64}|<[^>]*>|\{\{?[^}]*\}?\}|\$\{?[A-Za-z_][A-Za-z0-9_]*\}?|\$\(.*|`.*|-|@.*|/.*|\./.*"
    r"|true|false|none|null|yes|no|stdin|prompt|ask|file:.*|env:.*|password|secret|token|[0-9]{0,3}",
    re.IGNORECASE,
)
"""Values that stand for a secret, or say where it is: no secret themselves."""

_LONG: Final = re.compile(r"[A-Za-z0-9+/_=-]{32,512}")
_PLAIN: Final = re.compile(
    r"[0-9a-f]+|[0-9A-F]+|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
)
"""Hashes and UUIDs are in many command lines and open nothing."""

_WORDLIKE: Final = re.compile(r"[A-Za-z][a-z]{3,}")
_BITS: Final = 4.2
"""Bits a character above which a long word is taken for a secret: text is below 4, Base64 of random
bytes above 4.5 in 40 characters."""

_MAX_WORD: Final = 65_536
"""Characters of a word that are looked at."""


def has_credential(argv: Sequence[str]) -> bool:
    """Whether a word of the command line, or two of them together, look like a credential."""
    words = [word[:_MAX_WORD] for word in argv]
    return any(map(_in_word, words)) or _in_options(words)


def _in_word(word: str) -> bool:
    if _TOKENS.search(word) or _KEY.search(word):
        return True
    return any(map(_is_secret, _values(word))) or _is_random(word)


def _values(word: str) -> Iterator[str]:
    """What stands where a secret would."""
    yield from (found[1] for found in _URL.finditer(word))
    yield from (found[1] for found in _ASSIGNED.finditer(word))
    for found in _HEADER.finditer(word):
        yield found[2] or found[1] or found[3] or found[4] or ""


def _in_options(words: Sequence[str]) -> bool:
    """A secret beside its option, or glued to it as MySQL's tools take it."""
    program = words[0].rpartition("/")[2].lower() if words else ""
    for word, after in zip(words[1:], [*words[2:], ""], strict=False):
        if _OPTION.fullmatch(word) and after[:1] != "-" and _is_secret(after):
            return True
        if program in _MYSQL and re.fullmatch(r"-p[^\s]+", word) and _is_secret(word[2:]):
            return True
        if program == "sshpass" and re.fullmatch(r"-p.+", word):
            return True
        if program == "sshpass" and word == "-p" and after:
            return True
        if program in _USER and _user_with_password(word, after):
            return True
    return False


def _user_with_password(word: str, after: str) -> bool:
    """``curl -u name:secret``."""
    given = after if word in {"-u", "--user", "-a", "--auth"} else None
    if given is None and word.startswith(("-u", "--user=")) and ":" in word:
        given = word.removeprefix("--user=").removeprefix("-u")
    return given is not None and _is_secret(given.partition(":")[2])


def _is_secret(value: str) -> bool:
    """Whether it is a value, and none of those that only stand for one."""
    return bool(value) and _BLANK.fullmatch(value) is None


def _is_random(word: str) -> bool:
    """Whether there is a long stretch of what only a machine makes up."""
    return any(_looks_random(found[0]) for found in _LONG.finditer(word))


def _looks_random(text: str) -> bool:
    parts = [part for part in re.split(r"[/_=+-]", text) if part]
    longest = max(parts, key=len, default="")
    if _PLAIN.fullmatch(text) or len(longest) < 20 or _PLAIN.fullmatch(longest):
        return False
    kinds = sum(bool(re.search(kind, longest)) for kind in ("[a-z]", "[A-Z]", "[0-9]"))
    spelled = sum(len(found[0]) for found in _WORDLIKE.finditer(longest))
    return kinds == 3 and spelled < len(longest) / 2 and _bits(longest) > _BITS


def _bits(text: str) -> float:
    """Shannon's entropy of its characters, in bits a character."""
    total = len(text)
    return -sum(n / total * math.log2(n / total) for n in Counter(text).values())
