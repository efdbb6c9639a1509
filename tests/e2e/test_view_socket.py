"""The view socket of a real service: attaching, looking, typing, sizes, commands, leaving."""

from __future__ import annotations

import contextlib
import json
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from termnode.view.frames import encode
from termnode.view.messages import (
    Attach,
    Bell,
    Bye,
    Detach,
    Do,
    Ended,
    Focus,
    Keyframe,
    Mouse,
    Output,
    Page,
    PageWanted,
    Reason,
    Size,
)
from tests.support.termnode_process import Service, eventually, plain_service, service
from tests.support.view_client import Viewer, leave, peer_of, viewer


@pytest.fixture(scope="module")
def shared() -> Iterator[Service]:
    with service() as made:
        made.at_prompt(1)
        yield made


def fresh_pane(made: Service) -> int:
    """A tab with a shell at its prompt, active."""
    return made.at_prompt(int(made.good("term.tab.new")["pane"]))


def test_a_view_is_told_what_there_is_and_types(shared: Service) -> None:
    pane = fresh_pane(shared)
    with viewer(shared) as view:
        assert view.welcome is not None
        assert view.welcome.pid == shared.ready["pid"] == peer_of(view.socket)
        assert (view.welcome.service, view.welcome.posture) == ("term", "open")
        view.until(lambda: view.rows(pane), "the pane is told")
        view.enter("echo it-$((40+2))", pane)
        view.shows("it-42", pane)
        view.until(
            lambda: [row.rstrip() for row in shared.screen(pane)] == view.rows(pane),
            "the view shows the screen",
        )


def test_two_views_see_the_same_and_what_an_agent_types(shared: Service) -> None:
    pane = fresh_pane(shared)
    with viewer(shared) as one, viewer(shared, 60, 20) as two:
        one.until(lambda: one.status is not None and one.status.views == 2, "there are two")
        shared.good("term.type", {"text": "echo agent-$((1+1))\n", "pane": pane})
        one.shows("agent-2", pane)
        two.shows("agent-2", pane)
        for view, other in ((one, two), (two, one)):
            view.until(lambda: view.rows(pane)[2] == "#", "the next prompt")  # noqa: B023
            assert view.rows(pane)[:2] == other.rows(pane)[:2]
        assert one.rows(pane) == two.rows(pane)
        one.until(
            lambda: one.status and one.status.last and one.status.last.verb == "term.type",
            "the status says who typed",
        )


def test_sizes_follow_the_view_that_was_typed_into_and_come_before_the_key(
    shared: Service,
) -> None:
    pane = fresh_pane(shared)
    with viewer(shared, 90, 31) as one, viewer(shared, 61, 20) as two:
        two.until(
            lambda: two.layout and (two.layout.cols, two.layout.rows) == (90, 31), "the first"
        )
        two.enter("stty size", pane)
        two.shows("20 61", pane)
        one.until(lambda: one.layout and one.layout.cols == 61, "it follows")
        one.press(Focus(has=True), Mouse("move", "", 1, 1), pane=pane)
        two.send(Size(50, 15))
        two.until(lambda: two.layout and two.layout.cols == 50, "neither is typing")
        one.enter("stty size", pane)
        one.shows("31 90", pane)
        leave(one)
        two.until(lambda: two.layout and two.layout.cols == 50, "the other leads when it is gone")


def test_commands_are_done_in_order_and_answered(shared: Service) -> None:
    with viewer(shared, 80, 24) as view:
        pane = view.do("term.tab.new").body["pane"]
        view.until(lambda: view.tabs and view.layout and view.layout.active == pane, "it is shown")
        view.send(Do(100, "term.pane.split", {"dir": "h"}))
        view.send(Do(101, "term.pane.rename", {"title": "right"}))
        view.send(Do(102, "term.pane.zoom", {"on": True}))
        view.until(lambda: 102 in view.done, "all are done")
        assert [view.done[number].rc for number in (100, 101, 102)] == [0, 0, 0]
        right = view.done[100].body["id"]
        assert [view.done[number].body["id"] for number in (101, 102)] == [right, right]
        view.until(lambda: view.layout and view.layout.zoomed == right, "it is zoomed")
        refused = view.do("term.pane.close", pane=999)
        assert (refused.rc, refused.body["error_code"]) == (10, "NOT_FOUND")
        assert view.do("term.type", text="x").body["error_code"] == "UNSUPPORTED"
        assert view.do("term.nothing").body["error_code"] == "UNSUPPORTED"


def test_history_comes_by_pages(shared: Service) -> None:
    pane = fresh_pane(shared)
    with viewer(shared) as view:
        view.enter("for i in $(seq 100 199); do echo n-$i; done", pane)
        view.shows("n-199", pane)
        told: list[str] = []
        line, end = view.states[pane].first, -1
        while line != end:
            page = page_of(view, PageWanted(line, pane, line, 500))
            assert page.lines[0][0] == line
            told += ["".join(text for text, _, _ in row) for _, row in page.lines]
            line, end = page.lines[-1][0] + 1, page.end
        assert [f"n-{number}" for number in range(100, 200)] == [
            text for text in told if text.startswith("n-")
        ]


def page_of(view: Viewer, wanted: PageWanted) -> Page:
    view.send(wanted)
    pages: list[Page] = []

    def came() -> bool:
        pages.extend(
            each for each in view.messages if isinstance(each, Page) and each.req == wanted.req
        )
        return bool(pages)

    view.until(came, "a page")
    return pages[0]


def test_a_read_only_view_looks_and_does_nothing(shared: Service) -> None:
    pane = fresh_pane(shared)
    other = fresh_pane(shared)
    tab = next(each["tab"] for each in shared.good("term.panes")["panes"] if each["id"] == pane)
    with viewer(shared, 33, 11, read_only=True, tab=tab) as view:
        assert view.layout is not None
        assert view.layout.tab == tab
        assert view.layout.cols != 33
        view.enter("echo typed-$((1+1))", pane)
        assert view.do("term.pane.split", dir="h").body["error_code"] == "FORBIDDEN"
        assert view.do("view.ticket").body["error_code"] == "FORBIDDEN"
        shared.good("term.type", {"text": "echo agent-$((1+1))\n", "pane": pane})
        view.shows("agent-2", pane)
        assert "typed-2" not in view.rows(pane)
        assert shared.good("term.session")["active_pane"] == other


def test_bells_of_any_tab_are_told(shared: Service) -> None:
    pane = fresh_pane(shared)
    fresh_pane(shared)
    with viewer(shared) as view:
        shared.good("term.type", {"text": "printf '\\a'\n", "pane": pane})
        view.until(lambda: Bell(pane) in view.messages, "the bell")
        view.until(
            lambda: view.tabs and any(tab.bell for tab in view.tabs.tabs if pane in tab.panes),
            "its tab is marked",
        )


def test_the_persons_environment_reaches_new_panes(shared: Service) -> None:
    env = {"SSH_AUTH_SOCK": "/tmp/agent-of-mine", "PATH": "/nowhere"}
    with viewer(shared, 80, 24, env=env) as view:
        pane = view.do("term.tab.new").body["pane"]
        view.enter("echo $SSH_AUTH_SOCK; ls -d /", pane)
        view.shows("/tmp/agent-of-mine", pane)
        view.shows("/", pane)


def test_what_people_do_is_in_the_log() -> None:
    wanted = f"person uid {os.geteuid()} pid {os.getpid()} (view)"

    def verbs(made: Service) -> list[str]:
        entries = made.good("term.log")["entries"]
        return [each["verb"] for each in entries if each["principal"] == wanted]

    # A service of its own: earlier views of this process may be seen to end late.
    with plain_service() as own:
        with viewer(own) as view:
            view.do("term.tab.rename", title="mine")
        eventually(
            lambda: verbs(own) == ["view.attach", "term.tab.rename", "view.detach"],
            "all three are there",
        )


def test_leaving_is_answered_and_the_socket_closed(shared: Service) -> None:
    with viewer(shared) as view:
        view.send(Detach())
        assert view.until_bye() == Bye(Reason.DETACHED)
        view.until(lambda: view.ended, "the end")


@contextlib.contextmanager
def connection(made: Service, **how: Any) -> Iterator[Viewer]:  # noqa: ANN401
    view = Viewer(made, **how)
    try:
        yield view
    finally:
        view.close()


def test_a_wrong_token_a_used_one_and_one_of_another_process_are_refused(shared: Service) -> None:
    with connection(shared) as view:
        path = str(shared.good("term.view.open")["path"])
        for token in ("", "0" * 64):
            with connection(shared, path=path, token="x") as other:
                other.token = token
                other.attach()
                assert other.until_bye() == Bye(Reason.FORBIDDEN)
        view.attach()
        view.until(lambda: view.welcome is not None, "it is attached")
        with connection(shared, path=path, token=view.token) as other:
            other.attach()
            assert other.until_bye() == Bye(Reason.FORBIDDEN)
    opened = shared.good("term.view.open")
    script = (
        "import sys, socket; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]);"
        "s.sendall(bytes.fromhex(sys.argv[2])); print(s.recv(9999).hex())"
    )
    sent = encode(Attach(opened["token"], 80, 24)).hex()
    answer = subprocess.run(
        [sys.executable, "-c", script, opened["path"], sent],
        capture_output=True, text=True, check=True, timeout=30,
    )  # fmt: skip
    assert bytes.fromhex(answer.stdout.strip()) == encode(Bye(Reason.FORBIDDEN))


@pytest.mark.parametrize(
    "data",
    [encode(Detach()), b"\xff" * 8, b"GET / HTTP/1.0\r\n\r\n", encode(Attach("x", 80, 24))[:-3]],
)
def test_who_does_not_speak_the_protocol_is_told_to_go(shared: Service, data: bytes) -> None:
    with connection(shared) as view:
        view.send_bytes(data)
        view.socket.shutdown(1)
        assert view.until_bye().reason in {Reason.PROTOCOL, Reason.DETACHED}


def test_nonsense_of_an_attached_view_ends_it_alone(shared: Service) -> None:
    with viewer(shared) as one, viewer(shared) as two:
        one.send(Attach("again", 80, 24))
        assert one.until_bye() == Bye(Reason.PROTOCOL)
        two.until(lambda: two.status and two.status.views == 1, "the other goes on")


def test_output_can_be_followed(shared: Service) -> None:
    pane = fresh_pane(shared)
    with connection(shared) as view:
        view.attach(watch=pane)
        view.until(lambda: any(isinstance(each, Keyframe) for each in view.messages), "a keyframe")
        shared.good("term.type", {"text": "echo watched-$((1+1)); exit 3\n", "pane": pane})
        view.until_bye()
        seen = b"".join(each.data for each in view.messages if isinstance(each, Output))
        assert b"watched-2" in seen
        assert [each.state for each in view.messages if isinstance(each, Ended)] == ["exited 3"]


def test_the_socket_is_the_persons_alone(shared: Service) -> None:
    path = Path(shared.good("term.view.open")["path"])
    assert path == shared.directory / "rt" / "term.view"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_strict_posture_takes_the_ticket_and_an_attached_person_can_have_one_made() -> None:
    with service(COSMIX_MESH_OPEN="0") as made:
        ticket = made.ready["view_ticket"]
        for body in ({}, {"ticket": "0" * 64}):
            rc, answer = made.call("term.view.open", body)
            assert (rc, answer["error_code"], answer["message"]) == (10, "FORBIDDEN", "forbidden")
        opened = made.good("term.view.open", {"ticket": ticket})
        with connection(made, path=opened["path"], token=opened["token"]) as view:
            view.attach()
            view.until(lambda: view.status is not None, "it is attached")
            assert view.welcome is not None
            assert view.welcome.posture == "strict"
            view.enter("echo strict-$((1+1))")
            view.shows("strict-2")
            other = view.do("view.ticket").body["ticket"]
            assert made.good("term.view.open", {"ticket": other})["token"]
            assert made.run("posture", "open").returncode == 0
            view.until(lambda: view.status and view.status.posture == "open", "it is told")
            assert made.good("term.view.open")["token"]


def test_what_was_opened_without_a_ticket_ends_when_the_posture_turns_strict() -> None:
    with service() as made:
        opened = made.good("term.view.open", {"ticket": made.ready["view_ticket"]})
        with (
            viewer(made) as stranger,
            connection(made) as watcher,
            connection(made, path=opened["path"], token=opened["token"]) as person,
        ):
            watcher.attach(watch=1)
            person.attach()
            person.until(lambda: person.status is not None, "it is attached")
            assert stranger.do("view.ticket").body["error_code"] == "FORBIDDEN"
            made.run("posture", "strict")
            assert stranger.until_bye().reason is Reason.STRICT
            assert watcher.until_bye().reason is Reason.STRICT
            person.enter("echo mine-$((1+1))")
            person.shows("mine-2")


def test_where_no_socket_can_be_made_the_service_runs_and_says_so(tmp_path: Path) -> None:
    base = Path(os.path.realpath("/tmp")) / f"tn-view-{os.getpid()}"
    made = Service(base)
    try:
        (base / "rt" / "term.view").mkdir(parents=True)
        (base / "rt").chmod(0o700)
        made.up()
        rc, answer = made.call("term.view.open")
        assert (rc, answer["error_code"], answer["details"]) == (
            20, "UNAVAILABLE", {"reason": "no_view_socket"},
        )  # fmt: skip
        made.at_prompt(1)
        made.run("down")
        assert set(os.listdir(base / "rt")) == {"term.view", "term.log"}
    finally:
        made.down()
        subprocess.run(["rm", "-rf", str(base)], check=True)


def test_the_reply_is_not_in_the_log(shared: Service) -> None:
    token = shared.good("term.view.open")["token"]
    assert token not in json.dumps(shared.good("term.log"))


def test_an_agent_that_moves_the_person_elsewhere_is_named() -> None:
    with service() as made:
        first = made.ready["pane"]
        with viewer(made) as view:
            there = made.good("term.tab.new")["pane"]
            view.until(lambda: view.status is not None and view.status.last, "it is told")
            assert view.status is not None
            assert view.status.last is not None
            assert (view.status.last.pane, view.status.last.verb) == (there, "term.tab.new")
            view.do("term.tab.select", id=1)  # the person's own doing is no agent's
            made.good("term.type", {"text": "x", "pane": first})
            view.until(
                lambda: view.status and view.status.last and view.status.last.verb == "term.type",
                "it is told",
            )
