"""Guards of commands at the prompt and of tasks, each with how to take it off before the start.

Of the service, of its pane shells, and of the integrations that its shells are started with.
"""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias

from termnode.control.native.forwards import Forwards
from termnode.paneshell import policy
from termnode.paneshell.operations import Operations
from termnode.paneshell.prompt import announce, interrupting, refusals
from termnode.paneshell.prompt import desk as desks
from termnode.paneshell.prompt.control_dir import ControlDir
from termnode.paneshell.tasks import descendants, environment, ladder, launching, limits
from termnode.service.native import relaying
from termnode.service.shells.human import Typing

Call: TypeAlias = "Callable[..., Any]"


def everywhere(original: object, other: object) -> None:
    """Put ``other`` in the place of ``original`` in every module of the product."""
    for name, module in list(sys.modules.items()):
        if not name.startswith("termnode"):
            continue
        for key, value in list(vars(module).items()):
            if value is original:
                setattr(module, key, other)


def around(owner: type, name: str, wrap: Callable[[Call], Call]) -> None:
    """Put ``wrap`` of a method in its place."""
    setattr(owner, name, wrap(getattr(owner, name)))


# -- of the service --------------------------------------------------------------------------------


def _human() -> None:
    """What was typed at the prompt is nothing to Term."""
    around(Typing, "untouched", lambda _: lambda *_: True)


def _own_ids() -> None:
    """The ids of all callers are one space."""

    def of_anybody(find: Call) -> Call:
        def called(self: Forwards, key: Any, digest: bytes, now: float) -> Any:  # noqa: ANN401
            same = [each for each in self._by_request if each[1] == key[1]]
            return find(self, same[0] if same else key, digest, now)

        return called

    around(Forwards, "find", of_anybody)


def _own_operations() -> None:
    """An operation is anybody's who knows its id, and of any kind."""

    def any_ones(owned: Call) -> Call:
        def called(self: Forwards, *asked: Any) -> Any:  # noqa: ANN401
            actor, target, operation, family, now = asked
            found = self._by_operation.get((target, operation))
            whose = (actor, family) if found is None else (found.key[0], found.family)
            return owned(self, whose[0], target, operation, whose[1], now)

        return called

    around(Forwards, "owned", any_ones)


def _originator() -> None:
    """Nobody's name is passed on."""
    everywhere(relaying.originator, lambda _: "somebody")


IN_TERM: Final[Mapping[str, Callable[[], None]]] = {
    "human": _human,
    "own_ids": _own_ids,
    "own_operations": _own_operations,
    "originator": _originator,
}
"""By name; the text of each says what holds without it."""


# -- of a pane shell -------------------------------------------------------------------------------


def _announcement() -> None:
    """A command comes out of nowhere."""
    everywhere(announce.line, lambda *_: "")


def _owners() -> None:
    """An operation is anybody's."""

    def any_ones(get: Call) -> Call:
        def called(self: Operations, operation_id: str, actor: object, *more: Any) -> Any:  # noqa: ANN401
            found = next((each for each in self if each.id == operation_id), None)
            return get(self, operation_id, actor if found is None else found.actor, *more)

        return called

    around(Operations, "get", any_ones)


def _families() -> None:
    """A command and a task are read by each other's verbs."""

    def of_any_kind(get: Call) -> Call:
        def called(
            self: Operations, operation_id: str, actor: object, family: str, now_ms: int
        ) -> Any:  # noqa: ANN401
            found = next((each for each in self if each.id == operation_id), None)
            return get(self, operation_id, actor, found.family if found else family, now_ms)

        return called

    around(Operations, "get", of_any_kind)


def _over() -> None:
    """A cancellation interrupts whatever runs, whether or not its command has ended."""

    async def cancel(self: desks.Desk, _execution: object) -> Any:  # noqa: ANN401
        return interrupting.interrupt(self.shell, itself=True)

    around(desks.Desk, "cancel", lambda _: cancel)


def _editor() -> None:
    """A pane without an editor is told to be in use."""
    everywhere(refusals.no_integration, lambda: refusals.not_run("RUNNING"))


def _authority() -> None:
    """Anybody may do anything."""
    everywhere(policy.may, lambda *_: True)


def _generation() -> None:
    """Any prompt is the one that was meant."""
    check = refusals.check

    def any_prompt(state: Any, _generation: int, **more: Any) -> None:  # noqa: ANN401
        check(state, state.generation, **more)

    def of_now(submit: Call) -> Call:
        async def called(self: desks.Desk, operation: Any, _: int, *more: Any) -> None:  # noqa: ANN401
            await submit(self, operation, self.watch.state.generation, *more)

        return called

    everywhere(check, any_prompt)
    around(desks.Desk, "submit", of_now)


def _retries() -> None:
    """A retry is never known for one."""
    around(Operations, "find", lambda _: lambda *_: None)


def _claim() -> None:
    """It is said that nothing ran without making sure that nothing will."""
    around(ControlDir, "claim", lambda _: lambda *_: True)
    around(ControlDir, "withdraw", lambda _: lambda *_: None)


def _clearing() -> None:
    """What a task leaves behind is left."""
    everywhere(descendants.kill_children, lambda *_, **__: None)


def _environment() -> None:
    """A task gets all that the shell has."""
    everywhere(environment.kept, dict)


def _descriptors() -> None:
    """A task gets a descriptor that it was not given."""

    def leaky(place: Call) -> Call:
        def called(writing: list[int]) -> Any:  # noqa: ANN401
            found = place(writing)
            os.dup2(0, 77)
            return found

        return called

    everywhere(launching._place, leaky(launching._place))


def _room() -> None:
    """As many tasks run as are asked for."""
    everywhere(limits.MAX_RUNNING, 10**6)


def _escalation() -> None:
    """Who does not end when it is asked to is let be."""

    def patient(tick: Call) -> Call:
        def called(self: ladder.Ladder, now: float) -> Any:  # noqa: ANN401
            step = tick(self, now)
            return ladder.Step.NOTHING if step is ladder.Step.KILL else step

        return called

    around(ladder.Ladder, "tick", patient)


IN_SIDECARS: Final[Mapping[str, Callable[[], None]]] = {
    "announcement": _announcement,
    "owners": _owners,
    "families": _families,
    "over": _over,
    "editor": _editor,
    "authority": _authority,
    "generation": _generation,
    "retries": _retries,
    "claim": _claim,
    "clearing": _clearing,
    "environment": _environment,
    "descriptors": _descriptors,
    "room": _room,
    "escalation": _escalation,
}
"""By name; the text of each says what holds without it."""


# -- of the integrations ---------------------------------------------------------------------------

IN_SHELLS: Final[Mapping[str, Mapping[str, tuple[str, str]]]] = {
    # A line that is being edited is nothing to the shell.
    "draft": {
        "bash.sh": ("[[ -n $READLINE_LINE ]]", "false"),
        "zsh/__termnode_first": ("[[ -n $BUFFER || ", "[[ "),
        "fish.fish": (
            'builtin test -n "$(builtin commandline -b | builtin string collect)"',
            "false",
        ),
    },
}
"""By name: what of which file is replaced, and by what."""


def edit_integration(guard: str) -> None:
    """Have the shells started with edited copies of their integrations."""
    plan = sys.modules["termnode.paneshell.integration.plan"]
    copy = Path(tempfile.mkdtemp(prefix="tn-")) / "integration"
    atexit.register(shutil.rmtree, copy.parent, ignore_errors=True)
    shutil.copytree(vars(plan)["HERE"], copy)
    for name, (before, after) in IN_SHELLS[guard].items():
        text = (copy / name).read_text(encoding="utf-8")
        assert text.count(before) == 1, f"{name} is not written so any more"
        (copy / name).write_text(text.replace(before, after), encoding="utf-8")
    vars(plan)["HERE"] = copy


GUARDS: Final = frozenset((*IN_TERM, *IN_SIDECARS, *IN_SHELLS))
