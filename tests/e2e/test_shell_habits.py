"""A shell with its integration shows the same screen as one without, whatever its person does."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.habits.steps import RESIZE, Habit, Step
from tests.support.integrated_shell import PLAIN_RC, SHELLS, Shell, change_integration, shell
from tests.support.programs import need
from tests.support.shell_habits import HABITS

# What is not the same yet, and what betrays it.
KNOWN = {
    ("bash", "the first command told by a DEBUG trap"): "[__termnode_prompt] $",
}

CASES = [(kind, name) for kind in SHELLS for name, habit in HABITS.items() if kind in habit.shells]


@contextmanager
def both(kind: str, habit: Habit, tmp_path: Path) -> Iterator[tuple[Shell, Shell]]:
    """The same shell without and with its integration, in homes of the same form."""
    rc = habit.rc.get(kind, "{}").replace("{}", PLAIN_RC[kind])
    with ExitStack() as opened:
        made = []
        for integrated in (False, True):
            home = tmp_path / str(int(integrated)) / "home"
            home.mkdir(parents=True)
            started = shell(kind, home, rc, *habit.arguments, integrated=integrated)
            made.append(opened.enter_context(started))
        yield made[0], made[1]


INTERRUPT = "\x03"


@dataclass(frozen=True)
class Pair:
    """Both shells, and what they are to come to."""

    habit: Habit
    plain: Shell
    hooked: Shell
    betrays: str = ""
    """What is seen only where the integration is broken: no need to wait for the same any more."""

    def __iter__(self) -> Iterator[Shell]:
        return iter((self.plain, self.hooked))

    def alike(self) -> bool:
        return looks(self.plain, self.habit) == looks(self.hooked, self.habit)

    def betrayed(self) -> bool:
        """Whether the hooked shell shows what only a broken integration does."""
        self.plain.read(0)
        return bool(self.betrays) and self.betrays in seen(self.hooked, self.habit)

    def take(self, step: Step) -> None:
        """One step in both, until both have come to its end and show the same."""
        before = [each.looks() for each in self]
        for each in self:
            each.until(each.idle)  # any shell, without us too, may lose a key that meets its work
            if step.keys == RESIZE:
                each.resize(60, 20)
            else:
                each.type(step.keys)

        def settled() -> bool:
            return self.betrayed() or (
                all(taken(step, self.habit, each) for each in self) and self.alike()
            )

        if step.keys == INTERRUPT and not self.hooked.sees(settled, 2):
            # fish, with or without its integration, may lose a C-c that meets its work.
            for each, looked in zip(self, before, strict=True):
                if each.looks() == looked:
                    each.type(INTERRUPT)
        if not self.hooked.sees(settled, 10) or self.betrayed():
            pytest.fail(f"after {step}:\n{difference(self)}", pytrace=False)


def taken(step: Step, habit: Habit, shell: Shell) -> bool:
    """Whether the shell has come to the end of a step."""
    rows = "\n".join(shell.screen()).rstrip()
    if not re.search(step.shows, rows):
        return False
    match step.then:
        case "prompt":
            return bool(re.fullmatch(habit.prompt, rows.rpartition("\n")[2]))
        case "program":
            return shell.runs()
        case "builtin":
            return shell.canonical()
        case "ended":
            return shell.ended
    return True


def looks(shell: Shell, habit: Habit) -> tuple[object, ...]:
    """All that a person sees."""
    return shell.looks(styled=True) if habit.styled else shell.looks()


def seen(shell: Shell, habit: Habit) -> str:
    """The rows, and all that is compared of them."""
    return "\n".join([*shell.screen(), *map(str, looks(shell, habit))])


def difference(pair: Pair) -> str:
    plain, hooked = pair
    rows = [*plain.screen(), "with the integration:", *hooked.screen(), repr(hooked.raw[-500:])]
    states = [f"{looks(each, pair.habit)}" for each in pair]
    return "\n".join([row for row in rows if row] + (states if states[0] != states[1] else []))


def live(kind: str, name: str, tmp_path: Path, betrays: str = "") -> None:
    """A habit in both shells."""
    need(kind)
    habit = HABITS[name]
    with both(kind, habit, tmp_path) as (plain, hooked):
        pair = Pair(habit, plain, hooked, betrays)
        pair.take(Step("", "", "prompt"))
        for step in habit.steps:
            pair.take(step)


@pytest.mark.parametrize(("kind", "name"), [case for case in CASES if case not in KNOWN])
def test_a_habit(kind: str, name: str, tmp_path: Path) -> None:
    live(kind, name, tmp_path)


@pytest.mark.xfail(raises=pytest.fail.Exception)
@pytest.mark.parametrize(("kind", "name"), KNOWN)
def test_a_habit_that_is_not_the_same_yet(kind: str, name: str, tmp_path: Path) -> None:
    live(kind, name, tmp_path, KNOWN[kind, name])


def test_there_are_enough_habits() -> None:
    for kind in SHELLS:
        distinct = {
            (tuple(habit.steps), habit.rc.get(kind), habit.arguments)
            for habit in HABITS.values()
            if kind in habit.shells
        }
        assert len(distinct) >= 40, kind


def test_each_step_of_a_habit_is_seen() -> None:
    for name, habit in HABITS.items():
        assert any(step.shows for step in habit.steps) or habit.steps[-1].then, name


RED = "('done-1', Style(fg=1,"

# What is broken: the habit, the shell, the file and its change, and what a person then sees.
CHANGES = [
    (
        "traces",
        "bash",
        "bash.sh",
        "='{ __termnode_prompt; } >/dev/null 2>&1'",
        "=__termnode_prompt",
        "+ __termnode_prompt",
    ),
    ("CHLD trap", "bash", "bash.sh", "__termnode_mute=1", "__termnode_mute=0", "child\nchild"),
    ("the environment", "bash", "bash.sh", "unset TERMNODE_SHELL_DIR", ":", "\n1\ndone-1"),
    ("traces", "zsh", "zsh/.zshenv", "'-o' 'no_xtrace'", "'-o' 'xtrace'", "__termnode"),
    (
        "traps of zsh",
        "zsh",
        "zsh/__termnode_first",
        "__termnode_gen += 1 ))",
        "0 ))",
        "DEBUG\nfailed",
    ),
    ("a command", "fish", "fish.fish", "'\\e]133;D;%s", "'x\\e]133;D;%s", "done-1\nx$"),
    ("a segment and a branch", "bash", "bash.sh", "'\\e]133;C", "'\\e[31m\\e]133;C", RED),
    (
        "an arrow and a branch",
        "zsh",
        "zsh/__termnode_first",
        '"\\e]133;C',
        '"\\e[31m\\e]133;C',
        RED,
    ),
    (
        "a segment and all statuses",
        "fish",
        "fish.fish",
        "set -g __termnode_run 0",
        "set -g __termnode_run 0; set -g fish_color_command red",
        "('echo', Style(fg=1,",
    ),
    (
        "a command",
        "zsh",
        "zsh/__termnode_first",
        '"\\e]133;C',
        '"\\e[?7l\\e]133;C',
        "autowrap=False",
    ),
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: f"{change[1]}-{change[0]}")
def test_a_difference_is_seen(
    change: tuple[str, str, str, str, str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, kind, file, old, new, betrays = change
    change_integration(monkeypatch, tmp_path, file, old, new)
    with pytest.raises(pytest.fail.Exception, match="after Step"):
        live(kind, name, tmp_path, betrays)
