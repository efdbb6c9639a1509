"""The launch descriptor: read whole and once, refused in every other form, never left open."""

from __future__ import annotations

import fcntl
import json
import os
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from brokerd.client import SessionKey
from termnode.paneshell import bundle as launch_bundle
from termnode.paneshell import descriptor
from termnode.paneshell.descriptor import BadDescriptor, LaunchBundle

ROOT = Path(__file__).parents[2]
SEED = bytes(range(100, 132))
SEALS = (fcntl.F_SEAL_SHRINK, fcntl.F_SEAL_GROW, fcntl.F_SEAL_WRITE, fcntl.F_SEAL_SEAL)


def hex_id(number: int) -> str:
    return bytes([number] * 16).hex()


def grant(**changed: object) -> dict[str, Any]:
    return {
        "grant_id": hex_id(1),
        "record_id": hex_id(2),
        "incarnation": hex_id(3),
        "public_key": SessionKey.from_seed(SEED).public_key.hex(),
        "parent_key_hash": bytes(32).hex(),
        "expires_ms": "30000",
        "state": "pending",
    } | changed


def record(**changed: object) -> dict[str, Any]:
    return {
        "name": "c0-" + "a" * 22,
        "record_assurance": "reserved",
        "owner_node": "node-1",
        "owner_uid": os.geteuid(),
        "broker_epoch": hex_id(9),
        "record_id": hex_id(2),
        "instance_id": hex_id(4),
        "incarnation": hex_id(3),
        "role": "pane-shell",
        "parent_instance": hex_id(5),
        "parent_incarnation": hex_id(6),
        "pane_id": "7",
        "pane_generation": "1",
        "binding_generation": "0",
        "state": "pending",
        "capabilities": ["read_state"],
        "policy": "default-open",
        "lease_remaining_ms": None,
    } | changed


def bundle() -> LaunchBundle:
    return LaunchBundle(grant(), record(), SEED)


def text_of(grant: object, record: object) -> bytes:
    return json.dumps({"grant": grant, "record": record}).encode()


def packed(text: bytes, *, version: int = 1, size: int | None = None, seed: bytes = SEED) -> bytes:
    return struct.pack("!BI", version, len(text) if size is None else size) + text + seed


def memfd(content: bytes, *, name: str = "cosmix-session", seals: int = sum(SEALS)) -> int:
    """A descriptor made by hand, whatever is in it."""
    fd = os.memfd_create(name, os.MFD_ALLOW_SEALING)
    os.write(fd, content)
    fcntl.fcntl(fd, fcntl.F_ADD_SEALS, seals)
    return fd


def open_descriptors() -> dict[int, str]:
    found = {}
    for fd in map(int, os.listdir("/proc/self/fd")):
        try:
            found[fd] = os.readlink(f"/proc/self/fd/{fd}")
        except OSError:
            continue
    return found


@pytest.fixture(autouse=True)
def nothing_left_open() -> Iterator[None]:
    before = open_descriptors()
    yield
    assert open_descriptors() == before


def test_what_is_written_is_read() -> None:
    fd = descriptor.write(bundle())
    assert not os.get_inheritable(fd)
    assert fcntl.fcntl(fd, fcntl.F_GET_SEALS) & sum(SEALS) == sum(SEALS)
    assert os.readlink(f"/proc/self/fd/{fd}") == "/memfd:cosmix-session (deleted)"
    assert descriptor.read(fd) == bundle()


def test_the_layout_is_the_contracts() -> None:
    fd = descriptor.write(bundle())
    content = os.pread(fd, 20_000, 0)
    version, size = struct.unpack_from("!BI", content)
    assert (version, len(content)) == (1, 37 + size)
    assert json.loads(content[5:-32]) == {"grant": grant(), "record": record()}
    assert content[-32:] == SEED
    os.close(fd)


def test_reading_does_not_depend_on_the_position() -> None:
    fd = memfd(packed(text_of(grant(), record())))
    os.lseek(fd, 17, os.SEEK_SET)
    assert descriptor.read(fd) == bundle()


def test_nothing_can_be_changed_in_it() -> None:
    fd = descriptor.write(bundle())
    changes = (
        lambda: os.pwrite(fd, b"x", 0),
        lambda: os.ftruncate(fd, 10),
        lambda: os.ftruncate(fd, 20_000),
        lambda: fcntl.fcntl(fd, fcntl.F_ADD_SEALS, 0),
    )
    for change in changes:
        with pytest.raises(PermissionError):
            change()
    os.close(fd)


def test_the_largest_and_no_more() -> None:
    largest = SOUND.ljust(16_384)
    assert descriptor.read(memfd(packed(largest))) == bundle()
    assert "size" in refused(memfd(packed(largest + b" ")))


def test_a_launch_that_is_too_large_is_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch_bundle, "MAX_JSON", 100)
    with pytest.raises(BadDescriptor, match="100"):
        descriptor.write(bundle())


def refused(fd: int) -> str:
    """The words that the descriptor is refused with, which tell nothing of what is in it."""
    with pytest.raises(BadDescriptor) as caught:
        descriptor.read(fd)
    words = str(caught.value)
    assert "\n" not in words
    assert SEED.hex()[:8] not in words
    assert hex_id(2)[:8] not in words
    return words


SOUND = text_of(grant(), record())
DUPLICATE = SOUND.replace(b'"state"', b'"state": "pending", "state"', 1)
MALFORMED = {
    "empty": b"",
    "too short": packed(b"", seed=SEED[:-1]),
    "no JSON": packed(b""),
    "truncated": packed(SOUND)[:-1],
    "extra bytes": packed(SOUND) + b"\0",
    "another version": packed(SOUND, version=2),
    "version 0": packed(SOUND, version=0),
    "length less": packed(SOUND, size=len(SOUND) - 1),
    "length more": packed(SOUND, size=len(SOUND) + 1),
    "huge length": packed(SOUND, size=2**32 - 1),
    "over-long": packed(SOUND + b" " * 16_384),
    "not JSON": packed(b"x" * 40),
    "not UTF-8": packed(b"\xff" * 40),
    "an array": packed(b"[" + SOUND + b"]"),
    "duplicate key": packed(DUPLICATE),
    "trailing text": packed(SOUND + b"x"),
    "no grant": packed(json.dumps({"record": record()}).encode()),
    "no record": packed(json.dumps({"grant": grant()}).encode()),
    "one more part": packed(json.dumps({"grant": grant(), "record": record(), "more": 1}).encode()),
    "grant no object": packed(text_of([], record())),
    "record no object": packed(text_of(grant(), "x")),
    "wrong seed": packed(SOUND, seed=bytes(32)),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_every_other_content_is_refused(name: str) -> None:
    refused(memfd(MALFORMED[name]))


def test_the_malformed_ones_differ_from_a_sound_one_by_what_they_are_called() -> None:
    assert descriptor.read(memfd(packed(SOUND))) == bundle()
    assert json.loads(DUPLICATE) == json.loads(SOUND)


WRONG_GRANT: list[tuple[str, object]] = [
    ("record_id", hex_id(20)),
    ("record_id", None),
    ("incarnation", hex_id(20)),
    ("grant_id", "x"),
    ("state", "consumed"),
    ("public_key", bytes(32).hex()),
    ("public_key", SessionKey.from_seed(SEED).public_key.hex().upper()),
    ("parent_key_hash", None),
]
WRONG_RECORD: list[tuple[str, object]] = [
    ("state", "suspended"),
    ("state", "attached"),
    ("binding_generation", "1"),
    ("binding_generation", 0),
    ("role", "term"),
    ("owner_uid", os.geteuid() + 1),
    ("owner_uid", str(os.geteuid())),
    ("owner_uid", bool(os.geteuid())),
    ("pane_id", "0"),
    ("pane_id", None),
    ("pane_id", 7),
    ("pane_generation", "0"),
    ("pane_generation", "01"),
    ("parent_instance", None),
    ("parent_incarnation", None),
    ("parent_incarnation", hex_id(6).upper() + "z"),
]


def launches_with_one_wrong_fact() -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    for key, value in WRONG_GRANT:
        yield grant(**{key: value}), record()
    for key, value in WRONG_RECORD:
        yield grant(), record(**{key: value})
    yield grant(), record(binding_generation="1")
    yield (
        grant(),
        record(
            role="term",
            parent_instance=None,
            parent_incarnation=None,
            pane_id=None,
            pane_generation=None,
        ),
    )
    for key in ("record_id", "incarnation"):  # equal, but no ids
        yield grant(**{key: "same"}), record(**{key: "same"})
        yield without(grant(), key), without(record(), key)


def without(fields: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: fields[name] for name in fields if name != key}


@pytest.mark.parametrize("launch", list(launches_with_one_wrong_fact()))
def test_facts_that_do_not_belong_together_are_refused(
    launch: tuple[dict[str, Any], dict[str, Any]],
) -> None:
    refused(memfd(packed(text_of(*launch))))
    with pytest.raises(BadDescriptor):
        descriptor.write(LaunchBundle(*launch, SEED))


def test_each_relation_is_what_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the relations off, sound views that do not belong together get through."""
    monkeypatch.setattr(launch_bundle, "_RULES", ())
    taken = {words_or_none(*launch) for launch in launches_with_one_wrong_fact()}
    assert taken == {
        None,
        "the launch descriptor has a malformed grant or record",
        "the launch descriptor's key is not the one that was granted",
    }


def words_or_none(grant: dict[str, Any], record: dict[str, Any]) -> str | None:
    try:
        descriptor.read(memfd(packed(text_of(grant, record))))
    except BadDescriptor as error:
        return str(error)
    return None


def test_each_relation_has_a_launch_that_breaks_only_it() -> None:
    said = {words_or_none(*launch) for launch in launches_with_one_wrong_fact()}
    for words, _ in launch_bundle._RULES:
        assert f"the launch descriptor is not for this process: {words}" in said


@pytest.mark.parametrize("missing", SEALS)
def test_every_seal_is_needed(missing: int) -> None:
    assert "sealed" in refused(memfd(packed(SOUND), seals=sum(SEALS) - missing))


def test_a_file_that_can_have_no_seals_is_refused() -> None:
    fd = os.memfd_create("cosmix-session", 0)
    os.write(fd, packed(SOUND))
    assert "sealed" in refused(fd)


def test_other_descriptors_are_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "memfd:cosmix-session (deleted)"
    path.write_bytes(packed(SOUND))
    named, pipe = os.open(path, os.O_RDONLY), os.pipe()
    other = memfd(packed(SOUND), name="cosmix-session2")
    for fd in (named, *pipe, other):
        refused(fd)
        os.close(fd)


def test_a_launch_descriptor_beside_the_wrong_one_is_closed_too() -> None:
    descriptor.write(bundle())
    descriptor.write(bundle())
    refused(memfd(b""))  # that none is left open is the fixture's to see


def test_a_closed_or_standard_descriptor_is_refused() -> None:
    fd = descriptor.write(bundle())
    os.close(fd)
    assert "not open" in refused(fd)
    for standard in (-1, 0, 1, 2):
        assert "standard" in refused(standard)


def test_the_seed_is_not_shown() -> None:
    shown = repr(bundle())
    assert "seed" not in shown
    assert str(SEED)[2:12] not in shown


def test_the_marker_is_removed_first_and_none_is_no_error() -> None:
    environment = {"HOME": "/"}
    assert descriptor.take(environment) is None
    fd = memfd(packed(SOUND))
    os.set_inheritable(fd, True)
    environment["COSMIX_SESSION_FD"] = str(fd)
    assert descriptor.take(environment) == fd
    assert environment == {"HOME": "/"}
    assert not os.get_inheritable(fd)
    os.close(fd)


@pytest.mark.parametrize(
    "marker", ["", "x", "-1", "+5", "05", " 5", "5\n", "2", "0", "1e1", "\u0665", "9" * 30, "99999"]
)
def test_a_marker_that_names_no_descriptor_is_removed_and_refused(marker: str) -> None:
    descriptor.write(bundle())
    environment = {"COSMIX_SESSION_FD": marker}
    with pytest.raises(BadDescriptor) as caught:
        descriptor.take(environment)
    assert environment == {}
    assert "\n" not in str(caught.value)


CHILD = """
import json, os, subprocess, sys
from termnode.paneshell import bundle as launch_bundle
from termnode.paneshell import descriptor
fd = descriptor.take(os.environ)
left = subprocess.run(
    [sys.executable, "-c", "import os; print(*os.listdir('/proc/self/fd')); print(os.environ)"],
    capture_output=True, text=True, close_fds=False, check=True,
).stdout
try:
    said = descriptor.read(fd).record["pane_id"]
except descriptor.BadDescriptor as error:
    said = str(error)
names = []
for each in os.listdir("/proc/self/fd"):
    try:
        names.append(os.readlink("/proc/self/fd/" + each))
    except OSError:
        pass
print(json.dumps({"fd": fd, "left": left, "said": said, "names": names}))
"""


def in_a_child(fd: int) -> dict[str, Any]:
    """What a process that is started with the descriptor makes of it."""
    done = subprocess.run(
        [sys.executable, "-c", CHILD],
        env={**os.environ, "COSMIX_SESSION_FD": str(fd)},
        pass_fds=(fd,),
        cwd=ROOT,
        stdout=subprocess.PIPE,
        check=True,
    )
    os.close(fd)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("sound", [True, False])
def test_a_started_process_hands_nothing_on(sound: bool) -> None:
    found = in_a_child(descriptor.write(bundle()) if sound else memfd(packed(SOUND, version=2)))
    descriptors, environment = found["left"].split("\n")[:2]
    assert str(found["fd"]) not in descriptors.split()
    assert "COSMIX_SESSION_FD" not in environment
    assert not any("cosmix-session" in name for name in found["names"])
    assert found["said"] == ("7" if sound else "the launch descriptor is of another version")
