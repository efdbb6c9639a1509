"""``termnode play``: a recording in the person's terminal."""

from __future__ import annotations

import os
import sys
import termios
from contextlib import closing
from typing import TYPE_CHECKING

import trio

from brokerd.client import ErrorCode
from termnode.cast.drawing import Drawing
from termnode.cast.file import read_lines
from termnode.cast.pacing import Pace
from termnode.cast.playing import Playback, own_terminal, size_of
from termnode.cast.reading import CastReader, NotACast
from termnode.cli.exits import OK, REFUSED, USAGE, CommandError
from termnode.cli.explaining import first_error
from termnode.terminal import engines

if TYPE_CHECKING:
    import argparse

    from termnode.cast.reading import Header

NO_HISTORY = 0


def run(arguments: argparse.Namespace) -> int:
    """Play it to the end; 0 also when the person ends it earlier, 128 + N for a signal."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise CommandError("a recording is played in a terminal, and this is none", USAGE)
    try:
        return _play(arguments, CastReader(read_lines(arguments.file)))
    except (NotACast, OSError, ExceptionGroup) as error:
        raise _explained(first_error(error)) from None


def _explained(error: BaseException) -> BaseException:
    if isinstance(error, NotACast):
        return CommandError(str(error), REFUSED, ErrorCode.INVALID_ARGUMENT)
    if isinstance(error, OSError):
        return CommandError(f"it cannot be played: {error.strerror}", REFUSED)
    return error


def _play(arguments: argparse.Namespace, reader: CastReader) -> int:
    header = reader.header
    pace = Pace(arguments.speed, _idle(arguments, header))
    make = engines.make()
    with closing(make(header.cols, header.rows, NO_HISTORY)) as engine:
        try:
            with own_terminal(os.ttyname(sys.stdout.fileno())) as fd:
                drawing = Drawing(engine, *size_of(fd))
                playback = Playback(fd, reader, drawing, pace)
                trio.run(playback.run)
        except termios.error:
            raise CommandError("this terminal cannot be used", USAGE) from None
    return OK if playback.stopped is None else 128 + playback.stopped


def _idle(arguments: argparse.Namespace, header: Header) -> float | None:
    limit: float | None = arguments.idle_limit
    return header.idle_limit if limit is None else limit
