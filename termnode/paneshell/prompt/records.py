"""What a shell's integration tells on its control pipe: strict parsing of NUL-ended records."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

MAX_RECORD: Final = 8_192
"""Bytes of one record; a path has at most 4,096."""

WORDS: Final = frozenset(
    {
        "ADMITTED",
        "READY",
        "BUSY",
        "RUNNING",
        "CONTINUATION",
        "STALE_GENERATION",
        "EXPIRED",
        "HOOKS_LOST",
    }
)
"""What a shell answers to a request."""


@dataclass(frozen=True, slots=True)
class Hello:
    """The integration is in place, in the process ``pid``."""

    kind: str
    version: str
    pid: int


@dataclass(frozen=True, slots=True)
class Prompt:
    """A primary prompt is shown; ``status`` is of what ran last, ``op`` that operation or None."""

    generation: int
    status: int
    op: str | None
    cwd: bytes


@dataclass(frozen=True, slots=True)
class Run:
    """A line was accepted and runs."""

    generation: int
    op: str | None


@dataclass(frozen=True, slots=True)
class Cont:
    """A continuation prompt is shown: the line needs more."""

    generation: int


@dataclass(frozen=True, slots=True)
class ReplyWord:
    """What the shell answers to a request; ``length`` is of the line in its editor."""

    id: str
    word: str
    generation: int
    length: int


PromptRecord = Hello | Prompt | Run | Cont | ReplyWord


class RecordStream:
    """Records out of the bytes of a control pipe, however these are cut."""

    def __init__(self) -> None:
        self.malformed = 0
        """Records that were none, and were dropped."""
        self._rest = b""
        self._skipping = False

    def feed(self, data: bytes) -> Iterator[PromptRecord]:
        """The records that these bytes complete."""
        *whole, self._rest = (self._rest + data).split(b"\0")
        for raw in whole:
            if record := self._take(raw):
                yield record
        if len(self._rest) > MAX_RECORD:
            self._rest, self._skipping = b"", True

    def _take(self, raw: bytes) -> PromptRecord | None:
        """The record, unless it is the rest of one that was too long."""
        skipped, self._skipping = self._skipping, False
        record = None if skipped else parse(raw)
        self.malformed += record is None
        return record


_NUMBER: Final = rb"(0|[1-9][0-9]{0,18})"
_OP: Final = rb"([A-Za-z0-9_-]{1,64})"

_HELLO: Final = re.compile(rb"HELLO (bash|zsh|fish) ([!-~]{1,64}) " + _NUMBER)
_PROMPT: Final = re.compile(
    rb"PROMPT " + _NUMBER + rb" ([0-9]{1,10}) " + _OP + rb" (.{0,8192})", re.DOTALL
)
_RUN: Final = re.compile(rb"RUN " + _NUMBER + rb" " + _OP)
_CONT: Final = re.compile(rb"CONT " + _NUMBER)
_REPLY: Final = re.compile(
    rb"REPLY " + _OP + rb" ([A-Z_]{1,32}) " + _NUMBER + rb" " + _NUMBER,
)


def parse(raw: bytes) -> PromptRecord | None:
    """The record in these bytes; None when they are not exactly one."""
    if len(raw) > MAX_RECORD:
        return None
    if found := _PROMPT.fullmatch(raw):
        generation, status, op, cwd = found.groups()
        return Prompt(int(generation), int(status), _op(op), cwd)
    if found := _RUN.fullmatch(raw):
        return Run(int(found[1]), _op(found[2]))
    if found := _REPLY.fullmatch(raw):
        word = found[2].decode()
        known = word in WORDS
        return ReplyWord(found[1].decode(), word, int(found[3]), int(found[4])) if known else None
    return _parse_rare(raw)


def _parse_rare(raw: bytes) -> PromptRecord | None:
    if found := _CONT.fullmatch(raw):
        return Cont(int(found[1]))
    if found := _HELLO.fullmatch(raw):
        return Hello(found[1].decode(), found[2].decode(), int(found[3]))
    return None


def _op(raw: bytes) -> str | None:
    return None if raw == b"-" else raw.decode()
