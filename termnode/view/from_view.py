"""What a view says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from termnode.view.items import Item
from termnode.view.parts import VERSION


@dataclass(frozen=True, slots=True)
class Attach:
    """The first message, and only that. ``token`` is that of `term.view.open`.

    ``tab`` is shown at once: it becomes the active one, or with ``read_only`` is the one that this
    view shows. ``env`` is given to new panes. With ``watch`` the connection follows the output of
    that pane (0: the active one) instead: `Output` and the like.
    """

    token: str
    cols: int
    rows: int
    read_only: bool = False
    tab: int | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    watch: int | None = None
    v: int = VERSION


@dataclass(frozen=True, slots=True)
class Ack:
    """``n`` messages of the service were received and taken in since the connection began.

    `Welcome` is the first. To be sent after each batch that was read, or the service tells no more:
    it has two batches under way at most.
    """

    n: int


@dataclass(frozen=True, slots=True)
class Input:
    """What the person did in a pane, in order."""

    pane: int
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Size:
    """The view has another size."""

    cols: int
    rows: int


@dataclass(frozen=True, slots=True)
class Do:
    """Carry out a verb of the table; `Done` with the same ``req`` answers it."""

    req: int
    verb: str
    body: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class PageWanted:
    """Lines of a pane from number ``line``, at most ``lines``; `Page` answers it."""

    req: int
    pane: int
    line: int
    lines: int


@dataclass(frozen=True, slots=True)
class Answer:
    """The person's answer to a question."""

    ask: int
    yes: bool


@dataclass(frozen=True, slots=True)
class Detach:
    """The view leaves; `Bye` answers it."""


FromView: TypeAlias = Attach | Ack | Input | Size | Do | PageWanted | Answer | Detach
