"""The person's panes through the MCP server: looking, waiting, typing, and who goes first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import pytest
import trio

pytest.importorskip("mcp")

from mcp.shared.exceptions import MCPDeprecationWarning

from termnode.view.messages import TabInfo
from tests.support.mcp_lab import TERMINAL, Asking, Lab, asking, lab, run
from tests.support.view_client import Viewer

T = TypeVar("T")

ALL = ("--allow", "input,layout")


@pytest.fixture(name="place", scope="module")
def _place() -> Iterator[Lab]:
    with lab() as made:
        made.term.at_prompt(1)
        yield made


def test_panes_are_listed_opened_used_and_closed(place: Lab) -> None:
    async def work() -> None:
        async with asking(place, *ALL) as ask:
            opened = await ask("new_tab", argv=["sh"], title="mine")
            pane = opened.facts["pane"]
            await ask.until(r"[$#] *$", pane=pane)
            sent = await ask("type", pane=pane, text="echo a$((1+1))", enter=True)
            assert sent.facts["outcome"] == "written"
            await ask.until("^a2", pane=pane)
            await ask("paste", pane=pane, text="echo é$((1+2))")
            await ask("keys", pane=pane, keys=["Enter"])
            shown = await ask.until("^é3", pane=pane)
            assert shown.facts["id"] == f"pane:{pane}"
            assert shown.facts["untrusted"] is True
            assert "untrusted output of a program follows" in shown.text
            beside = await ask("split", pane=pane, below=True, argv=["cat"], cwd="/")
            other = beside.facts["pane"]
            listed = await ask("panes")
            found = {each["pane"]: each for each in listed.facts["panes"]}
            assert found[pane]["title"] == "mine"
            assert found[other]["program"] == "cat"
            assert found[other]["cwd"] == "/"
            assert found[1]["active"], "what the person looks at stays so"
            for each in (other, pane):
                await ask("close", pane=each)
            refused = await ask.refused("screen", pane=pane)
            assert refused.startswith("NOT_FOUND: ")

    run(work)


def test_each_result_says_who_typed_last_and_since_gives_what_changed(place: Lab) -> None:
    async def work() -> None:
        async with asking(place, *ALL) as ask:
            pane = (await ask("new_tab", argv=["cat"])).facts["pane"]
            before = await ask("screen", pane=pane)
            assert "typed last" not in before.text
            await ask("type", pane=pane, text="first", enter=True)
            mine = await ask.until("^first", pane=pane)
            assert mine.facts["typed_last"] == "you"
            await trio.to_thread.run_sync(
                lambda: place.term.good("term.type", {"pane": pane, "text": "second\n"})
            )
            theirs = await ask.until("^second", pane=pane)
            assert theirs.facts["typed_last"].startswith("uid ")
            assert "| typed last: uid " in theirs.text.split("\n")[1]
            revision = theirs.facts["revision"]
            nothing = await ask("screen", pane=pane, since=revision)
            assert nothing.rows == []
            await ask("type", pane=pane, text="third", enter=True)
            await ask.until("^third", pane=pane, since=revision)
            changed = await ask("screen", pane=pane, since=revision)
            assert f"changed since {revision}" in changed.text
            assert set(changed.rows) == {"third"}
            long_ago = await ask("screen", pane=pane, since=1_000_000)
            assert "all rows: too long ago" in long_ago.text
            await ask("close", pane=pane)

    run(work)


def test_history_is_read_back(place: Lab) -> None:
    async def work() -> None:
        async with asking(place, *ALL) as ask:
            argv = ["sh", "-c", "seq 1 200; exec cat"]
            pane = (await ask("new_tab", argv=argv)).facts["pane"]
            shown = await ask.until("^200$", pane=pane)
            first = int(shown.rows[0])
            back = await ask("screen", pane=pane, offset=40)
            assert "back 40 of " in back.text
            assert back.rows[0] == str(first - 40)
            await ask("close", pane=pane)

    run(work)


def test_a_person_sees_the_models_terminal_live_types_there_and_the_model_is_told(
    place: Lab,
) -> None:
    viewer = Viewer(place.term)
    viewer.attach(100, 40)
    viewer.until(lambda: viewer.layout is not None, "it is attached")

    async def work() -> None:
        async with asking(place, *TERMINAL) as ask:
            opened = await ask("term_open", cmd="cat", cols=60, rows=10)
            name = opened.facts["id"]
            pane = max(each["id"] for each in (await in_thread(panes_of))["panes"])
            await in_thread(lambda: viewer.until(lambda: models_tab(viewer), "its tab is listed"))
            tab = models_tab(viewer)
            assert tab is not None
            await in_thread(lambda: viewer.do("term.tab.select", id=tab.id))
            await ask("term_type", id=name, text="from the model\n")
            await in_thread(
                lambda: viewer.until(
                    lambda: "from the model" in viewer.rows(pane), "it is seen live"
                )
            )
            nobody = await ask("term_screen", id=name)
            assert not nobody.facts.get("person_typed")
            await in_thread(lambda: viewer.enter("from a person", pane=pane))
            await in_thread(
                lambda: viewer.until(
                    lambda: viewer.rows(pane).count("from a person") == 2, "cat has answered"
                )
            )
            told = await ask("term_screen", id=name)
            assert told.facts["person_typed"] is True
            assert "a person typed here" in told.text
            assert "from a person" in told.rows
            again = await ask("term_screen", id=name)
            assert not again.facts.get("person_typed"), "that was told already"

    def panes_of() -> dict[str, list[dict[str, int]]]:
        found: dict[str, list[dict[str, int]]] = place.term.good("term.panes")
        return found

    try:
        run(work)
    finally:
        viewer.socket.close()


def models_tab(viewer: Viewer) -> TabInfo | None:
    tabs = viewer.tabs.tabs if viewer.tabs is not None else ()
    return next((tab for tab in tabs if tab.title.startswith("model: ")), None)


async def in_thread(work: Callable[[], T]) -> T:
    """The view's client here waits as threads do."""
    return await trio.to_thread.run_sync(work)


@pytest.mark.parametrize(
    "tool", ["type", "keys", "paste", "split", "new_tab", "close", "term_open"]
)
def test_what_is_not_allowed_is_not_listed_and_refused_with_how_to_allow_it(
    place: Lab, tool: str
) -> None:
    async def work() -> None:
        async with asking(place) as ask:
            listed = [each.name for each in (await ask.client.list_tools()).tools]
            assert tool not in listed
            refused = await ask.refused(tool)
            assert refused.startswith("FORBIDDEN: ")
            assert ("--experimental-terminal" if tool == "term_open" else "--allow") in refused

    run(work)


WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("screen", {}, "pane: field required"),
    ("screen", {"pane": "1"}, "pane: "),
    ("screen", {"pane": 999}, "NOT_FOUND: "),
    ("screen", {"pane": 1, "row": 1}, "there is no such argument"),
    ("wait", {"pane": 1, "until": "a["}, "INVALID_ARGUMENT: "),
    ("wait", {"pane": 1, "seconds": 61}, "less than or equal to 60"),
    ("keys", {"pane": 1, "keys": ["Entre"]}, "Enter"),
    ("keys", {"pane": 1, "keys": []}, "at least 1"),
    ("type", {"pane": 1, "text": "é"}, "INVALID_ARGUMENT: "),
    ("split", {"pane": 1, "cwd": "relative"}, "cwd"),
    ("new_tab", {"argv": ["/no/such/program"]}, "NOT_FOUND: "),
    ("no_such_tool", {}, "NOT_FOUND: there is no such tool"),
]


def test_wrong_calls_get_a_tool_error_that_says_what_to_do(place: Lab) -> None:
    async def work() -> None:
        async with asking(place, *ALL) as ask:
            for tool, arguments, words in WRONG:
                refused = await ask.refused(tool, **arguments)
                assert words in refused, (tool, arguments, refused)
            assert await still_serves(ask)

    run(work)


async def still_serves(ask: Asking) -> bool:
    return bool((await ask("panes")).facts["panes"])


def test_a_long_screen_comes_in_parts(place: Lab) -> None:
    """300 rows of 500 columns of two-byte characters are far more than a result."""

    async def work() -> None:
        async with asking(place, *TERMINAL) as ask:
            script = "import sys; sys.stdout.write('\\n'.join('é' * 490 for _ in range(299)))"
            opened = await ask(
                "term_open", cmd="python3", args=["-c", f"{script}; sys.stdout.flush(); input()"],
                cols=500, rows=300,
            )  # fmt: skip
            name, line, rows = opened.facts["id"], 1, 0
            while line:
                shown = await ask("term_screen", id=name, from_line=line)
                assert len(shown.text.encode()) <= 32 * 1024
                rows += sum(row == "é" * 490 for row in shown.rows)
                following = shown.facts.get("next")
                line = int(following.partition("from_line=")[2].split()[0]) if following else 0
            assert rows == 299

    run(work)


def test_resources_are_listed_read_and_their_changes_told(place: Lab) -> None:
    for mode in ("legacy", "auto"):

        async def work(mode: str = mode) -> None:
            told = trio.Event()

            async def heard(message: object) -> None:
                if "ResourceUpdated" in type(message).__name__:
                    told.set()

            async with asking(place, *TERMINAL, *ALL, mode=mode, message_handler=heard) as ask:
                name = (await ask("term_open", cmd="cat")).facts["id"]
                listed = await ask.client.list_resources()
                assert {str(each.uri) for each in listed.resources} >= {
                    "termnode://pane/1", f"termnode://terminal/{name}",
                }  # fmt: skip
                uri = f"termnode://terminal/{name}"
                read = await ask.client.read_resource(uri)
                assert "untrusted output" in read.contents[0].text  # type: ignore[union-attr]
                if mode == "legacy":
                    with pytest.warns(MCPDeprecationWarning, match="subscribe"):
                        await ask.client.session.subscribe_resource(uri)
                    await ask("term_type", id=name, text="changed\n")
                    with trio.fail_after(30):
                        await told.wait()
                    with pytest.warns(MCPDeprecationWarning, match="unsubscribe"):
                        await ask.client.session.unsubscribe_resource(uri)
                else:
                    async with ask.client.listen(resource_subscriptions=[uri]) as changes:
                        await ask("term_type", id=name, text="changed\n")
                        with trio.fail_after(30):
                            async for change in changes:
                                assert uri in str(change)
                                break

        run(work)


def test_what_is_no_resource_is_refused(place: Lab) -> None:
    async def work() -> None:
        async with asking(place, *TERMINAL) as ask:
            for uri in ("termnode://pane/999", "termnode://terminal/t9", "termnode://pane/../1",
                        "file:///etc/passwd", "termnode://pane/-1"):  # fmt: skip
                with pytest.raises(Exception, match="NOT_FOUND"):
                    await ask.client.read_resource(uri)
            assert await still_serves(ask)

    run(work)
