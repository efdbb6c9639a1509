"""A file edited in vim with the clients for plain scripts and for asyncio, byte for byte."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

import termnode.aio
import termnode.sync
from tests.support.programs import need
from tests.support.termnode_process import Service
from tests.support.termnode_process import plain_service as service


@pytest.fixture(scope="module")
def term() -> Iterator[Service]:
    need("vim")
    with service("--size", "80x24") as running:
        yield running


def code() -> str:
    """200 lines that begin with tabs and blanks: what autoindent would add to."""
    chance = random.Random(11)
    return "\n".join(
        "\t" * chance.randrange(5) + " " * chance.randrange(3) + f"line {number} {{ \tä end"
        for number in range(200)
    )


def vim(path: Path) -> list[str]:
    """vim without anybody's configuration."""
    setup = ["-u", "NONE", "-N", "-n", "-c", "set autoindent encoding=utf-8"]
    return ["vim", *setup, str(path)]


EXPECTED = "first\n{}\n\tlast\n"


def check(path: Path) -> None:
    assert path.read_text("utf-8") == EXPECTED.format(code())


def test_a_plain_script_edits_a_file(term: Service, tmp_path: Path) -> None:
    path = tmp_path / "plain.txt"
    path.write_text("first\nsecond\n\tthird\n")
    with termnode.sync.connect(term.directory / "rt") as session:
        pane = session.new_tab(vim(path)).active_pane
        pane.wait_for("third")
        pane.press("j", "S")  # the second line is to be another one
        pane.wait_for("-- INSERT --")
        assert pane.paste(code()).bracketed
        pane.press("Escape")
        pane.send_keys(":$s/third/last")
        pane.wait_for("^ *last")
        pane.send_keys(":wq")
        assert pane.wait_exit().ok
    check(path)


def test_an_asyncio_program_edits_a_file(term: Service, tmp_path: Path) -> None:
    async def edit(path: Path) -> None:
        async with termnode.aio.connect(term.directory / "rt") as session:
            tab = await session.new_tab(vim(path))
            pane = await tab.active_pane
            await pane.wait_for("third")
            await pane.press("Down", "0", "C")
            await pane.wait_for("-- INSERT --")
            await pane.paste(code())
            await pane.press("Escape", "G", "0", "w", "c", "w")
            await pane.send_keys("last", enter=False)
            await pane.press("Escape")
            await pane.send_keys(":wq")
            assert (await pane.wait_exit()).ok

    paths = [tmp_path / f"{number}.txt" for number in range(3)]
    for path in paths:
        path.write_text("first\nsecond\n\tthird\n")

    async def all_at_once() -> None:
        await asyncio.gather(*map(edit, paths))

    asyncio.run(all_at_once())
    for path in paths:
        check(path)


def test_the_same_text_typed_is_indented_anew(term: Service, tmp_path: Path) -> None:
    """What the tests above would not notice if files were not compared byte for byte."""
    path = tmp_path / "typed.txt"
    path.write_text("first\nsecond\n\tthird\n")
    with termnode.sync.connect(term.directory / "rt") as session:
        pane = session.new_tab(vim(path)).active_pane
        pane.wait_for("third")
        pane.press("j", "S")
        pane.wait_for("-- INSERT --")
        pane.type("\tone\n\ttwo")
        pane.press("Escape")
        pane.send_keys(":wq")
        pane.wait_exit()
    with pytest.raises(AssertionError):
        check(path)
    assert "\tone\n\t\ttwo\n" in path.read_text()
