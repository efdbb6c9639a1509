"""Where a key goes: to a prompt or a box, to a command after the prefix, to copy mode, else on."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from termnode.attach.ui.bindings import REPEAT_S, Binding
from termnode.attach.ui.copying.desk import CopyDesk
from termnode.attach.ui.core import READ_ONLY, Core
from termnode.attach.ui.overlays import Overlays
from termnode.attach.ui.prompts import Prompts
from termnode.attach.ui.questions import Questions
from termnode.terminal.input import names
from termnode.terminal.input.names import CHAR, UnknownKey, parse_key
from termnode.view.messages import Key, Text


class Keyboard:
    """Prefix, repeats, and who takes a key."""

    def __init__(  # noqa: PLR0917 - the parts of the controller
        self,
        core: Core,
        prompts: Prompts,
        overlays: Overlays,
        questions: Questions,
        desk: CopyDesk,
        actions: Mapping[str, Callable[[], object]],
    ) -> None:
        self._core = core
        self._prompts = prompts
        self._overlays = overlays
        self._questions = questions
        self._desk = desk
        self._actions = actions
        self._prefixed_at: float | None = None
        self._repeat_until: float | None = None

    @property
    def modal(self) -> bool:
        """Whether a prompt or a box takes all keys."""
        return self._prompts.open or self._overlays.open

    def text(self, text: str) -> None:
        """Typed characters: as one piece where none of them can be meant for the view."""
        for at, char in enumerate(text):
            if self._goes_on():
                self._pass_on(Text(text[at:]))
                return
            self._press(parse_key(char), char)

    def key(self, name: str) -> None:
        """A key by its name; a name that no key has is dropped."""
        try:
            key = parse_key(name)
        except UnknownKey:
            return
        self._press(key, name)

    def reset(self) -> None:
        """The prefix does not wait any more, and nothing repeats."""
        self._prefixed(None)
        self._repeat_until = None

    def expire(self) -> None:
        """Nothing repeats once its time is over."""
        if self._repeat_until is not None and self._core.now >= self._repeat_until:
            self._repeat_until = None

    def deadline(self) -> float | None:
        """When that is."""
        return self._repeat_until

    def _goes_on(self) -> bool:
        """Whether plain characters go to the program, all of them."""
        self.expire()
        waiting = self._prefixed_at is not None or self._repeat_until is not None
        copying = self._desk.mode(self._core.facts.pane) is not None
        return not (waiting or copying or self.modal or (self._core.prefix.code == CHAR
                    and not (self._core.prefix.ctrl or self._core.prefix.alt)))  # fmt: skip

    def _press(self, key: names.Key, name: str) -> None:
        self.expire()
        pane = self._core.facts.pane
        if self._prefixed_at is not None:
            self._command(key, self._prefixed_at)
        elif key == self._core.prefix and (self._questions.open or not self.modal):
            self._prefixed(self._core.now)
        elif self._prompts.open:
            self._prompts.press(key)
        elif self._overlays.open:
            self._overlays.press(key)
        elif self._repeats(key):
            self._run(self._core.commands[key])
        elif pane is not None and self._desk.mode(pane) is not None:
            self._desk.press(pane, self._core.copy_keys.get(key))
        else:
            self._pass_on(Text(name) if _is_text(key, name) else Key(name))

    def _repeats(self, key: names.Key) -> bool:
        """Whether the key goes on with a repeatable command; any other key ends that."""
        if self._repeat_until is None:
            return False
        binding = self._core.commands.get(key)
        if binding is not None and binding.repeat:
            return True
        self._repeat_until = None
        return False

    def _command(self, key: names.Key, prefixed_at: float) -> None:
        self._prefixed(None)
        if self._questions.commanded(key, prefixed_at):
            return
        binding = self._core.commands.get(key)
        if binding is None:
            self._core.say(f"this key is no command: {self._core.config.prefix} ? lists them", 1.5)
        else:
            self._run(binding)

    def _run(self, binding: Binding) -> None:
        if binding.writes and self._core.ui.read_only:
            self._core.say(READ_ONLY)
            return
        self._overlays.dismiss()
        self._repeat_until = self._core.now + REPEAT_S if binding.repeat else None
        self._actions[binding.action]()

    def _prefixed(self, at: float | None) -> None:
        if (at is None) != (self._prefixed_at is None):
            self._core.redraw()
        self._prefixed_at = at
        self._core.ui.prefix = at is not None

    def _pass_on(self, item: Text | Key) -> None:
        pane = self._core.facts.pane
        if pane is not None:
            self._core.typed(pane, item)


def _is_text(key: names.Key, name: str) -> bool:
    return key.code == CHAR and name == key.char and not key.ctrl
