"""JSON bodies: one strict decoder and one encoder for everything on the bus.

The standard decoder keeps the last of two equal keys, takes NaN and lone surrogates, and falls
over on deep nesting; each of these lets two readers see two different requests. This one refuses
them with a typed error that names the place and never repeats the value.
"""

from __future__ import annotations

import json
import math
import re
from typing import Final, TypeAlias

from brokerd.errors import Refusal, invalid

MAX_DEPTH: Final = 16
"""Arrays and objects may be nested this deep (facts 2.3)."""

MAX_DIGITS: Final = 40
"""Of an integer; nothing here has more than 20."""

_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*"')
_BRACKET: Final = re.compile(r"[\[\]{}]")

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"


def encode(value: object) -> bytes:
    """Compact UTF-8 JSON. Raises ValueError for NaN, TypeError for what JSON cannot say."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def decode_object(raw: bytes, *, empty_ok: bool = False) -> dict[str, Json]:
    """The JSON object in ``raw``; an empty body is an empty object when ``empty_ok``.

    Raises Refusal (INVALID_ARGUMENT, field "body") for anything else: not UTF-8, not JSON, not an
    object, a duplicate key at any depth, NaN or Infinity, a lone surrogate, nesting over MAX_DEPTH.
    """
    if not raw and empty_ok:
        return {}
    value = _parse(raw)
    if not isinstance(value, dict):
        raise _bad("the body must be a JSON object")
    return value


def _parse(raw: bytes) -> Json:
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        raise _bad("the body is not UTF-8") from None
    if _too_deep(text):
        raise _bad(f"the body is nested deeper than {MAX_DEPTH} levels")
    try:
        value: Json = _DECODER.decode(text)
    except Refusal:
        raise
    except (ValueError, RecursionError):
        raise _bad("the body is not JSON") from None
    if "\\u" in text and _has_surrogate(value):
        raise _bad("the body has half of a surrogate pair")
    return value


def _object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise _bad("the body has a duplicate key")
    return result


def _constant(_name: str) -> Json:
    raise _bad("the body has NaN or Infinity, which JSON does not know")


def _integer(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise _bad("the body has a number out of range")
    return int(digits)


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise _bad("the body has a number out of range")
    return value


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_object,
    parse_constant=_constant,
    parse_float=_finite,
    parse_int=_integer,
)
"""Made once: `json.loads` with hooks makes one for every message."""


def _too_deep(text: str) -> bool:
    """Whether brackets outside strings nest too deep: counted before parsing, in bounded stack."""
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return False
    depth = 0
    for bracket in _BRACKET.findall(_STRING.sub("", text)):
        depth += 1 if bracket in "[{" else -1
        if depth > MAX_DEPTH:
            return True
    return False


def _has_surrogate(value: Json) -> bool:
    if isinstance(value, str):
        return any("\ud800" <= char <= "\udfff" for char in value)
    if isinstance(value, list):
        return any(map(_has_surrogate, value))
    if isinstance(value, dict):
        return any(_has_surrogate(key) or _has_surrogate(item) for key, item in value.items())
    return False


def _bad(message: str) -> Refusal:
    return invalid("body", message)
