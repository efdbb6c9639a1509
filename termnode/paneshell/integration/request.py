"""What is asked of a shell: the request file, the claim on it, and the key that has it read.

Request: four fields, each ended by NUL: id, generation, announcement, source. The shell answers
with ``REPLY id word generation length`` on its control pipe. A request without source is a probe:
the word is READY where a source would have been admitted, and nothing is claimed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

TRIGGER: Final = b"\x1e"
"""The key that the hooks are bound to, C-^: bound in none of the shells, and one byte, so that it
never waits for another and a half-typed key that swallows it is all that is lost."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request. ``id`` is of ASCII letters, digits, ``-`` and ``_``, at most 64.

    ``announcement`` is one line of printable text, shown above the command; ``source`` is run as
    it is: give it through `as_one_command`. Neither has NUL. Raises ValueError.
    """

    id: str
    generation: int
    announcement: str = ""
    source: str = ""

    def __post_init__(self) -> None:
        if not _is_id(self.id):
            raise ValueError("the id of a request must be 1 to 64 ASCII letters, digits, - or _")
        if "\0" in self.announcement + self.source:
            raise ValueError("a request cannot hold NUL")
        if not self.announcement.isprintable():
            raise ValueError("an announcement is one line of printable characters")

    def encoded(self) -> bytes:
        """The file's bytes."""
        fields = (self.id, str(self.generation), self.announcement, self.source)
        return "".join(f"{field}\0" for field in fields).encode()


def write_request(directory: Path, request: Request) -> None:
    """Make it the next request of the shell of ``directory``, at once or not at all. OSError."""
    draft = directory / "req.new"
    descriptor = os.open(
        draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600
    )
    with os.fdopen(descriptor, "wb") as file:
        file.write(request.encoded())
    draft.replace(directory / "req")


def take_claim(directory: Path, request_id: str) -> bool:
    """Take the claim on a request, so that the shell never runs it; False when it was taken.

    Raises OSError, when nobody can say.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    try:
        os.close(os.open(directory / f"claim.{request_id}", flags, 0o600))
    except FileExistsError:
        return False
    return True


def as_one_command(kind: str, source: str, *, always: bool = False) -> str:
    """The source as the shell of this ``kind`` takes it in one parse: several lines are grouped.

    ``always`` groups a single line too: the form to check the syntax of, because then a source that
    asks for more of a line (a here-document, a backslash at the end) is an error.
    """
    body = source.strip("\n")
    if "\n" not in body and not always:
        return body
    return _GROUPS[kind](body)


_GROUPS: Final[Mapping[str, Callable[[str], str]]] = {
    "bash": "{{\n{}\n}}".format,
    "zsh": "{{\n{}\n}}".format,
    "fish": "begin\n{}\nend".format,
}


def _is_id(text: str) -> bool:
    return (
        0 < len(text) <= 64
        and text.isascii()
        and text.replace("-", "a").replace("_", "a").isalnum()
    )
