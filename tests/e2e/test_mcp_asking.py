"""Who says yes to a terminal of a model: settings, the client's person, or the one at a view."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import trio

pytest.importorskip("mcp")

from mcp_types import ElicitRequestFormParams, ElicitResult

from termnode.view.messages import Answer, Asked, AskedGone
from tests.support.mcp_lab import Asking, Lab, asking, lab, run
from tests.support.view_client import Viewer

ON = "--experimental-terminal"


@pytest.fixture(name="place", scope="module")
def _place() -> Iterator[Lab]:
    with lab() as made:
        yield made


class Person:
    """Answers a client's questions, and keeps them."""

    def __init__(self, action: str, **content: Any) -> None:  # noqa: ANN401
        self.asked: list[str] = []
        self._answer = ElicitResult(action=action, content=content or None)  # type: ignore[arg-type]

    async def __call__(self, _context: object, params: ElicitRequestFormParams) -> ElicitResult:
        self.asked.append(params.message)
        return self._answer


MODES = pytest.mark.parametrize("mode", ["auto", "legacy"])


@MODES
def test_the_clients_person_is_asked_once_with_the_exact_command_line(
    place: Lab, mode: str
) -> None:
    person = Person("accept", open=True)

    async def work() -> None:
        async with asking(place, ON, mode=mode, elicitation_callback=person) as ask:
            opened = await ask("term_open", cmd="cat", args=["-", "a b\x1b[2J\u202e"])
            await ask("term_type", id=opened.facts["id"], text="x\n")
            await ask("term_keys", id=opened.facts["id"], keys=["C-d"])

    run(work)
    (asked,) = person.asked
    assert "EXPERIMENTAL" in asked
    assert "cat - $'a b\\e[2J\\u202e'" in asked
    assert "\x1b" not in asked
    assert "\u202e" not in asked


NOES: list[tuple[str, dict[str, Any], str]] = [
    ("decline", {}, "FORBIDDEN: "),
    ("cancel", {}, "EXPIRED: "),
    ("accept", {}, "FORBIDDEN: "),
    ("accept", {"open": False}, "FORBIDDEN: "),
    ("accept", {"open": "yes"}, "FORBIDDEN: "),
]


@MODES
@pytest.mark.parametrize(("action", "content", "code"), NOES)
def test_whatever_is_no_yes_opens_nothing(
    place: Lab, mode: str, action: str, content: dict[str, Any], code: str
) -> None:
    async def work() -> None:
        person = Person(action, **content)
        async with asking(place, ON, mode=mode, elicitation_callback=person) as ask:
            assert (await ask.refused("term_open", cmd="cat")).startswith(code)

    run(work)
    assert [pane["id"] for pane in place.term.good("term.panes")["panes"]] == [1]


def test_nobody_who_can_be_asked_is_a_no_that_says_what_to_do(place: Lab) -> None:
    async def work() -> None:
        async with asking(place, ON) as ask:
            refused = await ask.refused("term_open", cmd="cat")
            assert refused.startswith("UNAVAILABLE: ")
            for remedy in ("termnode attach", "--yolo", "dont_ask"):
                assert remedy in refused

    run(work)


def test_a_credential_in_the_command_line_is_refused_before_anybody_is_asked(place: Lab) -> None:
    person = Person("accept", open=True)
    secret = "ghp_" + "a1B2" * 9

    async def work() -> None:
        async with asking(place, ON, elicitation_callback=person) as ask:
            refused = await ask.refused("term_open", cmd="curl", args=["-H", f"x: {secret}"])
            assert refused.startswith("FORBIDDEN: ")
            assert secret not in refused
            too_long = await ask.refused("term_open", cmd="cat", args=["x" * 4_000])
            assert too_long.startswith("INVALID_ARGUMENT: ")

    run(work)
    assert not person.asked


def test_the_configuration_can_answer(place: Lab, tmp_path: Any) -> None:  # noqa: ANN401
    config = tmp_path / "termnode" / "config.toml"
    config.parent.mkdir()
    config.write_text('[experimental]\nterminal = true\n[approval]\ndont_ask = ["term_open"]\n')
    place.term.extra["XDG_CONFIG_HOME"] = str(tmp_path)
    try:

        async def work() -> None:
            async with asking(place) as ask:
                await ask("term_open", cmd="cat")

        run(work)
    finally:
        del place.term.extra["XDG_CONFIG_HOME"]


def questions(viewer: Viewer) -> list[Asked]:
    return [each for each in viewer.messages if isinstance(each, Asked)]


@pytest.mark.parametrize("yes", [True, False])
def test_the_person_at_a_view_is_asked_when_the_client_cannot(place: Lab, yes: bool) -> None:
    viewer = Viewer(place.term)
    viewer.attach(100, 40)
    viewer.until(lambda: viewer.layout is not None, "it is attached")

    def answer() -> Asked:
        viewer.until(lambda: questions(viewer), "the question is shown")
        (asked,) = questions(viewer)
        viewer.send(Answer(asked.ask, yes))
        return asked

    async def work() -> None:
        async with asking(place, ON) as ask, trio.open_nursery() as nursery:
            nursery.start_soon(opens, ask, yes)
            asked = await trio.to_thread.run_sync(answer)
            assert asked.title.startswith("uid ")
            assert "pid" in asked.title
            assert "    sleep 1000\n" in asked.text
            assert "EXPERIMENTAL" in asked.text

    try:
        run(work)
    finally:
        viewer.socket.close()


async def opens(ask: Asking, yes: bool) -> None:
    if yes:
        await ask("term_open", cmd="sleep", args=["1000"])
    else:
        assert (await ask.refused("term_open", cmd="sleep", args=["1000"])).startswith("FORBIDDEN")


def test_a_view_that_only_looks_on_cannot_answer(place: Lab) -> None:
    viewer = Viewer(place.term)
    viewer.attach(100, 40, read_only=True)
    viewer.until(lambda: viewer.layout is not None, "it is attached")

    async def work() -> None:
        async with asking(place, ON) as ask:
            assert (await ask.refused("term_open", cmd="cat")).startswith("UNAVAILABLE: ")

    try:
        run(work)
    finally:
        viewer.socket.close()


def test_the_question_goes_with_the_process_that_asked(place: Lab) -> None:
    viewer = Viewer(place.term)
    viewer.attach(100, 40)
    viewer.until(lambda: viewer.layout is not None, "it is attached")
    from tests.e2e.test_mcp_stdio import Talk, call

    try:
        with place.start(ON) as process:
            talk = Talk(process)
            talk.begin()
            talk.say(call(2, "term_open", cmd="cat"))
            viewer.until(lambda: questions(viewer), "the question is shown")
            process.kill()
            process.wait()
        viewer.until(
            lambda: any(isinstance(each, AskedGone) for each in viewer.messages), "it is withdrawn"
        )
    finally:
        viewer.socket.close()
