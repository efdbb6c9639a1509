"""The sections of `config.toml` about what a model may do; the view's are `termnode.attach`'s."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from termnode.control.config_file import Wrong, section

ALLOWED: Final = ("input", "execute", "layout")
"""What may be let through to panes of a running service, besides looking."""

VIEW_SETTINGS: Final = frozenset({"prefix", "mouse", "keys", "copy-keys", "colours"})
"""Names at the top of the file that are the view's: it checks what is in them."""

_MAX_TOOLS: Final = 64
_TOOL: Final = re.compile(r"[a-z][a-z0-9]{0,31}(?:[_-][a-z0-9]{1,31}){0,4}")
_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,40}")


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """``terminal``: the experimental terminal is on. ``dont_ask``: tools whose question is answered
    with yes (``term_open``). ``allow``: which of `ALLOWED` a server may do to shared panes."""

    terminal: bool = False
    dont_ask: frozenset[str] = frozenset()
    allow: frozenset[str] = frozenset()


def model_config(table: Mapping[str, Any]) -> ModelConfig:
    """What the file says of models. Raises Wrong, also for a name that nobody knows at its top."""
    for name in table:
        if name not in SECTIONS and name not in VIEW_SETTINGS:
            raise Wrong((name,), _unknown("setting", name, [*SECTIONS, *sorted(VIEW_SETTINGS)]))
    found: dict[str, Any] = {}
    for name in SECTIONS.keys() & table.keys():
        found |= check_section(name, table[name])
    return ModelConfig(**found)


def check_section(name: str, value: object) -> dict[str, Any]:
    """Fields of `ModelConfig` that one of the `SECTIONS` sets. Raises Wrong."""
    keys = SECTIONS[name]
    found: dict[str, Any] = {}
    for key, given in section(name, value).items():
        if key not in keys:
            raise Wrong((name, key), _unknown(f"key in [{name}]", key, list(keys)))
        found[key] = keys[key]((name, key), given)
    return found


def _flag(where: tuple[str, ...], value: object) -> bool:
    if not isinstance(value, bool):
        raise Wrong(where, f"{where[-1]} is true or false, without quotes")
    return value


def _tools(where: tuple[str, ...], value: object) -> frozenset[str]:
    names = _words(where, value, 'a list of tools, as ["term_open"]')
    if not all(map(_TOOL.fullmatch, names)):
        raise Wrong(where, 'this is no name of a tool: write it as "term_open"')
    return frozenset(name.replace("-", "_") for name in names)


def _allowed(where: tuple[str, ...], value: object) -> frozenset[str]:
    names = _words(where, value, f"a list of {', '.join(ALLOWED)}")
    if not set(names) <= set(ALLOWED):
        raise Wrong(where, f"there is no such permission: there are {', '.join(ALLOWED)}")
    return frozenset(names)


def _words(where: tuple[str, ...], value: object, what: str) -> list[str]:
    given = value if isinstance(value, list) else [None]
    words = [word for word in given if isinstance(word, str)]
    if len(words) != len(given) or len(words) > _MAX_TOOLS:
        raise Wrong(where, f"{where[-1]} is {what}")
    return words


def _unknown(what: str, name: str, known: list[str]) -> str:
    """A plain name is said: it is a key, no value, and how a person finds what is no more."""
    named = f" '{name}'" if _NAME.fullmatch(name) else ""
    return f"there is no such {what}{named}: there are {', '.join(known)}"


SECTIONS: Final[Mapping[str, Mapping[str, Callable[[tuple[str, ...], object], Any]]]] = (
    MappingProxyType(
        {
            "experimental": MappingProxyType({"terminal": _flag}),
            "approval": MappingProxyType({"dont_ask": _tools}),
            "mcp": MappingProxyType({"allow": _allowed}),
        }
    )
)
"""Each section's keys, and what checks them."""
