"""Starts one program on a new pseudo-terminal, with ptyprocess, and says why when it cannot.

Three properties of ptyprocess 0.7 shape this module. It changes directory in the child outside
its error guard, so the directory is changed in ``preexec_fn``, whose failure reaches the parent.
Dropping its object ends the program and its ``close`` sleeps, so ``Pty`` replaces both. When the
fork itself fails it leaks the descriptors it opened, so ``spawn`` notes their numbers beforehand.
"""

from __future__ import annotations

import errno
import os
import resource
import signal
import stat
import termios
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import ClassVar, Final

from ptyprocess import PtyProcess

from termnode.panehost.protocol import Failure, SpawnRequest, UserSettings

_DEFAULTED: Final = signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}

_EXHAUSTED: Final = frozenset(
    {errno.EAGAIN, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOSPC, errno.ENOENT}
)
"""What a fork or a new pseudo-terminal fails with at a limit (ENOENT: no PTY device is left)."""

_IUTF8: Final = 0o40000
"""Linux: an input flag that the termios module does not name."""

_LEAKABLE: Final = 4
"""Descriptors that a failed spawn can leave behind: an error pipe and a PTY pair."""


class Pty(PtyProcess):  # type: ignore[misc]  # ptyprocess ships no types
    """A PtyProcess that never signals, waits or sleeps: the host's table does that."""

    latest: ClassVar[Pty | None] = None
    """The object of the spawn that runs now: ptyprocess drops it when the exec fails."""

    pid: int
    fd: int
    closed: bool

    def __init__(self, pid: int, fd: int) -> None:
        super().__init__(pid, fd)
        Pty.latest = self

    def __del__(self) -> None:
        """Do nothing: the program outlives this object."""

    def release(self) -> None:
        """Close the master."""
        if not self.closed:
            self.closed = True
            self.fileobj.close()

    @classmethod
    def take_latest(cls) -> Pty | None:
        """The object made since the last call, if any."""
        latest, Pty.latest = Pty.latest, None
        return latest


def spawn(request: SpawnRequest, user: UserSettings) -> Pty:
    """Start the program; raise Failure when it cannot be. Blocks until the exec has happened.

    The fork happens with every signal blocked, so that no handler of the host runs in the child.
    """
    _check_directory(request.cwd)
    program = _find_program(request)
    leaked = _lowest_free_descriptors()
    with _signals_blocked(), _only_parent():
        try:
            made: Pty = Pty.spawn(
                [program, *request.argv[1:]],
                env=request.env,
                preexec_fn=_preparation(request.cwd, user),
                dimensions=(request.rows, request.cols),
            )
        except (OSError, ValueError) as error:
            raise _failure(error, Pty.take_latest(), leaked) from None
    Pty.take_latest()
    return made


def _preparation(cwd: str, user: UserSettings) -> Callable[[], None]:
    """What the child does before exec: give the user's process attributes back.

    Each error that it raises is an OSError or a ValueError, and ends the child.
    """

    def prepare() -> None:
        for number in _DEFAULTED:
            signal.signal(number, signal.SIG_DFL)
        _erase_whole_characters()
        os.umask(user.umask)
        resource.setrlimit(resource.RLIMIT_NOFILE, user.nofile)
        os.chdir(cwd)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())

    return prepare


def _erase_whole_characters() -> None:
    """Let the kernel's line editing erase a UTF-8 character, not a byte of it."""
    with suppress(OSError, termios.error):
        attributes = termios.tcgetattr(0)
        attributes[0] |= _IUTF8
        termios.tcsetattr(0, termios.TCSANOW, attributes)


@contextmanager
def _signals_blocked() -> Iterator[None]:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _only_parent() -> Iterator[None]:
    """End a child in which anything was raised before its exec: there is never a second host."""
    parent = os.getpid()
    try:
        yield
    finally:
        if os.getpid() != parent:
            os._exit(os.EX_OSERR)


def _lowest_free_descriptors() -> list[int]:
    """The numbers that the next descriptors will get; nothing else opens any in between."""
    taken: list[int] = []
    try:
        while len(taken) < _LEAKABLE:
            taken.append(os.dup(0))
    except OSError as error:
        raise _at_limit() from error
    finally:
        for number in taken:
            os.close(number)
    return taken


def _check_directory(cwd: str) -> None:
    try:
        mode = os.stat(cwd).st_mode
    except OSError as error:
        raise _bad_directory(error) from None
    if not stat.S_ISDIR(mode):
        raise _bad_directory(NotADirectoryError())
    if not os.access(cwd, os.X_OK):
        raise _bad_directory(PermissionError())


def _find_program(request: SpawnRequest) -> str:
    """The path of the program, looked up from the directory and PATH that it will have."""
    name = request.argv[0]
    path = request.env.get("PATH", os.defpath)
    folders = [""] if "/" in name else path.split(":")
    candidates = [os.path.join(request.cwd, folder, name) for folder in folders]
    found = [candidate for candidate in candidates if os.path.exists(candidate)]
    for candidate in found:
        if os.path.isfile(candidate) and os.access(candidate, os.X_OK):
            return candidate
    raise _bad_program("not_executable" if found else "no_such_program")


def _failure(error: OSError | ValueError, made: Pty | None, leaked: list[int]) -> Failure:
    """Clean up after a failed spawn and say what failed."""
    if made is not None:
        made.release()
        os.waitpid(made.pid, 0)  # it has reported its error and does nothing but exit
        return _child_failure(error)
    for descriptor in leaked:
        with suppress(OSError):
            os.close(descriptor)
    return (
        _at_limit()
        if getattr(error, "errno", None) in _EXHAUSTED
        else _bad_program("no_such_program")
    )


def _child_failure(error: OSError | ValueError) -> Failure:
    """What stopped the child. ptyprocess passes the errno of a failed exec, and only of that."""
    if isinstance(error, ValueError):
        return _at_limit()  # the user's limit is above the hard limit of the host
    if not error.errno:
        return _bad_directory(error)
    if error.errno in _EXHAUSTED - {errno.ENOENT}:
        return _at_limit()
    if error.errno == errno.E2BIG:
        return Failure("RESOURCE_LIMIT", "argv and env are too large: shorten them", field="env")
    return _bad_program("no_such_program" if error.errno == errno.ENOENT else "not_executable")


def _at_limit() -> Failure:
    return Failure(
        "RESOURCE_LIMIT",
        "no process, descriptor or pseudo-terminal is left: close a pane and try again",
    )


def _bad_directory(error: OSError) -> Failure:
    reason = {
        NotADirectoryError: "not_a_directory",
        PermissionError: "not_accessible",
    }.get(type(error), "no_such_directory")
    text = "the program cannot start in that directory: give one that exists and can be entered"
    return Failure("NOT_FOUND", text, field="cwd", reason=reason)


def _bad_program(reason: str) -> Failure:
    text = {
        "no_such_program": "there is no such program: check its name and PATH",
        "not_executable": "that file cannot be executed: check its mode and its first line",
    }[reason]
    return Failure("NOT_FOUND", text, field="argv", reason=reason)
