"""What a request about tasks must be. No I/O.

A submission is judged in this order: source or argv, timeout, size of env, names of env, cwd.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from brokerd.client import invalid, limit_reached, parse_u64
from termnode.paneshell.tasks.limits import (
    MAX_ENVIRONMENT,
    MAX_SOURCE,
    MAX_TIMEOUT_MS,
    MAX_VARIABLES,
    MAX_WAIT_MS,
    MAX_WORDS,
)

REQUIRED: Final = {"request_id"}
OPTIONAL: Final = {"source", "argv", "cwd", "env", "timeout_ms"}
"""Fields of a submission; those without which nothing runs are asked for in their turn."""


@dataclass(frozen=True, slots=True)
class Submission:
    """One sound submission: a script, or the words of a program."""

    request_id: int
    source: str | None
    words: tuple[str, ...]
    timeout_ms: int
    added: tuple[tuple[str, str], ...]
    cwd: str

    def argv(self, shell: str) -> tuple[bytes, ...]:
        """What is run; a script by ``shell``."""
        words = self.words if self.source is None else (shell, "-c", self.source)
        return tuple(word.encode() for word in words)

    @property
    def overlay(self) -> list[tuple[bytes, bytes]]:
        """The variables that it adds."""
        return [(name.encode(), value.encode()) for name, value in self.added]


def submission(body: Mapping[str, Any]) -> Submission:
    """The submission in a request's own fields. Raises Refusal INVALID_ARGUMENT, RESOURCE_LIMIT."""
    request_id = read_request_id(body.get("request_id"))
    source, words = _mode(body)
    timeout = _timeout(body.get("timeout_ms"))
    return Submission(
        request_id, source, words, timeout, _added(body.get("env", [])), _cwd(body.get("cwd"))
    )


def read_request_id(value: object) -> int:
    """Raises Refusal INVALID_ARGUMENT for what is no u64 above 0."""
    number = parse_u64(value)
    if not number:
        raise invalid("request_id", "request_id is a decimal string from 1: count up by yourself")
    return number


def read_operation_id(body: Mapping[str, Any]) -> str:
    """Raises Refusal INVALID_ARGUMENT for what no operation can have as its id."""
    value: object = body.get("operation_id")
    if not isinstance(value, str) or parse_u64(value) is None:
        raise invalid("operation_id", "operation_id is a decimal string, as it was replied")
    return value


def read_wait(body: Mapping[str, Any]) -> float:
    """Seconds that the caller would wait for the end. Raises Refusal INVALID_ARGUMENT."""
    value: object = body.get("wait_ms", 0)
    if type(value) is not int or not 0 <= value <= MAX_WAIT_MS:
        raise invalid("wait_ms", f"wait_ms is a number from 0 to {MAX_WAIT_MS}: ask again after it")
    return value / 1_000


def _mode(body: Mapping[str, Any]) -> tuple[str | None, tuple[str, ...]]:
    if ("source" in body) == ("argv" in body):
        raise invalid("source", "a task has either source or argv: give one of them")
    if "source" in body:
        return _source(body["source"]), ()
    return None, _words(body["argv"])


def _source(value: object) -> str:
    if not isinstance(value, str) or not value.strip() or "\0" in value:
        raise invalid("source", "source is text that is not blank and has no NUL")
    if _size(value) > MAX_SOURCE:
        raise invalid("source", f"source has at most {MAX_SOURCE} bytes: put it into a file")
    return value


def _words(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not value or not all(isinstance(word, str) for word in value):
        raise invalid("argv", "argv is an array of text with the program as its first")
    if not value[0] or any("\0" in word for word in value):
        raise invalid("argv", "argv has a program as its first word, and no NUL")
    if len(value) > MAX_WORDS or sum(map(_size, value)) > MAX_SOURCE:
        text = f"argv has at most {MAX_WORDS} words of {MAX_SOURCE} bytes together: use a file"
        raise invalid("argv", text)
    return tuple(value)


def _timeout(value: object) -> int:
    if type(value) is not int or not 1 <= value <= MAX_TIMEOUT_MS:
        raise invalid("timeout_ms", f"timeout_ms is a number from 1 to {MAX_TIMEOUT_MS}: give it")
    return value


def _added(value: object) -> tuple[tuple[str, str], ...]:
    if not isinstance(value, list) or not all(map(_is_pair, value)):
        raise invalid("env", "env is an array of pairs, name and value, both text")
    _check_size(value)
    names = [name for name, _ in value]
    if any(not name or "=" in name or "\0" in name for name in names):
        raise invalid("env", "a name in env is not empty and has neither '=' nor NUL")
    if len(set(names)) < len(names):
        raise invalid("env", "env has a name twice: keep one of them")
    if any("\0" in text for _, text in value):
        raise invalid("env", "a value in env has no NUL")
    return tuple((name, text) for name, text in value)


def _check_size(pairs: list[Any]) -> None:
    if len(pairs) > MAX_VARIABLES:
        text = f"env has at most {MAX_VARIABLES} variables: put the others into a file"
        raise limit_reached("env_variables", MAX_VARIABLES, text)
    if sum(_size(name) + _size(value) for name, value in pairs) > MAX_ENVIRONMENT:
        text = f"env has at most {MAX_ENVIRONMENT} bytes of names and values: use a file"
        raise limit_reached("env_bytes", MAX_ENVIRONMENT, text)


def _cwd(value: object) -> str:
    if not isinstance(value, str) or not value.startswith("/") or "\0" in value:
        raise invalid("cwd", "cwd is the absolute path of a directory: give it")
    return value


def _is_pair(value: object) -> bool:
    return (
        isinstance(value, list) and len(value) == 2 and all(isinstance(text, str) for text in value)
    )


def _size(text: str) -> int:
    return len(text.encode())
