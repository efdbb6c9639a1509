"""The MCP server's parts without a client: lines, paging, the door, tokens, presence, questions."""

from __future__ import annotations

import logging
import os
import re
import stat
from pathlib import Path

import pytest

pytest.importorskip("mcp")

from pydantic import ValidationError

from termnode.mcp import arguments, limits, logs, outcome, table
from termnode.mcp.address import Address, AddressError, listen, parse
from termnode.mcp.doorkeeper import Doorkeeper, asks_without_session, session_of
from termnode.mcp.lines import Lines
from termnode.mcp.paging import part
from termnode.mcp.presence import Presence
from termnode.mcp.questions import Questions
from termnode.mcp.row import Row
from termnode.mcp.settings import Options, Tier, UnknownTierError, tiers
from termnode.mcp.token import token_file

HERE = Address("127.0.0.1", 4000)


# -- lines ----------------------------------------------------------------------------------------


def fed(data: bytes, step: int, most: int = 16) -> list[bytes | None]:
    lines = Lines(most)
    cut = [data[at : at + step] for at in range(0, len(data), step)]
    return [line for piece in cut for line in lines.feed(piece)] + list(lines.end())


@pytest.mark.parametrize("step", [1, 2, 3, 100])
def test_lines_come_whole_however_they_were_cut(step: int) -> None:
    assert fed(b"one\ntwo\r\n\n  \nthree", step) == [b"one", b"two", b"three"]


@pytest.mark.parametrize("step", [1, 5, 100])
def test_a_line_that_is_too_long_is_told_once_and_the_next_one_is_read(step: int) -> None:
    assert fed(b"x" * 17 + b"\n" + b"y" * 16 + b"\n", step) == [None, b"y" * 16]
    assert fed(b"x" * 1000, step) == [None]


def test_nothing_of_a_line_that_is_too_long_is_kept() -> None:
    lines = Lines(16)
    for _ in range(1_000):
        assert not list(lines.feed(b"x" * 1_000))
    assert len(lines._kept) == 0


# -- paging ---------------------------------------------------------------------------------------


def test_a_long_text_comes_in_parts_that_have_every_line_once() -> None:
    body = [f"{number:>3}|" + "é" * 90 for number in range(1, 301)]
    text = "\n".join(["[t1 x] running", "untrusted", *body])
    seen: list[str] = []
    line: int | None = 1
    while line is not None:
        shown, line = part(text, line, 4_096)
        head, below, *rows = shown.split("\n")
        assert (head, below) == ("[t1 x] running", "untrusted")
        assert len(shown.encode()) <= 4_096
        seen += rows
    assert seen == body


def test_a_line_that_is_longer_than_a_result_is_cut_within_a_character() -> None:
    shown, following = part("head\nbelow\n" + "é" * 5_000 + "\nlast", 1, 1_000)
    assert len(shown.encode()) <= 1_000
    assert following == 2
    assert part("head\nbelow\n" + "é" * 5_000 + "\nlast", 2, 1_000).text.endswith("last")


def test_past_the_end_there_is_only_the_head() -> None:
    assert part("head\nbelow\none", 9).text == "head\nbelow"


# -- tiers and the table --------------------------------------------------------------------------


def options(**given: object) -> Options:
    return Options(root=Path("/"), environment={}, **given)  # type: ignore[arg-type]  # for short


@pytest.mark.parametrize(
    "words", [["Input"], ["input", ""], ["*"], ["all"], ["look"], ["terminal"]]
)
def test_an_unknown_word_allows_nothing(words: list[str]) -> None:
    with pytest.raises(UnknownTierError, match="input, execute, layout"):
        tiers(words)


def test_without_a_word_only_looking_is_offered() -> None:
    names = {tool.name for tool in table.offered(options())}
    assert names == {"panes", "screen", "wait"}
    assert all(tool.annotations.read_only_hint for tool in table.offered(options()))  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("word", "more"),
    [("input", {"type", "keys", "paste"}), ("layout", {"split", "new_tab", "close"})],
)
def test_a_word_adds_its_own_tools_and_no_others(word: str, more: set[str]) -> None:
    found = {tool.name for tool in table.offered(options(allow=tiers([word])))}
    assert found == {"panes", "screen", "wait"} | more


def test_the_terminal_is_offered_when_it_is_on_alone() -> None:
    more = {tool.name for tool in table.offered(options(terminal=True))} - {
        "panes", "screen", "wait",
    }  # fmt: skip
    assert more == {
        "term_open", "term_type", "term_keys", "term_screen", "term_wait", "term_close",
        "term_resize", "term_click",
    }  # fmt: skip
    everything = options(allow=frozenset(Tier))
    assert not any(tool.name.startswith("term_") for tool in table.offered(everything))


LOOKS = {"panes", "screen", "wait", "term_screen", "term_wait"}


@pytest.mark.parametrize("row", table.TABLE, ids=lambda row: row.name)
def test_annotations_say_what_a_tool_does(row: Row) -> None:
    notes = row.tool().annotations
    assert notes is not None
    assert notes.read_only_hint == (row.name in LOOKS)
    assert notes.destructive_hint == (row.name not in LOOKS | {"term_resize"})
    assert notes.idempotent_hint == (row.name in LOOKS)
    assert notes.open_world_hint


@pytest.mark.parametrize("row", table.TABLE, ids=lambda row: row.name)
def test_schemas_take_nothing_else_and_have_an_object_at_the_root(row: Row) -> None:
    tool = row.tool()
    assert tool.input_schema["type"] == "object"
    assert tool.input_schema["additionalProperties"] is False
    assert tool.output_schema is not None
    assert tool.output_schema["type"] == "object"
    assert "title" not in tool.input_schema
    assert len(row.description) > 20
    assert row.description.startswith("EXPERIMENTAL") == (row.tier is Tier.TERMINAL)


def test_all_schemas_together_are_short() -> None:
    listed = options(terminal=True, allow=frozenset(Tier))
    size = sum(len(tool.model_dump_json(exclude_none=True)) for tool in table.offered(listed))
    assert size < 24_000


def said(model: type[arguments.Arguments], given: object) -> str:
    with pytest.raises(ValidationError) as wrong:
        model.model_validate(given)
    told = outcome.refusal(wrong.value)
    assert told is not None
    assert told[0] == "INVALID_ARGUMENT"
    return told[1]


def test_wrong_arguments_are_named_and_not_repeated() -> None:
    secret = "hunter2hunter2"
    assert said(arguments.TermKeys, {"id": "t1"}).startswith("keys: field required")
    for given in ({"cmd": secret, "cols": 1}, {"cmd": secret, "cols": "100"}, {"cmd": [secret]},
                  {"cmd": secret, "args": "x"}, {"cmd": "a\0b"}, {"cmd": ""}):  # fmt: skip
        assert secret not in said(arguments.TermOpen, given)
    told = said(arguments.TermOpen, {"cmd": "x", "colls\x1b[31m": secret})
    assert "there is no such argument" in told
    assert "\x1b" not in told
    assert secret not in told


@pytest.mark.parametrize("value", [1.0, "1", True, None, -1, 0])
def test_numbers_are_not_converted(value: object) -> None:
    with pytest.raises(ValidationError):
        arguments.OfPane.model_validate({"pane": value})


# -- the door -------------------------------------------------------------------------------------

TOKEN = "a" * 64
RIGHT = (
    (b"host", b"127.0.0.1:4000"),
    (b"authorization", b"Bearer " + TOKEN.encode()),
)


def door(path: str = "/mcp", **changed: bytes | None) -> int:
    """The status a request is turned away with, 0 when it is let in."""
    headers = dict(RIGHT) | {name.encode(): value for name, value in changed.items() if value}
    for name, value in changed.items():
        if value is None:
            headers.pop(name.encode())
    answer = Doorkeeper(HERE, TOKEN).turn_away(path, headers.items())
    return 0 if answer is None else answer.status


def test_who_has_the_token_comes_in() -> None:
    assert door() == 0
    assert door(origin=b"http://127.0.0.1:4000") == 0


@pytest.mark.parametrize(
    "authorization",
    [None, b"", b"Bearer", b"Bearer ", b"bearer " + TOKEN.encode(), TOKEN.encode(),
     b"Bearer " + b"b" * 64, b"Bearer " + TOKEN.encode() + b" ", b"Bearer " + b"a" * 63,
     b"Basic " + TOKEN.encode(), "Bearer é".encode()],
)  # fmt: skip
def test_without_the_token_nobody_does(authorization: bytes | None) -> None:
    if authorization == b"":
        headers = [*RIGHT[:1], (b"authorization", b"")]
        answer = Doorkeeper(HERE, TOKEN).turn_away("/mcp", headers)
        assert answer is not None
        assert answer.status == 401
    else:
        assert door(authorization=authorization) == 401


def test_two_tokens_are_none() -> None:
    twice = [*RIGHT, (b"authorization", b"Bearer wrong")]
    answer = Doorkeeper(HERE, TOKEN).turn_away("/mcp", twice)
    assert answer is not None
    assert answer.status == 401


@pytest.mark.parametrize(
    "host",
    [None, b"evil.example", b"evil.example:4000", b"localhost:4000", b"127.0.0.1",
     b"127.0.0.1:4001", b"127.0.0.1:4000.evil.example", b"127.0.0.1:4000@evil.example"],
)  # fmt: skip
def test_another_host_is_refused_before_the_token_is_looked_at(host: bytes | None) -> None:
    assert door(host=host) == 403
    assert door(host=host, authorization=None) == 403


def test_two_hosts_are_refused() -> None:
    answer = Doorkeeper(HERE, TOKEN).turn_away("/mcp", [*RIGHT, (b"Host", b"evil.example")])
    assert answer is not None
    assert answer.status == 403


@pytest.mark.parametrize(
    "origin",
    [b"null", b"http://evil.example", b"https://127.0.0.1:4000", b"http://127.0.0.1",
     b"http://127.0.0.1:4000.evil.example", b"http://localhost:4000", b"HTTP://127.0.0.1:4000"],
)  # fmt: skip
def test_another_origin_is_refused(origin: bytes) -> None:
    assert door(origin=origin) == 403


def test_only_one_path_is_there() -> None:
    assert door("/") == 404
    assert door("/mcp/") == 404
    assert door("/", authorization=None) == 401, "who has no token learns nothing"


def test_a_version_without_sessions_is_known() -> None:
    assert asks_without_session([(b"mcp-protocol-version", b"2026-07-28")]) == b"2026-07-28"
    assert asks_without_session([(b"MCP-Protocol-Version", b"2025-06-18")]) is None
    assert asks_without_session([]) is None
    both = [(b"mcp-protocol-version", b"2025-06-18"), (b"mcp-protocol-version", b"2026-07-28")]
    assert asks_without_session(both) == b"2026-07-28"
    assert session_of([(b"mcp-session-id", b"x")]) == "x"
    assert session_of([(b"mcp-session-id", b"x"), (b"mcp-session-id", b"y")]) is None


# -- the address and the token --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "authority"),
    [("127.0.0.1:80", "127.0.0.1:80"), ("127.1.2.3:0", "127.1.2.3:0"), ("[::1]:9", "[::1]:9")],
)
def test_loopback_addresses_are_taken(text: str, authority: str) -> None:
    assert parse(text).authority == authority
    assert parse(text).origin == f"http://{authority}"


@pytest.mark.parametrize(
    "text",
    ["0.0.0.0:80", "[::]:80", "192.168.0.1:80", "localhost:80", ":80", "80", "127.0.0.1",
     "127.0.0.1:", "127.0.0.1:-1", "127.0.0.1:65536", "127.0.0.1:\u0661", "[::ffff:1.2.3.4]:80",
     "[::1%lo]:80", "127.1:80", "0x7f000001:80", "10.0.0.1:80", ""],
)  # fmt: skip
def test_no_other_address_is(text: str) -> None:
    with pytest.raises(AddressError):
        parse(text)


def test_port_zero_becomes_the_port_that_it_is() -> None:
    made, address = listen(parse("127.0.0.1:0"))
    with made:
        assert made.getsockname() == ("127.0.0.1", address.port)
        assert address.port > 0
        with pytest.raises(OSError, match="in use"):
            listen(address)


def test_the_token_is_in_a_file_of_ones_own_and_gone_in_the_end(tmp_path: Path) -> None:
    path = tmp_path / "mcp-4000.token"
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("kept")
    path.symlink_to(elsewhere)  # what somebody put there is no file of ours, and is not followed
    before = os.umask(0)
    try:
        with token_file(tmp_path, 4000) as token:
            found = path.lstat()
            assert stat.S_ISREG(found.st_mode)
            assert stat.S_IMODE(found.st_mode) == 0o600
            assert path.read_text() == f"{token}\n"
            assert re.fullmatch(r"[0-9a-f]{64}", token)
    finally:
        os.umask(before)
    assert not path.exists()
    assert elsewhere.read_text() == "kept"


def test_the_file_of_a_server_that_came_after_stays(tmp_path: Path) -> None:
    with token_file(tmp_path, 1):
        (tmp_path / "mcp-1.token").rename(tmp_path / "moved")
        (tmp_path / "mcp-1.token").write_text("another's")
    assert (tmp_path / "mcp-1.token").read_text() == "another's"


# -- presence -------------------------------------------------------------------------------------


def test_a_client_is_there_while_a_request_is_under_way_or_was_lately() -> None:
    presence = Presence(600.0)
    presence.began("a", 0.0)
    presence.began("a", 1.0)
    presence.ended("a", 2.0)
    assert not presence.silent(10_000.0)
    presence.ended("a", 3.0)
    assert not presence.silent(602.9)
    assert presence.silent(603.0) == ["a"]
    presence.forget("a")
    assert not presence.silent(10_000.0)


# -- questions ------------------------------------------------------------------------------------


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_an_answer_holds_once_for_that_command_and_client_and_in_time() -> None:
    clock = Clock()
    questions = Questions(clock)
    state = questions.ask("me", "vim")
    assert questions.take(state, "me", "vim")
    assert not questions.take(state, "me", "vim"), "once"
    assert not questions.take(questions.ask("me", "vim"), "me", "vim x")
    assert not questions.take(questions.ask("me", "vim"), "you", "vim")
    assert not questions.take(questions.ask("a", "b:c"), "a:b", "c")
    assert not questions.take("made up", "me", "vim")
    late = questions.ask("me", "vim")
    clock.now = limits.ASK_S
    assert not questions.take(late, "me", "vim")


def test_open_questions_are_bounded() -> None:
    questions = Questions(Clock())
    first = questions.ask("me", "vim")
    for _ in range(limits.QUESTIONS):
        questions.ask("me", "vim")
    assert len(questions._open) == limits.QUESTIONS
    assert not questions.take(first, "me", "vim")


# -- the log --------------------------------------------------------------------------------------


def test_a_line_of_the_log_has_no_words_of_others(capsys: pytest.CaptureFixture[str]) -> None:
    logs.to_standard_error()
    try:
        raise ValueError("hunter2")
    except ValueError:
        logging.getLogger("mcp.server").exception("it was hunter2\nand more")
    logging.getLogger("termnode.mcp").error("ours\nin one line")
    logging.getLogger("mcp.server").info("nothing below a warning")
    said = capsys.readouterr()
    assert not said.out
    first, second = said.err.splitlines()
    assert "hunter2" not in said.err
    assert "ValueError" in first
    assert second.endswith("ours in one line")
