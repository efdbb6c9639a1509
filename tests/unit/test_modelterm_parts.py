"""The parts that keep something: call log, configuration, the private tmux, the table of a set."""

from __future__ import annotations

import json
import os
import socket
import stat
import subprocess
from pathlib import Path

import pytest
import trio

from termnode.attach.config import Config, parse
from termnode.modelterm import ConfigError, ModelConfig, TermError, load_config
from termnode.modelterm.call_log import CallLog
from termnode.modelterm.checks import check_keys, check_offset, check_size, check_text, check_wait
from termnode.modelterm.limits import DEFAULTS, Limits
from termnode.modelterm.private import make_private
from termnode.modelterm.record import Terminal
from termnode.modelterm.refusals import ended_as
from termnode.modelterm.screen import Look
from termnode.modelterm.table import Table
from termnode.modelterm.tmux import TmuxDirectory

# -- the call log ---------------------------------------------------------------------------------


def test_a_line_for_each_call_and_nothing_of_what_it_said(tmp_path: Path) -> None:
    path, now = tmp_path / "calls", [10.0]
    with CallLog(path, clock=lambda: now[0], wall=lambda: 1.5) as log:
        with log.call("term_type", chars=3) as sizes:
            now[0] += 0.25
            sizes["shown_chars"] = 80
        with pytest.raises(TermError), log.call("term_keys", keys=1):
            raise TermError("NOT_FOUND", "hunter2 is no key")
        with pytest.raises(RuntimeError), log.call("term_wait"):
            raise RuntimeError("hunter2")
        with pytest.raises(KeyboardInterrupt), log.call("term_wait"):
            raise KeyboardInterrupt
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    text = path.read_text()
    assert "hunter2" not in text
    lines = [json.loads(line) for line in text.splitlines()]
    assert lines[0] == {
        "time": 1500, "tool": "term_type", "sizes": {"chars": 3, "shown_chars": 80},
        "duration_ms": 250, "outcome": "ok",
    }  # fmt: skip
    assert [(line["outcome"], line.get("code")) for line in lines] == [
        ("ok", None), ("refused", "NOT_FOUND"), ("failed", "UNAVAILABLE"), ("cancelled", None),
    ]  # fmt: skip


def test_a_log_is_appended_to_kept_private_and_bounded(tmp_path: Path) -> None:
    path = tmp_path / "calls"
    path.write_text("{}\n")
    path.chmod(0o666)
    with CallLog(path, limits=Limits(log_bytes=200)) as log:
        for _ in range(50):
            log.add("term_open", {}, 0.0)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.read_text().startswith("{}\n{")
    assert 100 < path.stat().st_size <= 200
    log.add("term_open", {}, 0.0)  # closed by now: nothing is written, nothing is raised


def test_a_log_is_no_link_no_pipe_and_no_directory(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="symbolic"):
        CallLog(tmp_path / "link")
    with pytest.raises(IsADirectoryError):
        CallLog(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="No such device"):
        CallLog(tmp_path / "pipe")
    assert not (tmp_path / "elsewhere").exists()
    CallLog(None).add("term_open", {}, 0.0)


# -- config.toml ----------------------------------------------------------------------------------

VIEW = 'prefix = "C-a"\nmouse = false\n[keys]\nx = "none"\n'
MODEL = (
    "[experimental]\nterminal = true\n"
    '[approval]\ndont_ask = ["term_open", "term-close"]\n'
    '[mcp]\nallow = ["input", "layout"]\n'
)


def load(tmp_path: Path, text: str) -> ModelConfig:
    path = tmp_path / "termnode" / "config.toml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return load_config({"XDG_CONFIG_HOME": str(tmp_path)})


def test_all_that_can_be_said_of_models_beside_the_views_own(tmp_path: Path) -> None:
    assert load(tmp_path, VIEW + MODEL) == ModelConfig(
        terminal=True,
        dont_ask=frozenset({"term_open", "term_close"}),
        allow=frozenset({"input", "layout"}),
    )
    assert load(tmp_path, "") == load_config({"HOME": "/nowhere"}) == ModelConfig()
    assert not ModelConfig().terminal


def test_the_view_takes_the_same_file(tmp_path: Path) -> None:
    config = parse((VIEW + MODEL).encode(), Path("config.toml"))
    assert (config.prefix, config.mouse) == ("C-a", False)
    assert parse(MODEL.encode(), Path("config.toml")) == Config()


WRONG = [
    ("[experimental]\nterminal = true\nshell = true", 3, "'shell'"),
    ("[experimental]\n\nterminal = 1", 3, "true or false"),
    ("experimental = true", 1, "[experimental]"),
    ('[approval]\ndont_ask = "term_open"', 2, "a list of tools"),
    ('[approval]\ndont_ask = ["term_open", 3]', 2, "a list of tools"),
    ('[approval]\ndont_ask = ["hunter2 \\u001b"]', 2, "no name of a tool"),
    ('[mcp]\nallow = ["inptu"]', 2, "no such permission"),
    ('[mcp]\nallow = ["input"]\ndeny = []', 3, "'deny'"),
]


@pytest.mark.parametrize(("text", "line", "words"), WRONG)
def test_what_is_wrong_is_named_with_its_line_to_both(
    tmp_path: Path, text: str, line: int, words: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, text)
    assert (caught.value.line, words in caught.value.text) == (line, True)
    assert "hunter2" not in str(caught.value)
    with pytest.raises(ConfigError) as seen:
        parse(text.encode(), Path("config.toml"))
    assert str(seen.value) == str(caught.value)


def test_a_section_that_nobody_knows_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"config\.toml, line 2: .*'experimentl'.*experimental"):
        load(tmp_path, "\n[experimentl]\nterminal = true")


@pytest.mark.parametrize("text", ["prefix = " + "[" * 60_000, "prefix = " + "9" * 5_000])
def test_what_the_parser_gives_up_on_is_no_toml(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigError, match=r"^config\.toml: this is no TOML") as caught:
        load(tmp_path, text)
    assert caught.value.line is None


# -- the private tmux -----------------------------------------------------------------------------

FAKE = '#!/bin/sh\nprintf "%s\\n" "$*" >> "$FAKE_LOG"\n'


class Fake:
    """A tmux on PATH that only notes what it was asked."""

    def __init__(self, directory: Path) -> None:
        self.log = directory / "asked"
        self.place = directory / "place"
        self.place.mkdir()
        (directory / "tmux").write_text(FAKE)
        (directory / "tmux").chmod(0o755)
        # A person's own server may be anywhere that tmux would look without -S.
        self.environment = {
            "PATH": f"{directory}:{os.environ['PATH']}", "FAKE_LOG": str(self.log),
            "TMUX": "/tmp/persons-own,1,0",
        }  # fmt: skip

    @property
    def asked(self) -> list[str]:
        return self.log.read_text().splitlines() if self.log.exists() else []


def bind(path: Path) -> socket.socket:
    path.parent.mkdir(mode=0o700, exist_ok=True)
    made = socket.socket(socket.AF_UNIX)
    made.bind(str(path))
    return made


def test_a_server_is_ended_by_the_path_of_its_socket_and_only_once(tmp_path: Path) -> None:
    fake = Fake(tmp_path)

    async def main() -> None:
        private = TmuxDirectory(fake.environment, DEFAULTS, fake.place)
        directory = private.make()
        assert private.make() == directory
        assert stat.S_IMODE(directory.stat().st_mode) == 0o700
        assert len(directory.name) == 12
        path = directory / f"tmux-{os.geteuid()}" / "default"
        with bind(path), bind(path.with_name("other")):
            (path.with_name("file")).touch()
            await private.close()
        ended = [f"-S {each} kill-server" for each in (path, path.with_name("other"))]
        assert sorted(fake.asked) == ended
        assert not directory.exists()
        await private.close()
        assert len(fake.asked) == 2
        with pytest.raises(RuntimeError):
            private.make()

    trio.run(main)


def test_the_fake_would_have_noted_what_ends_a_persons_server(tmp_path: Path) -> None:
    """What once was run at the end of a set, with a directory that is gone."""
    fake = Fake(tmp_path)
    environment = {**fake.environment, "TMUX_TMPDIR": str(tmp_path / "gone")}
    subprocess.run([str(tmp_path / "tmux"), "kill-server"], env=environment, check=True)
    assert fake.asked == ["kill-server"]


def test_what_a_killed_set_left_is_cleared_and_what_lives_is_not(tmp_path: Path) -> None:
    fake = Fake(tmp_path)
    place = fake.place
    left, lives = make_private(place), make_private(place)
    os.close(left.held)  # as the kernel does
    (place / "tnm-other").mkdir()
    (place / "tnm-link").symlink_to(left.path)

    async def main() -> None:
        socket_path = left.path / f"tmux-{os.geteuid()}" / "default"
        with bind(socket_path), bind(lives.path / f"tmux-{os.geteuid()}" / "default"):
            await TmuxDirectory(fake.environment, DEFAULTS, place).sweep()
        assert fake.asked == [f"-S {socket_path} kill-server"]
        assert not left.path.exists()
        assert lives.path.exists()
        assert (place / "tnm-other").exists()

    trio.run(main)
    lives.remove()


def test_no_link_leads_to_a_server_of_the_persons(tmp_path: Path) -> None:
    """What a program in a terminal can do to the directory that is in its environment."""
    fake = Fake(tmp_path)
    own = fake.place / "own"

    async def main() -> None:
        linked, hard = (TmuxDirectory(fake.environment, DEFAULTS, fake.place) for _ in range(2))
        with bind(own / "default"):
            (linked.make() / f"tmux-{os.geteuid()}").symlink_to(own)
            there = hard.make() / f"tmux-{os.geteuid()}"
            there.mkdir()
            (there / "default").hardlink_to(own / "default")
            (there / "other").symlink_to(own / "default")
            await linked.close()
            await hard.close()
        assert (own / "default").is_socket()

    trio.run(main)
    assert fake.asked == []


def test_clearing_that_is_cancelled_ends_the_servers_of_what_it_removes(tmp_path: Path) -> None:
    fake = Fake(tmp_path)
    left = [make_private(fake.place) for _ in range(2)]
    paths = [each.path / f"tmux-{os.geteuid()}" / "default" for each in left]
    for each in left:
        os.close(each.held)

    async def main() -> None:
        with trio.CancelScope() as scope:
            scope.cancel()
            await TmuxDirectory(fake.environment, DEFAULTS, fake.place).sweep()

    with bind(paths[0]), bind(paths[1]):
        trio.run(main)
        gone = [path for path in paths if not path.exists()]
        assert fake.asked == [f"-S {path} kill-server" for path in gone]
        assert len(gone) == 1


def test_without_a_socket_no_tmux_is_asked_anything(tmp_path: Path) -> None:
    fake = Fake(tmp_path)

    async def main() -> None:
        unused = TmuxDirectory(fake.environment, DEFAULTS, fake.place)
        await unused.close()
        private = TmuxDirectory(fake.environment, DEFAULTS, fake.place)
        directory = private.make()
        (directory / f"tmux-{os.geteuid()}").mkdir()
        (directory / f"tmux-{os.geteuid()}" / "default").touch()  # a file is no server
        await private.close()
        assert not directory.exists()

    trio.run(main)
    assert fake.asked == []


def test_a_tmux_that_hangs_or_is_not_there_delays_no_end(tmp_path: Path) -> None:
    fake = Fake(tmp_path)
    (tmp_path / "tmux").write_text("#!/bin/sh\nexec sleep 600\n")

    async def main() -> None:
        for environment in (fake.environment, {"PATH": "/nowhere"}):
            private = TmuxDirectory(environment, Limits(tmux_s=0.2), fake.place)
            directory = private.make()
            with bind(directory / f"tmux-{os.geteuid()}" / "default"):
                await private.close()
            assert not directory.exists()

    trio.run(main)


# -- the table of a set ---------------------------------------------------------------------------


def opened(table: Table, name: str) -> Terminal:
    terminal = table.take(name)
    terminal.pane = object()  # type: ignore[assignment]  # the table only asks whether there is one
    return terminal


def test_a_fourth_names_the_three_and_ids_are_never_used_twice() -> None:
    table = Table(DEFAULTS)
    one, _, _ = (opened(table, name) for name in ("bash", "nvim", "top"))
    with pytest.raises(TermError, match=r"t1 bash, t2 nvim, t3 top") as caught:
        table.take("less")
    assert caught.value.code == "RESOURCE_LIMIT"
    table.closed(one, "closed, exited 3")
    assert opened(table, "less").id == "t4"
    with pytest.raises(TermError, match=r"t1 is gone \(closed, exited 3\)") as caught:
        table.find("t1")
    assert caught.value.code == "NOT_FOUND"


def test_one_that_is_being_opened_takes_a_place_and_is_not_found_yet() -> None:
    table = Table(Limits(open=1))
    one = table.take("bash")
    with pytest.raises(TermError, match="RESOURCE_LIMIT"):
        table.take("bash")
    with pytest.raises(TermError, match="no terminal t1"):
        table.find("t1")
    table.give_up(one)
    assert table.take("bash").id == "t2"


def test_what_is_remembered_is_bounded() -> None:
    table = Table(Limits(closed=2))
    for _ in range(4):
        table.closed(opened(table, "x"), "closed")
    with pytest.raises(TermError, match="there is no terminal t2"):
        table.find("t2")
    with pytest.raises(TermError, match="t3 is gone"):
        table.find("t3")
    with pytest.raises(TermError) as caught:
        table.find("t1\n; reboot")
    assert "reboot" not in caught.value.message
    terminal = Terminal("t1", "x")
    for revision in range(20):
        look = Look("t1", "x", "running", 2, ((),), (1, 1), full_screen=False, revision=revision)
        terminal.remember(look, 8)
    assert len(terminal.remembered) == 8
    assert terminal.since(None) is None
    assert [getattr(terminal.since(at), "lines", 0) for at in (11, 12)] == [None, ((),)]


# -- arguments ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: check_size(1, 30, DEFAULTS),
        lambda: check_size(501, 30, DEFAULTS),
        lambda: check_size(100, 1, DEFAULTS),
        lambda: check_size(100, 301, DEFAULTS),
        lambda: check_text("", DEFAULTS),
        lambda: check_text("a\x1b[A", DEFAULTS),
        lambda: check_text("a\x03", DEFAULTS),
        lambda: check_text("é" * 8_193, DEFAULTS),
        lambda: check_text("\ud800", DEFAULTS),
        lambda: check_keys([], DEFAULTS),
        lambda: check_keys(["x"] * 201, DEFAULTS),
        lambda: check_keys(["Up", "Entre"], DEFAULTS),
        lambda: check_wait(0.05, None, DEFAULTS),
        lambda: check_wait(60.5, None, DEFAULTS),
        lambda: check_wait(float("nan"), None, DEFAULTS),
        lambda: check_wait(1, "", DEFAULTS),
        lambda: check_wait(1, "x" * 1_025, DEFAULTS),
        lambda: check_offset(-1, None, DEFAULTS),
        lambda: check_offset(1, 5, DEFAULTS),
    ],
)
def test_arguments_out_of_their_bounds_are_refused(wrong: object) -> None:
    assert callable(wrong)
    with pytest.raises(TermError) as caught:
        wrong()
    assert caught.value.code == "INVALID_ARGUMENT"


def test_arguments_at_their_bounds_are_taken() -> None:
    check_size(2, 2, DEFAULTS)
    check_size(500, 300, DEFAULTS)
    check_text("é" * 8_192, DEFAULTS)
    check_text("\ta\r\nb", DEFAULTS)
    check_keys(["C-c"] * 200, DEFAULTS)
    check_wait(0.1, "x" * 1_024, DEFAULTS)
    check_wait(60, None, DEFAULTS)


def test_a_wrong_key_is_counted_and_the_nearest_named() -> None:
    with pytest.raises(TermError, match=r"Enter.*key 3\).*nothing was pressed") as caught:
        check_keys(["Up", "a", "Entre"], DEFAULTS)
    assert "Entre" not in caught.value.message.replace("Enter", "")


def test_signals_by_their_names() -> None:
    from termnode.client import Exit

    assert ended_as(None) == "running"
    assert ended_as(Exit(code=3)) == "exited 3"
    assert ended_as(Exit(signal=9)) == "killed by SIGKILL"
    assert ended_as(Exit(signal=999)) == "killed by signal 999"
    assert ended_as(Exit()) == "exited"
