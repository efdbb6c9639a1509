"""From a reply's JSON object to a dataclass: strict about what is promised, deaf to what is new."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache, partial
from types import NoneType, UnionType
from typing import Any, Final, NewType, TypeVar, Union, get_args, get_origin, get_type_hints

from brokerd.client import Refusal, parse_u64
from termnode.client.errors import BadReply
from termnode.control.native.targets import Target, parse_target

R = TypeVar("R")

Decimal = NewType("Decimal", int)
"""A number that is a canonical decimal string on the wire, or a number there too."""

Convert = Callable[[Any], Any]
_Plan = tuple[tuple[str, str, Convert, bool], ...]


def decode(cls: type[R], body: Mapping[str, Any]) -> R:
    """An instance of the dataclass ``cls``; what it has no field for is ignored.

    A field whose name Python keeps for itself has an underscore behind it there. Raises BadReply
    that names the field which is missing or has another type, never a value.
    """
    found: dict[str, Any] = {}
    hashable: Any = cls
    for name, attribute, convert, required in _plan(hashable):
        if name in body:
            found[attribute] = _converted(convert, body[name], name)
        elif required:
            raise BadReply(f"the reply has no field {name}")
    return cls(**found)


@cache
def _plan(cls: Any) -> _Plan:  # noqa: ANN401  # the cache takes what has a hash
    hints = get_type_hints(cls)
    return tuple(
        (
            field.name.removesuffix("_"),
            field.name,
            _converter(hints[field.name]),
            field.default is MISSING and field.default_factory is MISSING,
        )
        for field in fields(cls)
    )


def _converted(convert: Convert, value: object, name: str) -> object:
    try:
        return convert(value)
    except TypeError:
        raise BadReply(f"the reply's field {name} has another type than promised") from None


def _converter(hint: Any) -> Convert:  # noqa: ANN401  # a type hint is any object
    if hint in _OWN:
        return _OWN[hint]
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in {UnionType, Union}:
        plain = [each for each in arguments if each is not NoneType]
        return partial(_optional, _one_of(plain))
    if origin is tuple:
        return partial(_items, _converter(arguments[0]))
    if is_dataclass(hint):
        return lambda value: _object(hint, value)
    if origin is not None:
        return partial(_plain, (dict,))
    return (lambda value: value) if hint in {Any, object} else partial(_plain, (hint,))


def _one_of(hints: list[Any]) -> Convert:
    return _converter(hints[0]) if len(hints) == 1 else partial(_plain, tuple(hints))


def _optional(convert: Convert, value: object) -> object:
    return None if value is None else convert(value)


def _items(convert: Convert, value: object) -> object:
    if not isinstance(value, list):
        raise TypeError
    return tuple(convert(item) for item in value)


def _object(cls: Any, value: object) -> object:  # noqa: ANN401  # a dataclass
    if not isinstance(value, dict):
        raise TypeError
    return decode(cls, value)


def _plain(types: tuple[type, ...], value: object) -> object:
    if type(value) not in types:  # not isinstance: a bool is no number
        raise TypeError
    return value


def _decimal(value: object) -> object:
    number = value if type(value) is int and value >= 0 else parse_u64(value)
    if number is None:
        raise TypeError
    return number


def _target(value: Any) -> object:  # noqa: ANN401  # a value of JSON
    try:
        return parse_target(value)
    except Refusal:
        raise TypeError from None


_OWN: Final[Mapping[Any, Convert]] = {Decimal: _decimal, Target: _target}
"""Types that are something else on the wire."""
