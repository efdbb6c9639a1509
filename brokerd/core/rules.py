"""What an audit finds broken, it raises as AssertionError: unlike ``assert``, also under -O."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable

from brokerd.core.charges import Meter


def rule(holds: bool, words: str) -> None:
    """Raise AssertionError with the name of the rule unless it holds."""
    if not holds:
        raise AssertionError(words)


def meter_rule(meter: Meter, owners: Iterable[Hashable]) -> None:
    """Raise AssertionError unless ``meter`` counts one for each of ``owners``, within its cap."""
    held = Counter(owners)
    rule(dict(meter.counts()) == held, f"{meter.name}: charged other than what is held")
    rule(all(count <= meter.cap for count in held.values()), f"{meter.name}: over its cap")
