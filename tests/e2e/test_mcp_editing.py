"""Real work through the MCP server, with the SDK's own client: neovim, tmux, a menu."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

pytest.importorskip("mcp")

from tests.support.mcp_lab import NVIM, TERMINAL, Lab, asking, lab, run
from tests.support.programs import need


@pytest.fixture(name="place", scope="module")
def _place() -> Iterator[Lab]:
    with lab() as made:
        yield made


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_file_is_edited_with_neovim(place: Lab, mode: str) -> None:
    need("nvim")
    path = place.work / f"{mode}.py"
    path.write_text("def greet():\n    pass\n")

    async def work() -> None:
        async with asking(place, *TERMINAL, mode=mode) as ask:
            opened = await ask("term_open", cmd="nvim", args=[*NVIM, path.name])
            assert opened.facts["full_screen"]
            assert opened.rows[0] == "def greet():"
            name = opened.facts["id"]
            await ask("term_keys", id=name, keys=["j", "0", "C"])
            await ask("term_type", id=name, text="    return 'hé'")
            await ask("term_keys", id=name, keys=["Escape"])
            shown = await ask("term_type", id=name, text=":w\n")
            assert shown.rows[1] == "    return 'hé'"
            await ask.until("written", id=name)
            assert path.read_text() == "def greet():\n    return 'hé'\n"
            await ask("term_type", id=name, text=":q\n")
            ended = await ask("term_wait", id=name, seconds=20.0, until="never shown")
            assert ended.facts["outcome"] == "exited"
            assert ended.facts["state"] == "exited 0"
            await ask("term_close", id=name)

    run(work)


def test_pasted_code_is_not_indented_anew(place: Lab) -> None:
    need("nvim")
    code = "def f():\n    if True:\n        return 1\n"

    async def work() -> None:
        async with asking(place, *TERMINAL) as ask:
            args = [*NVIM, "--cmd", "set autoindent smartindent", "pasted.py"]
            opened = await ask("term_open", cmd="nvim", args=args)
            name = opened.facts["id"]
            await ask("term_keys", id=name, keys=["i"])
            await ask("term_type", id=name, text=code, paste=True)
            await ask("term_keys", id=name, keys=["Escape"])
            await ask("term_type", id=name, text=":wq\n")
            ended = await ask("term_wait", id=name, seconds=20.0, until="never shown")
            assert ended.facts["outcome"] == "exited"

    run(work)
    assert (place.work / "pasted.py").read_text() == code + "\n"


def test_tmux_is_split_used_in_each_pane_left_and_attached_again(place: Lab) -> None:
    need("tmux")

    async def work() -> None:
        async with asking(place, *TERMINAL) as ask:
            opened = await ask(
                "term_open", cmd="tmux", args=["-f", "/dev/null", "new-session", "-s", "work"]
            )
            first = opened.facts["id"]
            await ask.until(r"\[work\]", id=first)
            await ask("term_type", id=first, text="echo upper-$((40+1))\n")
            await ask.until("upper-41", id=first)
            await ask("term_keys", id=first, keys=["C-b", '"'])
            await ask("term_type", id=first, text="echo lower-$((40+2))\n")
            both = await ask.until("lower-42", id=first)
            assert any("upper-41" in row for row in both.rows)
            await ask("term_keys", id=first, keys=["C-b", "d"])
            left = await ask("term_wait", id=first, seconds=20.0, until="never shown")
            assert left.facts["state"] == "exited 0"
            await ask("term_close", id=first)

            again = await ask("term_open", cmd="tmux", args=["attach", "-t", "work"])
            second = again.facts["id"]
            assert second != first
            shown = await ask.until("lower-42", id=second)
            assert any("upper-41" in row for row in shown.rows)
            await ask("term_close", id=second)

    run(work)


def test_what_is_only_shown_by_its_look_is_told_with_style(place: Lab) -> None:
    menu = "printf 'one\\n\\033[7mtwo\\033[0m\\nthree\\n'; exec cat"

    async def work() -> None:
        async with asking(place, *TERMINAL) as ask:
            opened = await ask("term_open", cmd="sh", args=["-c", menu])
            name = opened.facts["id"]
            await ask.until("three", id=name)
            plain = await ask("term_screen", id=name)
            assert plain.rows[:3] == ["one", "two", "three"]
            styled = await ask("term_screen", id=name, style=True)
            assert styled.rows[:3] == ["one", "two {reverse 1-3}", "three"]

    run(work)


def test_without_a_service_there_is_a_private_one_for_as_long_as_it_is_needed() -> None:
    with lab(up=False) as alone:

        async def work() -> str:
            async with asking(alone, *TERMINAL) as ask:
                opened = await ask("term_open", cmd="cat")
                echoed = await ask("term_type", id=opened.facts["id"], text="hello\n")
                assert echoed.rows[:2] == ["hello", "hello"]
                return await ask.refused("panes")

        refused = run(work)
        assert refused.startswith("UNAVAILABLE: ")
        assert "termnode up" in refused
        assert not list((alone.term.directory / "rt").glob("**/*.sock"))
