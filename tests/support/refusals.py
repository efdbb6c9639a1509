"""Outcomes as values: for tests in which a refusal is as good as a result."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from brokerd.client import Refusal

T = TypeVar("T")


def outcome(operation: Callable[[], T]) -> T | Refusal:
    """What the operation returns, or the Refusal that it raises; other errors pass through."""
    try:
        return operation()
    except Refusal as refusal:
        return refusal
