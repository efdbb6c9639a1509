"""Codecs: how one value travels, and whether what came is such a value.

A codec packs a checked Python value into what msgpack takes, and unpacks the same strictly: another
type, an unknown word or a value out of bounds raises BadFrame.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any, Final, TypeAlias

MAX_DEPTH: Final = 16
"""Of a verb's body."""


class BadFrame(Exception):
    """What came is no frame of this protocol; the message never holds what was sent."""


@dataclass(frozen=True, slots=True)
class Codec:
    """Both ways of one kind of value."""

    pack: Callable[[Any], Any]
    unpack: Callable[[Any], Any]


Fields: TypeAlias = Mapping[str, Codec]


def need(condition: object, what: str) -> None:
    """Raise BadFrame unless the condition holds."""
    if not condition:
        raise BadFrame(what)


def _same(value: Any) -> Any:  # noqa: ANN401
    return value


def plain(unpack: Callable[[Any], Any]) -> Codec:
    """A value that travels as it is."""
    return Codec(_same, unpack)


def integer(low: int, high: int) -> Codec:
    """An integer within bounds, both included."""

    def unpack(value: Any) -> int:  # noqa: ANN401
        need(type(value) is int and low <= value <= high, "an integer is missing or out of bounds")
        return int(value)

    return plain(unpack)


def text(most: int) -> Codec:
    """Text of at most so many characters."""

    def unpack(value: Any) -> str:  # noqa: ANN401
        need(isinstance(value, str) and len(value) <= most, "text is missing or too long")
        return str(value)

    return plain(unpack)


def raw(most: int) -> Codec:
    """At most so many bytes."""

    def unpack(value: Any) -> bytes:  # noqa: ANN401
        need(isinstance(value, bytes) and len(value) <= most, "bytes are missing or too many")
        return bytes(value)

    return plain(unpack)


def _boolean(value: Any) -> bool:  # noqa: ANN401
    need(isinstance(value, bool), "true or false is missing")
    return bool(value)


BOOLEAN: Final = plain(_boolean)


def word(kind: type[StrEnum]) -> Codec:
    """One of an enumeration's words."""
    words = {str(member): member for member in kind}

    def unpack(value: Any) -> StrEnum:  # noqa: ANN401
        need(isinstance(value, str) and value in words, "an unknown word")
        return words[value]

    return Codec(str, unpack)


def optional(inner: Codec) -> Codec:
    """None, or a value."""
    return Codec(
        lambda value: None if value is None else inner.pack(value),
        lambda value: None if value is None else inner.unpack(value),
    )


def sequence(inner: Codec, most: int) -> Codec:
    """At most so many values, as a tuple."""

    def unpack(value: Any) -> tuple[Any, ...]:  # noqa: ANN401
        need(isinstance(value, list) and len(value) <= most, "a list is missing or too long")
        return tuple(map(inner.unpack, value))

    return Codec(lambda values: [inner.pack(each) for each in values], unpack)


def row(*parts: Codec) -> Codec:
    """A tuple of fixed length."""

    def unpack(value: Any) -> tuple[Any, ...]:  # noqa: ANN401
        need(isinstance(value, list) and len(value) == len(parts), "a list of another length")
        return tuple(part.unpack(each) for part, each in zip(parts, value, strict=True))

    return Codec(
        lambda values: [part.pack(each) for part, each in zip(parts, values, strict=True)], unpack
    )


def record(cls: type[Any], *parts: Codec) -> Codec:
    """A dataclass as the list of its first fields, in their order; the rest keep their defaults."""
    names = [each.name for each in fields(cls)][: len(parts)]
    inner = row(*parts)
    return Codec(
        lambda value: inner.pack([getattr(value, name) for name in names]),
        lambda value: cls(*inner.unpack(value)),
    )


def strings(most: int, longest: int) -> Codec:
    """A map of strings: at most so many, each at most so long."""

    def unpack(value: Any) -> dict[str, str]:  # noqa: ANN401
        need(isinstance(value, dict) and len(value) <= most, "a map is missing or too large")
        good = all(
            isinstance(each, str) and len(each) <= longest
            for pair in value.items()
            for each in pair
        )
        need(good, "a map has something else than short strings")
        return dict(value)

    return Codec(dict, unpack)


def _json(value: Any, depth: int = 0) -> Any:  # noqa: ANN401
    need(depth < MAX_DEPTH, "a body is nested too deeply")
    if isinstance(value, dict):
        need(all(isinstance(name, str) for name in value), "a body has names that are no strings")
        return {name: _json(each, depth + 1) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_json(each, depth + 1) for each in value]
    need(value is None or isinstance(value, bool | int | float | str), "a body is no JSON")
    return value


def _body(value: Any) -> dict[str, Any]:  # noqa: ANN401
    need(isinstance(value, dict), "a body is missing")
    return dict(_json(value))


BODY: Final = Codec(_body, _body)
"""A verb's body or reply: a JSON object."""
