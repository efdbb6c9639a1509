"""term.wait on real programs: anchors, history, prompts, quiet, and how it ends."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing

from brokerd.client import connect
from tests.support.programs import need
from tests.support.termnode_process import Service
from tests.support.termnode_process import plain_service as service

Body = dict[str, Any]


@pytest.fixture(scope="module")
def term() -> Iterator[Service]:
    with service() as made:
        yield made


def opened(term: Service, *argv: str, **env: str) -> int:
    """A pane with a program of its own."""
    body: Body = {"argv": list(argv), "env": env} if argv else {}
    return int(term.good("term.tab.new", body)["pane"])


def typed(term: Service, pane: int, text: str) -> int:
    """Type a line; the revision of the screen before it."""
    return int(term.good("term.type", {"pane": pane, "text": text + "\n"})["revision"])


def wait(term: Service, pane: int, **conditions: object) -> Body:
    answer: Body = term.good("term.wait", {"pane": pane, "timeout_ms": 20_000, **conditions})
    return answer


def revision(term: Service, pane: int) -> int:
    """The newest revision, which is an anchor from now on."""
    return int(term.good("term.snapshot", {"pane": pane})["revision"])


def shell(term: Service) -> int:
    return term.at_prompt(opened(term, "sh"))


def test_what_stood_there_is_stale_and_an_anchor_shuts_it_out(term: Service) -> None:
    pane = opened(term, "sh", "-c", "echo ready; cat")
    first = wait(term, pane, until="^ready$")
    again = wait(term, pane, until="^ready$")
    assert (again["outcome"], again["stale"], again["row"]) == ("matched", True, 0)
    after = first["revision"]
    late = wait(term, pane, until="^ready$", after=after, timeout_ms=300)
    assert late["outcome"] == "deadline"
    assert "text" not in late
    before = typed(term, pane, "ready")
    found = wait(term, pane, until="^ready$", after=before)
    assert (found["outcome"], found["stale"], found["text"]) == ("matched", False, "ready")
    assert found["row"] >= 1
    assert found["revision"] > before


def test_an_anchor_holds_over_a_scroll_a_full_screen_program_and_a_resize(term: Service) -> None:
    pane = shell(term)
    before = typed(term, pane, "echo needle-$((40+2))")
    after = wait(term, pane, until="^needle-42$", after=before)["revision"]
    typed(term, pane, "seq 1 10; echo scrolled-$((1+1))")
    assert wait(term, pane, until="^scrolled-2$", after=after)["outcome"] == "matched"
    typed(term, pane, "seq 1 30; echo away-$((1+1))")
    assert wait(term, pane, until="^away-2$", after=after)["outcome"] == "matched"
    typed(term, pane, r"printf '\033[?1049hfull'; read x; printf '\033[?1049l'")
    assert wait(term, pane, until="^full", after=after)["outcome"] == "matched"
    typed(term, pane, "")
    assert wait(term, pane, alternate=True, until="[$#] $")["outcome"] in {"alternate", "matched"}
    term.good("term.resize", {"cols": 60, "rows": 40})
    term.good("term.resize", {"cols": 80, "rows": 24})
    typed(term, pane, "echo last-$((1+1))")
    assert wait(term, pane, until="^last-2$", after=after)["outcome"] == "matched"
    late = wait(term, pane, until="^needle-42$", after=after, timeout_ms=200)
    assert late["outcome"] == "deadline"
    # The same text, found by whoever has no such anchor: the check can fail.
    assert wait(term, pane, until="^needle-42$", after=before)["outcome"] == "matched"


def test_the_same_words_in_the_same_place_count_after_a_clear(term: Service) -> None:
    pane = shell(term)
    typed(term, pane, "PS1=")
    wait(term, pane, quiet_ms=200)
    rows = []
    for _ in range(3):
        before = typed(term, pane, r"printf '\033[H\033[2J'; echo done")
        found = wait(term, pane, until="^done$", after=before)
        assert found["outcome"] == "matched"
        rows.append(found["row"])
    assert rows == [0, 0, 0]


def test_a_line_in_the_middle_of_a_burst_is_found_in_history(term: Service) -> None:
    pane = shell(term)
    before = typed(term, pane, "seq 1 4900; echo burst-$((1+1))")
    assert wait(term, pane, until="^burst-2$", after=before)["outcome"] == "matched"
    found = wait(term, pane, until="^2500$", after=before)
    assert (found["outcome"], found["text"]) == ("matched", "2500")
    assert "row" not in found
    assert "lines_missed" not in found
    # A wait that is under way sees all of it too.
    before = typed(term, pane, "seq 1 4800; read x")
    found = wait(term, pane, until="^2400$", after=before)
    assert (found["outcome"], found["text"]) == ("matched", "2400")
    line = term.good("term.snapshot", {"pane": pane, "line": found["line"], "lines": 1})
    assert line["text"] == "2400"


MARKING = r"""
PS0='\e]133;C\a'
PROMPT_COMMAND='printf "\e]133;D;%s\a\e]133;A\a" $?'
PS1='MARKED>\[\e]133;B\a\]'
"""


@pytest.mark.parametrize("leave", ["exit\n", "\x04", "kill -9 $$\n"])
def test_a_prompt_is_known_when_a_marking_shell_in_one_without_marks_has_ended(
    term: Service, tmp_path: Path, leave: str
) -> None:
    (tmp_path / "rc").write_text(MARKING)
    pane = opened(term, "bash", "--norc", PS1="BARE> ", HISTFILE="")
    after = wait(term, pane, prompt=True)["revision"]
    typed(term, pane, f"bash --rcfile {tmp_path / 'rc'} -i")
    inside = wait(term, pane, prompt=True, until="^MARKED>", after=after)["revision"]
    before = typed(term, pane, "sleep 0.5; echo within-$((1+1))")
    late = wait(term, pane, prompt=True, after=before)
    assert (late["outcome"], late["revision"] > inside) == ("prompt", True)
    told = term.good("term.snapshot", {"pane": pane, "command": True})
    assert told["text"] == "within-2"
    before = int(term.good("term.type", {"pane": pane, "text": leave})["revision"])
    assert wait(term, pane, prompt=True, after=before)["outcome"] == "prompt"
    code, refused = term.call("term.snapshot", {"pane": pane, "command": True})
    assert code != 0
    assert refused["details"]["reason"] == "no_marks"
    # Back in the shell without marks: not at a prompt while a command runs, at one afterwards.
    before = typed(term, pane, "read x; echo outside-$((1+1))")
    assert wait(term, pane, prompt=True, timeout_ms=500)["outcome"] == "deadline"
    typed(term, pane, "")
    assert wait(term, pane, prompt=True, after=before)["outcome"] == "prompt"
    # Another one counts again.
    before = typed(term, pane, f"bash --rcfile {tmp_path / 'rc'} -i")
    wait(term, pane, until="^MARKED>", after=before)
    typed(term, pane, "echo again-$((1+1))")
    wait(term, pane, until="^again-2", after=before)
    told = term.good("term.snapshot", {"pane": pane, "command": True})
    assert told["text"].startswith("again-2")


def test_lines_that_nobody_can_read_any_more_are_counted(term: Service) -> None:
    pane = shell(term)
    before = typed(term, pane, "seq 1 9000; echo flood-$((1+1))")
    assert wait(term, pane, until="^flood-2$", after=before)["outcome"] == "matched"
    late = wait(term, pane, until="^10$", after=before, timeout_ms=3_000)
    assert late["outcome"] == "deadline"
    seen = term.good("term.snapshot", {"pane": pane})
    readable = seen["history"] + seen["rows"]
    # At least so many: an emulator may not count what rushes through its history at once.
    assert 500 <= late["lines_missed"] <= 9_000 - readable + seen["rows"] + 5


def test_a_line_that_is_wrapped_matches_as_one(term: Service) -> None:
    pane = shell(term)
    before = typed(term, pane, "printf 'begin-%0200d-end\\n' 7")
    found = wait(term, pane, until="^begin-0+7-end$", after=before)
    assert found["outcome"] == "matched"
    assert len(found["text"]) == 210


def test_a_program_that_takes_the_screen_ends_a_wait_that_asked(term: Service) -> None:
    need("vim")
    pane = shell(term)
    before = typed(term, pane, "sleep 0.3; vim -u NONE -i NONE -n")
    found = wait(term, pane, until="never", after=before, alternate=True)
    assert found["outcome"] == "alternate"
    assert wait(term, pane, until="^~", timeout_ms=20_000)["outcome"] == "matched"
    before = typed(term, pane, ":q")
    assert wait(term, pane, prompt=True, after=before)["outcome"] == "prompt"


def test_a_wait_keeps_to_its_own_time_whatever_the_program_writes(term: Service) -> None:
    pane = opened(term, "sh", "-c", "while :; do echo again; sleep 0.01; done")
    late = wait(term, pane, until="never", timeout_ms=700)
    assert late["outcome"] == "deadline"
    assert 700 <= late["elapsed_ms"] < 5_000
    # Going on from there, nothing is searched twice and nothing left out.
    on = wait(term, pane, until="again", after=late["revision"])
    assert (on["outcome"], on["stale"]) == ("matched", False)


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|aa)+$", "((a*)*)*b", "(?:a?){500}a{500}$"])
def test_a_catastrophic_pattern_neither_hangs_nor_holds_up_others(
    term: Service, pattern: str
) -> None:
    pane = opened(term, "sh", "-c", "head -c 50000 /dev/zero | tr '\\0' a; echo; cat")
    wait(term, pane, until="^$|a$")
    other = shell(term)

    async def both() -> tuple[Body, Body]:
        async with connect(term.directory / "rt") as bus, connect(term.directory / "rt") as second:
            answers: dict[str, Body] = {}

            async def ask(name: str, body: Body) -> None:
                which = bus if name == "costly" else second
                reply = await which.request("term", "term.wait", body, timeout=60)
                assert isinstance(reply.body, dict)
                answers[name] = reply.body

            async with trio.open_nursery() as nursery:
                costly = {"pane": pane, "until": pattern, "timeout_ms": 2_000}
                nursery.start_soon(ask, "costly", costly)
                nursery.start_soon(ask, "other", {"pane": other, "until": "[$#] $"})
            return answers["costly"], answers["other"]

    costly, quick = trio.run(both)
    assert costly["outcome"] in {"matched", "deadline"}
    assert quick["outcome"] == "matched"


def test_a_pane_that_nobody_shows_is_seen_all_the_same(term: Service) -> None:
    hidden = opened(term, "sh", "-c", "sleep 0.3; echo hidden-$((1+1)); cat")
    shown = opened(term, "cat")
    assert term.good("term.session")["active_pane"] == shown
    found = wait(term, hidden, until="^hidden-2$")
    assert (found["outcome"], found["pane"]) == ("matched", hidden)


def test_quiet_comes_when_the_program_stops_writing(term: Service) -> None:
    pane = opened(term, "sh", "-c", "for i in 1 2 3 4 5; do echo $i; sleep 0.1; done; cat")
    wait(term, pane, until="^1$")
    found = wait(term, pane, quiet_ms=400)
    assert found["outcome"] == "quiet"
    assert "5" in term.screen(pane)
    # There was output after the anchor, and it is long since quiet.
    assert wait(term, pane, quiet_ms=400, after=0)["elapsed_ms"] < 20_000
    still = wait(term, pane, quiet_ms=500, after=revision(term, pane))
    assert (still["outcome"], still["elapsed_ms"] >= 500) == ("quiet", True)


def test_anything_new_ends_a_wait_for_a_change(term: Service) -> None:
    pane = opened(term, "sh", "-c", "echo one; read x; echo two; cat")
    wait(term, pane, until="^one$")
    wait(term, pane, quiet_ms=300)
    now = revision(term, pane)
    assert wait(term, pane, changed=True, after=now, timeout_ms=200)["outcome"] == "deadline"
    before = typed(term, pane, "")
    assert before == now
    found = wait(term, pane, changed=True, after=before)
    assert found["outcome"] == "changed"
    assert found["revision"] > before


def test_the_end_of_the_program_and_of_the_pane_end_every_wait(term: Service) -> None:
    pane = opened(term, "sh", "-c", "read x; echo bye")
    before = typed(term, pane, "")
    assert wait(term, pane, exit=True, after=before)["outcome"] == "exited"
    assert wait(term, pane, until="^bye$", exit=True)["outcome"] == "matched"
    pane = opened(term, "cat")

    async def close_while_waiting() -> Body:
        answers: list[Body] = []
        async with connect(term.directory / "rt") as bus, trio.open_nursery() as nursery:

            async def ask() -> None:
                body = {"pane": pane, "until": "never", "quiet_ms": 45_000}
                reply = await bus.request("term", "term.wait", body, timeout=60)
                assert isinstance(reply.body, dict)
                answers.append(reply.body)

            nursery.start_soon(ask)
            await trio.testing.wait_all_tasks_blocked()  # requests of a connection keep their order
            await bus.request("term", "term.session", timeout=60)  # by now it has begun
            await bus.request("term", "term.pane.close", {"pane": pane}, timeout=60)
        return answers[0]

    answer = trio.run(close_while_waiting)
    assert answer.get("outcome") == "gone", answer


SHELLS: dict[str, tuple[list[str], dict[str, str]]] = {
    "sh": (["sh"], {}),
    "dash": (["dash", "-i"], {}),
    "bash": (["bash", "--norc", "--noprofile"], {}),
    "zsh": (["zsh", "-f"], {}),
    "fish": (["fish", "--no-config"], {}),
}


@pytest.mark.parametrize("name", SHELLS)
def test_a_prompt_is_known_without_marks(term: Service, name: str) -> None:
    need(name)
    argv, env = SHELLS[name]
    pane = opened(term, *argv, **env)
    assert wait(term, pane, prompt=True)["outcome"] == "prompt"
    before = typed(term, pane, "sleep 1; echo slept-$(echo 1)")
    found = wait(term, pane, prompt=True, after=before)
    assert found["outcome"] == "prompt"
    assert any("slept-1" in row for row in term.screen(pane)[1:])
    # A program that reads is none, however long it is quiet.
    before = typed(term, pane, "cat")
    late = wait(term, pane, prompt=True, after=before, timeout_ms=1_500)
    assert late["outcome"] == "deadline"


@pytest.mark.parametrize("name", SHELLS)
def test_a_prompt_at_which_enter_was_forgotten_is_the_old_one(term: Service, name: str) -> None:
    need(name)
    argv, env = SHELLS[name]
    pane = opened(term, *argv, **env)
    assert wait(term, pane, prompt=True)["outcome"] == "prompt"
    text = "true " + "x" * 100  # over the end of the row
    before = term.good("term.type", {"pane": pane, "text": text})["revision"]
    late = wait(term, pane, prompt=True, after=before, timeout_ms=800)
    assert late["outcome"] == "deadline"
    term.good("term.keys", {"pane": pane, "keys": ["Enter"]})
    assert wait(term, pane, prompt=True, after=before)["outcome"] == "prompt"


def test_a_secret_prompt_and_a_busy_shell_are_no_prompts(term: Service) -> None:
    need("bash")
    pane = opened(term, "bash", "--norc", "--noprofile")
    wait(term, pane, prompt=True)
    before = typed(term, pane, "read -s -p 'secret? ' x")
    assert wait(term, pane, until=r"^secret\? $", after=before)["outcome"] == "matched"
    assert wait(term, pane, prompt=True, after=before, timeout_ms=800)["outcome"] == "deadline"
    typed(term, pane, "hidden")
    assert wait(term, pane, prompt=True, after=before)["outcome"] == "prompt"
    before = typed(term, pane, "while :; do :; done")
    assert wait(term, pane, prompt=True, after=before, timeout_ms=800)["outcome"] == "deadline"


MARKED = r"""PS1='\[\e]133;D;$?\a\e]133;A\a\]marked> \[\e]133;B\a\]'; PS0='\[\e]133;C\a\]' """


def test_a_marked_prompt_is_the_shells_own_word(term: Service) -> None:
    need("bash")
    pane = opened(term, "bash", "--norc", "--noprofile")
    wait(term, pane, prompt=True)
    before = typed(term, pane, MARKED)
    assert wait(term, pane, until="^marked> $", after=before)["outcome"] == "matched"
    assert wait(term, pane, prompt=True)["outcome"] == "prompt"
    before = typed(term, pane, "sleep 1; echo slept-$((1+1))")
    found = wait(term, pane, prompt=True, after=before)
    assert found["outcome"] == "prompt"
    assert "slept-2" in term.screen(pane)
    # The same prompt is no newer one.
    late = wait(term, pane, prompt=True, after=found["revision"], timeout_ms=500)
    assert late["outcome"] == "deadline"


def test_a_pane_that_is_started_anew_ends_its_waits_and_keeps_its_anchors(term: Service) -> None:
    pane = opened(term, "sh", "-c", "echo hello; read x")
    first = wait(term, pane, until="^hello$")
    typed(term, pane, "")
    ended = wait(term, pane, exit=True)
    assert ended["outcome"] == "exited"
    term.good("term.pane.restart", {"pane": pane})
    again = wait(term, pane, until="^hello$", after=ended["revision"])
    assert (again["outcome"], again["stale"]) == ("matched", False)
    assert again["revision"] > ended["revision"] >= first["revision"]
    assert again["generation"] == first["generation"] + 1


def test_many_waits_on_one_pane_get_the_same_answer(term: Service) -> None:
    pane = shell(term)
    before = revision(term, pane)

    async def all_of_them() -> list[Body]:
        answers: list[Body] = []
        async with connect(term.directory / "rt") as bus:

            async def ask() -> None:
                body = {"pane": pane, "until": "^shared-2$", "after": before}
                reply = await bus.request("term", "term.wait", body, timeout=60)
                assert isinstance(reply.body, dict)
                answers.append(reply.body)

            async with trio.open_nursery() as nursery:
                for _ in range(20):
                    nursery.start_soon(ask)
                line = {"pane": pane, "text": "echo shared-$((1+1))", "enter": True}
                await bus.request("term", "term.type", line, timeout=60)
        return answers

    answers = trio.run(all_of_them)
    assert len(answers) == 20
    assert {answer["outcome"] for answer in answers} == {"matched"}
    assert len({(answer["line"], answer["text"]) for answer in answers}) == 1


def test_a_wrong_pattern_names_the_position(term: Service) -> None:
    rc, body = term.call("term.wait", {"until": "ok (not closed"})
    assert rc == 10
    assert body["error_code"] == "INVALID_ARGUMENT"
    assert body["details"]["position"] == 3
    assert "not closed" not in body["message"].replace("never closed", "")
