"""A broker with one guard off, to see that a check of that guard can fail.

``python -m tests.support.broken_broker GUARD ...`` is ``python -m brokerd ...`` without that guard.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, Final, TypeAlias

import brokerd.__main__
import brokerd.commands.serve  # all of it is there before anything is replaced
from brokerd import keys, limits
from brokerd.core import sightings
from brokerd.core.broker import BrokerCore
from brokerd.core.bus import Bus
from brokerd.core.connections import Connection
from brokerd.core.names import Names
from brokerd.core.sessions import Ref, Sessions
from brokerd.errors import Refusal
from brokerd.io import router
from brokerd.wire import ALLOCATED_NAME
from tests.support.broker_process import BrokerProcess, short_directory

Call: TypeAlias = "Callable[..., Any]"


class LoggedBroker(BrokerProcess):
    """A broker whose output and error output go to ``log``; ``off`` names the guard it lacks."""

    def __init__(self, directory: Path, *arguments: str, off: str | None = None) -> None:
        super().__init__(directory, *arguments)
        self.log = directory.with_name("log")
        self._off = off

    def _command(self, ready_fd: int) -> list[str]:
        python, *rest = super()._command(ready_fd)
        if self._off is not None:
            rest = ["-m", "tests.support.broken_broker", self._off, *rest[2:]]
        to_log = 'log=$1; shift; exec "$@" >>"$log" 2>&1'
        return ["/bin/sh", "-c", to_log, "sh", str(self.log), python, *rest]


@contextmanager
def logged_broker(*arguments: str, off: str | None = None) -> Iterator[LoggedBroker]:
    """A broker that is ready; ``{}`` in its arguments is a directory that others can look into."""
    with short_directory() as directory:
        directory.chmod(0o755)
        told = [argument.replace("{}", str(directory)) for argument in arguments]
        started = LoggedBroker(directory / "r", *told, off=off)
        try:
            _start(started)
            yield started
        finally:
            started.close()


def _start(broker: LoggedBroker) -> None:
    """Raises RuntimeError, which no check of a guard takes for what it looks for."""
    try:
        broker.start()
    except AssertionError as error:
        log = broker.log.read_text() if broker.log.exists() else ""
        raise RuntimeError(f"the broker did not start: {log}") from error


def _modules() -> list[ModuleType]:
    return [module for name, module in sys.modules.items() if name.startswith("brokerd")]


def _everywhere(original: object, other: object) -> None:
    """Put ``other`` in the place of ``original`` in every module of the broker."""
    for module in _modules():
        for key, value in list(vars(module).items()):
            if value is original:
                setattr(module, key, other)


def _signatures() -> None:
    """Any signature is right."""
    _everywhere(keys.verify, lambda *_: True)


def _stamps() -> None:
    """Every connection is stamped as its user, whatever it has proved."""
    _around(Bus, "stamp_of", lambda _: lambda _bus, sender: sender.stamp)


def _holder() -> None:
    """Whoever asks to renew or revoke is taken for who holds the record."""

    def as_holder(call: Call) -> Call:
        def called(sessions: Sessions, connection: str, uid: int, target: Ref) -> object:
            held = {each.record_id: each.connection_id for each in sessions.list(uid)}
            return call(sessions, held.get(target.record_id) or connection, uid, target)

        return called

    _around(Sessions, "renew", as_holder)
    _around(Sessions, "revoke", as_holder)


def _once() -> None:
    """A used challenge proves again."""

    def again(call: Call) -> Call:
        def called(sessions: Sessions, connection: str, *given: object) -> object:
            try:
                return call(sessions, connection, *given)
            except Refusal:
                if (record := sessions.binding(connection)) is None:
                    raise
                return record

        return called

    _around(Sessions, "prove", again)


def _reserved() -> None:
    """Anybody may register the name of a record."""
    _everywhere(ALLOCATED_NAME, re.compile("(?!)"))


def _nobody() -> None:
    """Who lost its record is its user again."""

    def forgiven(call: Call) -> Call:
        def called(names: Names, connection: Connection) -> None:
            call(names, connection)
            connection.lost = False

        return called

    _around(Names, "release", forgiven)


def _ends() -> None:
    """Nothing ends by itself."""
    _around(Sessions, "advance", lambda _: lambda *_: None)


def _classes() -> None:
    """Nothing is of a record to who observes."""
    _everywhere(sightings.protected, lambda *_: False)


def _owners() -> None:
    """Every user sees the records of root."""
    _around(Sessions, "list", lambda call: lambda sessions, _uid: call(sessions, 0))


def _lost() -> None:
    """The end of a connection takes nothing from it."""
    _around(Sessions, "lost", lambda _: lambda *_: None)


def _bounds() -> None:
    """Session requests may be as large as any message."""
    for module in _modules():
        for key in ("MAX_SESSION_REQUEST", "MAX_REQUEST_BODY"):
            if hasattr(module, key):
                setattr(module, key, limits.MAX_MESSAGE_BYTES)


def _payloads() -> None:
    """The log has the payload of what is delivered."""

    def logged(call: Call) -> Call:
        def called(
            bus: Bus, recipient: object, header: bytes, body: bytes, *more: object
        ) -> object:
            print(body, flush=True)
            return call(bus, recipient, header, body, *more)

        return called

    _around(Bus, "deliver", logged)


def _envelope() -> None:
    """A stamp that a peer sends is the stamp of its message."""
    setattr(router, "_MAX_PARTS", 3)  # noqa: B010 - it is final but here
    sent = [b""]

    def received(call: Call) -> Call:
        def called(core: BrokerCore, sender: str, frames: Sequence[bytes], now_ms: int) -> None:
            sent[0] = frames[2] if len(frames) == 3 else b""
            call(core, sender, frames[:2], now_ms)

        return called

    _around(BrokerCore, "receive", received)
    _around(Bus, "stamp_of", lambda call: lambda bus, sender: sent[0] or call(bus, sender))


def _around(owner: type, name: str, wrap: Callable[[Call], Call]) -> None:
    """Put ``wrap`` of a method in its place."""
    setattr(owner, name, wrap(getattr(owner, name)))


GUARDS: Final[dict[str, Callable[[], None]]] = {
    "signatures": _signatures,
    "stamps": _stamps,
    "holder": _holder,
    "once": _once,
    "reserved": _reserved,
    "nobody": _nobody,
    "ends": _ends,
    "classes": _classes,
    "owners": _owners,
    "lost": _lost,
    "bounds": _bounds,
    "payloads": _payloads,
    "envelope": _envelope,
}


def main() -> int:
    """Take the guard off and be a broker."""
    GUARDS[sys.argv.pop(1)]()
    return brokerd.__main__.main() or 0


if __name__ == "__main__":
    sys.exit(main())
