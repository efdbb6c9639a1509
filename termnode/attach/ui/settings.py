"""The values that `config.toml` may have, checked: each setting by its name."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, replace
from types import MappingProxyType
from typing import Any, Final

from termnode.attach.ui.bindings import COMMANDS, COPY, Binding, name_of
from termnode.attach.ui.state import Colours
from termnode.control import config_file
from termnode.control.config_file import Wrong
from termnode.control.model_config import SECTIONS, check_section
from termnode.terminal.engine import Color
from termnode.terminal.input.names import Key, UnknownKey, parse_key

NONE: Final = "none"
"""The action of a key that is to do nothing."""

_NAMES: Final = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
COLOUR_NAMES: Final[Mapping[str, Color]] = {
    "default": None,
    **{name: number for number, name in enumerate(_NAMES)},
    **{f"bright-{name}": number for number, name in enumerate(_NAMES, start=8)},
}
_RGB: Final = re.compile("#([0-9a-fA-F]{2})([0-9a-fA-F]{2})([0-9a-fA-F]{2})")


def settings(table: Mapping[str, Any]) -> dict[str, Any]:
    """What the file sets, by the names of `Config`'s fields. Raises Wrong."""
    found: dict[str, Any] = {}
    for name, value in table.items():
        if name in SECTIONS:  # about models: right or not, but no setting of a view
            check_section(name, value)
            continue
        if name not in _SETTINGS:
            raise Wrong((name,), _unknown("setting", name, [*_SETTINGS, *SECTIONS]))
        found[name.replace("-", "_")] = _SETTINGS[name](value)
    return found


def _prefix(value: object) -> str:
    return name_of(_key(("prefix",), value))


def _mouse(value: object) -> bool:
    if not isinstance(value, bool):
        raise Wrong(("mouse",), "mouse is true or false, without quotes")
    return value


def _keys(value: object) -> Mapping[Key, str | None]:
    return _bound("keys", value, COMMANDS)


def _copy_keys(value: object) -> Mapping[Key, str | None]:
    return _bound("copy-keys", value, COPY)


def _colours(value: object) -> Colours:
    known = {each.name.replace("_", "-"): each.name for each in fields(Colours)}
    changed: dict[str, Any] = {}
    for name, colour in config_file.section("colours", value).items():
        where = ("colours", name)
        if name not in known:
            raise Wrong(where, _unknown("colour", name, known))
        changed[known[name]] = _colour(where, colour)
    return replace(Colours(), **changed)


def _bound(section: str, value: object, bindings: tuple[Binding, ...]) -> Mapping[Key, str | None]:
    actions = {binding.action for binding in bindings}
    bound: dict[Key, str | None] = {}
    for name, action in config_file.section(section, value).items():
        where = (section, name)
        key = _key(where, name)
        if key in bound:
            raise Wrong(where, "this key is bound twice, under two of its names: keep one")
        if not isinstance(action, str) or action not in {*actions, NONE}:
            raise Wrong(where, _unknown("action", action, [*actions, NONE]))
        bound[key] = None if action == NONE else action
    return bound


def _key(where: tuple[str, ...], name: object) -> Key:
    if not isinstance(name, str):
        raise Wrong(where, 'a key is a text as "C-a"')
    try:
        return parse_key(name)
    except UnknownKey as error:
        raise Wrong(where, f"this {error}") from None


def _colour(where: tuple[str, ...], value: object) -> Color:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 255:
        return value
    if isinstance(value, str) and value in COLOUR_NAMES:
        return COLOUR_NAMES[value]
    rgb = _RGB.fullmatch(value) if isinstance(value, str) else None
    if rgb is None:
        raise Wrong(where, f'a colour is "#rrggbb", 0 to 255, or one of {", ".join(COLOUR_NAMES)}')
    return int(rgb[1], 16), int(rgb[2], 16), int(rgb[3], 16)


def _unknown(what: str, name: object, known: Iterable[str]) -> str:
    """The nearest names there are: they are the program's own, not the file's."""
    names = sorted(known)
    near = difflib.get_close_matches(str(name)[:64], names, n=3)
    choice = f"did you mean {', '.join(near)}?" if near else _first(names)
    return f"there is no such {what}: {choice}"


def _first(names: list[str]) -> str:
    if len(names) <= 16:
        return f"there are {', '.join(names)}"
    return "specs/attach.md and the prefix with ? list all there are"


_SETTINGS: Final[Mapping[str, Callable[[object], Any]]] = MappingProxyType(
    {
        "prefix": _prefix,
        "mouse": _mouse,
        "keys": _keys,
        "copy-keys": _copy_keys,
        "colours": _colours,
    }
)
