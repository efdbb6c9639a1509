"""When lines changed, carried over to another width.

A width lays rows out anew, but the characters stay in their order. So the rows are taken as one
stream of characters without blanks, in which every character keeps its stamp.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from typing import Final

from termnode.terminal.engine import Engine
from termnode.terminal.screen_log.marks import Marks, common_suffix, tidy, whole
from termnode.terminal.screen_log.page import Page
from termnode.terminal.screen_log.past import Past
from termnode.terminal.screen_log.rows import Row, new_row, read, read_texts

CARRIED: Final = 300
"""Lines of history carried one by one. Those above count as new as the newest of them."""

TAIL: Final = 200
"""Characters by which what was there is found again, when more may have been written since."""


class Stamps:
    """A stamp for each position of a stream, kept in runs."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._stamps: list[int] = []

    def put(self, start: int, stamp: int) -> None:
        """From ``start`` on it is ``stamp``; starts never fall, and the last at one place stays."""
        if self._starts and self._starts[-1] == start:
            self._stamps[-1] = stamp
        elif not self._stamps or self._stamps[-1] != stamp:
            self._starts.append(start)
            self._stamps.append(stamp)

    def over(self, start: int, end: int) -> list[tuple[int, int]]:
        """The runs of positions ``start`` to before ``end``, as (offset from start, stamp)."""
        if not self._starts:
            return []
        first = max(bisect_right(self._starts, start) - 1, 0)
        last = max(bisect_right(self._starts, end - 1), first + 1)
        return [(max(self._starts[n] - start, 0), self._stamps[n]) for n in range(first, last)]


class Stream:
    """The characters of some neighbouring rows. ``older``: when what stands above changed last."""

    def __init__(self, older: int) -> None:
        self.older = older
        self.text = ""
        self.characters = Stamps()
        self.lines = Stamps()

    @classmethod
    def of_rows(cls, rows: Iterable[Row], older: int) -> Stream:
        """A stream of rows as they were last seen."""
        stream, length, texts = cls(older), 0, []
        for row in rows:
            packed = _packed(row.text)
            for start, stamp in row.marks:
                stream.characters.put(length + len(_packed(row.text[:start])), stamp)
            stream.lines.put(length, row.stamp)
            length += len(packed)
            texts.append(packed)
        stream.text = "".join(texts)
        return stream

    @classmethod
    def of_page(cls, page: Page, engine: Engine) -> Stream:
        """A stream of the main screen and the end of its history."""
        count = min(CARRIED, engine.history_len, page.base - page.past.begin)
        past, first = page.past, page.base - count
        rows = [
            Row(text, (), past.stamp(first + n), past.marks(first + n))
            for n, text in enumerate(read_texts(engine, -count, count) if count else [])
        ]
        return cls.of_rows(rows + page.rows, past.peak(first - 1))


def _packed(text: str) -> str:
    return "".join(text.split())


def reflowed(engine: Engine, old: Stream, now: int, *, settled: bool) -> Page:
    """The main screen as it is laid out now; what ``old`` does not have is new.

    ``settled``: nothing was written since ``old`` was made.
    """
    base, history = engine.scrolled, engine.history_len
    count = min(CARRIED, history)
    texts = read_texts(engine, -count, count + engine.rows)
    packed = [_packed(text) for text in texts]
    stream = "".join(packed)
    carry = _Carry(old, stream, _end_of(old.text, stream, settled), now)
    past = Past(base - history)
    past.extend(history - count, carry.old.older)
    rows, position = [], 0
    for text, letters in zip(texts, packed, strict=True):
        rows.append(carry.row(text, position, len(letters)))
        position += len(letters)
    for row in rows[:count]:
        past.add(row.stamp, row.marks)
    page = Page(base, rows[count:], past)
    for row, (_, look) in zip(page.rows, read(engine, 0, engine.rows), strict=True):
        row.look = look
    return page


def _end_of(old: str, new: str, settled: bool) -> int:
    """Where in ``new`` the characters of ``old`` end; 0 when they are not there.

    The first place of several: what follows counts as new, rather too much of it than too little.
    """
    if settled:
        return len(new)
    tail = old[-TAIL:]
    found = new.find(tail) if tail else -1
    return found + len(tail) if found >= 0 else 0


class _Carry:
    """Takes stamps from an old stream for the rows of a new one."""

    def __init__(self, old: Stream, new: str, end: int, now: int) -> None:
        self.old = old
        self._now = now
        same = common_suffix(old.text, new[:end])
        self._begin = 0 if same == len(old.text) else end - same
        self._end = end
        self._shift = len(old.text) - end

    def row(self, text: str, position: int, length: int) -> Row:
        """The row whose characters are those from ``position`` on."""
        first, last = position, position + length
        if first < self._begin or last > self._end:
            return new_row(text, (), self._now)
        start, end = first + self._shift, max(last, first + 1) + self._shift
        stamp = max((stamp for _, stamp in self.old.lines.over(start, end)), default=self._now)
        if start < 0:  # some of it stands above what is known
            return new_row(text, (), self.old.older if end <= 0 else max(stamp, self.old.older))
        return Row(text, (), stamp, _spread(text, self.old.characters.over(start, end), self._now))


def _spread(text: str, marks: list[tuple[int, int]], now: int) -> Marks:
    """Marks that count no blanks, for the row with its blanks: these go with the newer side."""
    if len(marks) < 2:
        return whole(marks[0][1] if marks else now)
    places = [place for place, char in enumerate(text) if not char.isspace()]
    spread = [(0, marks[0][1])]
    for start, stamp in marks[1:]:
        newer = stamp > spread[-1][1]
        spread.append((places[start - 1] + 1 if newer else places[start], stamp))
    return tidy(spread)
