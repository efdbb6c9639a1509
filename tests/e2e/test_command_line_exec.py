"""termnode exec, task, result and cancel over a whole service with a real bash."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.termnode_process import COMMAND, Service, eventually, service

BASHRC = "PS1='$ '\n"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("home")
    (directory / ".bashrc").write_text(BASHRC)
    return directory


@pytest.fixture(scope="module")
def term(home: Path) -> Iterator[Service]:
    with service("--shell", "/bin/bash", HOME=str(home)) as running:
        free(running)
        yield running


@pytest.fixture
def shell(term: Service) -> Service:
    """At a free prompt, whatever the test before it left."""
    free(term)
    return term


def free(running: Service) -> None:
    """Once a command may be run at pane 1's prompt."""
    eventually(lambda: tried(running), "the prompt is free")


def tried(running: Service) -> bool:
    done = running.run("exec", "true", "--pane", "1", check=None)
    assert done.returncode in {0, 75}, done.stderr
    return done.returncode == 0


def popen(running: Service, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*COMMAND, *arguments],
        env=running.environment(),
        cwd=running.directory,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ran(running: Service, source: str, *options: str, check: int = 0) -> dict[str, Any]:
    done = running.run("exec", source, "--json", *options, check=check)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_a_command_runs_in_the_persons_own_shell(shell: Service) -> None:
    assert shell.run("exec", "cd /usr; mark=here; printf 'a\\nb'").stdout == "a\nb"
    done = shell.run("exec", 'echo "$mark"; pwd; (exit 7)', check=7)
    assert (done.stdout, done.stderr) == ("here\n/usr\n", "")
    shown = "\n".join(shell.screen(1))
    assert "via Term: cd /usr; mark=here" in shown
    shell.run("exec", "cd")


def test_lines_from_stdin_are_one_command(shell: Service) -> None:
    done = subprocess.run(
        [*COMMAND, "exec", "-"],
        env=shell.environment(),
        input="for n in 1 2; do\n  echo $n\ndone\ncat <<END\nhere\nEND\n",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "1\n2\nhere\n"), done.stderr


def test_json_has_all_of_it(shell: Service) -> None:
    told = ran(shell, "printf '\\e[31mred\\e[0m\\n'; false", check=1)
    assert (told["state"], told["pane"]) == ("finished", 1)
    result = told["result"]
    assert result["outcome"] == "completed"
    assert result["exit"]["code"] == 1
    assert result["output"]["text"] == "\x1b[31mred\x1b[0m\r\n"
    assert result["duration_ms"] >= 0
    assert shell.run("exec", "printf '\\e[31mred\\e[0m\\n'").stdout == "red\n"


def test_what_a_person_has_typed_is_left_alone(shell: Service) -> None:
    shell.run("type", "echo dr$((1+1))ft", "--pane", "1")
    refused = shell.run("exec", "echo no", "--pane", "1", "--json", check=75)
    assert json.loads(refused.stdout)["body"]["error_code"] == "BUSY"
    assert "try again" in refused.stderr
    shell.run("keys", "Enter", "--pane", "1")
    shell.wait("^dr2ft", 1)
    assert not any(row == "no" for row in shell.screen(1))


@pytest.mark.parametrize(
    ("source", "code", "words"),
    [("if true; then", 125, "INVALID_ARGUMENT"), ("  ", 125, "INVALID_ARGUMENT")],
)
def test_what_cannot_run_is_refused(shell: Service, source: str, code: int, words: str) -> None:
    assert words in shell.run("exec", source, "--pane", "1", check=code).stderr


def test_wrong_use_is_said(shell: Service) -> None:
    assert "either" in shell.run("task", check=2).stderr
    assert "either" in shell.run("task", "--source", "ls", "--", "ls", check=2).stderr
    assert "NOT_FOUND" in shell.run("exec", "ls", "--pane", "99", check=125).stderr
    assert "UNKNOWN_OUTCOME" in shell.run("result", "12", check=125).stderr
    assert "UNKNOWN_OUTCOME" in shell.run("cancel", "12", check=1).stderr
    shell.run("exec", "ls", "--name", "nobody", check=125)


def test_a_detached_one_is_found_by_others(shell: Service) -> None:
    number = shell.run("exec", "sleep 600; echo never", "--detach").stdout.strip()
    waits = shell.run("result", number, "--timeout", "0", check=124)
    assert f"termnode cancel {number}" in waits.stderr
    eventually(lambda: foreground(shell) == "sleep", "the command runs")
    assert shell.run("cancel", number).stdout.startswith("requested")
    told = json.loads(shell.run("result", number, "--json", check=130).stdout)
    assert told["result"]["outcome"] == "cancelled"
    assert told["operation_id"] == number
    again = shell.run("result", number, "--json", check=130)
    assert json.loads(again.stdout) == told
    assert shell.run("cancel", number).stdout.startswith("already_finished")


def foreground(running: Service) -> str:
    panes = running.good("term.panes")["panes"]
    return str(next(pane["command"] for pane in panes if pane["id"] == 1))


def test_the_time_running_out_leaves_it_running(shell: Service) -> None:
    done = shell.run("exec", "read line; echo got $line", "--timeout", "0.2", check=124)
    number = done.stderr.split("termnode cancel ")[1].split("'")[0]
    shell.run("type", "it", "--enter", "--pane", "1")
    assert shell.run("result", number).stdout.endswith("got it\n")


def test_ctrl_c_interrupts_and_a_second_one_leaves_it(shell: Service) -> None:
    waiting = popen(shell, "exec", "sleep 600")
    eventually(lambda: foreground(shell) == "sleep", "the command runs")
    waiting.send_signal(signal.SIGINT)
    _out, words = waiting.communicate(timeout=60)
    assert waiting.returncode == 130
    assert "requested" in words
    free(shell)
    stubborn = popen(shell, "exec", "(trap '' INT; echo on; exec sleep 3)")
    eventually(lambda: foreground(shell) == "sleep", "the command runs")
    stubborn.send_signal(signal.SIGINT)
    assert stubborn.stderr is not None
    assert "requested" in stubborn.stderr.readline()
    stubborn.send_signal(signal.SIGINT)
    _out, words = stubborn.communicate(timeout=60)
    assert stubborn.returncode == 130
    number = words.split("termnode result ")[1].split("'")[0]
    assert shell.run("result", number).stdout.endswith("on\n")


def test_output_comes_while_it_runs_and_once(shell: Service) -> None:
    running = popen(shell, "exec", "echo first; read line; printf 'got %s' $line")
    assert running.stdout is not None
    assert running.stdout.readline() == "first\n"
    shell.run("type", "it", "--enter", "--pane", "1")
    out, words = running.communicate(timeout=60)
    assert (running.returncode, out, words) == (0, "it\ngot it", "")


def test_of_much_output_both_ends_are_printed_and_the_rest_is_said(shell: Service) -> None:
    done = shell.run("exec", "seq 100000 199999; false", check=1)
    lines = done.stdout.split("\n")[:-1]
    whole = [line for line in lines if len(line) == 6]
    assert whole == sorted(set(whole))
    assert lines[-1] == "199999"
    assert "left out" in done.stderr
    assert len(lines) < 100_000


def test_too_much_source_is_said_with_a_remedy(shell: Service) -> None:
    refused = shell.run("exec", "echo " + "x" * 5_000, check=125)
    assert "put it in a file" in refused.stderr
    assert "quotes" in shell.run("exec", "ls", "/", check=2).stderr


def test_who_waits_may_be_killed(shell: Service) -> None:
    waiting = popen(shell, "exec", "read line; echo after $line")
    eventually(lambda: sockets(shell), "the command runs")
    (held,) = sockets(shell)
    waiting.kill()
    waiting.communicate(timeout=60)
    shell.run("type", "all", "--enter", "--pane", "1")
    assert shell.run("result", held.stem).stdout.endswith("after all\n")


def sockets(running: Service) -> list[Path]:
    return list((running.directory / "rt").glob("term.operations/*.sock"))


def test_a_task_runs_beside_the_shell(shell: Service) -> None:
    script = 'echo "out $HOME $A"; echo err >&2; exit 5'
    done = shell.run("task", "--env", "A=b c", "--cwd", "/", "--", "sh", "-c", script, check=5)
    assert done.stderr == "err\n"
    assert done.stdout.startswith("out ")
    assert done.stdout.endswith(" b c\n")
    told = shell.run("task", "--source", "echo '{\"n\": [1]}' >&3; pwd", "--json").stdout
    report = json.loads(told)["report"]
    assert report["result"] == {"kind": "value", "data": {"n": [1]}}
    assert not any("out" in row for row in shell.screen(1))


def test_a_task_has_its_time_and_can_be_cancelled(shell: Service) -> None:
    late = shell.run("task", "--timeout", "0.2", "--", "sleep", "600", check=124)
    assert "SIGTERM" in late.stderr
    number = shell.run("task", "--detach", "--json", "--", "sleep", "600").stdout
    operation = json.loads(number)["operation_id"]
    assert shell.run("cancel", operation).stdout.startswith("requested")
    assert "cancelled" in shell.run("result", operation, check=143).stderr
    missing = shell.run("task", "--", "no-such-program", check=125)
    assert "NOT_FOUND" in missing.stderr


def test_in_its_own_pane_it_says_why_it_cannot(shell: Service) -> None:
    """The screen's rows are joined: the words are wrapped."""
    words = " ".join(COMMAND)
    line = f"COSMIX_RUNTIME_DIR={shell.directory / 'rt'} {words} exec ls; echo code-$?"
    shell.good("term.paste", {"pane": 1, "text": line})
    shell.run("keys", "Enter", "--pane", "1")
    shell.wait("^code-75", 1)
    assert "--pane" in "".join(shell.screen(1))


def test_it_goes_on_in_strict_posture(shell: Service) -> None:
    shell.run("posture", "strict")
    try:
        assert shell.run("exec", "echo strict", "--pane", "1").stdout == "strict\n"
        assert "--pane" in shell.run("exec", "echo strict", check=125).stderr
    finally:
        shell.run("posture", "open")


def test_other_programs_take_no_commands(shell: Service) -> None:
    made = shell.good("term.tab.new", {"argv": ["sh"], "background": True})
    pane = str(made["pane"])
    eventually(lambda: unsupported(shell, pane), "sh is control-ready and takes none")
    assert shell.run("task", "--pane", pane, "--cwd", "/", "--", "echo", "yes").stdout == "yes\n"
    shell.good("term.tab.close", {"id": made["id"]})


def unsupported(running: Service, pane: str) -> bool:
    done = running.run("exec", "ls", "--pane", pane, check=None)
    assert done.returncode in {75, 125}, (done.returncode, done.stderr)
    return "UNSUPPORTED" in done.stderr and "termnode task" in done.stderr


def test_nothing_is_left_when_the_service_ends(home: Path) -> None:
    with service("--shell", "/bin/bash", HOME=str(home)) as running:
        free(running)
        number = running.run("exec", "sleep 600", "--detach").stdout.strip()
        (held,) = sockets(running)
        running.run("down")
        eventually(lambda: not sockets(running), "who held it has ended", 60)
        told = held.with_suffix(".json")
        assert json.loads(told.read_text())["state"] in {"lost", "finished"}
        assert number == held.stem
