"""A person's commands: verbs of the table, among the agents' mutations in the order they came.

They are not looked up in the retry record, which is for those who cannot see what they did.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

import trio

from brokerd.client import RC_OK, ErrorCode, Refusal, decode_object
from termnode.control.schema import Args, validate
from termnode.control.spec import Capability, VerbSpec
from termnode.control.verbs import find
from termnode.lanes.calls import Reply
from termnode.lanes.sealing import abandoned, seal, seal_refusal
from termnode.service.attempts import attempt
from termnode.service.input.authors import NOBODY
from termnode.service.mutations import MUTATIONS
from termnode.service.state import State
from termnode.service.viewing.people import PERSON
from termnode.view.messages import Do, Done

ALLOWED: Final = frozenset((Capability.MANAGE_LAYOUT, Capability.TERMINATE, Capability.EXECUTE))
"""What a person's command may need; input goes another way (`typing`)."""

Answer = Callable[[Done], object]
"""Takes the answer; called exactly once, unless the service ends first. Must not raise."""


def submit(state: State, wanted: Do, answer: Answer, *, who: str = PERSON) -> None:
    """Take a command in its place among the mutations, in this step; it is answered later.

    A refusal is answered at once.
    """
    began = time.monotonic()
    try:
        spec = _spec(wanted.verb)
        args = validate(spec, dict(wanted.body))
        command = _Command(state, spec, args, who, began)
        state.enqueue(lambda: command.run(wanted.req, answer))
    except Refusal as refusal:
        answer(_refused(wanted.req, refusal))


async def do(state: State, verb: str, body: Mapping[str, Any], *, who: str = PERSON) -> Done:
    """As `submit`, and wait for the answer. It takes its place when this is first run."""
    came = trio.Event()
    answers: list[Done] = []

    def answer(done: Done) -> None:
        answers.append(done)
        came.set()

    submit(state, Do(0, verb, body), answer, who=who)
    await came.wait()
    return answers[0]


def _spec(verb: str) -> VerbSpec:
    spec = find(verb)
    if spec is None or spec.name not in MUTATIONS or spec.capability not in ALLOWED:
        raise Refusal(
            ErrorCode.UNSUPPORTED,
            "that is no command of a view: it takes the verbs that arrange, open and close",
            reason="unknown_verb",
        )
    return spec


class _Command:
    """One command, checked. ``began`` is in monotonic seconds."""

    def __init__(self, state: State, spec: VerbSpec, args: Args, who: str, began: float) -> None:
        self._state = state
        self._spec = spec
        self._args = args
        self._who = who
        self._began = began

    async def run(self, req: int, answer: Answer) -> None:
        """Carry it out, note it and answer. Never raises."""
        answer(self._noted(req, await self._reply()))

    async def _reply(self) -> Reply:
        name = self._spec.name
        self._state.inputs.author = NOBODY
        outcome = await attempt(name, partial(MUTATIONS[name], self._state, self._args))
        if callable(outcome):
            outcome = await attempt(name, outcome)
            assert not callable(outcome), "what is waited for later has an end"
        return abandoned(self._spec) if outcome is None else outcome

    def _noted(self, req: int, reply: Reply) -> Done:
        sealed = seal(self._spec, self._args, reply)
        self._state.audit.add(
            time=time.time_ns() // 1_000_000,
            principal=self._who,
            verb=self._spec.name,
            outcome=sealed.outcome,
            pane=sealed.pane,
            duration_ms=max(0, round((time.monotonic() - self._began) * 1000)),
        )
        if sealed.rc == RC_OK:
            self._state.people.on_done(self._spec.name, sealed.pane)
        return Done(req, sealed.rc, decode_object(sealed.raw))


def _refused(req: int, refusal: Refusal) -> Done:
    sealed = seal_refusal(refusal)
    return Done(req, sealed.rc, decode_object(sealed.raw))
