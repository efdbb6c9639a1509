"""What requests of shell.execute, .result and .cancel must be. Raises Refusal INVALID_ARGUMENT."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, Final

from brokerd.client import encode, invalid, parse_u64
from termnode.paneshell.calls import read_body
from termnode.paneshell.prompt.announce import MAX_CLAIM

EXECUTE: Final = "shell.execute"
RESULT: Final = "shell.execute.result"
CANCEL: Final = "shell.execute.cancel"

MAX_REQUEST: Final = 8_192
"""Bytes of a request's body."""

MAX_SOURCE: Final = 4_096
"""Bytes of a source, as UTF-8."""

MAX_WAIT_MS: Final = 45_000
"""For which a submission may wait for its end, and a request for a result."""


def read_execute(raw: bytes) -> dict[str, Any]:
    """The fields, ``request_id`` and ``prompt_generation`` as numbers, ``on_behalf_of`` or None,
    ``wait_ms`` 0 when not given."""
    body = read_body(
        raw,
        MAX_REQUEST,
        required={"request_id", "prompt_generation", "source"},
        optional={"on_behalf_of", "wait_ms"},
    )
    body["request_id"] = _number(body, "request_id")
    if body["request_id"] == 0:
        raise invalid("request_id", "request ids begin at 1")
    body["prompt_generation"] = _number(body, "prompt_generation")
    _check_source(body["source"])
    claim = body.setdefault("on_behalf_of", None)
    if claim is not None and not (isinstance(claim, str) and 0 < len(claim) <= MAX_CLAIM):
        raise invalid("on_behalf_of", f"the name is text of 1 to {MAX_CLAIM} characters")
    _check_wait(body)
    return body


def read_result(raw: bytes) -> dict[str, Any]:
    """The fields, ``wait_ms`` 0 when not given."""
    body = read_body(raw, MAX_REQUEST, required={"operation_id"}, optional={"wait_ms"})
    _check_operation(body)
    _check_wait(body)
    return body


def read_cancel(raw: bytes) -> dict[str, Any]:
    """The fields."""
    body = read_body(raw, MAX_REQUEST, required={"operation_id"}, optional=set())
    _check_operation(body)
    return body


def digest_of(body: Mapping[str, Any]) -> bytes:
    """What tells two submissions with one id apart: what they ask for, as `read_execute` read it.

    Not the target: it may have enrolled again since; nor for how long it waits.
    """
    asked = {name: body[name] for name in ("prompt_generation", "source", "on_behalf_of")}
    return hashlib.sha256(encode({"command": EXECUTE, **asked})).digest()


def _number(body: dict[str, Any], name: str) -> int:
    number = parse_u64(body[name])
    if number is None:
        raise invalid(name, "it is a decimal number as text, below 2^64")
    return number


def _check_source(source: object) -> None:
    if not isinstance(source, str) or not source.strip():
        raise invalid("source", "the source is text that is not blank")
    if "\0" in source:
        raise invalid("source", "the source has no NUL: leave it out")
    if len(source.encode()) > MAX_SOURCE:
        raise invalid("source", f"the source has at most {MAX_SOURCE} bytes: put it into a file")


def _check_wait(body: dict[str, Any]) -> None:
    wait = body.setdefault("wait_ms", 0)
    if type(wait) is not int or not 0 <= wait <= MAX_WAIT_MS:
        raise invalid("wait_ms", f"the wait is a number from 0 to {MAX_WAIT_MS} milliseconds")


def _check_operation(body: dict[str, Any]) -> None:
    if _number(body, "operation_id") == 0:
        raise invalid("operation_id", "operation ids begin at 1")
