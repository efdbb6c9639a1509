"""Imports go one way: cli, service, lanes, control, workspace, terminal; brokerd by its client."""

from __future__ import annotations

import pytest

import brokerd.client
from tests.support.imports import BELOW, ROOT, imported, modules, violations


def is_package(name: str) -> bool:
    return (ROOT.joinpath(*name.split(".")) / "__init__.py").exists()


def test_no_module_imports_against_the_order() -> None:
    found = [
        line
        for name, source in modules()
        for line in violations(name, source, package=is_package(name))
    ]
    assert found == []


def test_the_order_covers_what_is_there() -> None:
    names = [name for name, _ in modules()]
    assert {f"termnode.{part}" for part in ("control", "lanes", "workspace")} <= set(names)
    parts = {path.name for path in (ROOT / "termnode").iterdir() if path.is_dir()}
    assert parts - {"__pycache__"} <= set(BELOW)


def test_termnode_takes_only_public_names_of_the_client() -> None:
    taken = {
        target
        for name, source in modules()
        if name.startswith("termnode")
        for target in imported(name, source, package=is_package(name))
        if target.startswith("brokerd.client.")
    }
    public = {f"brokerd.client.{name}" for name in brokerd.client.__all__}
    assert taken - public == set()


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("termnode.terminal.bad", "from termnode.workspace import tree"),
        ("termnode.control.bad", "import termnode.lanes.calls"),
        ("termnode.control.bad", "from ..lanes import calls"),
        ("termnode.control.bad", "def late():\n    from termnode.service import run"),
        ("termnode.control.bad", "if TYPE_CHECKING:\n    import termnode.cli.main"),
        ("termnode.control.bad", "from brokerd.errors import Refusal"),
        ("termnode.control.bad", "from brokerd import errors"),
        ("termnode.control.bad", "import brokerd.client.session.inner"),
        ("termnode.control.bad", "from brokerd.client import _private"),
        ("termnode.panehost.bad", "from brokerd.client import Refusal"),
        ("termnode.panehost.bad", "from termnode.terminal import engine"),
        ("termnode.control.bad", "import termnode.newpart"),
        ("termnode.client.bad", "from termnode.service import state"),
        ("termnode.client.bad", "from termnode.terminal import engine"),
        ("termnode.client.bad", "import termnode.sync"),
        ("termnode.sync.bad", "import termnode.aio"),
        ("termnode.service.bad", "from termnode.client import connect"),
        ("brokerd.core.bad", "from termnode.control import verbs"),
        ("brokerd.core.bad", "import termnode"),
    ],
)  # fmt: skip
def test_a_module_against_the_order_is_reported(name: str, source: str) -> None:
    assert len(violations(name, source)) == 1


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("termnode.cli.good", "from termnode.service import run"),
        ("termnode.lanes.good", "from .calls import Call\nfrom ..control import verbs"),
        ("termnode.control.good", "from brokerd.client import Refusal\nimport brokerd.client"),
        ("termnode.control.good", "from brokerd import client"),
        ("termnode.service.good", "import termnode.panehost.client\nimport termnode"),
        ("termnode.client.good", "from termnode.control import parts\nimport termnode.version"),
        ("termnode.aio.good", "from termnode.client import connect"),
        ("termnode.cli.good", "import termnode.sync\nfrom termnode.client import connect"),
        ("brokerd.core.good", "from brokerd.errors import Refusal"),
    ],
)
def test_a_module_that_keeps_to_it_is_not(name: str, source: str) -> None:
    assert violations(name, source) == []


def test_relative_imports_of_a_package_are_its_own() -> None:
    assert list(imported("termnode.control", "from .spec import Kind", package=True)) == [
        "termnode.control.spec.Kind"
    ]
