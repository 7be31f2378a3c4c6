"""On real packages the imports, by line, are those of grimp; what differs is explained by a named rule."""

from __future__ import annotations

import shutil
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING

import grimp
import pytest
from grimp_oracle import Edge, Rule, found_edges, scan, unexplained

from layerguard.sources import Tree, read_tree

if TYPE_CHECKING:
    from collections.abc import Iterable

_PACKAGES = (
    "_pytest",
    "attr",
    "click",
    "coverage",
    "grimp",
    "hypothesis",
    "importlinter",
    "jsonschema",
    "mypy",
    "packaging",
    "pathspec",
    "pluggy",
    "pygments",
    "pytest",
    "rich",
)


def _copied(package: str, root: Path) -> Tree:
    folder = Path(sysconfig.get_path("purelib")) / package
    shutil.copytree(folder, root / package, ignore=shutil.ignore_patterns("__pycache__"))
    return read_tree(root, ["."], [])


@pytest.mark.parametrize("package", _PACKAGES)
def test_imports_equal_those_of_grimp(package: str, tmp_path: Path) -> None:
    tree = _copied(package, tmp_path)
    theirs, read, unread = scan(package, tmp_path / package)
    assert unread == set()
    ours = found_edges(tree, package)
    assert len(theirs) > 30
    assert unexplained(ours, theirs, tree.modules, read)[0] == []


@pytest.mark.parametrize("package", [name for name in _PACKAGES if name not in {"mypy", "pytest"}])
@pytest.mark.parametrize("external", [False, True])
def test_edges_equal_those_of_the_whole_graph(package: str, external: bool, tmp_path: Path) -> None:
    tree = _copied(package, tmp_path)
    graph = grimp.build_graph(package, include_external_packages=external, cache_dir=None)
    theirs = {
        Edge(importer, imported, 0)
        for importer in graph.modules
        for imported in graph.find_modules_directly_imported_by(importer)
    }
    seen = {name for name in graph.modules if name.partition(".")[0] == package}
    ours = {
        edge._replace(line=0)
        for edge in found_edges(tree, package)
        if external or edge.imported.partition(".")[0] == package
    }
    assert len(theirs) > 20
    assert unexplained(ours, theirs, tree.modules, seen, external=external)[0] == []


_FILES = {
    "app/__init__.py": "",
    "app/missing.py": "import app.gone\nfrom app.gone import x\nimport app.gone.deep\nfrom .gone import y\n",
    "app/fast.cpython-311-x86_64-linux-gnu.so": "",
    "app/stub.pyi": "",
    "app/uses.py": "from app import fast, stub\nimport app.fast\nfrom app.fast import x\n",
    "app/bare/inner.py": "import app.uses\n",
    "app/itself.py": "import app.itself\n",
    "app/folder.py": "import app.bare\nfrom app import bare\nfrom app.bare import inner\n",
}


def _made(root: Path, files: Iterable[tuple[str, str]]) -> Tree:
    for path, text in files:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return read_tree(root, ["."], [])


def test_every_rule_is_needed_and_none_explains_too_much(tmp_path: Path) -> None:
    tree = _made(tmp_path, _FILES.items())
    theirs, seen, _ = scan("app", tmp_path / "app")
    ours = found_edges(tree, "app")
    left, used = unexplained(ours, theirs, tree.modules, seen)
    assert left == []
    assert set(used) == set(Rule)
    missed = Edge("app.uses", "app.itself", 9)
    assert unexplained(ours, {*theirs, missed}, tree.modules, seen)[0] == [missed]
    assert unexplained({*ours, missed}, theirs, tree.modules, seen)[0] == [missed]
