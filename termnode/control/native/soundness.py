"""Whether the parts of the ledger agree with each other."""

from __future__ import annotations

from collections.abc import Collection
from typing import TypeVar

from termnode.control.native.history import History, Outcome
from termnode.control.native.kept import Kept

R = TypeVar("R", bound=Outcome)


def disagreements(
    idle: Collection[History[R]], busy: Collection[History[R]], kept: Kept[R], running: int
) -> list[str]:
    """What is wrong, in words."""
    everyone = [*idle, *busy]
    checks = {
        "running entries": running == sum(len(each.running) for each in everyone),
        "kept entries": len(kept) == sum(len(each.kept) for each in everyone),
        "bytes kept": kept.bytes == sum(map(_bytes, everyone)),
        "an idle actor has entries": not any(each.size for each in idle),
        "a busy actor has none": all(each.size for each in busy),
        "an id over its mark": all(each.mark >= each.highest for each in everyone),
        "the order of entries": _ordered(kept.lapses()),
        "the order of actors": _ordered(
            [each.latest for each in busy if each.kept and not each.running]
        ),
    }
    return [what for what, holds in checks.items() if not holds]


def _bytes(history: History[R]) -> int:
    return sum(entry.size for entry in history.kept.values())


def _ordered(values: list[float]) -> bool:
    return values == sorted(values)
