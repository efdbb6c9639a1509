"""p0i_10: over TCP nobody controls a pane, in either posture."""

from __future__ import annotations

from typing import Final

import trio

from brokerd.client import Reply, connect_node
from brokerd.curvekeys import new_pair
from brokerd.keysdir import KeysDir
from tests.support.p0i.lab import DENIED
from tests.support.s4.capabilities import VERBS
from tests.support.s4.lab import Lab, Start, first
from tests.support.session_peer import Fields

TIMEOUT_S: Final = 20.0


def p0i_10_real_tcp_fallback_is_control_free(start: Start) -> None:
    """Another machine has the global lane in open posture, nothing in strict, never a target."""
    with start("--tcp", "tcp://127.0.0.1:0", "--tcp-keys", "{}/keys") as lab:
        public, secret = new_pair()
        KeysDir(lab.term.directory / "keys").allow("other", public)
        one = first(lab)
        trio.run(_ask, lab, lab.target(one), secret)


async def _ask(lab: Lab, target: Fields, secret: str) -> None:
    endpoint, key = str(lab.broker.ready["tcp"]), str(lab.broker.ready["tcp_public_key"])
    name = lab.record()["name"]
    async with connect_node(endpoint, server_key=key, secret_key=secret) as bus:

        async def asked(to: str, verb: str, body: Fields) -> Reply:
            return await bus.request(to, verb, body, timeout=TIMEOUT_S)

        for on in (False, True):
            lab.strict(on=on)
            for verb in VERBS:
                body = {"target": target, **verb.fields}
                if verb.mutates:
                    epoch = bus.connection_id
                    body.update(request_id="1", request_epoch=epoch)
                reply = await asked(name, verb.name, body)
                assert (reply.rc, reply.body) == (10, DENIED), verb
            for verb_name in ("INFO", "HELP"):
                assert ((await asked("term", verb_name, {})).rc == 0) is not on
                reply = await asked(name, verb_name, {})
                assert (reply.rc, reply.body) == (10, DENIED)
            tabs = await asked("term", "term.tabs", {})
            assert (tabs.rc == 0) is not on
        for command in ("session.allocate", "session.list", "session.self"):
            reply = await asked("brokerd", command, {})
            assert reply.rc == 10
            assert reply.body is not None
            assert reply.body["error_code"] == "FORBIDDEN"
