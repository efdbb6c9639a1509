"""``termnode doctor``: is this machine fit for shared terminals, and what to do where it is not."""

from __future__ import annotations

import os
import pwd
import resource
import shutil
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

from brokerd.client import RuntimeDirError, broker_pid, resolve_runtime_dir, socket_path
from termnode.cli.doctor_sessions import service_findings
from termnode.cli.doctor_shells import shell_findings
from termnode.cli.exits import OK, REFUSED
from termnode.cli.finding import Finding
from termnode.cli.output import BOLD, GREEN, RED, YELLOW, paint
from termnode.cli.remote import print_json

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator

MIN_DESCRIPTORS = 4_096
SLOW_MB_PER_S = 2.0


def run(arguments: argparse.Namespace) -> int:
    """Run every check; 0 unless one failed."""
    findings: list[Finding] = []
    for check in _CHECKS:
        for finding in check(arguments):
            findings.append(finding)
            if not arguments.json:
                print(_line(finding), flush=True)
    failed = any(finding.state == "fail" for finding in findings)
    if arguments.json:
        print_json({"ok": not failed, "checks": [asdict(finding) for finding in findings]})
    return REFUSED if failed else OK


def _line(finding: Finding) -> str:
    colour = {"ok": GREEN, "warn": YELLOW, "fail": RED}[finding.state]
    line = f"{paint(finding.state.ljust(4), colour)}  {finding.check.ljust(18)} {finding.found}"
    return f"{line}\n      {paint('do:', BOLD)} {finding.remedy}" if finding.remedy else line


def _python(_arguments: argparse.Namespace) -> Iterator[Finding]:
    # An older Python cannot even load this module, so there is nothing to judge here.
    yield Finding("python", "ok", ".".join(map(str, sys.version_info[:3])))


def _zeromq(_arguments: argparse.Namespace) -> Iterator[Finding]:
    import zmq  # only this check needs it

    found = f"libzmq {zmq.zmq_version()}, pyzmq {zmq.__version__}"
    if zmq.has("ipc"):
        yield Finding("zeromq", "ok", found)
    else:
        yield Finding("zeromq", "fail", f"{found}, without ipc", "install pyzmq from its wheel")


def _cryptography(_arguments: argparse.Namespace) -> Iterator[Finding]:
    try:
        import cryptography  # only this check needs it
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        Ed25519PrivateKey.generate()
    except Exception:  # noqa: BLE001  # missing, broken, or built without Ed25519: all the same here
        remedy = "run scripts/run again, or install cryptography from its wheel"
        yield Finding("cryptography", "fail", "no Ed25519 keys: no verified sessions", remedy)
    else:
        yield Finding("cryptography", "ok", f"{cryptography.__version__}, Ed25519")


def _pidfd(_arguments: argparse.Namespace) -> Iterator[Finding]:
    try:
        os.close(os.pidfd_open(os.getpid()))
    except (AttributeError, OSError):
        yield Finding("pidfd", "fail", "not available", "use Linux 5.3 or newer")
    else:
        yield Finding("pidfd", "ok", "process ends are noticed at once")


def _ptys(_arguments: argparse.Namespace) -> Iterator[Finding]:
    try:
        for descriptor in os.openpty():
            os.close(descriptor)
    except OSError as error:
        remedy = "mount devpts on /dev/pts, or raise kernel.pty.max"
        yield Finding("pseudo-terminals", "fail", error.strerror or "no PTY", remedy)
    else:
        yield Finding("pseudo-terminals", "ok", "one was opened")


def _descriptors(_arguments: argparse.Namespace) -> Iterator[Finding]:
    _soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    count = "unlimited" if hard == resource.RLIM_INFINITY else str(hard)
    if hard == resource.RLIM_INFINITY or hard >= MIN_DESCRIPTORS:
        yield Finding("descriptors", "ok", f"up to {count}")
    else:
        remedy = f"raise the hard limit to {MIN_DESCRIPTORS} or more (ulimit -Hn)"
        yield Finding("descriptors", "warn", f"only {count}", remedy)


def _directory(arguments: argparse.Namespace) -> Iterator[Finding]:
    try:
        directory = resolve_runtime_dir(arguments.runtime_dir)
    except RuntimeDirError as error:
        found, _, remedy = str(error).partition("; ")
        yield Finding("runtime directory", "fail", found, remedy)
        return
    broker = f"a broker runs, pid {pid}" if (pid := broker_pid(directory)) else "no broker runs"
    yield Finding("runtime directory", "ok", f"{directory} ({broker})")
    if not pid and socket_path(directory).exists():
        remedy = "nothing: the next broker replaces it"
        yield Finding("runtime directory", "warn", "a killed broker left its socket", remedy)


def _emulators(_arguments: argparse.Namespace) -> Iterator[Finding]:
    from termnode.terminal import engines  # heavy: loads the emulators themselves

    names = engines.available()
    if not names:
        yield Finding("emulator", "fail", "none works", "run scripts/run again, or reinstall pyte")
    for name in names:
        speed = engines.probe_speed(name)
        state = "ok" if speed >= SLOW_MB_PER_S else "warn"
        remedy = "" if state == "ok" else "this machine is slow or busy: floods will be held back"
        yield Finding(f"emulator {name}", state, f"{speed:.1f} MB per CPU second", remedy)
    if names == ["pyte"]:
        remedy = "install pyghostty (the 'native' extra) where it has a wheel for this machine"
        yield Finding("emulator ghostty", "warn", "not installed: the slower one serves", remedy)


def _shells(_arguments: argparse.Namespace) -> Iterator[Finding]:
    own = os.environ.get("SHELL") or pwd.getpwuid(os.geteuid()).pw_shell
    if own and os.access(own, os.X_OK):
        yield Finding("your shell", "ok", own)
    else:
        yield Finding("your shell", "fail", own or "none", "set SHELL, or use up --shell PROGRAM")
    others = [name for name in ("bash", "zsh", "fish", "dash") if shutil.which(name)]
    yield Finding("shells", "ok" if others else "warn", " ".join(others) or "none of the usual")


_CHECKS: tuple[Callable[[argparse.Namespace], Iterator[Finding]], ...] = (
    _python,
    _zeromq,
    _cryptography,
    _pidfd,
    _ptys,
    _descriptors,
    _directory,
    _emulators,
    _shells,
    shell_findings,
    service_findings,
)
