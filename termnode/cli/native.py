"""``termnode call --native`` and ``termnode panes --native``: requests bound to one pane.

What a person does not give is looked up on the same connection: the target, the other panes that
the verb may touch, the foreground generation, the request id and its epoch.
"""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Final, TypeVar

from brokerd.client import Bus, Refusal, Reply, decode_object, forbidden
from termnode.cli.exits import REFUSED, TRANSPORT, USAGE, CommandError
from termnode.cli.explaining import as_commands
from termnode.cli.keyboard import own_pane
from termnode.cli.output import clean
from termnode.cli.reaching import reach
from termnode.cli.remote import REPLY_TIMEOUT_S, connected
from termnode.client import requests
from termnode.client.errors import ServiceUnavailable, TermnodeError, UnknownOutcome
from termnode.client.native_caller import NativeCaller
from termnode.client.native_calls import NativeCall, affected_by, native_call
from termnode.client.native_replies import Done, Looked, NativeSession
from termnode.client.native_term import Term, name_of
from termnode.control.native.fields import AFFECTED, FOREGROUND, TARGET
from termnode.control.native.spec import NativeSpec
from termnode.control.native.table import NATIVE
from termnode.control.native.targets import Target
from termnode.control.verbs import find

if TYPE_CHECKING:
    import argparse

Body = dict[str, object]
T = TypeVar("T")

_REASONLESS: Final = (
    "not allowed, or its target is another by now; if 'termnode posture' says strict, 'open' "
    "allows more"
)
"""What a refusal that tells no reason may mean."""


def wanted(arguments: argparse.Namespace) -> bool:
    """Whether a call is for the native lane. Raises CommandError for a pane that is not."""
    only_there = arguments.verb in NATIVE and find(arguments.verb) is None
    if arguments.native or only_there:
        return True
    if arguments.pane is not None:
        message = '--pane goes with --native; without it put "pane" into the body'
        raise CommandError(message, USAGE)
    return False


def ask(arguments: argparse.Namespace, raw: bytes) -> Reply:
    """The reply to the verb, refusals included. Raises CommandError."""
    body = _object(raw)

    async def exchange(caller: NativeCaller, term: Term) -> Reply:
        call = NativeCall(arguments.verb, Done, body, arguments.timeout)
        return await caller.ask_raw(term, await _filled(arguments, caller, term, call))

    return _talk(arguments, exchange, arguments.timeout)


def look(arguments: argparse.Namespace) -> NativeSession:
    """The Term and its panes. Raises CommandError."""

    async def exchange(caller: NativeCaller, term: Term) -> NativeSession:
        return await _session(caller, term)

    return _talk(arguments, exchange, REPLY_TIMEOUT_S)


def _talk(
    arguments: argparse.Namespace,
    exchange: Callable[[NativeCaller, Term], Awaitable[T]],
    wait: float,
) -> T:
    if reach(arguments).node is not None:
        raise CommandError("native control is of one machine: leave --node out", USAGE)

    async def talk(bus: Bus) -> T:
        caller = NativeCaller(bus, sent=_shown if vars(arguments).get("verbose") else None)
        return await exchange(caller, await _find(arguments, bus, caller))

    try:
        return connected(arguments, talk, wait)
    except TermnodeError as error:
        raise said(error) from None


async def _find(arguments: argparse.Namespace, bus: Bus, caller: NativeCaller) -> Term:
    name = vars(arguments).get("to") or arguments.name
    about = requests.info()
    reply = await bus.request(name, about.verb, {}, timeout=about.timeout)
    return await caller.find(name_of(about.answer(reply).identity))


async def _session(caller: NativeCaller, term: Term) -> NativeSession:
    found = await caller.look(term)
    if found is None:
        raise CommandError("no pane has a verified session yet: 'termnode panes' says why", REFUSED)
    return found


async def _filled(
    arguments: argparse.Namespace, caller: NativeCaller, term: Term, call: NativeCall[Done]
) -> NativeCall[Done]:
    """With all that the body does not say itself, but for the request id and its epoch."""
    if TARGET in call.body:
        return call
    session = await _session(caller, term)
    target = _target(session, _pane(arguments))
    around: Body = {TARGET: target.to_json()}
    spec = _meant(call)
    if spec is not None and spec.layout and AFFECTED not in call.body:
        named = affected_by(session, target, _other(spec, call))
        around[AFFECTED] = [each.to_json() for each in named]
    if spec is not None and spec.input and FOREGROUND not in call.body:
        looked = await caller.ask(term, native_call("term.snapshot", Looked, target))
        if looked.foreground_generation is not None:
            around[FOREGROUND] = str(looked.foreground_generation)
    return replace(call, body={**around, **call.body})


def _meant(call: NativeCall[Done]) -> NativeSpec | None:
    """The verb that a property stands for, or the verb itself."""
    spec = NATIVE.get(call.verb)
    if spec is None or not spec.stands_for:
        return spec
    return NATIVE.get(spec.stands_for.get(str(call.body.get("property")), ""))


def _other(spec: NativeSpec, call: NativeCall[Done]) -> int | None:
    """The second pane that the verb is about."""
    said = str(call.body.get(spec.other)) if spec.other else ""
    return int(said) if said.isascii() and said.isdigit() and len(said) < 20 else None


def _target(session: NativeSession, pane: int) -> Target:
    for info in session.panes:
        if info.target.pane_id == pane:
            return info.target
    raise CommandError(f"pane {pane} has no target: 'termnode panes --native' lists them", REFUSED)


def _pane(arguments: argparse.Namespace) -> int:
    pane: int | None = own_pane(arguments) if arguments.pane is None else arguments.pane
    if pane is None:
        raise CommandError("the native lane has no active pane: name one with --pane N", USAGE)
    return pane


def _object(raw: bytes) -> Body:
    try:
        return dict(decode_object(raw))
    except Refusal as refusal:
        raise CommandError(f"the body: {refusal.message}", USAGE) from None


def _shown(verb: str, raw: bytes) -> None:
    """With --verbose: the very bytes, each time they are sent."""
    print(f"termnode: {verb} {raw.decode()}", file=sys.stderr)


def said(error: TermnodeError) -> CommandError:
    """What a person is told of it, and the exit code that goes with it."""
    away = isinstance(error, ServiceUnavailable | UnknownOutcome)
    code = error.code or None
    words = clean(
        as_commands(_REASONLESS if error.message == forbidden().message else error.message)
    )
    said = words if code is None else f"{code}: {words}"
    return CommandError(said, TRANSPORT if away else REFUSED, code, error.details)
