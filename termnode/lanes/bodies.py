"""Request bodies: which of them the retry record knows."""

from __future__ import annotations

from dataclasses import dataclass

from brokerd.client import Json
from termnode.control.equality import digest
from termnode.control.retry import Key, Scope
from termnode.control.schema import request_id
from termnode.control.spec import VerbSpec


@dataclass(frozen=True, slots=True)
class Identity:
    """A mutation's key in the retry record and the digest of its content."""

    key: Key
    digest: bytes


def identify(spec: VerbSpec, scope: Scope, body: dict[str, Json]) -> Identity | None:
    """None for what is never looked up: reads, waits, and mutations without a usable id."""
    chosen = request_id(body) if spec.mutates else None
    return None if chosen is None else Identity((scope, chosen), digest(spec.name, body))
