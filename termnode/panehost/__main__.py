"""The pane host's process: ``python -m termnode.panehost --fd N [--umask OCTAL] [--nofile S:H]``.

Term alone starts it, with one end of a socket pair as descriptor N. It imports little, so that it
starts fast and stays small; that is why the arguments are not read with argparse.
"""

from __future__ import annotations

import os
import resource
import socket
import sys
from contextlib import suppress

from termnode.panehost.host import Host
from termnode.panehost.protocol import UserSettings


def main(arguments: list[str]) -> None:
    """Serve the socket until Term is gone."""
    options = dict(zip(arguments[::2], arguments[1::2], strict=True))
    inherited = UserSettings.capture()
    sock = socket.socket(fileno=int(options["--fd"]))
    sock.set_inheritable(False)
    _loosen(inherited)
    Host(sock, _user(options, inherited)).run()


def _user(options: dict[str, str], inherited: UserSettings) -> UserSettings:
    """The user's settings: what Term passes, else what this process started with."""
    soft, _, hard = options.get("--nofile", "").partition(":")
    return UserSettings(
        int(options["--umask"], 8) if "--umask" in options else inherited.umask,
        (int(soft), int(hard)) if hard else inherited.nofile,
    )


def _loosen(inherited: UserSettings) -> None:
    """Take all the descriptors there are; a lower limit only means fewer panes."""
    os.umask(0o077)
    hard = inherited.nofile[1]
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


if __name__ == "__main__":
    main(sys.argv[1:])
