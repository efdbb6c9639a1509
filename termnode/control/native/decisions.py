"""What the gate decides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeAlias, TypeVar

from brokerd.client import Principal, Ref, Refusal
from termnode.control.native.actors import Actor
from termnode.control.native.request import NativeRequest
from termnode.control.native.spec import NativeSpec
from termnode.control.native.targets import Target
from termnode.control.native.world import Own
from termnode.control.posture import Posture
from termnode.control.schema import Args

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Refuse:
    """Answer this refusal; nothing was spent."""

    refusal: Refusal


@dataclass(frozen=True, slots=True)
class Need:
    """Have the broker check this lease (`LeaseCache.begin`), then evaluate again from the start.

    When the check fails, answer FORBIDDEN.
    """

    ref: Ref


@dataclass(frozen=True, slots=True)
class Told(Generic[R]):
    """Answer with the recorded ``reply``, or when that is None with success and ``body``."""

    reply: R | None
    body: Mapping[str, object] | None = None


class Go(NamedTuple):
    """The verb may run, now: in this very step, or after another evaluation.

    ``args`` are its own fields, checked. ``permit_until_ms`` (clock of leases) is when every right
    to it ends; ``caller`` is the attachment of a bound caller, None for others.
    """

    request: NativeRequest
    spec: NativeSpec
    args: Args
    actor: Actor
    principal: Principal
    own: Own
    posture: Posture
    permit_until_ms: int
    caller: Ref | None

    @property
    def target(self) -> Target:
        """The pane that it is bound to."""
        return self.request.target


Decision: TypeAlias = Refuse | Need | Told[R] | Go
