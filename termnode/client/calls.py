"""A request that is ready to be sent, and what its answer is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Generic, TypeVar

from brokerd.client import Reply
from termnode.client.decode import decode
from termnode.client.errors import BadReply, refusal
from termnode.control.spec import Kind
from termnode.control.verbs import find

R = TypeVar("R")

REPLY_S: Final = 15.0
"""Seconds for an answer that should come at once."""


@dataclass(frozen=True, slots=True)
class Call(Generic[R]):
    """One verb with its body; ``result`` is the dataclass of its good reply.

    ``timeout`` is in seconds. A mutation gets a request id when it is sent.
    """

    verb: str
    result: type[R]
    body: Mapping[str, object]
    kind: Kind = Kind.READ
    timeout: float = REPLY_S

    def with_fields(self, **fields: object) -> Call[R]:
        """The same with other values for some fields."""
        return replace(self, body={**self.body, **fields})

    def answer(self, reply: Reply) -> R:
        """What the reply says. Raises TermnodeError: the refusal, or BadReply."""
        return decode(self.result, body_of(reply))


def body_of(reply: Reply) -> Mapping[str, Any]:
    """The body of a good reply. Raises TermnodeError: the refusal, or BadReply."""
    if reply.error is not None:
        raise refusal(reply.error)
    if reply.body is None:
        raise BadReply("the reply is no JSON object")
    return reply.body


def call(
    verb: str,
    result: type[R],
    kind: Kind = Kind.READ,
    *,
    timeout: float = REPLY_S,
    **fields: object,
) -> Call[R]:
    """A call with those fields; see `fields_of`."""
    return Call(verb, result, fields_of(fields), kind, timeout)


def by_name(verb: str, given: Mapping[str, object]) -> Call[None]:
    """A call of any verb; one that is not in the table may be a newer service's and do something.

    A wait has its ``timeout_ms`` for the answer besides.
    """
    fields, spec = fields_of(given), find(verb)
    kind = Kind.MUTATION if spec is None else spec.kind
    patience = REPLY_S
    if spec is not None and kind is Kind.WAIT:
        defaults = {field.name: field.default for field in spec.fields}
        longest = fields.get("timeout_ms", defaults.get("timeout_ms"))
        patience += longest / 1000 if isinstance(longest, int | float) else 0
    return Call(verb, type(None), fields, kind, patience)


def fields_of(given: Mapping[str, object]) -> dict[str, object]:
    """The fields that are not None.

    One whose name Python keeps for itself is given with an underscore behind it.
    """
    return {name.removesuffix("_"): value for name, value in given.items() if value is not None}
