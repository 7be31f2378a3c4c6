"""Which files are read for mentions, and how: encodings, binary and large files, layerguard's own, links."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest
from history import start

from layerguard.imports.mentions import Mentions
from layerguard.model import Import, Location
from layerguard.sources import read_tree
from layerguard.texts import find_mentions

OLD = Mentions({"app.old"}, {""})


def find(root: Path, files: dict[str, bytes | str], own: tuple[str, ...] = ()) -> list[tuple[str, int, int]]:
    """Return the path, line and column of each mention."""
    for path, content in {"app/__init__.py": b"", **files}.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(content.encode() if isinstance(content, str) else content)
    found = list(find_mentions(root, read_tree(root, None, []), OLD, own))
    return [(each.location.path, each.location.line, each.location.column) for each in found]


def test_a_mention_is_an_import_by_the_file(tmp_path: Path) -> None:
    find(tmp_path, {"docs/use.md": "see\n\n  app/old/util.py"})
    found = list(find_mentions(tmp_path, read_tree(tmp_path, None, []), OLD, ()))
    place = Location("docs/use.md", 3, 3, 3, 18)
    assert found == [Import("docs/use.md", "", "app.old.util", "text", "load", place)]


def test_every_kind_of_text_file(tmp_path: Path) -> None:
    files: dict[str, bytes | str] = dict.fromkeys(
        [
            "CODEOWNERS",
            "Makefile",
            "a.ipynb",
            "a.json",
            "a.rst",
            "a.sh",
            "a.toml",
            "a.yaml",
            "app/py.typed",
            "b.pyi",
        ],
        "x app.old\n",
    )
    assert find(tmp_path, files) == [(path, 1, 3) for path in sorted(files)]


def test_python_files_by_their_comments_and_docstrings(tmp_path: Path) -> None:
    text = '"""About app.old."""\nimport app.old\nx = "app.old"  # app/old.py\n'
    assert find(tmp_path, {"m.py": text, "gui.pyw": "# app.old\n"}) == [
        ("gui.pyw", 1, 3),
        ("m.py", 1, 10),
        ("m.py", 3, 18),
    ]


@pytest.mark.parametrize(
    ("data", "places"),
    [
        ("é 🎉 app.old".encode(), [(1, 5)]),
        ("é à app.old\n".encode("latin-1"), [(1, 5)]),
        ("é🎉 app.old\r\n\r\napp.old".encode("utf-16"), [(1, 4), (3, 1)]),
        (b"\xfe\xff" + "é app.old\n".encode("utf-16-be"), [(1, 3)]),
        ("app.old".encode("utf-16-le"), []),
        (b"\xef\xbb\xbf app.old", [(1, 2)]),
        (b"a\r\n app.old\r\n", [(2, 2)]),
        (b"a\r app.old\r", [(2, 2)]),
        (b"app.old", [(1, 1)]),
        (b"", []),
        (b"app.old\0", []),
        (b"x" * 7999 + b"\0 app.old", []),
        (b"app.old\n" + b"x" * 8000 + b"\0", [(1, 1)]),
        (b"\xff\xfe", []),
        (b"\xff\xfe\xd8", []),
    ],
)
def test_encodings(tmp_path: Path, data: bytes, places: list[tuple[int, int]]) -> None:
    assert find(tmp_path, {"a.txt": data}) == [("a.txt", *place) for place in places]


def test_a_large_file_is_not_read_into_memory(tmp_path: Path) -> None:
    size = 50 * 1024 * 1024
    with (tmp_path / "large.txt").open("wb") as file:
        file.write(b"first\n" * 2000 + "é ".encode() + b"app.old\n")
        file.seek(size)
        file.write(b"\napp.old")
    (tmp_path / "m.py").touch()
    tree = read_tree(tmp_path, None, [])
    tracemalloc.start()
    try:
        found = [each.location for each in find_mentions(tmp_path, tree, OLD, ())]
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found == [Location("large.txt", 2001, 3, 2001, 10), Location("large.txt", 2003, 1, 2003, 8)]
    assert peak < 2 * 1024 * 1024


def test_a_long_line_is_counted_once(tmp_path: Path) -> None:
    # Counted anew for each mention, this would take minutes.
    text = "app.old, " * 50_000
    found = find(tmp_path, {"min.js": text})
    assert (len(found), found[-1]) == (50_000, ("min.js", 1, 9 * 49_999 + 1))


def test_own_files(tmp_path: Path) -> None:
    own = ("layerguard.toml", "contracts/a.toml", "contracts/allowances.toml")
    assert find(tmp_path, {**dict.fromkeys([*own, "contracts/b.md"], "app.old\n")}, own) == [
        ("contracts/b.md", 1, 1)
    ]


def test_own_tables_of_pyproject(tmp_path: Path) -> None:
    text = """\
# app.old
[project.scripts]
old = "app.old:main"

  [[tool.layerguard.contract]]  # app.old
modules = { "app.old" = "" }
layers = [
    "app.old"
]
["tool.layerguard-like"]
x = "app.old"
[ tool . layerguard ]
x = "app.old"
[tool.layerguards]
x = "app.old"
[tool.layerguard.x]\r
x = [
["app.old"],
["app.old"],
]
[tool.other]
x = "app.old"
"""
    lines = [1, 3, 11, 15, 22]
    found = find(tmp_path, {"pyproject.toml": text, "sub/pyproject.toml": text}, ("pyproject.toml",))
    assert [line for path, line, _ in found if path == "pyproject.toml"] == lines
    assert len([path for path, *_ in found if path == "sub/pyproject.toml"]) == 11


def test_links_count_once(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/b.md").symlink_to("../a.md")
    (tmp_path / "linked").symlink_to("docs")
    (tmp_path / "gone.md").symlink_to("nowhere.md")
    assert find(tmp_path, {"a.md": "app.old"}) == [("a.md", 1, 1)]


def test_what_cannot_be_read_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = Path.open

    def refuse(self: Path, mode: str = "r") -> object:
        if self.name == "a.md":
            raise PermissionError(13, "Permission denied")
        return opened(self, mode)

    def refuse_all(_: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    find(tmp_path, {"a.md": "app.old", "b.md": "app.old", "locked.py": "# app.old"})
    tree = read_tree(tmp_path, None, [])
    monkeypatch.setattr(Path, "open", refuse)
    monkeypatch.setattr(Path, "read_bytes", refuse_all)
    assert [each.importer for each in find_mentions(tmp_path, tree, OLD, ())] == ["b.md"]


def test_a_path_that_is_no_utf_8(tmp_path: Path) -> None:
    (tmp_path / "\udce9.md").write_bytes(b"app.old")
    assert find(tmp_path, {}) == [("\ufffd.md", 1, 1)]


def test_in_git_only_what_is_tracked(tmp_path: Path) -> None:
    """A report that was written into the project mentions nothing; new code is read all the same."""
    repo = start(tmp_path, {"app/__init__.py": "", "known.txt": "app.old\n"})
    repo.write({"report.txt": "app.old\n", "app/new.py": "# app.old\n"})
    found = find_mentions(tmp_path, read_tree(tmp_path, None, []), OLD, ())
    assert [each.importer for each in found] == ["app/new.py", "known.txt"]
