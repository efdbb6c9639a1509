"""Whose request ids these are, and what is kept of those whose history had to go.

An id counts within its actor only. When there are too many actors the history of one is dropped,
and then its mark alone stands between a late repeat and a second run. So no mark is ever lost
while its actor may still be heard: one that cannot be kept is remembered as a bit that says "refuse
whatever it was".
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from typing import Final, Literal, TypeAlias

from termnode.control.spec import U64_MAX

MARKS: Final = 16_384
"""Marks kept of connections, and as many of records: 3 MB of each at most. When three quarters
are taken by connections, the broker is asked which of those have ended."""

ENDED_PER_CALL: Final = 2
"""Marks of ended actors given up per call: more than one call can add."""

_BITS: Final = 2**20
_PROBES: Final = 4

Kind: TypeAlias = Literal["bound", "ambient"]
Actor: TypeAlias = tuple[Literal["bound"], int, str, str] | tuple[Literal["ambient"], int, str, str]
"""bound: uid, record id, incarnation; ambient: uid, broker epoch, connection id."""


def anchor(actor: Actor) -> str:
    """The id with which the actor ends: of its record, or of its connection. Never given twice."""
    return actor[2] if actor[0] == "bound" else actor[3]


class Marks:
    """High-water marks of actors that have no history any more.

    That of a connection is kept until nothing of it can come any more (`gone`). That of a record,
    until it has been over for ``linger`` seconds: the notice of that overtakes what it sent. All
    end with their broker (`clear`). Over ``most`` per kind the coldest becomes a bit in a filter
    of fixed size, which reads as the highest mark there is: all its ids are refused, and its
    holder has to connect anew. A filter says so of a few strangers too; that is safe, and rare.
    """

    def __init__(self, *, most: int = MARKS, linger: float) -> None:
        self.most = most
        self.on_many: Callable[[], object] = _nobody
        """Called when a connection's mark is kept and three quarters are taken: be quick."""
        self._linger = linger
        self._marks: Mapping[Kind, OrderedDict[str, int]] = {
            "ambient": OrderedDict(),
            "bound": OrderedDict(),
        }
        self._ended: OrderedDict[str, float] = OrderedDict()
        self._forgotten: Mapping[Kind, Filter] = {"ambient": Filter(), "bound": Filter()}

    def get(self, actor: Actor) -> int:
        """The mark of an actor without a history; 0 when nothing is known of it."""
        kept = self._marks[actor[0]].get(anchor(actor))
        if kept is not None:
            return kept
        return U64_MAX if anchor(actor) in self._forgotten[actor[0]] else 0

    def put(self, actor: Actor, mark: int) -> None:
        """Keep the mark of an actor whose history goes."""
        marks, key = self._marks[actor[0]], anchor(actor)
        marks[key] = max(mark, marks.pop(key, 0))
        if len(marks) > self.most:
            coldest, _ = marks.popitem(last=False)
            self._ended.pop(coldest, None)
            self._forgotten[actor[0]].add(coldest)
        if actor[0] == "ambient" and len(marks) > self.most * 3 // 4:
            self.on_many()

    def take(self, actor: Actor) -> tuple[int, bool]:
        """The mark, which goes into a new history, and whether the actor is known to have ended."""
        mark, key = self.get(actor), anchor(actor)
        self._marks[actor[0]].pop(key, None)
        return mark, self._ended.pop(key, None) is not None

    def ended(self, key: str, now: float) -> None:
        """A connection or record has ended: its mark, if there is one, goes after a while."""
        if any(key in marks for marks in self._marks.values()):
            self._ended.setdefault(key, now + self._linger)

    def connections(self) -> tuple[str, ...]:
        """The connections of which marks are kept, coldest first."""
        return tuple(self._marks["ambient"])

    def gone(self, connections: Iterable[str]) -> None:
        """Nothing that these connections sent can come any more: their marks go now."""
        for key in connections:
            self._marks["ambient"].pop(key, None)
            self._ended.pop(key, None)

    def clear(self) -> None:
        """Nobody of whom a mark is kept, or was forgotten, can be heard any more."""
        for kind, marks in self._marks.items():
            marks.clear()
            self._forgotten[kind].clear()
        self._ended.clear()

    def purge(self, now: float) -> None:
        """Give up marks that nobody can ask for any more; at most `ENDED_PER_CALL` of them."""
        for _ in range(ENDED_PER_CALL):
            key = next(iter(self._ended), None)
            if key is None or now < self._ended[key]:
                return
            del self._ended[key]
            for marks in self._marks.values():
                marks.pop(key, None)

    def statistics(self) -> dict[str, int]:
        """How many marks are kept, wait to go, and were given up to the filters."""
        kept = sum(map(len, self._marks.values()))
        forgotten = sum(each.added for each in self._forgotten.values())
        return {"marks": kept, "marks_ended": len(self._ended), "forgotten": forgotten}

    def verify(self) -> None:
        """Raise AssertionError when a bound does not hold."""
        if any(len(marks) > self.most for marks in self._marks.values()):
            raise AssertionError("more marks than may be kept")
        if len(self._ended) > 2 * self.most:
            raise AssertionError("more ended actors than marks")


class Filter:
    """A set of random 128-bit ids in 128 KiB that takes some strangers for known.

    0.2 % of strangers after 65,536 additions. Its bits are those of the ids: they are random.
    """

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Know nobody."""
        self.added = 0
        self._bits = bytearray()

    def add(self, key: str) -> None:
        """Remember an id (32 hex digits)."""
        if not self._bits:
            self._bits = bytearray(_BITS // 8)
        self.added += 1
        for byte, bit in _places(key):
            self._bits[byte] |= bit

    def __contains__(self, key: str) -> bool:
        return self.added > 0 and all(self._bits[byte] & bit for byte, bit in _places(key))


def _places(key: str) -> list[tuple[int, int]]:
    number = int(key, 16)
    places = (number >> 32 * probe & _BITS - 1 for probe in range(_PROBES))
    return [(place >> 3, 1 << (place & 7)) for place in places]


def _nobody() -> None:
    """Nobody wants to know."""
