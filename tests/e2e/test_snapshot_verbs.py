"""term.snapshot on a real service: formats, what is new, pages of history, the last command."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.programs import need
from tests.support.termnode_process import Service, eventually
from tests.support.termnode_process import plain_service as service

Body = dict[str, Any]


@pytest.fixture(scope="module")
def term() -> Iterator[Service]:
    with service("--size", "80x24") as running:
        yield running


def show(term: Service, output: str) -> int:
    """A pane whose program has printed ``output`` and ended in ``@end@``, and still runs."""
    script = f"import sys,time; sys.stdout.write({output!r} + '@end@'); sys.stdout.flush()"
    argv = [sys.executable, "-c", f"{script}; sys.stdin.read()"]
    pane: int = term.good("term.tab.new", {"argv": argv})["pane"]
    term.wait("@end@", pane)
    return pane


def look(term: Service, pane: int, **body: object) -> Body:
    answer: Body = term.good("term.snapshot", {"pane": pane, **body})
    return answer


def refused(term: Service, pane: int, **body: object) -> tuple[str, str]:
    rc, answer = term.call("term.snapshot", {"pane": pane, **body})
    assert rc == 10, answer
    return answer["error_code"], answer["details"].get("reason")


def test_a_screen_says_all_that_is_known_of_it(term: Service) -> None:
    pane = show(term, "\x1b]2;my title\x07\x1b[?2004h\x1b[?1000h\x1b[5 q" + "x" * 100 + "\n")
    body = look(term, pane)
    assert body["text"].split("\n")[:3] == ["x" * 80, "x" * 20, "@end@"]
    assert body["wrapped"] == [0]
    assert (body["cols"], body["rows"]) == (80, 24)
    assert body["cursor"] == {"x": 5, "y": 2, "visible": True, "shape": 5}
    assert body["modes"] == ["bracketed_paste", "mouse"]
    assert body["title"] == "my title"
    assert (body["alternate"], body["state"]) == (False, "running")
    assert (body["history"], body["screen_line"], body["first_line"]) == (0, 0, 0)
    assert not {"lines", "html", "full", "lines_missed", "next_line", "command", "exit"} & set(body)


def test_the_formats_show_the_same_screen(term: Service) -> None:
    pane = show(term, "\x1b[1;31mred\x1b[0m <b> 中\n")
    styled = look(term, pane, format="styled")["lines"]
    assert styled[0] == {
        "line": 0,
        "row": 0,
        "runs": [{"text": "red", "fg": 1, "bold": True}, {"text": " <b> 中"}],
    }
    assert len(styled) == 24
    assert look(term, pane, format="ansi")["text"].startswith("\x1b[1;31mred\x1b[m <b> 中\n@end@")
    html = look(term, pane, format="html")["html"]
    assert "<span class='s0'>red</span> &lt;b&gt; <span class='w'>中</span>\n" in html
    assert "pre .s0{color:#cd0000;font-weight:bold}" in html


def test_nothing_new_is_a_tiny_reply(term: Service) -> None:
    pane = show(term, "hello\n")
    revision = look(term, pane)["revision"]
    generation = look(term, pane)["generation"]
    assert look(term, pane, since=revision) == {
        "pane": pane,
        "generation": generation,
        "revision": revision,
        "lines": [],
    }


def test_new_lines_are_given_and_those_that_scrolled_away_too(term: Service) -> None:
    pane = term.at_prompt(term.good("term.tab.new")["pane"])
    before = look(term, pane)
    command = "i=0; while [ $i -lt 40 ]; do echo line-$i; i=$((i+1)); done; echo @end@"
    term.good("term.type", {"pane": pane, "text": command, "enter": True})
    term.wait("^@end@$", pane)
    term.at_prompt(pane)
    new = look(term, pane, since=before["revision"])
    texts = [line["text"] for line in new["lines"]]
    assert [text for text in texts if text.startswith("line-")] == [f"line-{n}" for n in range(40)]
    numbers = [line["line"] for line in new["lines"]]
    assert numbers == sorted(set(numbers))
    assert not {"full", "lines_missed", "text", "wrapped", "cols", "title"} & set(new)
    above = [line for line in new["lines"] if "row" not in line]
    assert above
    assert above[-1]["line"] < look(term, pane)["screen_line"]
    styled = look(term, pane, since=before["revision"], format="styled")["lines"]
    assert [line["line"] for line in styled] == numbers
    assert {"runs"} == {key for line in styled for key in line} - {"line", "row", "wrapped"}
    limited = look(term, pane, since=before["revision"], lines=3)
    assert limited["lines"] == new["lines"][:3]
    assert limited["next_line"] == numbers[3]


def test_a_change_of_screens_gives_all_rows_and_the_frame(term: Service) -> None:
    pane = term.at_prompt(term.good("term.tab.new")["pane"])
    before = look(term, pane)["revision"]
    go = r"printf '\033[?1049h\033[Hon the other screen\033]2;other\007'; read x"
    term.good("term.type", {"pane": pane, "text": go, "enter": True})
    term.wait("^on the other screen", pane)
    new = look(term, pane, since=before)
    assert new["full"] is True
    assert len(new["lines"]) == 24
    assert (new["alternate"], new["title"]) == (True, "other")
    assert look(term, pane)["history"] == 0
    assert len(look(term, pane, offset=100)["text"].split("\n")) == 24


def test_a_new_title_is_told_once(term: Service) -> None:
    pane = term.at_prompt(term.good("term.tab.new")["pane"])
    before = look(term, pane)["revision"]
    set_title = r"printf '\033]2;fresh\007'; echo do''ne"
    term.good("term.type", {"pane": pane, "text": set_title, "enter": True})
    term.wait("^done", pane)
    new = look(term, pane, since=before)
    assert new["title"] == "fresh"
    term.good("term.type", {"pane": pane, "text": "echo ag''ain", "enter": True})
    term.wait("^again", pane)
    assert "title" not in look(term, pane, since=new["revision"])


def test_an_ended_program_is_told_with_every_look(term: Service) -> None:
    pane = term.good("term.tab.new", {"argv": ["sh", "-c", "echo bye; exit 3"]})["pane"]
    eventually(lambda: look(term, pane)["state"] == "exited", "the exit is known")
    revision = look(term, pane)["revision"]
    still = look(term, pane, since=revision)
    assert (still["state"], still["exit"], still["lines"]) == ("exited", {"code": 3}, [])


def test_history_is_read_page_by_page(term: Service) -> None:
    count = 6_000
    script = f"for n in range({count}): print(f'row {{n}} ' + '\"' * 60)"
    argv = [sys.executable, "-c", f"{script}\nprint('@end@', end='', flush=True); input()"]
    pane = term.good("term.tab.new", {"argv": argv})["pane"]
    term.wait("@end@", pane)
    body = look(term, pane, line=0)
    assert body["first_line"] == body["screen_line"] - body["history"]
    assert body["lines_missed"] == body["first_line"]
    first, rows = body["first_line"], body["text"].split("\n")
    pages = 1
    while "next_line" in body:
        assert body["next_line"] == first + len(rows)
        assert len(json.dumps(body, ensure_ascii=False).encode()) < 300_000
        body = look(term, pane, line=body["next_line"])
        rows += body["text"].split("\n")
        pages += 1
    assert pages > 1
    assert first + len(rows) == body["screen_line"] + body["rows"]
    assert [row.split(" ")[1] for row in rows[:-1]] == [str(n) for n in range(first, count)]
    ten = look(term, pane, offset=100, lines=10)
    assert ten["first_line"] == body["screen_line"] - 100
    assert ten["next_line"] == ten["first_line"] + 10
    assert len(ten["text"].split("\n")) == 10
    assert refused(term, pane, line=10**9) == ("NOT_FOUND", "no_line")


def test_an_update_that_never_ends_does_not_hide_the_screen(term: Service) -> None:
    pane = show(term, "\x1b[?2026hin the midst\n")
    assert look(term, pane)["text"].startswith("in the midst\n@end@")


# The last command.

BASH = r"""
PS0='\e]133;C\a'
PROMPT_COMMAND='printf "\e]133;D;%s\a" "$?"'
PS1='\[\e]133;A\a\]ready$ \[\e]133;B\a\]'
"""
ZSH = r"""
preexec() { print -n "\e]133;C\a" }
precmd() { print -n "\e]133;D;$?\a" }
PS1=$'%{\e]133;A\a%}ready$ %{\e]133;B\a%}'
"""
FISH = r"""
function fish_greeting; end
function fish_prompt; printf '\e]133;A\aready$ \e]133;B\a'; end
function mark_start --on-event fish_preexec; printf '\e]133;C\a'; end
function mark_end --on-event fish_postexec; printf '\e]133;D;%s\a' $status; end
"""
FISH_LATE = r"""
function fish_greeting; end
function fish_prompt
    printf '\e]133;D;%s\a\e]133;A\aready$ \e]133;B\a' $status
end
function mark_start --on-event fish_preexec; printf '\e]133;C\a'; end
"""
SHELLS = {"bash": BASH, "zsh": ZSH, "fish": FISH, "fish, its end marked in the prompt": FISH_LATE}


def shell(term: Service, name: str, directory: Path) -> int:
    """A pane at the first prompt of a shell that marks its prompts."""
    program = name.split(",", maxsplit=1)[0]
    need(program)
    rc = directory / {"bash": "rc", "zsh": ".zshrc", "fish": "config.fish"}[program]
    rc.write_text(SHELLS[name])
    argv = {
        "bash": ["bash", "--noprofile", "--rcfile", str(rc), "-i"],
        "zsh": ["zsh", "-d", "-i"],
        "fish": ["fish", "--no-config", "-C", f"source {rc}"],
    }[program]
    environment = {"ZDOTDIR": str(directory), "XDG_DATA_HOME": str(directory)}
    pane: int = term.good("term.tab.new", {"argv": argv, "env": environment})["pane"]
    term.wait(r"ready\$ $", pane)
    return pane


def ran(term: Service, pane: int, command: str, status: int) -> Body:
    """Run a command that ends with ``status`` and give what it wrote."""
    term.good("term.type", {"pane": pane, "text": command, "enter": True})

    def ended() -> Body | None:
        body: Body
        rc, body = term.call("term.snapshot", {"pane": pane, "command": True})
        about = body["command"] if rc == 0 else {"running": True}
        return body if not about["running"] and about.get("status") == status else None

    found = eventually(ended, f"{command} has ended")
    assert found is not None
    return found


@pytest.fixture(params=list(SHELLS))
def marked(request: pytest.FixtureRequest, term: Service, tmp_path: Path) -> int:
    return shell(term, request.param, tmp_path)


def test_the_output_of_the_last_command_alone(term: Service, marked: int) -> None:
    assert refused(term, marked, command=True) == ("NOT_FOUND", "no_command")
    body = ran(term, marked, "sh -c 'echo one; echo; echo two; exit 3'", 3)
    assert body["text"] == "one\n\ntwo"
    assert body["command"]["output_line"] == body["first_line"]
    styled = look(term, marked, command=True, format="styled")
    assert [line["runs"] for line in styled["lines"]] == [[{"text": "one"}], [], [{"text": "two"}]]
    assert ran(term, marked, "sh -c 'exit 4'", 4)["text"] == ""


def test_output_without_a_newline_is_exact(term: Service, marked: int) -> None:
    assert ran(term, marked, "sh -c 'printf abc; exit 5'", 5)["text"] == "abc"
    assert ran(term, marked, r"""sh -c 'printf "x\ny 100%%"; exit 6'""", 6)["text"] == "x\ny 100%"
    full = ran(term, marked, "sh -c 'printf %080d 1; exit 7'", 7)
    assert full["text"] == "0" * 79 + "1"
    long = ran(term, marked, "sh -c 'printf %0165d 1; exit 8'", 8)
    assert long["text"] == "0" * 80 + "\n" + "0" * 80 + "\n" + "00001"
    assert long["wrapped"][:2] == [0, 1]


def test_output_that_scrolled_away_is_read_from_history(term: Service, marked: int) -> None:
    body = ran(term, marked, "sh -c 'seq 100; exit 9'", 9)
    assert body["text"].split("\n") == [str(n) for n in range(1, 101)]
    page = look(term, marked, command=True, lines=10)
    assert page["text"].split("\n") == [str(n) for n in range(1, 11)]
    rest = look(term, marked, line=page["next_line"], lines=90)
    assert rest["text"].split("\n") == [str(n) for n in range(11, 101)]
    gone = ran(term, marked, "sh -c 'seq 9000; exit 10'", 10)
    rows = gone["text"].split("\n")
    assert rows[-1] == "9000"
    assert rows[0] == str(9001 - len(rows))
    assert 0 < gone["lines_missed"] <= 9000 - len(rows)


def test_a_command_that_runs_gives_what_it_has_written(term: Service, tmp_path: Path) -> None:
    pane = shell(term, "bash", tmp_path)
    term.good("term.type", {"pane": pane, "text": "echo so far; cat", "enter": True})
    term.wait("^so far$", pane)
    body = look(term, pane, command=True)
    assert body["text"] == "so far"
    assert body["command"]["running"] is True
    assert "status" not in body["command"]


def test_a_shell_without_marks_says_so(term: Service) -> None:
    pane = term.at_prompt(term.good("term.tab.new")["pane"])
    assert refused(term, pane, command=True) == ("NOT_FOUND", "no_marks")
