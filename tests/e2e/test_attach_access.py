"""Who may open a view, and what is said to who may not, or has nothing to view or to view with."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.attached import attach, prompted
from tests.support.termnode_process import COMMAND, Service, eventually, service


@pytest.fixture(scope="module")
def term() -> Iterator[Service]:
    with service() as running:
        yield running


@pytest.fixture
def strict() -> Iterator[Service]:
    with service(COSMIX_MESH_OPEN="0") as running:
        yield running


@pytest.fixture
def idle() -> Iterator[Service]:
    """No service yet."""
    made = Service(Path(tempfile.mkdtemp(prefix="tn-", dir="/tmp")), "term")
    try:
        yield made
    finally:
        made.run("down", check=None)
        shutil.rmtree(made.directory, ignore_errors=True)


def test_without_a_terminal(term: Service) -> None:
    done = term.run("attach", check=2)
    assert "terminal" in done.stderr


def test_in_strict_posture_a_view_needs_the_ticket(strict: Service) -> None:
    with attach(strict, shown=None) as view:
        assert view.ended() == 1
        view.until("ticket")
    with attach(strict, shown=None, env={"TERMNODE_TICKET": "wrong"}) as view:
        assert view.ended() == 1
        view.until("ticket")
    with attach(strict, env={"TERMNODE_TICKET": strict.ready["view_ticket"]}) as view:
        view.type("echo in-$((40+2))\r")
        view.until("in-42")
        view.type("\x02d")
        assert view.ended() == 0


def test_the_ticket_may_be_in_a_file(strict: Service) -> None:
    path = strict.directory / "ticket"
    path.write_text(strict.ready["view_ticket"] + "\n")
    with attach(strict, "--ticket-file", str(path)) as view:
        view.type("\x02d")
        assert view.ended() == 0
    with attach(strict, "--ticket-file", str(path) + "-none", shown=None) as view:
        assert view.ended() == 2


def test_programs_in_panes_do_not_get_the_ticket_of_who_started_it() -> None:
    with service(TERMNODE_TICKET="secret-of-mine") as term:
        term.at_prompt(1)
        term.good("term.type", {"text": "env | grep -c TICKET; echo end-$((40+2))", "enter": True})
        term.wait("^end-42")
        assert "0" in term.screen()


def test_in_strict_posture_no_program_of_the_same_user_gets_a_view(strict: Service) -> None:
    rc, body = strict.call("term.view.open", {})
    assert rc != 0
    assert body["error_code"] == "FORBIDDEN"
    rc, body = strict.call("term.view.open", {"ticket": "0" * len(strict.ready["view_ticket"])})
    assert rc != 0
    rc, body = strict.call("term.view.open", {"ticket": strict.ready["view_ticket"]})
    assert rc == 0, "the check above can pass"


def test_inside_a_pane_of_the_same_service_it_refuses(term: Service) -> None:
    with attach(term) as view:
        term.at_prompt(1)
        command = " ".join(COMMAND)
        view.type(
            "clear; cd /; PYTHONPATH=" + str(Path(__file__).parents[2]) + "; export PYTHONPATH\r"
        )
        for before in ("", "env -u TERMNODE_PANE -u TERMNODE_NAME "):
            view.type(f"{before}{command} attach; echo code-$?-{len(before)}\r")
            view.until(f"code-1-{len(before)}")
            view.until("--force")


def test_in_a_pane_of_another_service_it_does_not_refuse(term: Service) -> None:
    env = {"TERMNODE_PANE": "1", "TERMNODE_NAME": "other"}
    with attach(term, env=env) as view:
        view.type("\x02d")
        assert view.ended() == 0
    env = {"TERMNODE_PANE": "1", "TERMNODE_NAME": term.name}
    with attach(term, env=env, shown=None) as view:
        assert view.ended() == 1, "it is the environment that says so"
    with attach(term, "--force", env=env) as view:
        view.type("\x02d")
        assert view.ended() == 0


def test_without_a_service_it_offers_to_start_one(idle: Service) -> None:
    with attach(idle, shown=None) as view:
        view.until("[y/N]")
        view.type("\r")
        assert view.ended() == 3
    with attach(idle, shown=None) as view:
        view.until("[y/N]")
        view.type("y\r")
        eventually(lambda: "term" in view.screen()[-1], "the view is drawn")
        view.type("echo in-$((40+2))\r")
        view.until("in-42")
        view.type("\x02d")
        assert view.ended() == 0


def test_started_unasked(idle: Service) -> None:
    with attach(idle, "--start", cols=77, rows=20) as view:
        view.type("stty size\r")
        view.until("19 77")
        view.type("\x02d")
        assert view.ended() == 0


def test_up_on_a_terminal_attaches(idle: Service) -> None:
    with attach(idle, command="up") as view:
        view.type("echo in-$((40+2))\r")
        view.until("in-42")
        view.type("\x02d")
        assert view.ended() == 0
    assert idle.good("term.session")["tabs"] == 1, "it goes on"


def test_up_in_strict_posture_hands_the_ticket_to_the_person(idle: Service) -> None:
    with attach(idle, command="up", cols=120, env={"COSMIX_MESH_OPEN": "0"}) as view:
        view.type("\x02d")
        assert view.ended() == 0
        view.until("TERMNODE_TICKET=")
        row = next(row for row in view.screen() if "TERMNODE_TICKET=" in row)
    ticket = row.rpartition("TERMNODE_TICKET=")[2].split()[0]
    with attach(idle, env={"TERMNODE_TICKET": ticket}) as view:
        view.type("\x02d")
        assert view.ended() == 0


def test_up_in_the_foreground_is_the_service(idle: Service) -> None:
    with attach(idle, "--foreground", command="up", shown=None) as view:
        view.until("ready")
        view.type("\x03")
        assert view.ended() == 0


def test_read_only(term: Service) -> None:
    with attach(term, "--read-only") as view:
        term.good("term.tab.new", {"argv": ["cat"]})
        view.type("never\r")
        view.type("\x02d")
        assert view.ended() == 0
        assert not any("never" in row for row in term.screen())


def test_the_environment_of_the_person_reaches_new_panes(term: Service) -> None:
    env = {"SSH_AUTH_SOCK": "/tmp/agent-of-the-person", "DISPLAY": ":7", "SECRET": "not-this"}
    with attach(term, env=env) as view:
        before = term.good("term.session")["active_pane"]
        view.type("\x02c")
        eventually(lambda: term.good("term.session")["active_pane"] != before, "a new tab")
        prompted(term, term.good("term.session")["active_pane"])
        view.type('clear; echo "$SSH_AUTH_SOCK $DISPLAY <$SECRET>"\r')
        view.until("/tmp/agent-of-the-person :7 <>")
