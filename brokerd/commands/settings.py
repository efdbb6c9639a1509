"""Limits on the command line: ``--set NAME=VALUE`` for every number of ``brokerd.limits``."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping
from typing import Final, TypeAlias

from brokerd.limits import DEFAULTS, Limits

Setting: TypeAlias = "tuple[str, int]"
"""A limit's name, ``sessions.`` in front of one of ``SessionLimits``, and its value."""

_SESSIONS: Final = "sessions."
_MOST: Final = 2**31 - 1
"""Some of the limits are options of libzmq, which are 32-bit."""


def parse(text: str) -> Setting:
    """The setting in ``NAME=VALUE``; VALUE is 1 to 2147483647. Raises ValueError with words."""
    name, _, value = text.partition("=")
    if name not in NAMES:
        raise ValueError(f"there is no such limit; those there are: {', '.join(NAMES)}")
    if not re.fullmatch("[1-9][0-9]{0,9}", value, re.ASCII) or int(value) > _MOST:
        raise ValueError(f"use NAME=VALUE with a number from 1 to {_MOST}")
    return name, int(value)


def apply(settings: Iterable[Setting]) -> Limits:
    """The default limits with the settings made; the last of a name counts."""
    chosen = dict(settings)
    inner = {name.removeprefix(_SESSIONS): value for name, value in _of_sessions(chosen).items()}
    outer = {name: value for name, value in chosen.items() if not name.startswith(_SESSIONS)}
    sessions = dataclasses.replace(DEFAULTS.sessions, **inner)
    return dataclasses.replace(DEFAULTS, sessions=sessions, **outer)


def _of_sessions(settings: Mapping[str, int]) -> dict[str, int]:
    return {name: value for name, value in settings.items() if name.startswith(_SESSIONS)}


def _numbers(limits: object, prefix: str = "") -> list[str]:
    """The names of the limits that are numbers."""
    assert dataclasses.is_dataclass(limits)
    fields = dataclasses.fields(limits)
    return [prefix + each.name for each in fields if type(getattr(limits, each.name)) is int]


NAMES: Final = (*_numbers(DEFAULTS), *_numbers(DEFAULTS.sessions, _SESSIONS))
"""Every limit that can be set."""
