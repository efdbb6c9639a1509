"""Text, keys, pastes and the mouse through a real service into real programs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import trio

from brokerd.client import connect
from tests.support.byte_programs import Reader, bash, ended, paste
from tests.support.programs import need
from tests.support.pty_lab import Lab, in_lab, shows, until
from tests.support.termnode_process import DEADLINE_S, Service, eventually
from tests.support.termnode_process import plain_service as service

START, END = b"\x1b[200~", b"\x1b[201~"
BRACKETS = r"\x1b[?2004h"


@pytest.fixture(scope="module")
def term() -> Iterator[Service]:
    with service("--size", "80x24") as running:
        yield running


def revision(term: Service, pane: int) -> int:
    number: int = term.good("term.snapshot", {"pane": pane})["revision"]
    return number


def shown(term: Service, pane: int, text: str) -> None:
    eventually(lambda: any(text in row for row in term.screen(pane)), f"{text} is on the screen")


# Typing and keys


@pytest.mark.parametrize("text", [";", "ls;", "a;;b", "C-c", "Enter", "-l", "^C \\e[A"])
def test_text_arrives_as_it_is(term: Service, tmp_path: Path, text: str) -> None:
    reader = Reader(term, tmp_path / "read")
    answer = term.good("term.type", {"pane": reader.pane, "text": text})
    assert (answer["outcome"], answer["bytes"]) == ("written", len(text))
    assert answer["revision"] <= revision(term, reader.pane)
    reader.reads(text.encode())


def test_keys_are_keys_and_an_unknown_one_presses_nothing(term: Service, tmp_path: Path) -> None:
    reader = Reader(term, tmp_path / "read")
    refused = term.call("term.keys", {"pane": reader.pane, "keys": ["x", "Entre", "y"]})
    assert (refused[0], refused[1]["error_code"]) == (10, "INVALID_ARGUMENT")
    assert refused[1]["details"]["index"] == 1
    assert "Enter" in refused[1]["details"]["nearest"]
    answer = term.good("term.keys", {"pane": reader.pane, "keys": ["C-c", "Enter", "M-x", "Up"]})
    assert (answer["outcome"], answer["bytes"]) == ("written", 7)
    reader.reads(b"\x03\r\x1bx\x1b[A")


def test_keys_follow_the_modes_of_the_moment(term: Service, tmp_path: Path) -> None:
    """The Up key of a program that asked for application cursor keys."""
    reader = Reader(term, tmp_path / "read", r"\x1b[?1h")
    term.good("term.keys", {"pane": reader.pane, "keys": ["Up"]})
    reader.reads(b"\x1bOA")


def test_a_pushed_keyboard_protocol_tells_ctrl_i_from_tab(term: Service, tmp_path: Path) -> None:
    keys = ["C-i", "Tab"]
    pushed = Reader(term, tmp_path / "pushed", r"\x1b[>1u")
    term.good("term.keys", {"pane": pushed.pane, "keys": keys})
    pushed.reads(b"\x1b[105;5u\t")
    popped = Reader(term, tmp_path / "popped", r"\x1b[>1u\x1b[<u")
    term.good("term.keys", {"pane": popped.pane, "keys": keys})
    popped.reads(b"\t\t")


# Lines that the kernel would cut


LONG = "echo ran > {}; : " + "a" * 5_000


@pytest.mark.parametrize("program", ["cat", "dash"])
def test_a_line_of_5000_bytes_is_refused_by_who_reads_lines(
    term: Service, tmp_path: Path, program: str
) -> None:
    need(program)
    pane = term.good("term.tab.new", {"argv": [program], "env": {"PS1": "$ "}})["pane"]
    if program == "dash":
        term.at_prompt(pane)
    ran = tmp_path / "ran"
    text = LONG.format(ran)
    for refused in (
        term.call("term.type", {"pane": pane, "text": text, "enter": True}),
        term.call("term.type", {"pane": pane, "text": text, "enter": True, "confirm": True}),
        paste(term, pane, f"echo one\n{text}\n"),
    ):
        assert (refused[0], refused[1]["error_code"]) == (10, "RESOURCE_LIMIT")
        assert refused[1]["details"] == {"reason": "line_too_long", "limit": 4095}
        assert "prompt" in refused[1]["message"]
    term.good("term.type", {"pane": pane, "text": "echo after", "enter": True})
    term.wait("^(echo )?after$", pane)
    assert not ran.exists()
    assert not any("aaaa" in row or "one" in row for row in term.screen(pane))


@pytest.mark.parametrize("confirm", [False, True])
def test_a_line_of_5000_bytes_is_whole_at_a_bash_prompt(term: Service, confirm: bool) -> None:
    need("bash")
    pane = bash(term)
    text = "printf %s " + "a" * 5_000 + " | wc -c"
    answer = term.good("term.type", {"pane": pane, "text": text, "enter": True, "confirm": confirm})
    assert answer["outcome"] == ("submitted" if confirm else "written")
    term.wait("^5000$", pane)


COUNTER = 'stty -echo; echo READY; while IFS= read -r line; do echo "<${#line}>"; done'
"""Shows how long the lines are that it reads."""


def test_a_line_of_several_requests_is_not_cut(term: Service) -> None:
    pane = term.good("term.tab.new", {"argv": ["sh", "-c", COUNTER]})["pane"]
    term.wait("READY", pane)
    half = {"pane": pane, "text": "a" * 2_000}
    term.good("term.type", half)
    term.good("term.paste", half)
    for verb, body in (
        ("term.type", {**half, "enter": True}),
        ("term.type", {**half, "text": "a" * 96, "confirm": True}),
        ("term.paste", {**half, "text": "a" * 96}),
        ("term.keys", {"pane": pane, "keys": ["a"] * 96}),
    ):
        rc, answer = term.call(verb, body)
        assert (rc, answer["details"]["reason"]) == (10, "line_too_long")
        assert answer["details"]["begun"] == 4_000
        assert "C-u" in answer["message"]
    term.good("term.type", {**half, "text": "a" * 95, "enter": True})
    term.wait("^<4095>$", pane)


@pytest.mark.parametrize(("end", "shown"), [("C-u", "<3000>"), ("Enter", "<3000>"), ("C-d", "")])
def test_a_line_that_ended_or_was_thrown_away_counts_no_more(
    term: Service, end: str, shown: str
) -> None:
    pane = term.good("term.tab.new", {"argv": ["sh", "-c", COUNTER]})["pane"]
    term.wait("READY", pane)
    for _ in range(3):
        term.good("term.type", {"pane": pane, "text": "a" * 3_000})
        term.good("term.keys", {"pane": pane, "keys": [end]})
    term.good("term.type", {"pane": pane, "text": "b" * 3_000, "enter": True})
    term.wait(f"^{shown or '<12000>'}$", pane)


def test_what_is_typed_where_nobody_reads_by_lines_counts_for_none(term: Service) -> None:
    need("bash")
    pane = bash(term)
    for _ in range(3):
        term.good("term.type", {"pane": pane, "text": "x" * 3_000})
    term.good("term.keys", {"pane": pane, "keys": ["C-u"]})
    term.good("term.type", {"pane": pane, "text": "read -r line; echo ${#line}", "enter": True})
    front = {"pane": pane, "text": "y" * 3_000}
    term.good("term.wait", {"pane": pane, "quiet_ms": 100})
    term.good("term.type", {**front, "enter": True})
    term.wait("^3000$", pane)


# Confirmed typing


def confirmed(term: Service, pane: int, text: str, *, enter: bool = True) -> dict[str, Any]:
    body = {"pane": pane, "text": text, "enter": enter, "confirm": True}
    answer: dict[str, Any] = term.good("term.type", body)
    return answer


def test_at_a_prompt_a_confirmed_line_is_submitted(term: Service) -> None:
    need("bash")
    pane = bash(term)
    answer = confirmed(term, pane, "echo $((6*7))")
    assert (answer["outcome"], answer["echo"], answer["bytes"]) == ("submitted", True, 14)
    term.wait("^42$", pane)
    # The same again, when the same text stands on the screen already.
    term.at_prompt(pane)
    assert confirmed(term, pane, "echo $((6*7))")["outcome"] == "submitted"


def test_without_enter_it_is_echoed_blanks_included(term: Service) -> None:
    need("bash")
    pane = bash(term)
    for text in ("echo", "  ", "x ", "x "):
        answer = confirmed(term, pane, text, enter=False)
        assert (answer["outcome"], answer["bytes"]) == ("echoed", len(text))
    term.good("term.keys", {"pane": pane, "keys": ["Home"]})
    assert confirmed(term, pane, "# ", enter=False)["outcome"] == "echoed"
    term.wait(r"^\$ # echo  x x", pane)


def test_wrapped_and_scrolled_text_is_seen(term: Service) -> None:
    need("bash")
    pane = bash(term)
    term.good("term.type", {"pane": pane, "text": "seq 100", "enter": True})
    term.wait("^100$", pane)
    term.at_prompt(pane)
    text = "echo " + " ".join(f"w{number}" for number in range(60))
    assert confirmed(term, pane, text)["outcome"] == "submitted"
    term.wait("^w0 .*w59$", pane)


def test_a_program_that_reads_lines_answers_to_enter(term: Service) -> None:
    pane = term.good("term.tab.new", {"argv": ["cat"]})["pane"]
    assert confirmed(term, pane, "hello")["outcome"] == "submitted"
    shown(term, pane, "hello")


def test_what_is_swallowed_is_written_no_more(term: Service, tmp_path: Path) -> None:
    reader = Reader(term, tmp_path / "read")
    answer = confirmed(term, reader.pane, "hello")
    assert (answer["outcome"], answer["echo"], answer["bytes"]) == ("written", True, 6)
    reader.reads(b"hello\r")


SECRETS = (
    ["sh", "-c", "stty -echo; printf 'Password: '; read x; echo got=$x; cat"],
    ["bash", "--norc", "-c", "read -s -p 'Password: ' x; echo got=$x; cat"],
)


@pytest.mark.parametrize("argv", SECRETS)
def test_a_secret_is_not_waited_for(term: Service, argv: list[str]) -> None:
    need(argv[0])
    pane = term.good("term.tab.new", {"argv": argv})["pane"]
    term.wait("^Password: $", pane)
    answer = confirmed(term, pane, "secret")
    assert (answer["outcome"], answer["echo"], answer["bytes"]) == ("written", False, 7)
    term.wait("got=secret$", pane)


def test_nothing_comes_between_a_text_and_its_enter(term: Service, tmp_path: Path) -> None:
    reader = Reader(term, tmp_path / "read")
    replies: dict[str, Any] = {}

    async def ask(verb: str, body: dict[str, Any]) -> None:
        async with connect(term.directory / "rt") as bus:
            full = {"pane": reader.pane, **body}
            reply = await bus.request(term.name, verb, full, timeout=DEADLINE_S)
            replies[verb] = (reply.rc, reply.body)

    async def both() -> None:
        async with trio.open_nursery() as nursery:
            body = {"text": "first", "enter": True, "confirm": True}
            nursery.start_soon(ask, "term.type", body)
            await trio.to_thread.run_sync(eventually, lambda: reader.data, "it was typed")
            await ask("term.keys", {"keys": ["x"]})
            assert "term.type" not in replies

    trio.run(both)
    assert replies["term.type"][1]["outcome"] == "written"
    assert replies["term.keys"][0] == 10
    assert replies["term.keys"][1]["error_code"] == "BUSY"
    assert replies["term.keys"][1]["details"] == {"reason": "confirming"}
    term.good("term.keys", {"pane": reader.pane, "keys": ["y"]})
    reader.reads(b"first\ry")


# Pastes


def test_non_ascii_text_is_pasted_into_cat(term: Service, tmp_path: Path) -> None:
    out = tmp_path / "out"
    text = "Žluťoučký kůň\tπ ≈ 3\n日本語 🎉 e\u0301\n"
    pane = term.good("term.tab.new", {"argv": ["sh", "-c", f"cat > {out}; echo done"]})["pane"]
    rc, answer = paste(term, pane, text)
    assert (rc, answer["outcome"], answer["bracketed"], answer["removed"]) == (
        0,
        "written",
        False,
        0,
    )
    assert answer["bytes"] == len(text.encode())
    term.good("term.keys", {"pane": pane, "keys": ["C-d"]})
    term.wait("done$", pane)
    assert out.read_text() == text


def test_newlines_follow_the_brackets(term: Service, tmp_path: Path) -> None:
    text = "one\n\ttwo\r\nthree\rfour"
    plain = Reader(term, tmp_path / "plain")
    assert not paste(term, plain.pane, text)[1]["bracketed"]
    plain.reads(b"one\r\ttwo\rthree\rfour")
    bracketed = Reader(term, tmp_path / "bracketed", BRACKETS)
    assert paste(term, bracketed.pane, text)[1]["bracketed"]
    bracketed.reads(START + b"one\n\ttwo\nthree\nfour" + END)


def test_a_text_with_markers_of_its_own_gets_each_marker_once(
    term: Service, tmp_path: Path
) -> None:
    text = "\x1b[200~one\x1b[201~ two\x03\x7f"
    for setup, expected in (("", b"one two"), (BRACKETS, START + b"one two" + END)):
        reader = Reader(term, tmp_path / f"read{len(setup)}", setup)
        _, answer = paste(term, reader.pane, text)
        assert answer["removed"] == 14
        reader.reads(expected)


@pytest.mark.parametrize("split", [False, True])
def test_a_text_with_an_end_marker_does_not_break_out(
    term: Service, tmp_path: Path, split: bool
) -> None:
    need("bash")
    pane = bash(term)
    hit = tmp_path / "hit"
    text = f"echo a\x1b[201~\rid > {hit}\r"
    rc, answer = paste(term, pane, text, part=len("echo a\x1b[20") if split else 3_000)
    assert (rc, answer["bracketed"], answer["removed"]) == (0, True, 6)
    shown(term, pane, "id > ")
    assert not hit.exists()
    term.good("term.keys", {"pane": pane, "keys": ["C-c"]})
    term.at_prompt(pane)  # bash may run what it had when a key comes on the heels of C-c
    term.good("term.type", {"pane": pane, "text": "echo $((6*7))", "enter": True})
    term.wait("^42$", pane)
    assert not hit.exists()


def test_the_same_text_uncleaned_breaks_out(tmp_path: Path) -> None:
    """What the cleaning is for: without it the test above fails."""
    need("bash")
    hit = tmp_path / "hit"

    async def test(made: Lab) -> None:
        terminal = await made.start("bash", "--norc", "--noprofile", "-i", env={"PS1": "$ "})
        await shows(terminal, b"$ ")
        terminal.write(START + f"echo a\x1b[201~\rid > {hit}\r".encode() + END)
        await until(terminal, hit.exists)

    in_lab(test)


@pytest.mark.parametrize("program", ["dash", "python"])
def test_a_program_without_brackets_sees_no_markers(term: Service, program: str) -> None:
    argv = [sys.executable, "-q"] if program == "python" else ["dash"]
    if program == "dash":
        need("dash")
    pane = term.good("term.tab.new", {"argv": argv, "env": {"PS1": "$ "}})["pane"]
    term.wait(r"(>>>|\$) *$", pane)
    line = "print(6*7)" if program == "python" else "echo $((6*7))"
    rc, answer = paste(term, pane, f"{line}\n")
    assert rc == 0
    if answer["bracketed"]:  # a python whose line editor asks for them waits for Enter then
        term.good("term.keys", {"pane": pane, "keys": ["Enter"]})
    else:
        assert answer["bytes"] == len(line) + 1
    term.wait("^42$", pane)
    assert not any("00~" in row or "01~" in row for row in term.screen(pane))


def test_what_is_too_long_is_an_ordinary_refusal(term: Service, tmp_path: Path) -> None:
    reader = Reader(term, tmp_path / "read")
    rc, answer = term.call("term.paste", {"pane": reader.pane, "text": "x" * 8_192})
    assert (rc, answer["error_code"]) == (10, "INVALID_ARGUMENT")
    rc, answer = paste(term, reader.pane, "x" * (1024 * 1024 + 1), part=8_000)
    assert (rc, answer["error_code"]) == (10, "RESOURCE_LIMIT")
    assert answer["details"] == {"reason": "paste_bytes", "limit": 1024 * 1024}
    term.good("term.keys", {"pane": reader.pane, "keys": ["z"]})
    reader.reads(b"z")


def test_parts_are_taken_once_and_written_with_the_last(term: Service, tmp_path: Path) -> None:
    reader = Reader(term, tmp_path / "read")
    first = term.good("term.paste", {"pane": reader.pane, "text": "one ", "more": True})
    assert (first["outcome"], first["received"]) == ("received", 4)
    other = term.good("term.tab.new", {"argv": ["cat"]})["pane"]
    part = {"operation": first["operation"], "offset": 4, "text": "two ", "more": True}
    replies = [term.good("term.paste", part) for _ in range(3)]
    assert [reply["received"] for reply in replies] == [8, 8, 8]
    assert {reply["pane"] for reply in replies} == {reader.pane}
    for wrong in ({**part, "text": "TWO "}, {**part, "offset": 9}, {**part, "more": False}):
        rc, answer = term.call("term.paste", wrong)
        assert (rc, answer["error_code"]) == (10, "CONFLICT")
        assert answer["details"] == {"reason": "not_next", "received": 8}
    last = {"operation": first["operation"], "offset": 8, "text": "three"}
    rc, answer = term.call("term.paste", {**last, "pane": other})
    assert (rc, answer["error_code"], answer["details"]["field"]) == (
        10,
        "INVALID_ARGUMENT",
        "pane",
    )
    assert reader.data == b""
    assert term.good("term.paste", last)["outcome"] == "written"
    reader.reads(b"one two three")
    rc, answer = term.call("term.paste", last)
    assert (rc, answer["error_code"]) == (10, "NOT_FOUND")
    assert answer["details"] == {"reason": "no_such_paste"}


def test_an_empty_paste_is_written(term: Service, tmp_path: Path) -> None:
    reader = Reader(term, tmp_path / "read")
    answer = term.good("term.paste", {"pane": reader.pane, "text": "\x1b\x00"})
    assert (answer["outcome"], answer["bytes"], answer["removed"]) == ("written", 0, 2)


# The mouse


def test_the_mouse_is_refused_unless_asked_for(term: Service, tmp_path: Path) -> None:
    click = {"action": "click", "x": 10, "y": 4}
    deaf = Reader(term, tmp_path / "deaf")
    rc, answer = term.call("term.mouse", {**click, "pane": deaf.pane})
    assert (rc, answer["error_code"]) == (10, "UNSUPPORTED")
    assert answer["details"] == {"reason": "mouse_not_requested"}
    sgr = Reader(term, tmp_path / "sgr", r"\x1b[?1000h\x1b[?1006h")
    answer = term.good("term.mouse", {**click, "pane": sgr.pane})
    assert answer["outcome"] == "written"
    sgr.reads(b"\x1b[<0;11;5M\x1b[<0;11;5m")
    rc, answer = term.call("term.mouse", {**click, "action": "move", "pane": sgr.pane})
    assert answer["details"] == {"reason": "mouse_not_requested"}
    rc, answer = term.call("term.mouse", {**click, "x": 80, "pane": sgr.pane})
    assert (rc, answer["error_code"], answer["details"]["field"]) == (10, "INVALID_ARGUMENT", "x")


def test_the_old_mouse_encoding_ends_at_column_222(tmp_path: Path) -> None:
    with service("--size", "300x24") as wide:
        old = Reader(wide, tmp_path / "old", r"\x1b[?1000h")
        press = {"action": "press", "y": 0, "pane": old.pane}
        rc, answer = wide.call("term.mouse", {**press, "x": 223})
        assert (rc, answer["error_code"]) == (10, "UNSUPPORTED")
        assert answer["details"] == {"reason": "mouse_out_of_range"}
        wide.good("term.mouse", {**press, "x": 222})
        old.reads(b"\x1b[M \xff!")


# What every verb says


INPUTS: dict[str, dict[str, Any]] = {
    "term.type": {"text": "a"},
    "term.keys": {"keys": ["a"]},
    "term.paste": {"text": "a"},
    "term.mouse": {"action": "wheel-up", "x": 0, "y": 0},
}


@pytest.mark.parametrize("verb", INPUTS)
def test_every_reply_names_the_pane_and_a_revision_to_wait_after(
    term: Service, tmp_path: Path, verb: str
) -> None:
    reader = Reader(term, tmp_path / "read", r"\x1b[?1000h\x1b[?1006h")
    before = revision(term, reader.pane)
    answer = term.good(verb, {**INPUTS[verb], "pane": reader.pane})
    assert (answer["pane"], answer["generation"], answer["revision"]) == (reader.pane, 1, before)


@pytest.mark.parametrize("verb", INPUTS)
def test_a_program_that_has_ended_takes_nothing(term: Service, verb: str) -> None:
    pane = term.good("term.tab.new", {"argv": ["true"]})["pane"]
    ended(term, pane)
    rc, answer = term.call(verb, {**INPUTS[verb], "pane": pane})
    assert (rc, answer["error_code"]) == (10, "DISCONNECTED")
    assert answer["details"] == {"reason": "program_ended"}
