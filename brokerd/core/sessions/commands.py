"""The session commands: what each may be told, and what it asks of ``Sessions``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from brokerd import bodies
from brokerd.bodies import Json
from brokerd.core.sessions import arguments as read
from brokerd.core.sessions import calls
from brokerd.core.sessions.arguments import Args, Form
from brokerd.core.sessions.calls import Call, Result
from brokerd.core.sessions.retained import mutation
from brokerd.encodings import DEFAULT_OPEN, ENROL, PANE_SHELL, POLICIES, PURPOSES
from brokerd.errors import ErrorCode, Refusal, limit_reached
from brokerd.limits import MAX_SESSION_REQUEST
from brokerd.wire import Header

if TYPE_CHECKING:  # the bus holds the sessions, so it imports this package
    from brokerd.core.bus import Bus
    from brokerd.core.connections import Connection


@dataclass(frozen=True, slots=True)
class Command:
    """``form`` says which fields go with a body; ``malformed`` is told a body that has others."""

    run: Callable[[Call, Args], Result]
    form: Callable[[Mapping[str, Json]], Form]
    retained: bool = False
    handshake: bool = False
    """Also answered while the broker's clock cannot be read, and with an empty body."""
    malformed: Callable[[Call, Mapping[str, Json]], None] | None = None


def perform(bus: Bus, sender: Connection, header: Header, frames: Sequence[bytes]) -> bytes:
    """Run a session command and return the body of its result. Raises Refusal."""
    assert header.command is not None
    command = COMMANDS.get(header.command)
    if command is None:
        words = f"the session commands are {', '.join(COMMANDS)}"
        raise Refusal(ErrorCode.UNSUPPORTED, words)
    if not command.handshake:
        bus.sessions.require_clock()
    if len(frames[0]) + len(frames[1]) > MAX_SESSION_REQUEST:
        words = f"header and body of a session command are at most {MAX_SESSION_REQUEST} bytes"
        raise limit_reached("message", MAX_SESSION_REQUEST, words)
    call = Call(bus, sender)
    args = _arguments(command, call, frames[1])
    if command.retained:
        return _once(command, call, header, args)
    return bodies.encode(command.run(call, args))


def _arguments(command: Command, call: Call, raw: bytes) -> Args:
    body = bodies.decode_object(raw, empty_ok=command.handshake)
    try:
        return command.form(body).read(body)
    except Refusal:
        if command.malformed is not None:
            command.malformed(call, body)
        raise


def _once(command: Command, call: Call, header: Header, args: Args) -> bytes:
    """Carry out a mutation, or tell again what it gave. A refusal is not kept."""
    assert header.id is not None
    assert header.command is not None
    asked = mutation(header.command, header.id, args)
    kept, now_ms = call.bus.retained, call.bus.now_ms
    result = kept.recall(call.sender.id, asked, now_ms)
    if result is None:
        result = bodies.encode(command.run(call, args))
        kept.keep(call.sender.id, asked, result, now_ms)
    return result


def _fields(**fields: read.Reader) -> Callable[[Mapping[str, Json]], Form]:
    form = Form(fields)
    return lambda _body: form


_BY_KEY: Final = Form({"public_key": read.a_key, "purpose": read.one_of(ENROL)})
_BY_RECORD: Final = Form(
    {
        "record_id": read.an_id,
        "incarnation": read.an_id,
        "purpose": read.one_of(*PURPOSES),
        "grant_id": read.or_null(read.an_id),
    }
)
_NEW_TERM: Final = Form(
    {
        "public_key": read.a_key,
        "signature": read.a_signature,
        "policy": read.one_of(*POLICIES),
    },
    defaults={"policy": DEFAULT_OPEN},
)
_KEY: Final = _fields(public_key=read.a_key)
_TARGET: Final = _fields(target=read.a_ref)
_NOTHING: Final = _fields()

COMMANDS: Final[Mapping[str, Command]] = {
    "session.hello": Command(calls.hello, _NOTHING, handshake=True),
    "session.allocate": Command(
        calls.allocate,
        lambda _body: _NEW_TERM,
        retained=True,
    ),
    "session.grant.create": Command(
        calls.create_grant,
        _fields(
            parent=read.a_ref,
            pane_id=read.a_number,
            pane_generation=read.a_generation,
            public_key=read.a_key,
            role=read.one_of(PANE_SHELL),
            capabilities=read.capabilities,
        ),
        retained=True,
    ),
    "session.grant.fetch": Command(calls.fetch_grant, _KEY),
    "session.challenge": Command(
        calls.challenge, lambda body: _BY_KEY if "public_key" in body else _BY_RECORD
    ),
    "session.prove": Command(
        calls.prove,
        _fields(challenge_id=read.an_id, signature=read.a_signature),
        malformed=calls.spend,
    ),
    "session.renew": Command(calls.renew, _TARGET),
    "session.revoke": Command(calls.revoke, _TARGET, retained=True),
    "session.list": Command(calls.list_records, _NOTHING),
    "session.self": Command(calls.self_record, _fields(record_id=read.an_id)),
    "session.lease.check": Command(calls.check_lease, _TARGET),
}
