"""The result that a script may write to its descriptor 3: one JSON value. No I/O."""

from __future__ import annotations

from typing import Any, Final

from brokerd.client import Refusal, decode_object, encode, invalid
from termnode.paneshell.tasks.capture import Stream
from termnode.paneshell.tasks.limits import MAX_RESULT

NOT_APPLICABLE: Final[dict[str, Any]] = {"kind": "not_applicable"}
MISSING: Final[dict[str, Any]] = {"kind": "result_missing"}
TORN: Final[dict[str, Any]] = {"kind": "result_torn"}
ABANDONED: Final[dict[str, Any]] = {"kind": "result_abandoned"}

_MAX_DEPTH: Final = 8
"""Of a value: a reply adds some levels, and no decoder on its way takes more than 16."""


def result_of(told: Stream) -> dict[str, Any]:
    """What a report says of the result descriptor after the task's end.

    ``result_abandoned``: somebody could still have written, or what came is lost;
    ``result_missing``: nothing came; ``result_torn``: what came is no one JSON value of at most
    65,536 bytes.
    """
    if told.writer_survived or told.lost:
        return ABANDONED
    if not told.kept.strip():
        return MISSING
    if told.bytes > MAX_RESULT:
        return TORN
    try:
        value = _value(told.kept)
    except Refusal:
        return TORN
    return {"kind": "value", "data": value}


def _value(raw: bytes) -> Any:  # noqa: ANN401  # any JSON value
    """The value, or how long it was when a reply cannot hold it. Raises Refusal."""
    # Wrapped so that the one strict decoder judges it; a second key means that `raw` closed it.
    wrapped = decode_object(b'{"value":' + raw + b"}")
    if len(wrapped) != 1:
        raise invalid("result", "the result is one JSON value")
    value = wrapped["value"]
    if _deeper(value, _MAX_DEPTH) or len(encode(value)) > MAX_RESULT:
        return {"ok": True, "truncated": True, "bytes": len(raw)}
    return value


def _deeper(value: object, levels: int) -> bool:
    if not isinstance(value, (dict, list)):
        return False
    inner = value.values() if isinstance(value, dict) else value
    return levels == 0 or any(_deeper(item, levels - 1) for item in inner)
