"""The keys of other machines: the directory, what is read of it, and the command for it."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest
import zmq
from zmq.utils import z85

from brokerd.__main__ import main
from brokerd.curvekeys import is_key, new_pair, public_of
from brokerd.io.keyring import Keyring
from brokerd.keysdir import MAX_NAMES, KeysDir, KeysError, default_directory, read_secret

KEY = "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7"
"""The server's public key of the CURVE specification's example."""


@pytest.fixture
def keys(tmp_path: Path) -> KeysDir:
    return KeysDir(tmp_path / "cosmix" / "keys")


@pytest.mark.parametrize(
    ("text", "sound"),
    [
        (KEY, True),
        (KEY[:-1], False),
        (KEY + "0", False),
        (KEY[:-1] + " ", False),
        (KEY[:-1] + "é", False),
        ("#" * 40, False),
        ("0" * 40, True),
    ],
)
def test_a_key_is_what_z85_can_hold(text: str, sound: bool) -> None:
    assert is_key(text) is sound
    if sound:
        assert z85.encode(z85.decode(text)).decode() == text


def test_a_new_pair_belongs_together() -> None:
    public, secret = new_pair()
    assert is_key(public)
    assert is_key(secret)
    assert public == public_of(secret) == zmq.curve_public(secret.encode()).decode()


def test_who_is_allowed_is_there_until_revoked(keys: KeysDir) -> None:
    keys.allow("other", KEY)
    keys.allow("other", KEY)
    assert keys.names() == {"other": KEY}
    assert keys.revoke("other")
    assert not keys.revoke("other")
    assert keys.names() == {}
    assert stat.S_IMODE(keys.path.stat().st_mode) == 0o700


@pytest.mark.parametrize(
    ("name", "key", "words"),
    [
        ("other", new_pair()[0], "revoke it first"),
        ("another", KEY, "under another name"),
        ("another", "short", "not a public key"),
    ],
)
def test_nothing_is_allowed_twice_or_by_halves(
    keys: KeysDir, name: str, key: str, words: str
) -> None:
    keys.allow("other", KEY)
    with pytest.raises(KeysError, match=words):
        keys.allow(name, key)
    assert keys.names() == {"other": KEY}


def test_files_that_hold_no_key_are_passed_over(keys: KeysDir, tmp_path: Path) -> None:
    keys.allow("good", KEY)
    (tmp_path / "elsewhere").write_text(new_pair()[0])
    (keys.path / "link.pub").symlink_to(tmp_path / "elsewhere")
    (keys.path / "short.pub").write_text(KEY[:-1])
    (keys.path / "two.pub").write_text(f"{new_pair()[0]}\n{new_pair()[0]}\n")
    (keys.path / "Upper.pub").write_text(new_pair()[0])
    (keys.path / "directory.pub").mkdir()
    os.mkfifo(keys.path / "pipe.pub")
    assert keys.names() == {"good": KEY}


@pytest.mark.parametrize("case", ["missing", "file", "link", "writable"])
def test_a_directory_that_cannot_be_trusted_is_refused(keys: KeysDir, case: str) -> None:
    keys.path.parent.mkdir()
    if case == "file":
        keys.path.write_text("")
    elif case == "link":
        keys.path.symlink_to(keys.path.parent)
    elif case == "writable":
        keys.path.mkdir()
        keys.path.chmod(0o770)
    with pytest.raises(KeysError):
        keys.names()


def test_there_is_a_most(keys: KeysDir) -> None:
    keys.make()
    for number in range(MAX_NAMES):
        (keys.path / f"n{number}.pub").write_text(new_pair()[0])
    with pytest.raises(KeysError, match="the most"):
        keys.allow("other", KEY)


def test_a_secret_is_made_once_and_closed_to_others(keys: KeysDir) -> None:
    path, public = keys.new_secret("me")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert public_of(read_secret(path)) == public
    with pytest.raises(KeysError, match="already"):
        keys.new_secret("me")
    assert keys.server_secret() == keys.server_secret()
    (keys.path / "server.key").chmod(0o640)
    with pytest.raises(KeysError, match="chmod 600"):
        keys.server_secret()
    (keys.path / "server.key").chmod(0o600)
    (keys.path / "server.key").write_text("nothing")
    with pytest.raises(KeysError, match="holds no key"):
        keys.server_secret()
    assert keys.names() == {}


def test_the_directory_is_in_the_users_configuration() -> None:
    assert default_directory({"XDG_CONFIG_HOME": "/x"}) == Path("/x/cosmix/keys")
    home = Path("/h/.config/cosmix/keys")
    assert default_directory({"XDG_CONFIG_HOME": "x", "HOME": "/h"}) == home
    assert default_directory({"HOME": "/h"}) == home


class Counting(KeysDir):
    """Counts how often the files were read."""

    reads = 0

    def names(self) -> dict[str, str]:
        self.reads += 1
        return super().names()


def test_keys_are_read_again_when_they_may_have_changed(keys: KeysDir) -> None:
    """Two changes within one tick of the clock leave one time: who looked between must look on."""
    counting = Counting(keys.path)
    keys.allow("other", KEY)
    changed_ns = keys.path.stat().st_mtime_ns
    now = [changed_ns + 1]
    keyring = Keyring(counting, lambda: now[0])
    assert keyring.name_of(KEY) == "other"
    (keys.path / "other.pub").unlink()
    os.utime(keys.path, ns=(changed_ns, changed_ns))
    assert keyring.name_of(KEY) is None
    now[0] = changed_ns + 10_000_000_000
    assert keyring.name_of(KEY) is None
    before = counting.reads
    assert keyring.name_of(KEY) is None
    assert counting.reads == before
    keys.allow("other", KEY)
    now[0] += 10_000_000_000
    assert keyring.name_of(KEY) == "other"


def test_a_key_that_is_written_over_in_place_is_known_no_more(keys: KeysDir) -> None:
    """That leaves the directory itself as it was."""
    counting = Counting(keys.path)
    keys.allow("other", KEY)
    later = [keys.path.stat().st_ctime_ns + 10_000_000_000]
    keyring = Keyring(counting, lambda: later[0])
    assert keyring.name_of(KEY) == "other"
    (keys.path / "other.pub").write_text("no key\n")
    assert keyring.name_of(KEY) is None
    before = counting.reads
    assert keyring.name_of(KEY) is None
    assert counting.reads == before


def test_a_directory_that_vanished_lets_nobody_in(keys: KeysDir) -> None:
    keyring = Keyring(keys)
    assert keyring.name_of(KEY) is None
    keys.allow("other", KEY)
    assert keyring.name_of(KEY) == "other"
    keys.path.chmod(0o777)
    assert keyring.name_of(KEY) is None


def test_the_command(keys: KeysDir, capsys: pytest.CaptureFixture[str]) -> None:
    where = ["--dir", str(keys.path)]

    def said(*arguments: str) -> tuple[int, str, str]:
        code = main(["keys", *arguments, *where])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    assert said("list")[:2] == (0, "")
    code, public, told = said("new", "--name", "me")
    assert (code, is_key(public.strip())) == (0, True)
    assert "brokerd keys allow me" in told
    assert (keys.path / "me.secret").read_text().strip() not in public + told
    assert said("new", "--name", "me")[0] == 1
    assert said("allow", "me", public.strip())[0] == 0
    assert said("list")[1] == f"me {public.strip()}\n"
    listed = json.loads(said("list", "--json")[1])
    assert listed == {"keys": [{"name": "me", "public_key": public.strip()}]}
    assert said("allow", "me", KEY)[0] == 1
    assert said("revoke", "me")[0] == 0
    code, _, told = said("revoke", "me")
    assert (code, "keys list" in told) == (1, True)


@pytest.mark.parametrize(
    "arguments", [[], ["sell"], ["allow", "Bad_Name", KEY], ["allow", "x"], ["new", "--name", ""]]
)
def test_wrong_usage_is_exit_code_two(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["keys", *arguments])
    assert ended.value.code == 2
    assert "usage: brokerd keys" in capsys.readouterr().err
