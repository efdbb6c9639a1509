"""Guards of the native lane beside those of the enforcement fixtures, and a lab without one.

``python -m tests.support.native_broken GUARD SETTINGS ...`` is `tests.support.broken_service`.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

import pytest
import trio

from termnode.control.native import checks, request
from termnode.control.native.ledger import Ledger
from termnode.service.native import checks as lease_checks
from termnode.service.native.lane import NativeService
from termnode.service.native.permit import Permit
from tests.support import broken_service
from tests.support.s4.guards import GUARDS
from tests.support.s4.lab import Lab, LabService, lab_of
from tests.support.s4.replacing import everywhere


def _epoch() -> None:
    """A request id counts on whatever connection it comes from."""
    everywhere(checks.check_epoch, lambda *_: None)


def _names() -> None:
    """A field that nobody knows is passed over."""

    def known(_spec: object, body: dict[str, Any]) -> None:
        for name in body.keys() - request._ANY:
            del body[name]

    everywhere(request._check_names, known)


def _digest() -> None:
    """An id stands for whatever comes under it."""
    lookup = Ledger.lookup

    def any_bytes(self: Ledger[Any], actor: Any, number: int, digest: bytes, now: float) -> Any:  # noqa: ANN401
        entry = self._entry(actor, number, now)
        return lookup(self, actor, number, digest if entry is None else entry.digest, now)

    _change(Ledger, lookup=any_bytes)


def _standing() -> None:
    """What was permitted once is permitted for ever."""
    _change(Permit, holds=lambda _: True, remaining_s=property(lambda _: 1e6))


def _leases() -> None:
    """The broker never answers for the lease of a caller, and is waited for."""

    async def never(*_: object) -> int:
        await trio.sleep_forever()
        raise AssertionError

    _change(NativeService, _ask_broker=never)
    vars(lease_checks)["CHECK_S"] = math.inf


def _change(owner: type, **others: object) -> None:
    """Put these in the place of what a class has."""
    for name, other in others.items():
        setattr(owner, name, other)


MORE: Final[Mapping[str, Callable[[], None]]] = {
    "epoch": _epoch,
    "names": _names,
    "digest": _digest,
    "standing": _standing,
    "leases": _leases,
}


@contextmanager
def lab_without(guard: str, *broker: str, **more: Any) -> Iterator[Lab]:  # noqa: ANN401
    """As `lab_of`, with a service that lacks this guard."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LabService, "_command", _command(LabService._command))
        with lab_of(*broker, off=guard, **more) as lab:
            yield lab


def _command(sound: Callable[[LabService], list[str]]) -> Callable[[LabService], list[str]]:
    ours = {"tests.support.broken_service": "tests.support.native_broken"}
    return lambda service: [ours.get(each, each) for each in sound(service)]


def main() -> int:
    """Be the service, with these guards among those that can be off."""
    vars(broken_service)["GUARDS"] = {**GUARDS, **MORE}
    return broken_service.main()


if __name__ == "__main__":
    sys.exit(main())
