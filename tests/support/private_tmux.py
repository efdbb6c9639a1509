"""A tmux server of a test's own: its own socket path, no configuration, ended by that path."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path


class PrivateTmux:
    """One server on one socket; every call names the socket."""

    def __init__(self, directory: Path) -> None:
        self.socket = directory / "s"

    def run(self, *arguments: str) -> str:
        """One tmux command; its output."""
        done = subprocess.run(
            ["tmux", "-S", str(self.socket), "-f", "/dev/null", *arguments],
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
            stdin=subprocess.DEVNULL,
        )
        return done.stdout

    def start(self, argv: Sequence[str], cols: int, rows: int, env: Mapping[str, str]) -> None:
        """Run a program in a session of exactly this size, without a status line."""
        variables = [word for name, value in env.items() for word in ("-e", f"{name}={value}")]
        self.run(
            "new-session", "-d", "-x", str(cols), "-y", str(rows), "sleep 600", ";",
            "set-option", "-g", "status", "off", ";",
            "set-option", "-g", "default-terminal", "xterm-256color", ";",
            "set-option", "-g", "remain-on-exit", "on", ";",
            "set-option", "-g", "remain-on-exit-format", "",
        )  # fmt: skip
        # tmux may drop the output of a program that ends at once: something goes on after it.
        stays = ("sh", "-c", '"$@"; exec sleep 600', "sh")
        self.run("respawn-pane", "-k", *variables, "--", *stays, *argv)

    def screen(self) -> list[str]:
        """The rows, without trailing blanks."""
        rows = self.run("capture-pane", "-p").split("\n")[:-1]
        return [row.rstrip() for row in rows]

    def keys(self, text: str) -> None:
        """Type text as it is."""
        self.run("send-keys", "-l", "--", text)


@contextlib.contextmanager
def private_tmux() -> Iterator[PrivateTmux]:
    """A server that is gone afterwards, with its directory."""
    directory = Path(tempfile.mkdtemp(prefix="tt-", dir="/tmp"))
    tmux = PrivateTmux(directory)
    try:
        yield tmux
    finally:
        with contextlib.suppress(subprocess.CalledProcessError):
            tmux.run("kill-server")
        shutil.rmtree(directory, ignore_errors=True)
