"""One shell on a pseudo-terminal of its own, with or without its integration, and no service.

Reads its output and its control pipe, types keys, and asks it to run a command as a sidecar does.
"""

from __future__ import annotations

import os
import re
import selectors
import shutil
import signal
import termios
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import Final, Self

import pytest
from ptyprocess import PtyProcess

from termnode.paneshell.integration.directory import ShellDir
from termnode.paneshell.integration.plan import plan
from termnode.paneshell.integration.request import (
    TRIGGER,
    Request,
    as_one_command,
    take_claim,
    write_request,
)
from termnode.terminal import engines

WITHIN: Final = 30.0
"""Seconds after which a test counts as stuck."""

REPLY_WITHIN: Final = 2.0
"""Seconds that a press may take; longer than in the product, for a loaded machine."""

SHELLS: Final = ("bash", "zsh", "fish")

RC: Final = {"bash": ".bashrc", "zsh": ".zshrc", "fish": ".config/fish/config.fish"}
"""Where each shell reads what its person wants, below HOME."""

MADE_ALREADY: Final = (".local/share/fish", ".cache/fish")
"""Where fish (older, newer) keeps completions from manual pages; else it reads all of those."""

PLAIN_RC: Final = {
    "bash": "PS1='$ '\n",
    "zsh": "PS1='$ '\n",
    "fish": "function fish_prompt; echo '$ '; end\nset -g fish_greeting\n",
}
"""A person with few wishes."""


@dataclass(frozen=True)
class Ran:
    """A command that was run: its end, and the bytes between its C and its D (None: no C)."""

    op: str
    status: int
    generation: int
    cwd: str
    output: bytes | None


_NUMBER: Final = re.compile(r"\d{3,}|(?<=/)[01](?=/home)")


class Stuck(AssertionError):
    """Something awaited did not come; the message holds what did."""


class Shell:
    """Use as a context manager, or `close` it: the shell and all of its session end."""

    def __init__(
        self,
        argv: tuple[str, ...],
        env: Mapping[str, str],
        parent: Path,
        *,
        integrated: bool = True,
        cols: int = 80,
        rows: int = 24,
        cwd: str = "/",
    ) -> None:
        self.dir = ShellDir.make(parent)
        self.raw = bytearray()
        self.records: list[list[str]] = []
        """What the shell told, in order: the word and its fields."""
        self.ended = False
        self.within = WITHIN
        """Seconds after which it counts as stuck."""
        self._told = b""
        self._ops = count(1)
        planned = plan(argv, env, self.dir.path) if integrated else None
        self.kind = argv[0].rpartition("/")[2]
        started = (planned.argv, planned.env) if planned else (argv, dict(env))
        self.engine = engines.make("pyte")(cols, rows, 1_000)
        self.process = PtyProcess.spawn(
            list(started[0]),
            env=started[1],
            cwd=cwd,
            dimensions=(rows, cols),
            preexec_fn=_usual_signals,
        )
        os.set_blocking(self.fd, False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def fd(self) -> int:
        """The master of its terminal."""
        fd: int = self.process.fd
        return fd

    @property
    def pid(self) -> int:
        """The shell's."""
        pid: int = self.process.pid
        return pid

    def close(self) -> None:
        """End it."""
        for group in {self.foreground(), self.pid} - {0}:  # 0 would be this process's own
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(group, signal.SIGKILL)
        with suppress(ChildProcessError):
            os.waitpid(self.pid, 0)
        with suppress(OSError):
            self.process.fileobj.close()
        self.process.closed = True
        self.dir.close()
        self.engine.close()

    # What it says

    def until(self, check: Callable[[], object], why: str = "") -> None:
        """Read until ``check`` holds. Raises Stuck."""
        if not self.sees(check, self.within):
            raise Stuck(f"{why or 'a condition'}\n{self.records[-8:]}\n{bytes(self.raw[-800:])!r}")

    def sees(self, check: Callable[[], object], within: float) -> bool:
        """Whether ``check`` comes to hold while all that comes is read."""
        end = time.monotonic() + within
        self.read(0)
        while not check():
            left = end - time.monotonic()
            if left <= 0:
                return False
            self.read(min(left, 0.05))  # some conditions are of no descriptor: the terminal's modes
        return True

    def read(self, wait: float) -> None:
        """Take in what has come, after waiting for at most ``wait`` seconds."""
        with selectors.DefaultSelector() as selector:
            selector.register(self.dir.control, selectors.EVENT_READ)
            if not self.ended:
                selector.register(self.fd, selectors.EVENT_READ)
            ready = {key.fd for key, _ in selector.select(wait)}
        if self.fd in ready:
            self._read_output()
        if self.dir.control in ready:
            self._read_records()

    def _read_output(self) -> None:
        try:
            data = os.read(self.fd, 65_536)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        self.ended = not data
        self.raw += data
        self.engine.feed(data)
        answers = self.engine.take_replies()
        if answers:
            self.type(answers)

    def _read_records(self) -> None:
        with suppress(BlockingIOError):
            self._told += os.read(self.dir.control, 65_536)
        *whole, self._told = self._told.split(b"\0")
        self.records += [_fields(record.decode()) for record in whole]

    def screen(self) -> list[str]:
        """The rows of its screen, without blanks at their ends."""
        return [row.rstrip() for row in self.engine.text()]

    def looks(self, *, styled: bool = False) -> tuple[object, ...]:
        """All that a person sees: text, cursor, modes, looks; numbers of processes left out.

        Not the looks in fish, unless they are asked for: it colours a line in its own time, and a
        run line may stay half done.
        """
        rows = [
            [(_NUMBER.sub("N", text), style) for text, style in row] for row in self.engine.runs()
        ]
        text: object = (
            [_NUMBER.sub("N", row) for row in self.screen()]
            if self.kind == "fish" and not styled
            else rows
        )
        return text, self.engine.cursor, self.engine.modes, self.engine.title

    def resize(self, cols: int, rows: int) -> None:
        """Give it another size."""
        self.engine.resize(cols, rows)
        self.process.setwinsize(rows, cols)

    def told(self, word: str) -> list[list[str]]:
        """The fields of all records that begin with ``word``."""
        return [fields for first, *fields in self.records if first == word]

    @property
    def generation(self) -> int:
        """Of the newest prompt; 0 before the first."""
        newest = [int(fields[0]) for word, *fields in self.records if word in ("PROMPT", "CONT")]
        return newest[-1] if newest else 0

    def mark(self, letter: str) -> bytes:
        """How a mark of its own begins, up to the nonce (of D: without its status)."""
        return f"\x1b]133;{letter};n={self.dir.nonce}".encode()

    def prompts(self) -> int:
        """How many primary prompts it has told of."""
        return len(self.told("PROMPT"))

    # What is done to it

    def type(self, keys: bytes | str) -> None:
        """As a person does."""
        data = keys.encode() if isinstance(keys, str) else keys
        while data:
            try:
                data = data[os.write(self.fd, data) :]
            except BlockingIOError:
                self.read(0.05)

    def ready(self, prompts: int | None = None) -> None:
        """Wait for its ``prompts``-th prompt (the first) to be there and edited."""
        wanted = prompts or max(1, self.prompts())
        self.until(lambda: self.prompts() >= wanted, f"prompt {wanted}")
        self.until(lambda: self.mark("B") in self._since_prompt(), "a prompt's end")
        self.until(self.edits, "its line editor")

    def line(self, text: str) -> None:
        """Type a line at a prompt and wait for the next one."""
        self.ready()
        wanted = self.prompts() + 1
        self.type(text + "\r")
        self.ready(wanted)

    def _since_prompt(self) -> bytes:
        last = self.raw.rfind(f";g={self.told('PROMPT')[-1][0]};".encode())
        return bytes(self.raw[last:]) if last >= 0 else b""

    def edits(self) -> bool:
        """Whether its line editor has the terminal."""
        return self.foreground() == self.pid and not self.canonical()

    def canonical(self) -> bool:
        """Whether the terminal hands over whole lines."""
        return bool(termios.tcgetattr(self.fd)[3] & termios.ICANON)

    def foreground(self) -> int:
        """The process group that reads the keys; the shell's own when nobody can say."""
        try:
            return os.tcgetpgrp(self.fd) or self.pid  # 0: nobody has the terminal any more
        except OSError:
            return self.pid

    def runs(self, name: str = "") -> bool:
        """Whether another program (of this name) has the terminal, and is that program by now."""
        group = self.foreground()
        try:
            found = Path(f"/proc/{group}/comm").read_text(encoding="utf-8").strip()
        except OSError:
            return False
        return group != self.pid and (found == name if name else found != self.kind)

    def idle(self) -> bool:
        """Whether it waits for something: a C-c into its work may be lost, with or without us."""
        try:
            tasks = list(Path(f"/proc/{self.pid}/task").iterdir())
            stats = [(task / "stat").read_text(encoding="utf-8") for task in tasks]
        except OSError:
            return not Path(f"/proc/{self.pid}").exists()
        return all(stat.rpartition(") ")[2][0] != "R" for stat in stats)

    def press(
        self,
        source: str = "",
        *,
        generation: int | None = None,
        announcement: str = "",
        op: str | None = None,
    ) -> tuple[str, str]:
        """Ask for a command (none: a probe) and press the trigger, whatever the shell does.

        Returns the operation's id and the shell's word; NO_REPLY when none came and the claim could
        be taken, CLAIMED when it could not.
        """
        op = op or f"op-{next(self._ops)}"
        now = self.generation if generation is None else generation
        write_request(self.dir.path, Request(op, now, announcement, self.grouped(source)))
        self.type(TRIGGER)
        if self.sees(lambda: self.replied(op), REPLY_WITHIN):
            return op, self.replied(op)[0][1]
        return op, "NO_REPLY" if take_claim(self.dir.path, op) else "CLAIMED"

    def grouped(self, source: str) -> str:
        """As it is asked for."""
        return as_one_command(self.kind, source)

    def replied(self, op: str) -> list[list[str]]:
        """The replies to one request: id, word, generation, length."""
        return [fields for fields in self.told("REPLY") if fields[0] == op]

    def run(self, source: str, announcement: str = "") -> Ran:
        """Have a command run at the prompt, and wait for its end."""
        self.ready()
        op, word = self.press(source, announcement=announcement)
        assert word == "ADMITTED", (word, source, self.records[-5:], bytes(self.raw[-300:]))
        return self.finished(op)

    def finished(self, op: str) -> Ran:
        """Wait for the end of an operation."""
        self.until(lambda: self._prompt_of(op), f"the end of {op}")
        generation, status, _, cwd = self._prompt_of(op)[0]
        ended = re.compile(
            rf"\x1b\]133;D;\d+;n={self.dir.nonce};g={generation};op={op}\x07".encode()
        )
        self.until(lambda: ended.search(self.raw), f"the mark of {op}")
        match = ended.search(self.raw)
        assert match
        return Ran(op, int(status), int(generation), cwd, self._before(match.start()))

    def _prompt_of(self, op: str) -> list[list[str]]:
        return [fields for fields in self.told("PROMPT") if fields[2] == op]

    def _before(self, end: int) -> bytes | None:
        previous = self.raw.rfind(b"\x1b]133;D;", 0, end)
        begin = self.raw.find(self.mark("C"), max(previous, 0), end)
        if begin < 0:
            return None
        return bytes(self.raw[self.raw.index(b"\x07", begin) + 1 : end])


def _fields(record: str) -> list[str]:
    """The fields of a record; the last one may have blanks in it."""
    word = record.partition(" ")[0]
    return record.split(" ", {"PROMPT": 4, "HELLO": 3}.get(word, 4))


def _usual_signals() -> None:
    for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)


def environment(home: Path, **more: str) -> dict[str, str]:
    """What a shell of a test is given: nothing of who runs the test but PATH."""
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": str(home),
        "TERM": "xterm-256color",
        "LC_ALL": "C.UTF-8",
        "LANG": "C.UTF-8",
        "USER": "person",
        **more,
    }


def furnish(home: Path, kind: str, rc: str | None = None) -> None:
    """Give the person's own startup file of a shell to a home directory."""
    file = home / RC[kind]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(PLAIN_RC[kind] if rc is None else rc, encoding="utf-8")
    if kind == "fish":
        for place in MADE_ALREADY:
            (home / place / "generated_completions").mkdir(parents=True, exist_ok=True)


@contextmanager
def shell(
    kind: str,
    home: Path,
    rc: str | None = None,
    *arguments: str,
    integrated: bool = True,
    env: Mapping[str, str] | None = None,
    cols: int = 80,
    rows: int = 24,
) -> Iterator[Shell]:
    """A shell of this kind whose person has the startup file ``rc`` (None: a plain prompt)."""
    furnish(home, kind, rc)
    parent = home.parent / f"{home.name}.shells"
    parent.mkdir(mode=0o700, exist_ok=True)
    with Shell(
        (kind, *arguments),
        {**environment(home), **(env or {})},
        parent,
        integrated=integrated,
        cols=cols,
        rows=rows,
        cwd=str(home),
    ) as made:
        yield made


def change_integration(
    monkeypatch: pytest.MonkeyPatch, parent: Path, file: str, old: str, new: str
) -> None:
    """For one test: shells get an integration with ``new`` in place of ``old``, which is in it."""
    module = import_module("termnode.paneshell.integration.plan")
    copy = parent / "integration"
    shutil.copytree(module.HERE, copy)
    text = (copy / file).read_text(encoding="utf-8")
    assert old in text
    (copy / file).write_text(text.replace(old, new), encoding="utf-8")
    monkeypatch.setattr(module, "HERE", copy)
