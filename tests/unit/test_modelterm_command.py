"""A command line: how it is shown, whether there is a credential in it, what it is run with."""

from __future__ import annotations

import base64
import hashlib
import secrets
import shutil
import subprocess
from pathlib import Path

import pytest

from termnode.modelterm import TermError, command_line, find_root, has_credential
from termnode.modelterm.command import check_argv, program_name, title
from termnode.modelterm.environment import clean
from tests.support.programs import need

NASTY = [
    "echo",
    "a b",
    "it's",
    "x\ny",
    "\x1b[2J\x07",
    "back\\sl\tash",
    "é漢",
    "\u202egnp.exe",
    "\xa0",
    "\u3000",
    "",
    "$(id)",
    "\x7f",
]


def test_what_is_shown_has_no_control_character_and_says_what_is_run() -> None:
    line = command_line(NASTY)
    assert line.isprintable()
    assert "'a b'" in line
    assert "\\n" in line
    assert "\\u202e" in line


def test_what_is_shown_is_what_a_shell_would_run() -> None:
    need("bash")
    script = f"printf '%s\\0' {command_line(NASTY)}"
    bash = shutil.which("bash") or "bash"
    done = subprocess.run(
        [bash, "-c", script], capture_output=True, check=True, env={"LC_ALL": "C.UTF-8"}
    )
    assert done.stdout.decode().split("\0")[:-1] == NASTY


@pytest.mark.parametrize("argv", [[], [""], ["a", "b\0c"], ["x"] * 257])
def test_what_no_program_can_be_given_is_refused(argv: list[str]) -> None:
    with pytest.raises(TermError) as caught:
        check_argv(argv)
    assert caught.value.code == "INVALID_ARGUMENT"


def test_names_and_titles_are_short_and_hide_nothing() -> None:
    assert program_name(["/usr/bin/nvim", "x"]) == "nvim"
    assert program_name(["/a/b]\x1b| c"]) == "b???  c".replace("  ", " ")
    assert len(program_name(["x" * 99])) == 24
    assert title(["sh", "-c", "a\nb"]) == "model: sh -c $'a\\nb'"
    assert len(title(["x" * 999])) <= 256


ALNUM = "kX9vQ2mZ7pLw4RtB8nHs"

SECRET = [
    ["curl", "-H", f"Authorization: Bearer {ALNUM}"],
    ["curl", "-H", "authorization: Basic dXNlcjpwYXNz"],
    ["curl", "-u", "me:hunter22x", "https://example.org"],
    ["curl", "--user=me:hunter22x", "https://example.org"],
    ["git", "clone", "https://me:hunter22x@example.org/x.git"],
    ["psql", "postgres://app:s3cr3tpw@db/app"],
    ["mysql", "-phunter22x", "-u", "root"],
    ["mysqldump", "-u", "root", "--password=hunter22x", "db"],
    ["sshpass", "-p", "hunter22x", "ssh", "host"],
    ["tool", "--password", "hunter22x"],
    ["tool", "--api-key", "abcdef12345"],
    ["env", "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "make"],
    ["env", "DB_PASSWORD=hunter22x", "make"],
    ["sh", "-c", "export TOKEN='hunter22x'; make"],
    ["gh", "auth", "ghp_" + ALNUM + ALNUM[:16]],
    ["x", "github_pat_" + ALNUM + ALNUM],
    ["x", "glpat-" + ALNUM],
    ["x", "sk-proj-" + ALNUM + ALNUM],
    ["x", "sk_live_" + ALNUM],
    ["x", "xoxb-123456789012-" + ALNUM],
    ["aws", "AKIAIOSFODNN7EXAMPLE"],
    ["x", "AIza" + "SyD3" + ALNUM + "abcdefghi12"],
    ["x", "hf_" + "abcdefghijKLMNOPQRSTuvwxyz1234567"],
    ["x", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P"],
    ["sh", "-c", "echo '-----BEGIN OPENSSH PRIVATE KEY-----'"],
]  # fmt: skip

INNOCENT = [
    ["bash"], ["nvim", "src/main.py"], ["vim", "+/password", "auth.py"], ["tmux", "attach"],
    ["grep", "-rn", "password", "."], ["grep", "token=", "x.py"], ["less", "secrets.md"],
    ["git", "show", hashlib.sha1(b"x").hexdigest()], ["git", "log", "--author=me"],
    ["sha256sum", "-c", hashlib.sha256(b"x").hexdigest()],
    ["docker", "run", f"img@sha256:{hashlib.sha256(b'x').hexdigest()}"],
    ["cat", "123e4567-e89b-12d3-a456-426614174000"],
    ["python", "-m", "pytest", "tests/unit/test_password_reset_tokens_are_single_use.py::test_one"],
    ["cargo", "test", "--", "ThisIsAVeryLongCamelCaseTestNameThatGoesOnAndOnForever2"],
    ["ls", "/usr/lib/python3.11/site-packages/Some_Package-1.2.3-py3-none-any.dist-info/RECORD"],
    ["ssh", "-p", "2222", "host"], ["mysql", "-p"], ["mysql", "-u", "root", "-p", "db"],
    ["mkdir", "-p", "a/b"], ["curl", "https://example.org:8443/a?b=c"],
    ["git", "clone", "git@github.com:me/x.git"], ["git", "clone", "ssh://git@host/x.git"],
    ["curl", "-u", "me", "https://example.org"], ["tool", "--password-file", "/run/pw"],
    ["tool", "--token", "$TOKEN"], ["sh", "-c", "curl -H \"Authorization: Bearer $TOKEN\" x"],
    ["tool", "--password=***"], ["tool", "--password", "-"], ["tool", "--token=<token>"],
    ["env", "PASSWORD_FILE=/run/secrets/pw", "make"], ["htop"], ["psql", "-h", "db", "app"],
    ["python", "-c", "print(max_tokens := 4096)"], ["ps", "-eo", "pid,ppid,user,%cpu,%mem,cmd"],
    ["rsync", "-avz", "--exclude=node_modules", "./", "host:/srv/www/Example-Site-2024/pub"],
]  # fmt: skip


@pytest.mark.parametrize("argv", SECRET, ids=lambda argv: " ".join(argv)[:40])
def test_what_looks_like_a_credential_is_found(argv: list[str]) -> None:
    assert has_credential(argv)


@pytest.mark.parametrize("argv", INNOCENT, ids=lambda argv: " ".join(argv)[:40])
def test_what_does_not_is_left_alone(argv: list[str]) -> None:
    assert not has_credential(argv)


def test_random_words_are_found_and_hashes_are_not() -> None:
    made = [
        base64.urlsafe_b64encode(hashlib.sha512(b"%d" % n).digest()).decode() for n in range(200)
    ]
    found = sum(has_credential(["x", word]) for word in made)
    assert found >= 190
    hashes = [hashlib.sha256(b"%d" % n).hexdigest() for n in range(200)]
    assert not any(has_credential(["x", word]) for word in hashes)


def test_a_long_command_line_takes_no_time_that_grows_faster_than_it() -> None:
    for word in ("a" * 65_536, "-" * 65_536, "password=" * 7_000, "x:" * 30_000, "$(" * 30_000):
        has_credential(["x", word])  # would not come back in the time of the test run if it did
    assert not has_credential(["x", "é" * 100])
    assert has_credential(["x", secrets.token_urlsafe(48) + "A1b"]) in {True, False}


ENVIRONMENT = {
    "PATH": "/bin", "HOME": "/h", "USER": "u", "LOGNAME": "u", "SHELL": "/bin/sh", "TZ": "UTC",
    "LANG": "de_DE.UTF-8", "LC_TIME": "C", "AWS_SECRET_ACCESS_KEY": "x", "SSH_AUTH_SOCK": "/s",
    "TMUX": "/tmp/tmux-0/default,1,0", "TMUX_TMPDIR": "/mine", "TERM": "dumb", "LD_PRELOAD": "/x",
    "LC_EVIL\n": "x", "TERMNODE_TICKET": "t",
}  # fmt: skip


def test_the_environment_is_what_is_named_and_nothing_else(tmp_path: Path) -> None:
    assert clean(ENVIRONMENT, tmp_path) == {
        "PATH": "/bin", "HOME": "/h", "USER": "u", "LOGNAME": "u", "SHELL": "/bin/sh", "TZ": "UTC",
        "LANG": "de_DE.UTF-8", "LC_TIME": "C", "TERM": "xterm-256color",
        "TMUX_TMPDIR": str(tmp_path),
    }  # fmt: skip
    assert "TMUX_TMPDIR" not in clean(ENVIRONMENT)


@pytest.mark.parametrize(
    ("locale", "all_"),
    [
        ({}, "C.UTF-8"), ({"LANG": "C"}, "C.UTF-8"), ({"LANG": "de_DE"}, "C.UTF-8"),
        ({"LANG": "en_US.utf8"}, None), ({"LC_CTYPE": "C.UTF-8", "LANG": "C"}, None),
        ({"LC_ALL": "C", "LANG": "en_US.UTF-8"}, "C.UTF-8"), ({"LC_ALL": "C.UTF-8"}, "C.UTF-8"),
        ({"LANG": "en_US.UTF-8", "LC_CTYPE": "C"}, "C.UTF-8"), ({"LANG": "x.UTF-8@euro"}, None),
        ({"LANG": "en_US.UTF-8", "LC_ALL": ""}, ""),
    ],
)  # fmt: skip
def test_characters_are_always_utf8(locale: dict[str, str], all_: str | None) -> None:
    assert clean(locale).get("LC_ALL") == all_


def test_the_root_is_where_the_repository_begins(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    assert find_root(inner) == inner
    (tmp_path / "a" / ".git").touch()  # a worktree has a file
    assert find_root(inner) == tmp_path / "a"
    (inner / ".git").mkdir()
    assert find_root(inner) == inner
