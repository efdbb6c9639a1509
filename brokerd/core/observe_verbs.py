"""The verbs of observing: for services that the broker was told may be observed, and its own user.

Rights are looked at before these run (``brokerd.core.rights``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from brokerd.bodies import Json
from brokerd.core.bus import Bus
from brokerd.core.connections import Connection
from brokerd.core.observe import Observer
from brokerd.core.sessions.arguments import an_id
from brokerd.core.verb import Args, Result, Verb
from brokerd.errors import forbidden, invalid

MAX_GLOBS: Final = 32
MAX_GLOB_BYTES: Final = 128
MIN_RING: Final = 64
MAX_RING: Final = 4_096
_DEFAULT_RING: Final = 1_024
_ALL: Final[list[Json]] = ["*"]


def _start(bus: Bus, sender: Connection, args: Args) -> Result:
    globs, ring = _globs(args.get("verbs", _ALL)), _ring(args.get("ring", _DEFAULT_RING))
    service = str(args["service"])
    if service not in bus.observable:
        raise forbidden()
    observe_id = bus.new_id()
    bus.observers.start(observe_id, Observer(service, globs, ring), sender)
    return {"observe_id": observe_id}


def _read(bus: Bus, sender: Connection, args: Args) -> Result:
    observe_id, after = an_id("observe_id", args["observe_id"]), args.get("after", 0)
    if type(after) is not int or after < 0:
        raise invalid("after", "after must be the seq of an event, or 0")
    return bus.observers.get(observe_id, sender).read(after)


def _stop(bus: Bus, sender: Connection, args: Args) -> Result:
    observe_id = an_id("observe_id", args["observe_id"])
    bus.observers.stop(observe_id, sender)
    return {"observe_id": observe_id}


def _globs(value: Json) -> tuple[str, ...]:
    if not isinstance(value, list) or not 0 < len(value) <= MAX_GLOBS:
        raise invalid("verbs", f"verbs must be a list of 1 to {MAX_GLOBS} patterns")
    globs = tuple(each for each in value if isinstance(each, str))
    if len(globs) != len(value) or any(len(each.encode()) > MAX_GLOB_BYTES for each in globs):
        raise invalid("verbs", f"each of verbs must be text of at most {MAX_GLOB_BYTES} bytes")
    return globs


def _ring(value: Json) -> int:
    if type(value) is not int or not MIN_RING <= value <= MAX_RING:
        raise invalid("ring", f"ring must be a number of events, {MIN_RING} to {MAX_RING}")
    return value


OBSERVE_VERBS: Final[Mapping[str, Verb]] = {
    "broker.observe.start": Verb(_start, all_of=("service",), any_of=("verbs", "ring")),
    "broker.observe.read": Verb(_read, all_of=("observe_id",), any_of=("after",)),
    "broker.observe.stop": Verb(_stop, all_of=("observe_id",)),
}
