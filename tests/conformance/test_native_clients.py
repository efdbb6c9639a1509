"""One script of native control, the same results: for Trio, for asyncio and for plain scripts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import termnode.sync
from termnode.client import (
    Forbidden,
    NotFound,
    ServiceRestarted,
    ServiceUnavailable,
    Session,
    StaleGeneration,
    TermnodeError,
    UnknownOutcome,
)
from tests.support.termnode_process import Service, eventually, service
from tests.support.three_clients import THREE, Script, Together, rt


@pytest.fixture(scope="module")
def term() -> Iterator[Service]:
    with service("--size", "120x40") as running:
        running.at_prompt(1)
        eventually(lambda: ready(running), "pane 1 is control-ready")
        yield running


def ready(running: Service) -> bool:
    panes = running.good("term.panes")["panes"]
    return all(pane["binding"]["ready"] for pane in panes)


async def opens_types_and_closes(session: Session, _together: Together) -> object:
    native = await session.native()
    first = await native.pane(1)
    pane = await first.new_tab(["sh"], env={"PS1": "$ "}, title="one", background=True)
    await pane.wait(until=r"^\$ $")
    await pane.refresh()
    accepted = await pane.type("echo na$((1+1))tive", enter=True)
    done = await pane.settled(accepted)
    match = await pane.wait(until="^na2tive")
    await pane.wait(quiet=0.2)
    await pane.refresh()
    pressed = await pane.settled(await pane.keys("x", "BSpace"))
    pasted = await pane.settled(await pane.paste("echo pasted"))
    shown = (await pane.wait(until=r"^\$ echo pasted")).text
    text = (await pane.snapshot()).text or ""
    counts = [each.delivered_bytes_lower_bound for each in (done, pressed, pasted)]
    await pane.close()
    left = pane in await native.panes()
    return done.status, done.boundary, match.text, counts, shown, "na2tive" in text, left


async def moves_panes(session: Session, _together: Together) -> object:
    native = await session.native()
    one = await (await native.pane(1)).new_tab("sleep 1000", background=True)
    two = await one.split("sleep 1000", below=True)
    await one.swap(two)
    await two.resize(rows=5)
    await two.rename("two")
    await two.zoom()
    await two.zoom(on=False)
    await two.arrange("even-horizontal")
    await two.rename_tab("both")
    await two.break_out()
    await two.join(one)
    await one.select()
    await one.select_tab()
    info = await native.info()
    mine = {one.id, two.id}
    (tab,) = [tab for tab in info.tabs if mine & set(tab.panes)]
    names = [each.title for each in info.panes if each.target == two.target]
    await one.close_tab()
    left = mine & {pane.id for pane in await native.panes()}
    return tab.title, set(tab.panes) == mine, tab.active, names, left


async def refuses(session: Session, _together: Together) -> object:
    native = await session.native()
    pane = await (await native.pane(1)).new_tab("sleep 1000", background=True)
    foreground = pane.foreground or 0
    found = []
    pane.foreground = foreground + 7
    for ask in (
        lambda: pane.type("x"),
        lambda: native.pane(999),
        lambda: pane.operation(999),
    ):
        try:
            await ask()
        except TermnodeError as error:
            found.append(type(error))
    await pane.type("x", refresh=True)
    await pane.close()
    try:
        await pane.refresh()
    except TermnodeError as error:
        found.append(type(error))
    return found


async def asks_many_at_once(session: Session, together: Together) -> object:
    native = await session.native()
    pane = await (await native.pane(1)).new_tab(["sh", "-c", "stty -echo; cat"], background=True)
    await pane.refresh()
    accepted = await together(*[lambda: pane.type("x") for _ in range(40)])
    done = [await pane.settled(each) for each in accepted]
    await pane.close()
    numbers = sorted(each.operation_id for each in accepted)
    first = numbers[0]
    return [number - first for number in numbers], {each.status for each in done}


EXPECTED: dict[Script, object] = {
    opens_types_and_closes: (
        "completed", "pty_write", "na2tive", [20, 2, 11], "$ echo pasted", True, False,
    ),
    moves_panes: ("both", True, True, ["two"], set()),
    refuses: [StaleGeneration, NotFound, UnknownOutcome, Forbidden],
    asks_many_at_once: (list(range(40)), {"completed"}),
}  # fmt: skip


@pytest.mark.parametrize("script", EXPECTED, ids=lambda script: script.__name__)
@pytest.mark.parametrize("flavour", THREE)
def test_all_three_give_the_same(term: Service, script: Script, flavour: str) -> None:
    assert THREE[flavour](term, script) == EXPECTED[script]


def test_it_belongs_to_one_term() -> None:
    with service() as first:
        first.at_prompt(1)
        eventually(lambda: ready(first), "pane 1 is control-ready")
        with termnode.sync.connect(rt(first)) as session:
            pane = session.native().pane(1)
            first.down()
            first.up()
            with pytest.raises((ServiceRestarted, ServiceUnavailable, Forbidden)):
                pane.refresh()
            pane.foreground = 1
            with pytest.raises((ServiceRestarted, ServiceUnavailable, UnknownOutcome)):
                pane.type("never")
            with pytest.raises(ServiceRestarted):
                session.native()
        assert not any("never" in row for row in first.screen())
