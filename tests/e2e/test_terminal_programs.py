"""Real programs on real terminals, with the emulator that panes get by default."""

from __future__ import annotations

from pathlib import Path

from termnode.terminal import engines
from termnode.terminal.pty_terminal import Terminal
from tests.support.programs import need
from tests.support.pty_lab import Lab, in_front, in_lab, until


async def start(made: Lab, *argv: str, cwd: Path, **env: str) -> Terminal:
    engine = engines.make()(80, 24)
    more = {"HOME": str(cwd), "LESSHISTFILE": "-", **env}
    return await made.start(*argv, cwd=str(cwd), env=more, engine=engine)


async def screen_has(terminal: Terminal, text: str) -> None:
    await until(terminal, lambda: any(text in row for row in terminal.engine.text()))


async def type_to(terminal: Terminal, text: str) -> None:
    assert await terminal.write(text.encode(), within=20).wait() == "written"


def test_bash_runs_commands_and_job_control(tmp_path: Path) -> None:
    need("bash")

    async def test(made: Lab) -> None:
        shell = await start(made, "bash", "--norc", "--noprofile", cwd=tmp_path, PS1="ready> ")
        await screen_has(shell, "ready>")
        assert not any("job control" in row for row in shell.engine.text())
        await type_to(shell, "echo $((6*7))\r")
        await screen_has(shell, "42")
        await type_to(shell, "sleep 600\r")
        await in_front(shell, "sleep")
        await type_to(shell, "\x1a")
        await screen_has(shell, "Stopped")
        await type_to(shell, "fg\r")
        await in_front(shell, "sleep")
        await type_to(shell, "\x03")
        assert (await in_front(shell, "bash")).is_leader
        await type_to(shell, "stty size; tput cols; exit 3\r")
        report = await made.exit(shell)
        assert report.code == 3
        assert any(row == "24 80" for row in shell.engine.text())

    in_lab(test)


def test_bash_runs_ten_thousand_characters_at_its_prompt(tmp_path: Path) -> None:
    """A prompt is not canonical: no limit of 4,095 bytes."""
    need("bash")

    async def test(made: Lab) -> None:
        shell = await start(made, "bash", "--norc", "--noprofile", cwd=tmp_path, PS1="ready> ")
        await screen_has(shell, "ready>")
        found = shell.line_discipline()
        assert found is not None
        assert (found.canonical, found.echo) == (False, False)
        await type_to(shell, "x=" + "a" * 9_000 + "; echo got-${#x}\r")
        await screen_has(shell, "got-9000")

    in_lab(test)


def test_dash_is_canonical(tmp_path: Path) -> None:
    need("dash")

    async def test(made: Lab) -> None:
        shell = await start(made, "dash", "-i", cwd=tmp_path, PS1="ready> ")
        await screen_has(shell, "ready>")
        found = shell.line_discipline()
        assert found is not None
        assert (found.canonical, found.echo) == (True, True)
        await type_to(shell, "stty -echo; read secret; stty echo; echo got-$secret\r")
        while (found := shell.line_discipline()) is not None and found.echo:
            await shell.changed(-1)
        await type_to(shell, "hidden\r")
        await screen_has(shell, "got-hidden")
        await type_to(shell, "\x04")
        assert (await made.exit(shell)).code == 0

    in_lab(test)


def test_vim_edits_a_file_and_follows_the_size(tmp_path: Path) -> None:
    need("vim")

    async def test(made: Lab) -> None:
        argv = ("vim", "-u", "NONE", "-N", "-n", "-i", "NONE", "note.txt")
        editor = await start(made, *argv, cwd=tmp_path)
        await screen_has(editor, "note.txt")
        assert editor.engine.modes.alternate
        await type_to(editor, "ifirst line\rsecond\x1b")
        await screen_has(editor, "second")
        editor.resize(100, 40)
        await until(editor, lambda: editor.engine.text()[37:38] == ["~"])
        await type_to(editor, ":set lines? columns?\r")
        await screen_has(editor, "columns=100")
        await screen_has(editor, "lines=40")
        await type_to(editor, "\r:wq\r")
        assert (await made.exit(editor)).code == 0
        assert not editor.engine.modes.alternate

    in_lab(test)
    assert (tmp_path / "note.txt").read_text() == "first line\nsecond\n"


def test_less_pages_through_a_long_file(tmp_path: Path) -> None:
    need("less")
    (tmp_path / "long.txt").write_text("".join(f"row {n}\n" for n in range(1, 5_001)))

    async def test(made: Lab) -> None:
        pager = await start(made, "less", "long.txt", cwd=tmp_path)
        await screen_has(pager, "row 1")
        await type_to(pager, "G")
        await screen_has(pager, "row 5000")
        await type_to(pager, "/row 1234\r")
        await type_to(pager, "g")
        await screen_has(pager, "row 1")
        await type_to(pager, "q")
        assert (await made.exit(pager)).code == 0

    in_lab(test)


def test_a_flood_is_taken_in_whole(tmp_path: Path) -> None:
    need("seq")

    async def test(made: Lab) -> None:
        terminal = await start(made, "seq", "1", "200000", cwd=tmp_path)
        assert (await made.exit(terminal)).code == 0
        rows = [row for row in terminal.engine.text() if row]
        assert rows[-1] == "200000"
        assert terminal.bytes_out == sum(len(str(n)) + 2 for n in range(1, 200_001))

    in_lab(test)
