"""Request bodies: size, strict JSON, and which of them the retry record knows."""

from __future__ import annotations

from dataclasses import dataclass

from brokerd.client import MAX_REQUEST_BODY, Json, decode_object, invalid
from termnode.control.equality import digest
from termnode.control.retry import Key, Scope
from termnode.control.schema import request_id
from termnode.control.spec import VerbSpec


@dataclass(frozen=True, slots=True)
class Identity:
    """A mutation's key in the retry record and the digest of its content."""

    key: Key
    digest: bytes


def decode(raw: bytes) -> dict[str, Json]:
    """The body as an object. Raises Refusal INVALID_ARGUMENT, field "body"."""
    if len(raw) > MAX_REQUEST_BODY:
        raise invalid(
            "body",
            f"the body is over {MAX_REQUEST_BODY} bytes: send less at a time",
            limit=MAX_REQUEST_BODY,
        )
    # Empty is an empty object: what a verb needs is then missing, and refused by its name.
    return decode_object(raw, empty_ok=True)


def identify(spec: VerbSpec, scope: Scope, body: dict[str, Json]) -> Identity | None:
    """None for what is never looked up: reads, waits, and mutations without a usable id."""
    chosen = request_id(body) if spec.mutates else None
    return None if chosen is None else Identity((scope, chosen), digest(spec.name, body))
