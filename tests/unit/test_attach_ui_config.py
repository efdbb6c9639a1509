"""The person's config.toml: what it may say, and what is said of one that is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from termnode.attach.config import MAX_BYTES, Config, ConfigError, load, locate, parse
from termnode.attach.ui.state import Colours
from termnode.terminal.input.names import parse_key

PATH = Path("config.toml")

GOOD = """
prefix = "C-a"
mouse = false

[keys]
"|" = "split-right"
x = "none"

[copy-keys]
"C-j" = "copy"

[colours]
active-border = "#00afff"
border = 240
status-fg = "bright-white"
status-bg = "default"
"""


def test_all_that_can_be_said() -> None:
    config = parse(GOOD.encode(), PATH)
    assert config == Config(
        prefix="C-a",
        mouse=False,
        keys={parse_key("|"): "split-right", parse_key("x"): None},
        copy_keys={parse_key("C-j"): "copy"},
        colours=Colours(
            active_border=(0, 0xAF, 0xFF), border=240, status_fg=15, status_bg=None
        ),
    )  # fmt: skip


def test_no_file_is_the_defaults(tmp_path: Path) -> None:
    assert load(tmp_path / "config.toml") == Config()
    (tmp_path / "config.toml").write_text("")
    assert load(tmp_path / "config.toml") == Config()


def test_where_the_file_is() -> None:
    assert locate({"XDG_CONFIG_HOME": "/x", "HOME": "/h"}) == Path("/x/termnode/config.toml")
    home = Path("/h/.config/termnode/config.toml")
    assert locate({"XDG_CONFIG_HOME": "relative", "HOME": "/h"}) == home
    assert locate({"HOME": "/h"}) == home


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("prefix = ", 1, "TOML"),
        ("\n\n[keys\n", 3, "TOML"),
        ('a = """\n\n', 3, "TOML"),
        ("\nprefix = 3", 2, "a key is a text"),
        ('\nprefix = "Ctrl-b"', 2, "did you mean C-b"),
        ("mouse = 1", 1, "true or false"),
        ('prefx = "C-a"', 1, "did you mean prefix"),
        ("secret = 1", 1, "there are"),
        ("keys = 1", 1, "[keys]"),
        ('[keys]\n# note\n"c" = "new-tab"\n"v" = "split-rihgt"', 4, "did you mean split-right"),
        ('[keys]\n"v" = ["new-tab"]', 2, "no such action"),
        ('[keys]\n"v" = "left"', 2, "no such action"),
        ('[keys]\n"Hyper-v" = "zoom"', 2, "no key"),
        ('[keys]\n"NPage" = "zoom"\n"PgDn" = "zoom"', 3, "bound twice"),
        ('keys = { "c" = "new-tab", "v" = "zzz" }', 1, "no such action"),
        ('[copy-keys]\n"v" = "zoom"', 2, "no such action"),
        ("[colours]\nborder = 256", 2, "#rrggbb"),
        ("[colours]\nborder = true", 2, "#rrggbb"),
        ('[colours]\nborder = "#12345"', 2, "#rrggbb"),
        ("[colours]\nborders = 1", 2, "did you mean border"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(text: str, line: int, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse(text.encode(), PATH)
    assert caught.value.line == line
    assert words in caught.value.text
    assert str(caught.value).startswith(f"config.toml, line {line}: ")


def test_no_message_repeats_the_file() -> None:
    for text in ('prefix = "hunter2"', "hunter2 = 1", '[keys]\nx = "hunter2"', "hunter2 hunter2"):
        with pytest.raises(ConfigError) as caught:
            parse(text.encode(), PATH)
        assert "hunter2" not in str(caught.value)


def test_what_is_no_text_or_too_long_or_unreadable(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes(b"# ok\n# \xff\n")
    with pytest.raises(ConfigError, match=r"line 2: .*UTF-8"):
        load(path)
    path.write_bytes(b"#" * (MAX_BYTES + 1))
    with pytest.raises(ConfigError, match="smaller"):
        load(path)
    with pytest.raises(ConfigError, match="cannot be read"):
        load(tmp_path)
