"""Bodies against the verb table: strict types, typed refusals, no value in any message.

A bool is no integer, 1.0 is not 1 and "42" is not 42 (facts 3.7). One check per field type.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from brokerd.client import Json, Refusal, invalid, parse_u64
from termnode.control.fields import REQUEST_ID
from termnode.control.keys import encode_keys
from termnode.control.patterns import compile_pattern
from termnode.control.spec import Check, Field, FieldType, VerbSpec
from termnode.terminal.input.names import UnknownKey, parse_key

Args: TypeAlias = dict[str, Json]
"""A checked body: fields of the table only, defaults filled in, words brought to one spelling."""

_PRINTABLE: Final = re.compile(r"[\x20-\x7e]+")

_NOT_IN_TITLE: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
"""Control characters, and those that break a line or turn its direction."""


def validate(spec: VerbSpec, body: Mapping[str, Json]) -> Args:
    """The body's fields, checked. Raises Refusal INVALID_ARGUMENT that names the field at fault."""
    fields = (*spec.fields, REQUEST_ID)
    known = [field.name for field in fields]
    if not body.keys() <= set(known):
        raise unknown_field(spec.name, known)
    return checked(fields, body, spec.check)


def checked(fields: tuple[Field, ...], body: Mapping[str, Json], check: Check | None) -> Args:
    """The fields of a body that has no others. Raises Refusal INVALID_ARGUMENT."""
    args: Args = {}
    for field in fields:
        if field.name in body:
            args[field.name] = _CHECKS[field.type](field, body[field.name])
        elif field.required:
            raise _refused(field, "is required")
        elif field.default is not None:
            args[field.name] = field.default
    if check is not None:
        check(args)
    return args


def unknown_field(verb: str, known: list[str]) -> Refusal:
    """The refusal that names the fields which the verb takes."""
    return invalid(
        "body",
        f"the body has an unknown field: {verb} takes {', '.join(known)}",
        reason="unknown_field",
        known=known,
    )


def request_id(body: Mapping[str, Json]) -> str | None:
    """The body's request id if it has a well-formed one; a malformed one is `validate`'s to say."""
    value = body.get(REQUEST_ID.name)
    return value if isinstance(value, str) and _is_request_id(value) else None


def _is_request_id(value: str) -> bool:
    return len(value) <= REQUEST_ID.high and _PRINTABLE.fullmatch(value) is not None


def _integer(field: Field, value: Json) -> Json:
    if type(value) is not int:
        raise _refused(field, "takes an integer, without quotes or fraction")
    if not field.low <= value <= field.high:
        raise _refused(field, f"takes {field.low} to {field.high}", limit=field.high)
    return value


def _decimal(field: Field, value: Json) -> Json:
    number = parse_u64(value)
    if number is None or not field.low <= number <= field.high:
        raise _refused(field, "takes a decimal number as a string, without sign or leading zeros")
    return number


def _boolean(field: Field, value: Json) -> Json:
    if not isinstance(value, bool):
        raise _refused(field, "takes true or false")
    return value


def _choice(field: Field, value: Json) -> Json:
    word = field.choices.get(value) if isinstance(value, str) else None
    if word is None:
        raise _refused(field, f"takes one of {', '.join(field.choices)}")
    return word


def _string(field: Field, value: Json) -> str:
    if not isinstance(value, str):
        raise _refused(field, "takes a string")
    if not field.low <= len(value) <= field.high:
        raise _refused(field, f"takes {field.low} to {field.high} characters", limit=field.high)
    return value


def _title(field: Field, value: Json) -> Json:
    text = _string(field, value)
    if _NOT_IN_TITLE.search(text):
        raise _refused(field, "takes no control characters and none that turn the text's direction")
    return text


def _path(field: Field, value: Json) -> Json:
    text = _string(field, value)
    if not text.startswith("/") or "\0" in text:
        raise _refused(field, "takes an absolute path without NUL")
    return text


def _keys(field: Field, value: Json) -> Json:
    text = _string(field, value)
    encode_keys(text)
    return text


def _key_names(field: Field, value: Json) -> Json:
    names = _strings(field, value)
    for number, name in enumerate(names):
        try:
            parse_key(name)
        except UnknownKey as unknown:
            raise _refused(
                field, str(unknown), reason="unknown_key", index=number, nearest=unknown.nearest
            ) from None
    return [*names]


def _text(field: Field, value: Json) -> Json:
    return _string(field, value)


def _choices(field: Field, value: Json) -> Json:
    words = _strings(field, value)
    if not set(words) <= field.choices.keys():
        raise _refused(field, f"takes an array of {', '.join(field.choices)}")
    return [field.choices[word] for word in dict.fromkeys(words)]


def _regex(field: Field, value: Json) -> Json:
    text = _string(field, value)
    compile_pattern(text, field.name)
    return text


def _request_id(field: Field, value: Json) -> Json:
    if not (isinstance(value, str) and _is_request_id(value)):
        raise _refused(field, f"takes a string of 1 to {field.high} printable ASCII characters")
    return value


def _argv(field: Field, value: Json) -> Json:
    words = _strings(field, value)
    if not words[0]:
        raise _refused(field, "takes a program's name or path first, not an empty string")
    return [*words]


def _strings(field: Field, value: Json) -> list[str]:
    if not isinstance(value, list):
        raise _refused(field, "takes an array of strings without NUL")
    words = [word for word in value if isinstance(word, str) and "\0" not in word]
    if len(words) != len(value):
        raise _refused(field, "takes an array of strings without NUL")
    if not field.low <= len(words) <= field.high:
        raise _refused(field, f"takes {field.low} to {field.high} strings", limit=field.high)
    return words


def _environment(field: Field, value: Json) -> Json:
    if not isinstance(value, dict) or not all(_is_plain(text) for text in value.values()):
        raise _refused(field, "takes an object of strings without NUL")
    if len(value) > field.high:
        raise _refused(field, f"takes at most {field.high} variables", limit=field.high)
    if not all(name and "=" not in name and "\0" not in name for name in value):
        raise _refused(field, "takes names that are not empty and have no = or NUL")
    return dict(value)


def _pairs(field: Field, value: Json) -> Json:
    """Not looked into any further: whoever uses them says what is wrong, and how many are."""
    if not isinstance(value, list) or not all(map(_is_pair, value)):
        raise _refused(field, "takes an array of pairs, name and value, both strings")
    return [*value]


def _is_pair(value: Json) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(isinstance(x, str) for x in value)


def _is_plain(value: Json) -> bool:
    return isinstance(value, str) and "\0" not in value


def _refused(field: Field, what: str, **details: object) -> Refusal:
    return invalid(field.name, f"{field.name} {what}", **details)


_CHECKS: Final[Mapping[FieldType, Callable[[Field, Json], Json]]] = {
    FieldType.INTEGER: _integer,
    FieldType.BOOLEAN: _boolean,
    FieldType.CHOICE: _choice,
    FieldType.TITLE: _title,
    FieldType.PATH: _path,
    FieldType.ARGV: _argv,
    FieldType.ENVIRONMENT: _environment,
    FieldType.KEYS: _keys,
    FieldType.KEY_NAMES: _key_names,
    FieldType.TEXT: _text,
    FieldType.CHOICES: _choices,
    FieldType.REGEX: _regex,
    FieldType.REQUEST_ID: _request_id,
    FieldType.DECIMAL: _decimal,
    FieldType.PAIRS: _pairs,
}
