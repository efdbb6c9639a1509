"""What is to be told of a pane to who was told of it before. No I/O."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from termnode.service.viewing.pane_lines import Frame, PaneLook
from termnode.view.frames import encode_pane
from termnode.view.messages import PaneState


@dataclass(slots=True)
class Told:
    """What a view was told of a pane."""

    frame: Frame
    numbering: object
    revision: int


def changes(known: dict[int, Told], pane: int, look: PaneLook) -> Iterable[bytes]:
    """The frames that say what changed in a pane since a view was told of it.

    ``known`` is what the view was told of panes, and is brought up to date.
    """
    told, frame = known.get(pane), look.frame
    newer = None if told is None or told.numbering != look.numbering else look.newer(told.revision)
    lines = frame.lines if newer is None or told is None else _lines(told.frame, frame, newer)
    if newer is not None and told is not None and not lines and frame == told.frame:
        told.revision = look.revision
        return
    known[pane] = Told(frame, look.numbering, look.revision)
    state = PaneState(
        pane,
        frame.generation,
        frame.cols,
        frame.rows,
        frame.base,
        frame.first,
        (),
        frame.cursor,
        frame.modes,
        frame.title,
        frame.state,
        full=newer is None,
        revision=max(look.revision, 0),
    )
    yield from encode_pane(state, look.encoded(lines))


def _lines(told: Frame, frame: Frame, newer: Iterable[int]) -> list[int]:
    """The lines of the screen that changed, or that the view does not have."""
    if (told.cols, told.rows) != (frame.cols, frame.rows):
        return list(frame.lines)
    changed, had = set(newer), told.lines
    return [line for line in frame.lines if line in changed or line not in had]
