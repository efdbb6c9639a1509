"""specs/attach.md is what the tables of keys say."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from termnode.attach.config import parse
from termnode.attach.ui.bindings import COMMANDS, COPY
from termnode.attach.ui.docs import PAGE, main, page
from tests.support.imports import ROOT


def test_the_page_is_fresh() -> None:
    assert main(["--check", str(ROOT / "specs")]) == 0


def test_a_stale_or_missing_page_is_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--check", str(tmp_path)]) == 1
    (tmp_path / PAGE).write_text(page().replace("split-right", "split-left"), encoding="utf-8")
    assert main(["--check", str(tmp_path)]) == 1
    assert "stale" in capsys.readouterr().err
    assert main([str(tmp_path)]) == 0
    assert main(["--check", str(tmp_path)]) == 0


def test_every_action_and_key_is_in_it() -> None:
    text = page()
    for binding in (*COMMANDS, *COPY):
        assert f"| `{binding.action}` |" in text
        assert all(f"`{key}`" in text for key in binding.keys)


def test_its_example_is_a_good_configuration() -> None:
    example = page().split("```toml\n")[1].split("```")[0]
    assert tomllib.loads(example)
    assert parse(example.encode(), Path("config.toml")).prefix == "C-a"
