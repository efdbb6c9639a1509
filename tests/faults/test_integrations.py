"""Integrations in real shells: what is asked runs once and visibly, or not at all and by name."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from termnode.paneshell.integration import take_claim
from tests.support import integrated_shell
from tests.support.integrated_shell import PLAIN_RC, SHELLS, Shell, change_integration, shell
from tests.support.programs import need

ZSH = "zsh/__termnode_first"

each = pytest.mark.parametrize("kind", SHELLS)
posix = pytest.mark.parametrize("kind", ["bash", "zsh"])


@contextmanager
def opened(kind: str, tmp_path: Path, rc: str = "", *arguments: str) -> Iterator[Shell]:
    need(kind)
    home = tmp_path / "home"
    home.mkdir()
    with shell(kind, home, PLAIN_RC[kind] + rc, *arguments) as made:
        made.ready()
        yield made


def own_lines(output: bytes | None) -> list[str]:
    """What a command printed: the lines, without a shell's marks and signs around them."""
    assert output is not None
    text = output.decode().replace("\r\n", "\n").rpartition("\n")[0]
    return [line.rpartition("\r")[2] for line in text.split("\n")]


def status_of(kind: str) -> str:
    return "$status" if kind == "fish" else "$?"


def loop(kind: str, body: str) -> str:
    return f"for i in 1 2\n{body}\nend" if kind == "fish" else f"for i in 1 2; do\n{body}\ndone"


@each
def test_a_command_runs_in_that_very_shell(kind: str, tmp_path: Path) -> None:
    with opened(kind, tmp_path) as at:
        ran = at.run("echo hello")
        assert (ran.status, own_lines(ran.output)) == (0, ["hello"])
        assert at.run("cd /usr").cwd == "/usr"
        assert at.run("sh -c 'exit 7'").status == 7
        at.line("pwd")
        assert "/usr" in at.screen()


@each
def test_what_is_told_is_in_order(kind: str, tmp_path: Path) -> None:
    with opened(kind, tmp_path) as at:
        assert at.records[0] == ["HELLO", kind, at.records[0][2], str(at.pid)]
        ran = at.run("true")
        told = [tuple(record[:2]) for record in at.records[1:]]
        assert told == [("PROMPT", "1"), ("REPLY", ran.op), ("RUN", "1"), ("PROMPT", "2")]
        at.line("true")
        assert at.told("RUN")[-1] == ["2", "-"]
        assert at.told("PROMPT")[-1][2] == "-"


@each
def test_several_lines_are_one_command(kind: str, tmp_path: Path) -> None:
    with opened(kind, tmp_path) as at:
        ran = at.run(loop(kind, "echo $i # a comment\necho again"))
        assert own_lines(ran.output) == ["1", "again", "2", "again"]
        assert ran.generation == 2
        long = "\n".join(f"echo {number}" for number in range(300))
        ran = at.run(long)
        assert own_lines(ran.output) == [str(number) for number in range(300)]
        assert ran.generation == 3


@posix
def test_a_here_document_is_one_command(kind: str, tmp_path: Path) -> None:
    with opened(kind, tmp_path) as at:
        assert own_lines(at.run("cat <<'E'\n$a 'b' `c`\n!d\nE").output) == ["$a 'b' `c`", "!d"]


@each
def test_characters_are_taken_as_they_are(kind: str, tmp_path: Path) -> None:
    with opened(kind, tmp_path) as at:
        printed = "\"a!b !! \"'~ \t é中 \x01\x1b[31m\x07 z'"
        ran = at.run(f"printf %s {printed} | od -An -c -w99")
        expected = [
            *"a!b!!~",
            r"\t",
            "303",
            "251",
            "344",
            "270",
            "255",
            "001",
            "033",
            *"[31m",
            r"\a",
            "z",
        ]
        assert own_lines(ran.output)[0].split() == expected


@each
def test_the_announcement_is_whole_and_before_the_output(kind: str, tmp_path: Path) -> None:
    with opened(kind, tmp_path) as at:
        label = "# Term 01234567 via Term: " + "x" * 300
        at.run("echo output", label)
        text = bytes(at.raw).decode()
        assert text.count(label) == 1
        assert text.index(label) < text.index("133;C;") < text.rindex("output")
        shown = "".join(at.screen())
        assert shown.index(label) < shown.index("echo output")


@each
def test_a_line_that_is_begun_is_the_persons(kind: str, tmp_path: Path) -> None:
    with opened(kind, tmp_path) as at:
        at.type("echo mine")
        at.until(lambda: "echo mine" in "\n".join(at.screen()))
        op, word = at.press("echo agent")
        assert word == "BUSY"
        assert at.replied(op)[0][3] == "9"
        assert not (at.dir.path / f"claim.{op}").exists()
        at.line("")
        assert "mine" in at.screen()
        assert "agent" not in "".join(at.screen())


@each
def test_another_prompt_is_not_this_one(kind: str, tmp_path: Path) -> None:
    with opened(kind, tmp_path) as at:
        at.line("true")
        assert at.press("echo agent", generation=1)[1] == "STALE_GENERATION"
        assert at.press("echo agent", generation=3)[1] == "STALE_GENERATION"


@each
def test_a_claim_of_the_other_side_holds(kind: str, tmp_path: Path) -> None:
    with opened(kind, tmp_path) as at:
        assert take_claim(at.dir.path, "op-x")
        assert at.press("echo agent", op="op-x")[1] == "EXPIRED"
        assert own_lines(at.run("echo next").output) == ["next"]
        assert "agent" not in "".join(at.screen())


@each
def test_the_same_request_runs_once(kind: str, tmp_path: Path) -> None:
    with opened(kind, tmp_path) as at:
        assert at.press("echo once", op="op-y")[1] == "ADMITTED"
        at.finished("op-y")
        at.ready()
        assert at.press("echo once", op="op-y")[1] == "ADMITTED"  # of the first press
        at.until(lambda: len(at.replied("op-y")) == 2)
        assert at.replied("op-y")[1][1] == "EXPIRED"
        assert at.screen().count("once") == 1


@each
def test_a_probe_tells_the_generation_and_claims_nothing(kind: str, tmp_path: Path) -> None:
    with opened(kind, tmp_path) as at:
        at.line("true")
        op, word = at.press(generation=0)
        assert (word, at.replied(op)[0][2]) == ("READY", "2")
        assert not list(at.dir.path.glob("claim.*"))


@posix
def test_a_line_that_goes_on_is_not_a_prompt(kind: str, tmp_path: Path) -> None:
    with opened(kind, tmp_path) as at:
        at.type("echo 'open\r")
        at.until(lambda: at.told("CONT") and at.screen()[1].endswith(">") and at.edits())
        assert at.told("CONT") == [["2"]]
        assert at.press("echo agent", generation=2)[1] == "CONTINUATION"
        at.type("end'\r")
        at.until(lambda: at.prompts() == 2)
        assert at.generation == 3
        at.until(lambda: "end" in at.screen())


def test_an_editor_inside_a_command_is_not_a_prompt(tmp_path: Path) -> None:
    with opened("bash", tmp_path) as at:
        at.type("read -e x; echo got-$x\r")
        at.until(lambda: at.told("RUN") and at.edits() and b"x; echo" in at.raw)
        at.until(lambda: at.raw.endswith(b"\x1b[?2004h"))
        assert at.press("echo agent")[1] == "RUNNING"
        at.type("word\r")
        at.until(lambda: "got-word" in at.screen())


def test_an_editor_inside_a_zsh_command_is_not_a_prompt(tmp_path: Path) -> None:
    with opened("zsh", tmp_path) as at:
        at.type("x=old; vared x; echo got-$x\r")
        at.until(lambda: at.told("RUN") and at.raw.endswith(b"\x1b[?2004h"))
        assert at.press("echo agent")[1] == "RUNNING"
        at.type("word\r")
        at.until(lambda: "got-oldword" in at.screen())


@each
def test_an_interrupt_and_a_stop_are_statuses(kind: str, tmp_path: Path) -> None:
    with opened(kind, tmp_path) as at:
        for key, status in ((b"\x03", 130), (b"\x1a", 148)):
            at.ready()
            op, word = at.press("sleep 100")
            assert word == "ADMITTED"
            at.until(lambda: at.runs("sleep"))
            at.type(key)
            ran = at.finished(op)
            if (kind, status) != ("fish", 148):  # fish has no status for a job that was stopped
                assert ran.status == status


@each
def test_a_command_may_end_the_shell(kind: str, tmp_path: Path) -> None:
    with opened(kind, tmp_path) as at:
        assert at.press("exit 3")[1] == "ADMITTED"
        at.until(lambda: at.ended)
        assert at.told("RUN")[-1][1] == "op-1"


@posix
@pytest.mark.parametrize(
    "rc",
    [
        "set -u\n",
        "set -C; set -f\n",
        "IFS=0123456789\n",
        "alias builtin='echo A' local='echo B' print='echo C' printf='echo D'\n",
        "trap 'x=1' DEBUG\n",
        "printf() { echo mine; }; read() { echo mine; }; print() { echo mine; }\n",
        "set -x\n",
        "set -o vi\n",
        "set -k; set -a\n",
        "PATH=/nowhere\n",
    ],
)
def test_it_works_with_what_people_set(kind: str, rc: str, tmp_path: Path) -> None:
    with opened(kind, tmp_path, rc) as at:
        assert b"echo one" not in at.raw
        ran = at.run("echo one", "# me")
        assert own_lines(ran.output)[-1] == "one"
        assert own_lines(at.run("echo a\necho two").output)[-1] == "two"
        at.line("echo person")
        assert "person" in at.screen()


def test_it_works_with_bashs_own_traps(tmp_path: Path) -> None:
    with opened(
        "bash", tmp_path, "set -T; shopt -s extdebug; trap ':' DEBUG; trap 'n=1' CHLD\n"
    ) as at:
        assert own_lines(at.run("echo one").output) == ["one"]
        assert own_lines(at.run("/bin/echo two").output) == ["two"]


@posix
def test_a_failing_line_under_errexit_ends_only_what_it_would(kind: str, tmp_path: Path) -> None:
    with opened(kind, tmp_path) as at:
        at.run("set -e")
        assert at.run("true").status == 0
        assert at.press("false")[1] == "ADMITTED"
        at.until(lambda: at.ended)


def test_vi_command_mode_takes_a_command_too(tmp_path: Path) -> None:
    for kind in ("bash", "zsh"):
        (tmp_path / kind).mkdir()
        with opened(kind, tmp_path / kind, "set -o vi\n") as at:
            at.type("x")
            at.until(lambda: at.screen()[0] == "$ x")
            at.type("\x1b")
            at.type("dd")
            at.until(lambda: at.screen()[0].strip() == "$")
            assert own_lines(at.run("echo in-vi").output) == ["in-vi"]


# The hooks are lost: nothing runs, it is said, and they are back after the person's next line.


@pytest.mark.parametrize(
    "line",
    [
        "unset PROMPT_COMMAND",
        "PROMPT_COMMAND=(true)",
        "PROMPT_COMMAND=; PS0=; unset PROMPT_COMMAND",
    ],
)
def test_lost_hooks_of_bash_are_said_and_mended(line: str, tmp_path: Path) -> None:
    with opened("bash", tmp_path) as at:
        at.type(line + "\r")
        at.until(lambda: at.screen()[1].endswith("$") and at.edits())
        assert at.press("echo agent")[1] == "HOOKS_LOST"
        at.type("echo person\r")
        at.until(lambda: at.prompts() == 2)
        at.ready()
        assert own_lines(at.run("echo agent").output) == ["agent"]
        assert at.screen().count("agent") == 1


def test_lost_hooks_of_zsh_are_said_and_mended(tmp_path: Path) -> None:
    with opened("zsh", tmp_path) as at:
        at.type("precmd_functions=() preexec_functions=()\r")
        at.until(lambda: at.screen()[1] == "$" and at.edits())
        assert at.press("echo agent")[1] == "HOOKS_LOST"
        at.type("echo person\r")
        at.until(lambda: at.prompts() == 2)
        at.ready()
        assert own_lines(at.run("echo agent").output) == ["agent"]


def test_an_overwritten_hook_says_nothing_and_nothing_runs(tmp_path: Path) -> None:
    with opened("bash", tmp_path) as at:
        at.line("unset -f __termnode_answer")
        assert at.press("echo agent")[1] == "NO_REPLY"
        at.line("echo person")
        assert "person" in at.screen()
        assert "agent" not in at.screen()


def test_prompts_set_anew_are_marked_again(tmp_path: Path) -> None:
    with opened("bash", tmp_path) as at:
        at.line("PS0='' PS1='new% ' PS2='more> '")
        assert own_lines(at.run("echo agent").output) == ["agent"]
        at.line('PS1="x $PS1"')
        assert bytes(at.raw).rpartition(b"\n")[2].count(at.mark("A")) == 1


# The person's history


HISTORY = {"bash": "history | cat", "zsh": "fc -l 1 | cat", "fish": "history | cat"}


@each
def test_a_command_is_not_in_the_persons_history(kind: str, tmp_path: Path) -> None:
    with opened(kind, tmp_path) as at:
        at.line("echo first")
        at.run("echo agent-word")
        at.run("echo agent-word\necho more")
        at.line("echo second")
        at.line("clear")
        at.line(HISTORY[kind])
        shown = "\n".join(at.screen())
        assert "agent-word" not in shown
        assert "first" in shown
        assert "second" in shown


def test_bashs_settings_of_history_are_as_before(tmp_path: Path) -> None:
    with opened("bash", tmp_path, "HISTIGNORE='ls:a b'\n") as at:
        at.run("true")
        assert own_lines(at.run('echo "$HISTIGNORE"').output) == ["0"]
        at.line("""declare -p HISTIGNORE; [[ $- == *H* ]] && echo expands""")
        assert """declare -- HISTIGNORE="ls:a b\"""" in at.screen()
        assert "expands" in at.screen()
        at.line("unset HISTIGNORE")
        at.run("true")
        at.line("echo ${HISTIGNORE-unset}")
        assert "unset" in at.screen()


def test_bashs_history_is_kept_even_when_the_hooks_are_lost(tmp_path: Path) -> None:
    with opened("bash", tmp_path) as at:
        assert at.press("unset PROMPT_COMMAND")[1] == "ADMITTED"
        at.until(lambda: at.told("RUN") and at.edits() and at.screen()[1] == "$")
        at.type("echo person\r")
        at.until(lambda: "person" in at.screen() and at.edits())
        at.type("history | cat\r")
        at.until(lambda: any(row.endswith("  echo person") for row in at.screen()))


def test_zshs_settings_are_as_before(tmp_path: Path) -> None:
    with opened("zsh", tmp_path) as at:
        at.run("true # a comment")
        at.line('print -r -- "$histchars" $options[interactivecomments]')
        assert "!^# off" in at.screen()


# What could be forged or found


@each
def test_the_secret_is_in_no_file_and_no_environment(kind: str, tmp_path: Path) -> None:
    with opened(kind, tmp_path) as at:
        assert not (at.dir.path / "nonce").exists()
        ran = at.run("env; set | cat") if kind == "fish" else at.run("env")
        environment = Path(f"/proc/{at.pid}/environ").read_bytes()
        assert at.dir.nonce.encode() not in environment
        if kind != "fish":
            assert at.dir.nonce.encode() not in (ran.output or b"")
        at.line("env | grep -c TERMNODE_")
        assert "0" in at.screen()


@each
def test_a_directory_name_forges_no_record(kind: str, tmp_path: Path) -> None:
    with opened(kind, tmp_path) as at:
        name = tmp_path / "x\nPROMPT 9 0 - y"
        name.mkdir()
        at.run(f"cd '{name}'")
        assert at.told("PROMPT")[-1][3] == str(name)
        assert at.generation == 2


@each
def test_a_shell_inside_has_no_hooks(kind: str, tmp_path: Path) -> None:
    with opened(kind, tmp_path) as at:
        marks = bytes(at.raw).count(at.dir.nonce.encode())
        at.type(f"{kind}\r")
        at.until(lambda: at.mark("C") in at.raw and at.foreground() != at.pid)
        at.until(lambda: "$" in at.screen()[1:])
        assert bytes(at.raw).count(at.dir.nonce.encode()) == marks + 1  # the C of the line
        assert at.prompts() == 1


@each
def test_a_directory_that_is_gone_stops_nobody(kind: str, tmp_path: Path) -> None:
    with opened(kind, tmp_path) as at:
        shutil.rmtree(at.dir.path)
        at.type("echo person\r")
        at.until(lambda: "person" in at.screen())
        at.type("echo again\r")
        at.until(lambda: "again" in at.screen())
        assert not at.dir.path.exists()


def logged(log: Path, line: str) -> bool:
    return log.exists() and line in log.read_text().split()


@each
def test_a_person_and_an_agent_never_share_a_line(kind: str, tmp_path: Path) -> None:
    with opened(kind, tmp_path) as at:
        log = tmp_path / "log"
        ran, typed = 0, 0
        for turn in range(25):
            typed += 1
            at.type(f"echo h{typed} >>{log}" + ("\r" if turn % 3 else ""))
            op, word = at.press(f"echo a{turn} >>{log}")
            if word == "ADMITTED":
                at.finished(op)
                ran += 1
            if not turn % 3:
                at.type("\r")
            at.until(partial(logged, log, f"h{typed}"))
            at.ready()
        lines = log.read_text().split()
        assert sorted(lines, key=lambda line: (line[0], int(line[1:]))) == sorted(
            set(lines), key=lambda line: (line[0], int(line[1:]))
        )
        assert [line for line in lines if line[0] == "h"] == [f"h{n + 1}" for n in range(typed)]
        assert sum(line[0] == "a" for line in lines) == ran


# An interrupt at any point leaves nothing of the agent's to the person's keys, and no setting of it

KEPT = {
    "bash": """echo "$-" "$HISTIGNORE" "$(bind -q accept-line | tr -d '\\n')" >""",
    "zsh": 'print -r -- "$histchars" ${(kv)options} $precmd_functions $preexec_functions >',
    "fish": 'echo "$__termnode_op" >',
}
"""Tells what an interrupt must leave as it was."""

PERSONS = {"bash": "HISTIGNORE='ls:a b'; set -u\n", "zsh": "", "fish": ""}


def interrupted(kind: str, tmp_path: Path, *, runs: bool) -> None:
    """The shell interrupts itself when the agent's command comes, and the person goes on."""
    with opened(kind, tmp_path, PERSONS[kind]) as at:
        at.line(KEPT[kind] + str(tmp_path / "before"))
        (tmp_path / "armed").touch()
        op, word = at.press(f"echo agent >>{tmp_path}/log", announcement="# agent")
        assert word in ("ADMITTED", "CLAIMED")
        assert at.press()[1] == "READY"
        assert not (tmp_path / "armed").exists()
        at.line(f"echo person >>{tmp_path}/log")
        expected = ["agent", "person"] if runs else ["person"]
        assert (tmp_path / "log").read_text().splitlines() == expected
        assert [fields[1] for fields in at.told("RUN")].count(op) == runs
        at.line(KEPT[kind] + str(tmp_path / "after"))
        assert (tmp_path / "after").read_text() == (tmp_path / "before").read_text()
        assert own_lines(at.run("echo next").output) == ["next"]


ONCE = {
    "fish": "\n        test -e {0}; and rm {0}; and kill -INT $fish_pid\n",
    "bash": "\n  [[ ! -e {0} ]] || {{ command rm {0}; builtin kill -INT $$; }}\n",
    "zsh": "\n  [[ ! -e {0} ]] || {{ command rm {0}; builtin kill -INT $$ }}\n",
}

POINTS = [
    ("bash", "bash.sh", '>"$__termnode_dir/claim.$__termnode_id"', 1),
    ("bash", "bash.sh", '"$__termnode_label" >/dev/tty || builtin return 0', 0),
    ("bash", "bash.sh", "  builtin unset HISTIGNORE\n  HISTIGNORE=*", 0),
    ("bash", "bash.sh", "    builtin set +H", 0),
    ("bash", "bash.sh", "accept-line'", 0),
    ("zsh", ZSH, ">$__termnode_dir/claim.$1", 1),
    ("zsh", ZSH, 'builtin print -r -- "$1" >/dev/tty', 0),
    ("zsh", ZSH, "BUFFER=$4 CURSOR=${#4} POSTDISPLAY=", 0),
    ("zsh", "zsh/__termnode_key", "builtin setopt interactivecomments", 0),
    ("zsh", "zsh/__termnode_key", "preexec_functions+=(__termnode_comments)", 0),
    ("fish", "fish.fish", "    set -l word (__termnode_judge $fields 2>/dev/null)", 0),
    ("fish", "fish.fish", "commandline -f repaint execute", 0),
    ("fish", "fish.fish", '        if __termnode_announce "$fields[3]" 2>/dev/null', 0),
    ("fish", "fish.fish", "set -g __termnode_op $fields[1]", 0),
    ("fish", "fish.fish", '-r -- " $fields[4]"', 2),
    ("fish", "fish.fish", "commandline -C 0", 2),
]
"""Where: the shell, the file, and what is interrupted just behind it; 1: in a function whose status
counts; 2: the command runs all the same."""


@pytest.mark.parametrize("point", POINTS, ids=lambda point: f"{point[0]}-{point[2][-20:]}")
def test_an_interrupt_leaves_nothing_behind(
    point: tuple[str, str, str, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind, file, behind, how = point
    once = ONCE[kind].format(tmp_path / "armed")
    if how == 1:
        once = f" || builtin return 1{once}"
    change_integration(monkeypatch, tmp_path, file, behind, behind + once)
    interrupted(kind, tmp_path, runs=how == 2)


def test_a_beginning_that_an_interrupt_kept_from_being_told_is_told_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    behind = "function __termnode_preexec --on-event fish_preexec"
    once = ONCE["fish"].format(tmp_path / "armed")
    change_integration(monkeypatch, tmp_path, "fish.fish", behind, behind + once)
    with opened("fish", tmp_path) as at:
        (tmp_path / "armed").touch()
        op = at.press(f"echo agent >>{tmp_path}/log")[0]
        at.until(lambda: at.prompts() == 2)
        assert not (tmp_path / "armed").exists()
        assert logged(tmp_path / "log", "agent")
        assert at.told("RUN") == [["1", op]]


HOOKS = [
    ("bash", "bash.sh", "__termnode_prompt() { # a primary prompt comes"),
    ("zsh", ZSH, "__termnode_precmd() { # a primary prompt comes"),
    ("fish", "fish.fish", "function __termnode_prompt --on-event fish_prompt"),
]


def interrupted_at_its_prompt(
    kind: str, file: str, behind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    once = ONCE[kind].format(tmp_path / "armed")
    change_integration(monkeypatch, tmp_path, file, behind, behind + once)
    with opened(kind, tmp_path) as at:
        (tmp_path / "armed").touch()
        op = at.press("true")[0]
        at.until(lambda: not (tmp_path / "armed").exists())
        at.until(lambda: at.told("RUN") and at.idle() and at.edits(), "the next prompt")
        at.type(f"echo person >>{tmp_path}/log\r")
        at.until(lambda: logged(tmp_path / "log", "person"))
        at.until(lambda: len(at.told("RUN")) > 1)
        assert at.told("RUN")[1][1] == "-"
        at.ready(at.prompts() + (at.records[-1][0] == "RUN"))
        begun = at.records.index(["RUN", *at.told("RUN")[1]])
        assert op not in [record[3] for record in at.records[begun:] if record[0] == "PROMPT"]


@pytest.mark.parametrize("hook", HOOKS, ids=lambda hook: hook[0])
def test_a_line_behind_an_untold_prompt_is_the_persons(
    hook: tuple[str, str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupted_at_its_prompt(*hook, tmp_path, monkeypatch)


# Each guard, taken away, is missed


BROKEN = [
    (
        test_a_line_that_is_begun_is_the_persons,
        "bash",
        "bash.sh",
        "[[ -n $READLINE_LINE ]]",
        "false",
    ),
    (test_a_line_that_is_begun_is_the_persons, "zsh", ZSH, "[[ -n $BUFFER ||", "[[ -n '' ||"),
    (
        test_a_line_that_is_begun_is_the_persons,
        "fish",
        "fish.fish",
        'test -n "$(builtin commandline -b',
        'test -z "$(builtin commandline -b',
    ),
    (
        test_another_prompt_is_not_this_one,
        "bash",
        "bash.sh",
        '$__termnode_want != "$__termnode_gen"',
        "0 == 1",
    ),
    (test_another_prompt_is_not_this_one, "zsh", ZSH, "$2 != $__termnode_gen", "0 == 1"),
    (
        test_another_prompt_is_not_this_one,
        "fish",
        "fish.fish",
        '"$want" != "$__termnode_gen"',
        "0 = 1",
    ),
    (
        test_a_claim_of_the_other_side_holds,
        "bash",
        "bash.sh",
        "builtin set -C\n",
        "builtin set +C\n",
    ),
    (
        test_a_claim_of_the_other_side_holds,
        "zsh",
        ZSH,
        "localoptions noclobber",
        "localoptions clobber",
    ),
    (
        test_a_claim_of_the_other_side_holds,
        "fish",
        "fish.fish",
        ">?$__termnode_dir",
        ">$__termnode_dir",
    ),
    (
        test_a_line_that_goes_on_is_not_a_prompt,
        "bash",
        "bash.sh",
        "elif ((__termnode_more))",
        "elif false",
    ),
    (
        test_a_command_is_not_in_the_persons_history,
        "bash",
        "bash.sh",
        "HISTIGNORE=*\n",
        "HISTIGNORE=\n",
    ),
    (
        test_a_command_is_not_in_the_persons_history,
        "zsh",
        ZSH,
        "[[ -z ${__termnode_op-} ]]",
        "true",
    ),
    (
        test_a_command_is_not_in_the_persons_history,
        "fish",
        "fish.fish",
        '-- " $fields[4]"',
        '-- "$fields[4]"',
    ),
    (test_characters_are_taken_as_they_are, "bash", "bash.sh", "builtin set +H\n", ":\n"),
    (test_characters_are_taken_as_they_are, "zsh", ZSH, "histchars=$'\\1^#'", ":"),
]


@pytest.mark.parametrize("case", BROKEN, ids=lambda case: f"{case[1]}-{case[0].__name__}")
def test_each_guard_is_missed(
    case: tuple[Callable[[str, Path], None], str, str, str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    test, kind, *change = case
    change_integration(monkeypatch, tmp_path, *change)
    monkeypatch.setattr(integrated_shell, "WITHIN", 5)  # one of them never comes to its end
    with pytest.raises(AssertionError):
        test(kind, tmp_path)
