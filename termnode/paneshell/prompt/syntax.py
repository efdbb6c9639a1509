"""Whether a source is a whole command, by the shell's own reading without running it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

import trio

from brokerd.client import ErrorCode, Refusal, invalid
from termnode.paneshell.prompt.plain import is_plain

CHECK_SECONDS: Final = 1.0
"""For the check of one source; then it is killed and nothing runs."""

_ARGUMENTS: Final[Mapping[str, tuple[str, ...]]] = {
    # A person's bash may have extended patterns on: what is right with them must pass.
    "bash": ("--norc", "-O", "extglob", "-n", "-c", "--"),
    "zsh": ("-f", "-n", "-c", "--"),
    "fish": ("--no-config", "--no-execute", "-c"),
}
_GROUPS: Final = {
    "bash": "{{\n:\n{}\n}}".format,
    "zsh": "{{\n:\n{}\n}}".format,
    "fish": "begin\n{}\nend".format,
}
"""What only a source that leaves nothing open can stand in."""

_BACKSLASHES: Final = re.compile(r"\\+\Z")
_ASKS_FOR_MORE: Final = re.compile(
    rb"unexpected end of file|unexpected EOF|here-document|unmatched|end of the input"
    rb"|end of string|Missing end"
)
_NEAR: Final = re.compile(rb"parse error near `(.*)'", re.DOTALL)
_ENDS: Final = (b")", b"}", b"fi", b"done", b"esac", b"then", b"do", b";;")


async def check(kind: str, shell_pid: int, source: str) -> None:
    """Return when a shell of this kind would take the source as one whole command.

    Raises Refusal: INVALID_ARGUMENT with the reason ``unfinished_source`` or ``syntax``, and
    UNAVAILABLE when it could not be told in time.
    """
    if is_plain(source):
        return
    if asks_for_more(kind, source):
        raise _unfinished()
    # As it was sent, and not as it will be run: it may not end the group that it is put into.
    forms = (source.strip("\n"), _GROUPS[kind](source))
    alone, grouped = await _complaints(kind, shell_pid, forms)
    if alone is not None:
        raise _verdict(alone, source)
    if grouped is not None:
        raise _unfinished()


def asks_for_more(kind: str, source: str) -> bool:
    """Whether the last line goes on by itself, where the shell's own check does not say so."""
    backslashes = _BACKSLASHES.search(source.rstrip("\n"))
    if backslashes is not None and len(backslashes[0]) % 2:
        return True
    return kind == "zsh" and source.rstrip().endswith(("&&", "||"))


def _verdict(complaint: bytes, source: str) -> Refusal:
    if _ASKS_FOR_MORE.search(complaint) or _ends_at(complaint, source.encode().rstrip()):
        return _unfinished()
    text = "the shell would not understand the source: correct it"
    return invalid("source", text, reason="syntax")


def _ends_at(complaint: bytes, source: bytes) -> bool:
    """Whether zsh stumbled over the end of the source, and not over a closing word there."""
    near = _NEAR.search(complaint)
    if near is None:
        return False
    return near[1] == rb"\n" or (source.endswith(near[1]) and near[1] not in _ENDS)


def _unfinished() -> Refusal:
    text = "the shell would wait for more of the source: send the whole command"
    return invalid("source", text, reason="unfinished_source")


async def _complaints(kind: str, shell_pid: int, forms: tuple[str, ...]) -> list[bytes | None]:
    """What the shell says against each form; all are checked at once. Raises Refusal."""
    found: list[bytes | None] = [None] * len(forms)
    failed: list[OSError] = []

    async def look(number: int) -> None:
        try:
            found[number] = await _complaint(kind, executable, forms[number])
        except OSError as error:
            failed.append(error)

    try:
        executable = program(kind, shell_pid)
    except OSError:
        raise _unchecked() from None
    with trio.move_on_after(CHECK_SECONDS) as limit:
        async with trio.open_nursery() as nursery:
            for number in range(len(forms)):
                nursery.start_soon(look, number)
    if limit.cancelled_caught or failed:
        raise _unchecked()
    return found


def _unchecked() -> Refusal:
    text = "the source could not be checked and nothing ran: try again"
    return Refusal(ErrorCode.UNAVAILABLE, text, reason="syntax_check")


async def _complaint(kind: str, executable: str, source: str) -> bytes | None:
    """What the shell says against the source; None when nothing. Raises OSError."""
    done = await trio.run_process(
        [kind, *_ARGUMENTS[kind], source],
        executable=executable,
        stdin=b"",
        stdout=subprocess.DEVNULL,
        capture_stderr=True,
        check=False,
        cwd="/",
        env={"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C.UTF-8", "HOME": "/"},
        start_new_session=True,
    )
    return done.stderr if done.returncode or done.stderr else None


def program(kind: str, shell_pid: int) -> str:
    """The very program of the pane's shell, else one of its name. Raises OSError."""
    with suppress(OSError):
        found = Path(f"/proc/{shell_pid}/exe").readlink()
        if found.name.startswith(kind) and found.is_file():
            return str(found)
    named = shutil.which(kind)
    if named is None:
        raise FileNotFoundError("the shell's program is not there")
    return named
