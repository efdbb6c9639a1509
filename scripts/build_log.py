"""The terminal output of a build of about ten minutes, cut at the seconds at which it came.

Made up, and the same each time. It has what such logs have: many checks in a row, a download
that redraws one line, a compiler line now and then with a burst of warnings, half a minute
of nothing while it links, tests with their summary.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

SECONDS = 600

_NOUNS = (
    "buffer",
    "cache",
    "codec",
    "cursor",
    "frame",
    "grid",
    "index",
    "parser",
    "queue",
    "render",
)
_PARTS = ("core", "io", "net", "util", "text", "store")
_CHECKS = ("sys/stat.h", "pthread_create", "clock_gettime", "size of long", "libz", "iconv")

Batches = list[bytes]
"""What was written in each second."""


def build_log() -> Batches:
    """The whole log; lines end with CR LF, as they reach a terminal."""
    chance = random.Random(7)
    batches = [
        *_configure(chance, 30),
        *_download(chance, 40),
        *_compile(chance, 420),
        *_link(30),
        *_tests(chance, 80),
    ]
    assert len(batches) == SECONDS
    return [batch.encode() for batch in batches]


def _lines(*lines: str) -> str:
    return "".join(f"{line}\r\n" for line in lines)


def _configure(chance: random.Random, seconds: int) -> Iterator[str]:
    for _ in range(seconds):
        count = chance.randint(2, 8)
        yield _lines(
            *(
                f"-- Looking for {chance.choice(_CHECKS)} - "
                f"\x1b[32m{chance.choice(('found', 'not found'))}\x1b[0m"
                for _ in range(count)
            )
        )


def _download(chance: random.Random, seconds: int) -> Iterator[str]:
    done = 0.0
    for second in range(seconds):
        done = min(100.0, done + chance.uniform(1, 4)) if second + 1 < seconds else 100.0
        bar, speed = "#" * int(done / 2.5), chance.uniform(2, 9)
        yield f"\r\x1b[Kdependencies.tar.xz [{bar:<40}] {done:5.1f}% {speed:.1f} MB/s"


def _compile(chance: random.Random, seconds: int) -> Iterator[str]:
    total, built = 500, 0
    for second in range(seconds):
        lines = [""] if second == 0 else []
        for _ in range(chance.choice((0, 0, 1, 1, 1, 2, 2, 3))):
            built = min(total, built + 1)
            where = f"src/{chance.choice(_PARTS)}/CMakeFiles/{chance.choice(_PARTS)}.dir"
            name = f"{chance.choice(_NOUNS)}_{chance.choice(_NOUNS)}.cpp.o"
            lines.append(
                f"[{100 * built // total:3d}%] \x1b[32mBuilding CXX object {where}/{name}\x1b[0m"
            )
        if chance.random() < 0.03:
            lines += _warning(chance)
        yield _lines(*lines)


def _warning(chance: random.Random) -> list[str]:
    path = f"/build/project/src/{chance.choice(_PARTS)}/{chance.choice(_NOUNS)}.cpp"
    line, name = chance.randint(20, 900), chance.choice(_NOUNS)
    return [
        f"\x1b[1m{path}:\x1b[0m In function '\x1b[1mvoid {name}_reset({name}*)\x1b[0m':",
        f"\x1b[1m{path}:{line}:17:\x1b[0m \x1b[35mwarning: \x1b[0msigned and unsigned compared",
        f"  {line} |     for (int i = 0; \x1b[35mi < {name}->size\x1b[0m; ++i)",
        "      |                     \x1b[35m~~^~~~~~~~~~~\x1b[0m",
    ]


def _link(seconds: int) -> Iterator[str]:
    yield _lines("[100%] \x1b[1;32mLinking CXX executable bin/project\x1b[0m")
    yield from [""] * (seconds - 2)
    yield _lines("[100%] Built target project")


def _tests(chance: random.Random, seconds: int) -> Iterator[str]:
    number = 0
    for second in range(seconds - 1):
        lines = ["Running tests..."] if second == 0 else []
        for _ in range(chance.choice((0, 1, 1, 2, 3))):
            number += 1
            name = f"{chance.choice(_PARTS)}.{chance.choice(_NOUNS)}"
            dots = "." * (40 - len(name))
            lines.append(
                f"{number:4d}/150 Test #{number}: {name} {dots}   Passed {chance.random():6.2f} sec"
            )
        yield _lines(*lines)
    yield _lines("", f"100% tests passed, 0 tests failed out of {number}", "")
