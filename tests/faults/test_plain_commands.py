"""What passes without a question is what bash, zsh and fish themselves call a whole command."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from termnode.paneshell.prompt import plain
from termnode.paneshell.prompt.syntax import _ARGUMENTS, _GROUPS

KINDS = [kind for kind in _ARGUMENTS if shutil.which(kind)]
NOTHING = {"PATH": "/usr/bin:/bin", "HOME": "/"}
QUIET = {"bash": ["--norc", "-c"], "zsh": ["-f", "-c"], "fish": ["--no-config", "-c"]}
BATCH = 12
"""Commands that one shell reads at once; when it complains, each alone."""

LISTS = {
    "bash": "compgen -k; compgen -b",
    "zsh": "print -l ${(k)reswords} ${(k)builtins}",
    "fish": "builtin -n; echo else; echo case; echo end; echo in",
}
"""What has each shell name the words that it knows itself."""


def own_words(kind: str) -> list[str]:
    """Of one shell."""
    found = subprocess.run(
        [kind, *QUIET[kind], LISTS[kind]], capture_output=True, check=True, text=True, env=NOTHING
    )
    return found.stdout.split()


FIRST_WORDS = sorted({word for kind in KINDS for word in own_words(kind)})
names = st.sampled_from(FIRST_WORDS) | st.text("abzAZ09_./+-", min_size=1, max_size=8)
words = (
    st.sampled_from(FIRST_WORDS)
    | st.text("ab019_./:,@+-=", min_size=1, max_size=8)
    | st.text('ab -+=|&;<>(){}[]#$%~*?^!,"`', max_size=8).map(lambda text: f"'{text}'")
    | st.text("ab -+=|&;<>(){}[]#%~*?^,'", max_size=8).map(lambda text: f'"{text}"')
)
commands = st.tuples(names, st.lists(words, max_size=5)).map(
    lambda parts: " ".join([parts[0], *parts[1]])
)
anything = st.text("ab1 \n\t'\"\\$`!#%&()*+,-./:;<=>?@[]^_{|}~\0é", max_size=12)


def complaint(kind: str, source: str) -> bytes:
    """What the shell says against the source, in both forms that are checked."""
    said = b""
    for form in (source, _GROUPS[kind](source)):
        done = subprocess.run(
            [kind, *_ARGUMENTS[kind], form],
            capture_output=True,
            check=False,
            env=NOTHING,
            stdin=subprocess.DEVNULL,
        )
        said += done.stderr or b"?" * done.returncode
    return said


def refused(kind: str, sources: list[str]) -> list[str]:
    """Those that the shell would not take."""
    if not complaint(kind, "\n".join(sources)):
        return []
    return [source for source in sources if complaint(kind, source)]


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=40, deadline=None)
@given(tried=st.lists(commands, min_size=1, max_size=BATCH))
def test_a_shell_takes_whatever_is_plain(kind: str, tried: list[str]) -> None:
    passed = [source for source in tried if plain.is_plain(source)]
    assert not refused(kind, passed)


@pytest.mark.parametrize("kind", KINDS)
def test_each_first_word_that_is_plain_is_no_grammar(kind: str) -> None:
    tried = [
        form for word in FIRST_WORDS for form in (word, f"{word} a", f"{word} -h", f"{word} a b")
    ]
    assert not refused(kind, [source for source in tried if plain.is_plain(source)])


@pytest.mark.parametrize("kind", KINDS)
def test_without_the_list_of_words_it_would_pass_what_is_wrong(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plain, "_GRAMMAR", re.compile("(?!)"))
    assert refused(kind, [word for word in FIRST_WORDS if plain.is_plain(word)])


@given(source=commands | anything)
@example("echo 'a\\'")
@example('echo "a!b"')
@example("a=b")
@example("a\n")
@example("")
def test_what_is_plain_has_nothing_that_hides(source: str) -> None:
    if plain.is_plain(source):
        assert source.isascii()
        assert source.isprintable()
        assert "\\" not in source
        assert source == source.strip()
        outside = "".join(_unquoted(source))
        assert not set(outside) & set("`$!\"'&|;<>(){}[]*?~#^%")


@pytest.mark.parametrize(
    "source",
    ["true", "ls -la /tmp", "git commit -m 'two words'", "make --jobs=2 test", 'echo "a" b'],
)
def test_usual_commands_are_plain(source: str) -> None:
    assert plain.is_plain(source)


def test_a_long_one_that_is_not_plain_is_told_at_once() -> None:
    assert not plain.is_plain("a" + " -b" * 1_300 + " $")
    assert not plain.is_plain("a" + " 'b c'" * 800 + " '")


def _unquoted(source: str) -> list[str]:
    """What stands outside quotes."""
    quote, outside = "", []
    for character in source:
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        else:
            outside.append(character)
    assert not quote
    return outside
