"""The commands for agents, as typed: keys, paste, screen, wait, events, and moving panes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.programs import need
from tests.support.termnode_process import COMMAND, Service, eventually, service


@pytest.fixture(scope="module")
def shell() -> Iterator[Service]:
    need("bash")
    with service("--shell", "/bin/bash", "--size", "80x24") as running:
        yield running


def new_pane(shell: Service, *program: str) -> str:
    """A pane of its own in a tab of its own: its number."""
    done = shell.run("new", "--json", *(["--", *program] if program else []))
    pane: int = json.loads(done.stdout)["pane"]
    if not program:
        shell.at_prompt(pane)
    return str(pane)


def test_keys_are_pressed_by_name_and_a_wrong_one_presses_nothing(shell: Service) -> None:
    pane = new_pane(shell)
    shell.run("type", "--pane", pane, "echo b-$((2+2))")
    refused = shell.run("keys", "--pane", pane, "Enter", "Entre", check=1)
    assert "Enter" in refused.stderr
    assert "b-4" not in "\n".join(shell.screen(int(pane)))
    shell.run("keys", "--pane", pane, "C-a", "#", "C-e", "BSpace", "C-a", "DC", "C-e", "9", "Enter")
    shell.wait("command not found|syntax error|b-", int(pane))
    assert "Enter" in shell.run("keys", "--list").stdout.split()
    assert shell.run("keys", check=2).stderr


def test_a_long_file_is_pasted_whole(shell: Service, tmp_path: Path) -> None:
    text = "".join(f"{number}\tgrüße 日本 {number * 7}\n" for number in range(2_000))
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_text(text)
    pane = new_pane(
        shell,
        "sh",
        "-c",
        f"stty raw -echo; echo ready; head -c {len(text.encode())} > {target}; echo done",
    )
    shell.wait("ready", int(pane))
    done = shell.run("paste", "--pane", pane, "--json", str(source))
    shell.wait("done", int(pane))
    assert target.read_bytes() == text.replace("\n", "\r").encode()
    assert json.loads(done.stdout)["outcome"] == "written"


def test_a_long_paste_that_is_sent_again_is_written_once(shell: Service, tmp_path: Path) -> None:
    """Of more parts than the service remembers request ids."""
    text = "\x01" + "x" * 1_048_000
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_text(text)
    pane = new_pane(shell, "sh", "-c", f"stty raw -echo; echo ready; exec cat > {target}")
    shell.wait("ready", int(pane))
    again = ("paste", "--pane", pane, "--request-id", "long-1", "--json", str(source))
    first, second = shell.run(*again), shell.run(*again)
    shell.run("type", "--pane", pane, "end")
    eventually(lambda: target.read_bytes().endswith(b"end"), "all was read")
    assert target.read_bytes() == text[1:].encode() + b"end"
    assert first.stdout == second.stdout
    assert first.stderr == second.stderr != ""
    source.write_text(text[1:])
    other = shell.run(*again, check=1)
    assert json.loads(other.stdout)["body"]["error_code"] == "CONFLICT"


def test_a_paste_says_what_it_left_out_and_refuses_what_is_no_text(
    shell: Service, tmp_path: Path
) -> None:
    pane = new_pane(shell, "cat")
    odd = tmp_path / "odd"
    odd.write_bytes(b"a\x1b[201~b\x07c\n")
    assert "left out" in shell.run("paste", "--pane", pane, str(odd)).stderr
    shell.wait("^abc$", int(pane))
    odd.write_bytes(b"ok\xff")
    assert "byte 2" in shell.run("paste", "--pane", pane, str(odd), check=2).stderr
    assert (
        "cannot be read" in shell.run("paste", "--pane", pane, str(tmp_path / "no"), check=1).stderr
    )


def test_a_zoomed_pane_is_resized_from_the_size_that_it_goes_back_to(shell: Service) -> None:
    first = new_pane(shell, "cat")
    split = shell.run("split", "--pane", first, "--json", "--", "cat").stdout
    second = str(json.loads(split)["id"])
    shell.run("zoom", "--pane", second)
    done = shell.run("resize", "--pane", second, "--cols", "+5")
    assert done.stdout == f"pane {second} 45x24\n"
    assert shell.run("resize", "--pane", first, "--cols", "+1").stdout == f"pane {first} 35x24\n"


MENU = r"printf '\033[2J\033[H  New\r\n\033[7m  Open\033[0m\r\n  Quit\r\n'; read x"


def test_the_styled_screen_shows_which_entry_is_selected(shell: Service) -> None:
    pane = new_pane(shell, "sh", "-c", MENU)
    shell.wait("Quit", int(pane))
    assert "Open" in shell.run("screen", "--pane", pane).stdout
    assert "«reverse»  Open«/»" in shell.run("screen", "--pane", pane, "--format", "styled").stdout
    assert "\x1b[" in shell.run("screen", "--pane", pane, "--format", "ansi").stdout
    page = shell.run("screen", "--pane", pane, "--format", "html").stdout
    assert page.lower().startswith("<!doctype html>")
    assert "Open" in page


def test_only_new_lines_and_the_whole_history(shell: Service) -> None:
    pane = new_pane(shell)
    revision = shell.run("screen", "--pane", pane, "--revision").stdout.strip()
    shell.run("type", "--pane", pane, "seq 3000", "--enter")
    shell.run("wait", "--pane", pane, "--until", "^3000$", "--after", revision)
    whole = shell.run("screen", "--pane", pane, "--scrollback").stdout.split("\n")
    assert [line for line in whole if line.isdigit()] == [str(n) for n in range(1, 3001)]
    few = shell.run("screen", "--pane", pane, "--scrollback", "10").stdout.split("\n")
    assert len(few) < 60
    now = shell.run("screen", "--pane", pane, "--since", revision)
    assert "3000" in now.stdout
    latest = now.stderr.split()[-1]
    assert shell.run("screen", "--pane", pane, "--since", latest).stdout == ""


def test_waiting_says_what_came_and_where_a_pattern_is_wrong(shell: Service) -> None:
    pane = new_pane(shell, "sh", "-c", "echo here; read x; exit 4")
    assert shell.run("wait", "--pane", pane, "--until", "here").stdout == ""
    both = shell.run("wait", "--pane", pane, "--until", "never", "--quiet", "0.2")
    assert both.stdout.strip() == "quiet"
    bad = shell.run("wait", "--pane", pane, "--until", "ab(c", check=1)
    assert "  ab(c\n    ^" in bad.stderr
    assert shell.run("wait", "--pane", pane, check=2).stderr
    out = shell.run("wait", "--pane", pane, "--until", "never", "--timeout", "0.2", check=1)
    assert "time ran out" in out.stderr
    shell.run("keys", "--pane", pane, "Enter")
    assert shell.run("wait", "--pane", pane, "--exit").stdout == "ended with 4\n"
    shell.run("wait", "--pane", pane, "--until", "never", check=1)


def test_a_prompt_can_be_waited_for(shell: Service) -> None:
    pane = new_pane(shell)
    typed = shell.run("type", "--pane", pane, "--json", "sleep 0.3; echo over-$((1+1))", "--enter")
    revision = str(json.loads(typed.stdout)["revision"])
    shell.run("wait", "--pane", pane, "--prompt", "--after", revision)
    assert "over-2" in shell.run("screen", "--pane", pane).stdout


def test_typing_can_be_confirmed(shell: Service) -> None:
    pane = new_pane(shell)
    shell.run("type", "--pane", pane, "--confirm", "--enter", "echo yes-$((3+3))")
    shell.wait("^yes-6", int(pane))
    silent = new_pane(shell, "sh", "-c", "stty raw -echo; echo ready; sleep 60")
    shell.wait("ready", int(silent))
    unseen = shell.run("type", "--pane", silent, "--confirm", "hello", check=1)
    assert "written" in unseen.stderr


def test_panes_are_moved_and_named(shell: Service) -> None:
    one = new_pane(shell)
    two = json.loads(shell.run("split", "--pane", one, "--json").stdout)["id"]
    wider = shell.run("resize", "--pane", one, "--cols", "50", "--json")
    assert json.loads(wider.stdout)["cols"] == 50
    assert "45x" in shell.run("resize", "--pane", one, "--cols", "-5").stdout
    shell.run("rename", "--pane", one, "first one")
    assert "first one" in shell.run("panes").stdout
    shell.run("zoom", "--pane", one)
    assert _pane(shell, one)["cols"] == 80
    shell.run("zoom", "--pane", one, "--off")
    assert _pane(shell, one)["cols"] == 45
    shell.run("swap", one, str(two))
    assert _pane(shell, one)["x"] > 0
    shell.run("layout", "even-vertical")
    assert _pane(shell, one)["cols"] == 80
    alone = json.loads(shell.run("break", "--pane", one, "--json").stdout)["tab"]
    assert _pane(shell, one)["tab"] == alone
    shell.run("join", one, str(two), "--below")
    assert _pane(shell, one)["tab"] == _pane(shell, str(two))["tab"]
    assert shell.run("resize", "--pane", one, check=2).stderr


def _pane(shell: Service, pane: str) -> Any:  # noqa: ANN401
    panes = json.loads(shell.run("panes", "--json").stdout)["panes"]
    return next(each for each in panes if each["id"] == int(pane))


def test_the_mouse_is_refused_unless_asked_for(shell: Service) -> None:
    pane = new_pane(
        shell,
        "sh",
        "-c",
        r"printf '\033[?1000h\033[?1006h'; stty raw -echo; echo on; head -c 9 | od -c; read x",
    )
    shell.wait("on", int(pane))
    shell.run("mouse", "--pane", pane, "press", "4", "2")
    shell.wait(r"< *0 *; *5 *; *3 *M", int(pane))
    plain = new_pane(shell, "cat")
    assert "mouse" in shell.run("mouse", "--pane", plain, "click", "1", "1", check=1).stderr


def test_events_of_the_past_are_printed_and_followed(shell: Service) -> None:
    pane = new_pane(shell, "sh", "-c", r"printf '\033]0;hello\007'; exit 5")
    shell.run("wait", "--pane", pane, "--exit")
    past = shell.run("events", "--pane", pane, "--json").stdout.splitlines()
    kinds = {json.loads(line)["kind"] for line in past}
    assert {"title", "exit"} <= kinds
    assert "title=hello" in shell.run("events", "--pane", pane).stdout
    with subprocess.Popen(
        [*COMMAND, "events", "--follow", "--json", "--kind", "exit"],
        env=shell.environment(),
        stdout=subprocess.PIPE,
        text=True,
    ) as follower:
        assert follower.stdout is not None
        try:
            eventually(lambda: _subscribed(shell, follower.pid), "the follower has subscribed")
            ended = new_pane(shell, "sh", "-c", "exit 6")
            event = json.loads(follower.stdout.readline())
            assert (event["pane"], event["exit"]) == (int(ended), {"code": 6})
        finally:
            follower.send_signal(signal.SIGINT)
        assert follower.wait(30) in {0, 130}


def _subscribed(shell: Service, pid: int) -> bool:
    log = shell.good("term.log", {"limit": 50})["entries"]
    who = f"uid {os.geteuid()} pid {pid}"
    return any(entry["verb"] == "term.events" and entry["principal"] == who for entry in log)


def test_a_paste_can_be_ended_with_enter_and_programs_get_variables(shell: Service) -> None:
    pane = new_pane(shell)
    source = shell.directory / "line"
    source.write_text("echo grüße-$((5+5))")
    shell.run("paste", "--pane", pane, "--enter", str(source))
    shell.wait("^grüße-10", int(pane))
    done = shell.run(
        "new", "--json", "--env", "WORD=two words", "--", "sh", "-c", "echo $WORD; read x"
    )
    shell.wait("^two words$", json.loads(done.stdout)["pane"])


def test_a_command_in_a_pane_is_about_that_pane(shell: Service) -> None:
    import shlex

    pane = new_pane(shell)
    new_pane(shell)
    here = shlex.join([*COMMAND, "rename", "this one"])
    shell.good("term.type", {"pane": int(pane), "text": here, "enter": True})
    eventually(lambda: _pane(shell, pane).get("title") == "this one", "its own pane has the name")


def test_what_is_opened_in_the_background_leaves_the_active_pane(shell: Service) -> None:
    active = int(new_pane(shell))
    quiet = json.loads(shell.run("new", "--background", "--json").stdout)
    beside = json.loads(shell.run("split", "--background", "--json").stdout)
    assert shell.good("term.session")["active_pane"] == active
    assert quiet["pane"] != active != beside["id"]
