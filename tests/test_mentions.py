"""Mentions of modules in text: which are ones, where they stand, and which module they name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from layerguard.imports.mentions import Mentions

LOOKED_FOR = Mentions({"app.old", "app.old.deep", "app.größe", "word"}, {"", "src"})


def find(text: str | bytes) -> list[tuple[int, int, str]]:
    """Return line, column and module of each mention; every one must lie on one line, as long as it is."""
    data = text.encode() if isinstance(text, str) else text
    found = list(LOOKED_FOR.find(data))
    for each in found:
        assert each.span.line == each.span.end_line
        assert each.span.end_column > each.span.column
    return [(each.span.line, each.span.column, each.module) for each in found]


@pytest.mark.parametrize(
    ("text", "column", "module"),
    [
        ("app.old", 1, "app.old"),
        ("see app.old.", 5, "app.old"),
        ("see app.old, and", 5, "app.old"),
        ("app.old.util.now", 1, "app.old.util.now"),
        ("app.old.util.now()", 1, "app.old.util.now"),
        ("app.old.deep.x", 1, "app.old.deep.x"),
        ("app.old.1", 1, "app.old"),
        ("app.old:main", 1, "app.old"),
        ("app.old's", 1, "app.old"),
        ("'app.old'", 2, "app.old"),
        ("=app.old=", 2, "app.old"),
        ("--cov=app.old", 7, "app.old"),
        ("python -m app.old.cli", 11, "app.old.cli"),
        ("@app.old", 2, "app.old"),
        ("app.old/", 1, "app.old"),
        ("app.größe", 1, "app.größe"),
        ("使用app.old模块", 3, "app.old"),
        ("»app.old«—app.old", 2, "app.old"),
        # files and folders
        ("app/old", 1, "app.old"),
        ("app/old.py", 1, "app.old"),
        ("app/old.pyi", 1, "app.old"),
        ("app/old.py:12", 1, "app.old"),
        ("app/old.py::test", 1, "app.old"),
        ("app/old.py.", 1, "app.old"),
        ("app/old/", 1, "app.old"),
        ("app/old/.", 1, "app.old"),
        ("/app/old/ @team", 2, "app.old"),
        ("./app/old", 3, "app.old"),
        ("app/old/**", 1, "app.old"),
        ("app/old/*.py", 1, "app.old"),
        ("app/old*", 1, "app.old"),
        ("^app/old/", 2, "app.old"),
        (r"app/old\.py", 1, "app.old"),
        ("app/old/x.txt", 1, "app.old"),
        ("app/old/util.py", 1, "app.old.util"),
        ("app/old/util/x-y.py", 1, "app.old.util.x-y"),
        ("app/old/__init__.py", 1, "app.old"),
        ("app/old/deep/__init__.pyi", 1, "app.old.deep"),
        ("src/app/old.py", 5, "app.old"),
        ("/src/app/old.py", 6, "app.old"),
        ("./src/app/old/", 7, "app.old"),
        # kinds of files
        ("[old](app/old.py)", 7, "app.old"),
        ("[`app.old`](https://x.org/app.old.html)", 3, "app.old"),
        ("- :mod:`app.old.util`", 9, "app.old.util"),
        (":class:`~app.old.util.X`", 10, "app.old.util.X"),
        (".. automodule:: app.old", 17, "app.old"),
        ('{"a": "app.old"}', 8, "app.old"),
        ("files: ^(app/old/.*|x)$", 10, "app.old"),
        ("    - app.old", 7, "app.old"),
        ('run = "app.old:main"', 8, "app.old"),
        ("COPY app/old/ /srv/", 6, "app.old"),
        ('exec python -m "app.old" "$@"', 17, "app.old"),
        (r'"source": ["from app.old import x\n"]', 18, "app.old"),
        (r'"x\napp.old"', 5, "app.old"),
        # a single word
        ("import word", 8, "word"),
        ("import word as w", 8, "word"),
        ("from word import x", 6, "word"),
        ("from word.util import x", 6, "word.util"),
        ("`word`", 2, "word"),
        (".. automodule:: word", 17, "word"),
        ("python -m word", 11, "word"),
        ("word.util", 1, "word.util"),
        ("word.py", 1, "word"),
        ("word/", 1, "word"),
        ("word/util.py", 1, "word.util"),
    ],
)
def test_a_mention(text: str, column: int, module: str) -> None:
    assert find(text)[:1] == [(1, column, module)]


@pytest.mark.parametrize(
    "text",
    [
        "app.older",
        "app.old_x",
        "app.old-x",
        "app.old1",
        "my.app.old",
        "my-app.old",
        "myapp.old",
        "_app.old",
        "app.ol",
        "app .old",
        "App.old",
        "app:old",
        r"x\app.old",
        "https://x.org/app.old.html",
        "https://x.org/app/old.py",
        "app/old.txt",
        "app/old.pyc",
        "app/old.py-x",
        "app/old-x",
        "app/older.py",
        "other/app/old.py",
        "x/src/app/old.py",
        "../other/app/old.py",
        "~/app/old.py",
        "app//old.py",
        "lib/app/old",
        "app/old.md",
        # a single word
        "word",
        "a word in prose.",
        "from word to word",
        "to import word by word",
        "word/sentence",
        "word.md",
        "word.json",
        "words.util",
        "key-word.util",
        "import word-count",
    ],
)
def test_no_mention(text: str) -> None:
    assert find(text) == []


def test_nothing_is_looked_for() -> None:
    nothing = Mentions((), {""})
    assert list(nothing.find(b"app.old")) == []
    assert list(nothing.find_in_code(b"# app.old")) == []


def test_the_file_of_another_suffix_is_no_module_of_that_word() -> None:
    assert find("word.yaml word.yml word.toml word.x") == [(1, 30, "word.x")]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ("é app.old".encode(), [(1, 3, "app.old")]),
        (
            "🎉🎉 app.old, 模 app.old\n\tapp.old".encode(),
            [(1, 4, "app.old"), (1, 15, "app.old"), (2, 2, "app.old")],
        ),
        ("é è app.old".encode("latin-1"), [(1, 5, "app.old")]),
        (b"\xff\xfe app.old", [(1, 4, "app.old")]),
        (b"x\r\napp.old\r\n\r\napp.old\r\n", [(2, 1, "app.old"), (4, 1, "app.old")]),
        (b"x\rapp.old\r app.old", [(2, 1, "app.old"), (3, 2, "app.old")]),
        (b"x\n\r\n\rapp.old", [(4, 1, "app.old")]),
        (b"\xef\xbb\xbfapp.old\napp.old", [(1, 1, "app.old"), (2, 1, "app.old")]),
        (b"app.old app.old", [(1, 1, "app.old"), (1, 9, "app.old")]),
        (b"", []),
        (b"\n\n", []),
    ],
)
def test_places(data: bytes, expected: list[tuple[int, int, str]]) -> None:
    assert find(data) == expected


def test_places_behind_a_long_stretch() -> None:
    # The pieces in which lines are counted must not tear a character or a line end.
    for shift in range(4):
        text = "x" * shift + "€" * 30_000 + "\r\n" * 40_000 + "é app.old app.old"
        assert find(text) == [(40_001, 3, "app.old"), (40_001, 11, "app.old")]


def code(text: str | bytes) -> list[tuple[int, int, int, str]]:
    data = text.encode() if isinstance(text, str) else text
    return [
        (each.span.line, each.span.column, each.span.end_column, each.module)
        for each in LOOKED_FOR.find_in_code(data)
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import app.old\nx = 'app.old'\ny = f'app/old.py'\n", []),
        ("x = 1  # é see app.old\n", [(1, 16, 23, "app.old")]),
        (
            "'''Über app.old.\n\n:mod:`app.old.util`\n'''\n",
            [(1, 9, 16, "app.old"), (3, 7, 19, "app.old.util")],
        ),
        ("def f():\n    'app/old.py'\n", [(2, 6, 16, "app.old")]),
        ("class A:\n    x = 1\n    'app.old'\n", [(3, 6, 13, "app.old")]),
        ("#!app.old\r\n\r\n# app.old\r\n", [(1, 3, 10, "app.old"), (3, 3, 10, "app.old")]),
        ("\ufeff# app.old\n", [(1, 3, 10, "app.old")]),
        (b"# coding: latin-1\n# \xe9 app.old\n", [(2, 5, 12, "app.old")]),
        (b"# \xe9 app.old\n", []),
        (b"# app.old\0", []),
        ("def f(x='app.old'):\n    return ('app.old')\n", []),
        ("# app.older\n", []),
        ("x = '''\n# app.old\n'''\n", []),
    ],
)
def test_in_code(text: str | bytes, expected: list[tuple[int, int, int, str]]) -> None:
    assert code(text) == expected


_WORDS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
_PLAIN = Mentions({"app.old", "app.old.deep", "b.c"}, {"", "src"})


def _slow(text: str) -> list[tuple[int, str]]:
    """The same, letter by letter: at each place a path, else a dotted name."""
    found, at = [], 0
    while at < len(text):
        hit = _path_at(text, at) or _dotted_at(text, at)
        if hit:
            start, end = hit
            found.append((start, text[start:end]))
            at = end
        else:
            at += 1
    return found


def _is_free(text: str, at: int) -> bool:
    return text[:at][-1:] not in tuple(_WORDS + "./\\-") or text[max(0, at - 2) : at] in {"\\n", "\\r", "\\t"}


def _names(separator: str) -> list[str]:
    return [name.replace(".", separator) for name in ("app.old.deep", "app.old", "b.c")]


def _path_at(text: str, at: int) -> tuple[int, int] | None:
    if not _is_free(text, at):
        return None
    for lead in ("./", "/", ""):
        for root in ("src/", ""):
            start = at + len(lead + root)
            if text[at:start] != lead + root:
                continue
            for name in _names("/"):
                end = _path_end(text, start + len(name)) if text.startswith(name, start) else None
                if end:
                    return start, end
    return None


def _path_end(text: str, at: int) -> int | None:
    ends = [at]
    while text[at : at + 1] == "/" and text[at + 1 : at + 2] in tuple(_WORDS + "-"):
        at += 1
        while text[at : at + 1] in tuple(_WORDS + "-"):
            at += 1
        ends.append(at)
    for end in reversed(ends):
        rest = text[end:]
        for suffix in (".pyi", ".py"):
            if rest.startswith(suffix) and rest[len(suffix) :][:1] not in tuple(_WORDS + "-"):
                return end + len(suffix)
        if rest[:1] == "/" and rest[1:2] not in tuple(_WORDS):
            return end + 1
        if rest[:1] not in tuple(_WORDS + "-") and not (rest[:1] == "." and rest[1:2] in tuple(_WORDS)):
            return end
    return None


def _dotted_at(text: str, at: int) -> tuple[int, int] | None:
    if not _is_free(text, at):
        return None
    for name in _names("."):
        if not text.startswith(name, at):
            continue
        ends = [at + len(name)]
        while text[ends[-1] :][:1] == "." and text[ends[-1] + 1 :][:1] in tuple(
            _WORDS.strip("0123456789_") + "_"
        ):
            end = ends[-1] + 1
            while text[end : end + 1] in tuple(_WORDS):
                end += 1
            ends.append(end)
        for end in reversed(ends):
            if text[end : end + 1] not in tuple(_WORDS + "-"):
                return at, end
    return None


_PIECES = [
    "app",
    "old",
    "deep",
    "b",
    "c",
    "src",
    ".",
    ".",
    "/",
    "/",
    "-",
    " ",
    "\n",
    "\\n",
    "\\",
    "x",
    "_",
    "1",
    "é",
]
_WHOLE = [".py", ".pyi", "app.old", "app/old", "b.c", "b/c", "./"]


@given(st.lists(st.sampled_from([*_PIECES, *_WHOLE]), max_size=14).map("".join))
def test_the_same_mentions_as_letter_by_letter(text: str) -> None:
    lines = text.split("\n")
    found = [
        (sum(len(line) + 1 for line in lines[: each.span.line - 1]) + each.span.column - 1, each)
        for each in _PLAIN.find(text.encode())
    ]
    written = [
        (start, text[start : start + each.span.end_column - each.span.column]) for start, each in found
    ]
    assert written == _slow(text)
