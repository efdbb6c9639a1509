"""p0i_07: another user of the machine, by what the kernel says of it.

``python -m tests.support.s4.users SOCKET UID`` becomes that user, and asks what its input says, one
request a line: {name, verb, body}; it answers each with one line: {rc, body}.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.support.p0i.lab import DENIED
from tests.support.s4.capabilities import VERBS
from tests.support.s4.lab import Lab, Start, first
from tests.support.session_peer import ROOT, Answer, Fields, SessionPeer

FOREIGN: Final = 65_533


def p0i_07_other_uid_both_policies(start: Start) -> None:
    """It is let in by open posture alone; in strict posture the policy makes no difference."""
    for policy in ("default-open", "restricted"):
        with start("--shared", "{}/s", COSMIX_TERM_POLICY=policy) as lab:
            one = first(lab)
            target, name = lab.target(one), lab.record()["name"]
            with foreigner(lab.term.directory / "s" / "bus.sock") as foreign:
                opened = foreign.ask(name, "term.session", {"target": target})
                assert opened.rc == 0, opened.body
                assert opened.body["request_epoch"] == foreign.connection_id
                lab.strict()
                _denied_everything(lab, foreign, name, target)
                lab.strict(on=False)
                again = foreign.ask(name, "term.session", {"target": target})
                assert again.body["request_high_water"] == "0", "a denied request spent an id"


def _denied_everything(lab: Lab, foreign: Foreigner, name: str, target: Fields) -> None:
    absent = {**target, "pane_id": "99"}
    for at in (target, absent):
        for verb in VERBS:
            body = {"target": at, **verb.fields}
            if verb.mutates:
                body.update(request_id="1", request_epoch=foreign.connection_id)
            answer = foreign.ask(name, verb.name, body)
            assert (answer.rc, answer.body) == (10, DENIED), verb
    answer = foreign.ask("brokerd", "session.list", {})
    assert answer.body["records"] == [], "it is told of records of its own alone"


class Foreigner:
    """A process of another user."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self.connection_id: str = json.loads(self._line())

    def ask(self, name: str, verb: str, body: Fields) -> Answer:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"name": name, "verb": verb, "body": body}) + "\n")
        self._process.stdin.flush()
        said = json.loads(self._line())
        return Answer(said["rc"], said["body"])

    def _line(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the other user's process has ended; its message is above"
        return line


@contextmanager
def foreigner(path: Path) -> Iterator[Foreigner]:
    command = [sys.executable, "-m", "tests.support.s4.users", str(path), str(FOREIGN)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT, text=True
    ) as process:
        try:
            yield Foreigner(process)
        finally:
            process.kill()


def main(path: str, uid: str) -> None:
    """Be the other user."""
    os.setgroups([])
    os.setresgid(int(uid), int(uid), int(uid))
    os.setresuid(int(uid), int(uid), int(uid))
    with SessionPeer.open(path) as peer:
        peer.hello()
        print(json.dumps(peer.connection_id), flush=True)
        for number, line in enumerate(sys.stdin):
            asked = json.loads(line)
            peer.ask(
                asked["name"],
                json.dumps(asked["body"]).encode(),
                id=f"f-{number}",
                command=asked["verb"],
            )
            header, body, _ = peer.next_of(lambda header, mine=f"f-{number}": header.id == mine)  # type: ignore[misc]
            print(json.dumps({"rc": header.rc, "body": json.loads(body)}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
