"""What a program can say at any speed is told at a bearable one. No I/O.

What comes too fast is held: the newest of each kind, with the number of those it stands for, until
there is room again. So the last title, the last prompt, is always told.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

WINDOW_S: Final = 1.0

BELLS: Final = 10
TITLES: Final = 10
MARKS: Final = 64
"""How many of these a second are told of one pane (a shell's prompts and commands are marks)."""

HUMAN_INPUTS: Final = 1
"""How often a second it is told that a person types there."""

Fields: TypeAlias = Mapping[str, object]


@dataclass(slots=True)
class _Held:
    fields: Fields
    dropped: int


class Throttle:
    """Lets ``limit`` through in any second. Times are monotonic seconds.

    Once something is held, all that follows is held too: the order stays.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._times: deque[float] = deque(maxlen=limit)
        self._held: dict[str, _Held] = {}

    def offer(self, kind: str, fields: Fields, now: float) -> Fields | None:
        """The fields to tell now; None when it is held for `flush`."""
        if not self._held and self._room(1, now):
            self._times.append(now)
            return fields
        before = self._held.pop(kind, None)  # anew at the end: in order of arrival
        self._held[kind] = _Held(fields, 0 if before is None else before.dropped + 1)
        return None

    @property
    def due(self) -> float | None:
        """When what is held may go; None while nothing is."""
        return self._free_at(len(self._held)) if self._held else None

    def flush(self, now: float, *, at_once: bool = False) -> list[tuple[str, Fields]]:
        """What was held and may go now, in order; ``dropped`` in it says how many did not.

        ``at_once`` lets it go although there is no room yet.
        """
        if not self._held or not (at_once or self._room(len(self._held), now)):
            return []
        held, self._held = self._held, {}
        self._times.extend([now] * len(held))
        return [
            (kind, {**each.fields, "dropped": each.dropped} if each.dropped else each.fields)
            for kind, each in held.items()
        ]

    def _room(self, count: int, now: float) -> bool:
        return self._free_at(count) <= now

    def _free_at(self, count: int) -> float:
        """When ``count`` more may go: so many of those in the last second are then older."""
        over = len(self._times) + count - self._limit
        return self._times[over - 1] + WINDOW_S if over > 0 else float("-inf")


class Hearing:
    """What one pane's program says besides its output, and that people type there, slowed down."""

    def __init__(self) -> None:
        marks = Throttle(MARKS)  # one for both: a prompt is not told before its command
        self._of = {
            "bell": Throttle(BELLS),
            "title": Throttle(TITLES),
            "prompt": marks,
            "command": marks,
            "input": Throttle(HUMAN_INPUTS),
        }
        self._all = tuple(dict.fromkeys(self._of.values()))

    def offer(self, kind: str, fields: Fields, now: float) -> Fields | None:
        """As `Throttle.offer`."""
        return self._of[kind].offer(kind, fields, now)

    @property
    def due(self) -> float | None:
        """When something that is held may go; None while nothing is."""
        return min((due for each in self._all if (due := each.due) is not None), default=None)

    def flush(self, now: float, *, at_once: bool = False) -> list[tuple[str, Fields]]:
        """As `Throttle.flush`."""
        return [item for each in self._all for item in each.flush(now, at_once=at_once)]
