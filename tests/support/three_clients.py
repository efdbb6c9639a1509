"""One script run by the clients for Trio, for asyncio and for plain scripts."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import trio

import termnode.aio
import termnode.client
import termnode.sync
from termnode.client import Session
from termnode.client.generate import without_async
from tests.support.termnode_process import Service

WITHIN = 120.0

Together = Callable[..., Awaitable[list[Any]]]
"""Runs callables at the same time and gives what they gave, in their order."""

Script = Callable[[Session, Together], Awaitable[object]]


def rt(term: Service) -> str:
    return str(term.directory / "rt")


def with_trio(term: Service, script: Script) -> object:
    async def together(*works: Callable[[], Awaitable[Any]]) -> list[Any]:
        found: dict[int, Any] = {}

        async def one(number: int, work: Callable[[], Awaitable[Any]]) -> None:
            found[number] = await work()

        async with trio.open_nursery() as nursery:
            for number, work in enumerate(works):
                nursery.start_soon(one, number, work)
        return [found[number] for number in sorted(found)]

    async def main() -> object:
        with trio.fail_after(WITHIN):
            async with termnode.client.connect(rt(term)) as session:
                return await script(session, together)

    return trio.run(main)


def with_asyncio(term: Service, script: Script) -> object:
    async def together(*works: Callable[[], Awaitable[Any]]) -> list[Any]:
        return list(await asyncio.gather(*(work() for work in works)))

    async def main() -> object:
        async with asyncio.timeout(WITHIN), termnode.aio.connect(rt(term)) as session:
            return await script(session, together)

    return asyncio.run(main())


def with_nothing(term: Service, script: Script) -> object:
    """The same text without the words that make it asynchronous."""

    def together(*works: Callable[[], Any]) -> list[Any]:
        with ThreadPoolExecutor(len(works)) as pool:
            return [each.result() for each in [pool.submit(work) for work in works]]

    names = dict(script.__globals__)
    exec(without_async(inspect.getsource(script)), names)
    with termnode.sync.connect(rt(term)) as session:
        result: object = names[script.__name__](session, together)
        return result


THREE = {"trio": with_trio, "aio": with_asyncio, "sync": with_nothing}
