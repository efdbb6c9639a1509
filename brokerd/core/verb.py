"""What a verb of the broker is: what it may be told, and what it does."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from brokerd.bodies import Json
from brokerd.core.bus import Bus
from brokerd.core.connections import Connection
from brokerd.errors import invalid
from brokerd.limits import MAX_REQUEST_BODY
from brokerd.wire import BROKER, SERVICE_NAME, TOPIC_NAME

Args: TypeAlias = "dict[str, Json]"
Result: TypeAlias = "dict[str, object] | bytes"
Run: TypeAlias = "Callable[[Bus, Connection, Args], Result]"


@dataclass(frozen=True, slots=True)
class Verb:
    """``all_of`` must be given; of ``one_of``, exactly one; ``any_of`` may be; nothing else."""

    run: Run
    all_of: tuple[str, ...] = ()
    one_of: tuple[str, ...] = ()
    any_of: tuple[str, ...] = ()
    max_body: int = MAX_REQUEST_BODY

    def check(self, args: Args) -> None:
        """Raise Refusal (INVALID_ARGUMENT) for fields that this verb is not to be given."""
        if unknown := args.keys() - {*self.all_of, *self.one_of, *self.any_of}:
            words = f"the body has {len(unknown)} field(s) that this verb does not know"
            raise invalid("body", words)
        for field in self.all_of:
            if field not in args:
                raise invalid(field, f"{field} is missing")
        if self.one_of and len(args) != 1:
            raise invalid("body", f"give exactly one of {', '.join(self.one_of)}")
        for field in args.keys() & _PATTERNS.keys():
            _match(field, args[field])


def _match(field: str, value: Json) -> None:
    pattern = _PATTERNS[field]
    if not isinstance(value, str) or not pattern.fullmatch(value) or value == BROKER:
        raise invalid(field, f"{field} must match {pattern.pattern} and not be {BROKER}")


_PATTERNS: Final[Mapping[str, re.Pattern[str]]] = {
    "name": SERVICE_NAME,
    "service": SERVICE_NAME,
    "topic": TOPIC_NAME,
}
