"""A large public package, read whole: nothing that grimp finds is missed, nothing that it reads is refused.

Off by default. To run it, unpack a wheel and name its folder:

    pip download --no-deps --python-version 3.14 --only-binary=:all: homeassistant
    unzip -q homeassistant-*.whl -d /somewhere
    LAYERGUARD_REAL=/somewhere pytest -m real -s
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from grimp_oracle import found_edges, scan, unexplained

from layerguard.imports import find_imports
from layerguard.sources import read_tree

# Read at import: the fixture for every test takes away what begins with LAYERGUARD_.
_FOLDER = os.environ.get("LAYERGUARD_REAL", "")
_PACKAGE = os.environ.get("LAYERGUARD_REAL_PACKAGE", "homeassistant")

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(not _FOLDER, reason="LAYERGUARD_REAL names no folder with an unpacked wheel"),
]


def test_every_import_that_grimp_finds_is_found(capsys: pytest.CaptureFixture[str]) -> None:
    root = Path(_FOLDER).resolve()
    tree = read_tree(root, ["."], [])
    edges, read, unread = scan(_PACKAGE, root / _PACKAGE)
    refused = {
        source.module: findings.fault
        for source in tree.sources
        if (findings := find_imports(source.file.read_bytes(), ())).fault
    }
    found = found_edges(tree, _PACKAGE)
    with capsys.disabled():
        print(  # noqa: T201 - the numbers are what a run by hand is for
            f"\n{_PACKAGE}: {len(tree.sources)} files, {len(found)} imports, {len(refused)} files refused; "
            f"grimp: {len(read)} files read, {len(unread)} not, {len(edges)} imports"
        )
    assert {module: fault for module, fault in refused.items() if module in read} == {}
    assert len(edges) > 1000
    assert unexplained(found, edges, tree.modules, read)[0] == []
