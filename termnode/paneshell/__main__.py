"""The zygote's process: ``python -m termnode.paneshell --fd N``.

Term alone starts it, with one end of a socket pair as descriptor N.
"""

from __future__ import annotations

import gc
import os
import resource
import socket
import sys

from brokerd.client import SessionKey, preload
from termnode.paneshell.sidecar import run
from termnode.paneshell.zygote import Zygote


def main(arguments: list[str]) -> None:
    """Serve the socket until Term is gone."""
    options = dict(zip(arguments[::2], arguments[1::2], strict=True))
    sock = socket.socket(fileno=int(options["--fd"]))
    sock.set_inheritable(False)
    os.umask(0o077)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a core file would hold keys
    preload()
    SessionKey.from_seed(bytes(32)).sign(b"")  # the library sets itself up at the first signature
    # What is here now lives for as long as any sidecar: its pages stay shared with all of them.
    gc.collect()
    gc.freeze()
    Zygote(sock, run).run()


if __name__ == "__main__":
    main(sys.argv[1:])
