"""How a part of the service is replaced, in the process that is to be it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any, TypeAlias

Call: TypeAlias = "Callable[..., Any]"


def _modules() -> list[ModuleType]:
    return [module for name, module in sys.modules.items() if name.startswith("termnode")]


def everywhere(original: object, other: object) -> None:
    """Put ``other`` in the place of ``original`` in every module of the service."""
    for module in _modules():
        for key, value in list(vars(module).items()):
            if value is original:
                setattr(module, key, other)


def around(owner: type, name: str, wrap: Callable[[Call], Call]) -> None:
    """Put ``wrap`` of a method in its place."""
    setattr(owner, name, wrap(getattr(owner, name)))
