"""The shape of an entry in the table of the native lane."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from brokerd.client import ErrorCode, Json
from termnode.control.spec import Capability, Check, Field, Kind, VerbSpec


class Upgrade(NamedTuple):
    """With ``field`` (and unless it is false) the verb needs another capability.

    ``replaces`` says whether that stands in the place of the verb's own, or beside it.
    """

    field: str
    capability: Capability
    replaces: bool


class Forwarded(NamedTuple):
    """It is for the pane's own shell to decide, and asked there as ``command``.

    ``family`` says what an operation is read and cancelled as: `execute` or `task`.
    """

    command: str
    family: str


@dataclass(frozen=True, slots=True)
class NativeSpec:
    """Everything there is to know about a verb of the native lane.

    ``base`` is the verb of the global lane that it is made from. ``envelope`` names the fields that
    say which request this is (of `fields.ENVELOPE`), beside ``target``, which every verb takes;
    ``fields`` are the verb's own. ``capability`` is needed on the target.
    """

    name: str
    summary: str
    kind: Kind
    capability: Capability
    fields: tuple[Field, ...]
    result: tuple[tuple[str, str], ...]
    base: VerbSpec | None = None
    envelope: frozenset[str] = frozenset()
    errors: tuple[ErrorCode, ...] = ()
    upgrade: Upgrade | None = None
    needs_epoch: bool = False
    """``request_epoch`` may never be left out."""
    layout: bool = False
    """Every pane that it affects must be named."""
    opens: bool = False
    """It makes a pane, which is in nobody's grant."""
    other: str | None = None
    """The own field that names a second pane."""
    of_ended: bool = False
    """It may act on a pane whose program has ended, which is not control-ready any more."""
    forwarded: Forwarded | None = None
    """Term decides who may ask this and whether it was asked before; the pane's shell the rest."""
    stands_for: Mapping[str, str] = field(default_factory=dict)
    """Property to verb, of the two verbs that are nothing but other names."""
    check: Check | None = None
    limits: str = ""
    example: Mapping[str, Json] = field(default_factory=dict)
    """Own fields that are valid together."""
    known: frozenset[str] = field(init=False)
    """Names of all fields that it takes."""

    def __post_init__(self) -> None:
        names = frozenset(each.name for each in self.fields)
        object.__setattr__(self, "known", self.envelope | names | {"target"})

    @property
    def mutates(self) -> bool:
        """Whether it takes a request id and never runs twice under one."""
        return self.kind is Kind.MUTATION

    @property
    def input(self) -> bool:
        """Whether it writes to the pane, and so names the foreground generation."""
        return self.capability is Capability.INPUT

    def needs(self, own: Mapping[str, Json]) -> tuple[Capability, ...]:
        """The capabilities that it needs on its target, given its own fields."""
        upgrade = self.upgrade
        if upgrade is None or own.get(upgrade.field, False) is False:
            return (self.capability,)
        return (upgrade.capability,) if upgrade.replaces else (self.capability, upgrade.capability)
