"""``termnode mcp``: the server for models (specs/mcp.md). Needs the extra ``termnode[mcp]``."""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Final

from brokerd.client import RuntimeDirError
from termnode.cli.exits import OK, REFUSED, TRANSPORT, USAGE, CommandError

if TYPE_CHECKING:
    import argparse

    from termnode.mcp.address import Address
    from termnode.mcp.settings import Options

NO_EXTRA: Final = 69
"""EX_UNAVAILABLE of sysexits(3): something that this command needs is not installed."""

_ASKED: Final = "term_open"
"""The only tool that a person is asked about."""


def run(arguments: argparse.Namespace) -> int:
    """Serve until the client or a signal ends it."""
    main = _server()
    options = _options(arguments)
    try:
        if arguments.http is None:
            main.serve_stdio(options)
        else:
            main.serve_http(options, _address(arguments.http))
    except RuntimeDirError as error:
        raise CommandError(str(error), TRANSPORT) from None
    except OSError as error:
        raise CommandError(f"it cannot listen there: {error.strerror}", REFUSED) from None
    return OK


def _server() -> ModuleType:
    """The server's module; only here, since the extra need not be there for other commands."""
    try:
        return importlib.import_module("termnode.mcp.main")
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] in {"termnode", "brokerd"}:
            raise
        raise CommandError("mcp needs an extra: pip install 'termnode[mcp]'", NO_EXTRA) from None


def _address(text: str) -> Address:
    from termnode.mcp.address import AddressError, parse

    try:
        return parse(text)
    except AddressError as error:
        raise CommandError(f"--http: {error}", USAGE) from None


def _options(arguments: argparse.Namespace) -> Options:
    from termnode.mcp.settings import Options, UnknownTierError, tiers
    from termnode.modelterm import ConfigError, find_root, load_config

    try:
        config = load_config(os.environ)
        allowed = tiers([*config.allow, *_words(arguments.allow)])
    except ConfigError as error:
        raise CommandError(str(error), USAGE) from None
    except UnknownTierError as error:
        raise CommandError(f"--allow: {error}", USAGE) from None
    directory = arguments.runtime_dir
    return Options(
        root=find_root(Path.cwd()),
        environment=dict(os.environ),
        runtime_dir=None if directory is None else Path(directory),
        name=arguments.name,
        allow=allowed,
        terminal=config.terminal or arguments.experimental_terminal,
        unasked=arguments.yolo or _ASKED in config.dont_ask,
        text_only=arguments.text_only,
        call_log=None if arguments.call_log is None else Path(arguments.call_log),
    )


def _words(given: list[str]) -> list[str]:
    return [word for each in given for word in each.split(",")]
