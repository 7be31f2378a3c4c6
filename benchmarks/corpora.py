"""The trees of real code: pinned releases from the package index, unpacked and never run."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

from benchmarks.trees import Tree

DJANGO = "django==6.1.3"
HOMEASSISTANT = "homeassistant==2026.2.3"
MSGRAPH_BETA = "msgraph-beta-sdk==1.66.0"
TRANSFORMERS = "transformers==5.24.0"

CORPORA = {
    "django": {DJANGO: "django"},
    "transformers": {TRANSFORMERS: "transformers"},
    "homeassistant": {HOMEASSISTANT: "homeassistant"},
    "namespace": {MSGRAPH_BETA: "msgraph_beta"},
    "django, many contracts": {DJANGO: "django"},
    "homeassistant, many contracts": {HOMEASSISTANT: "homeassistant"},
    "twelve": {
        "ansible-core==2.21.5": "ansible",
        "botocore==1.44.8": "botocore",
        DJANGO: "django",
        "docutils==0.23": "docutils",
        HOMEASSISTANT: "homeassistant",
        "kubernetes==37.0.2": "kubernetes",
        "networkx==3.7": "networkx",
        "oci==2.189.0": "oci",
        "plotly==7.1.0": "plotly",
        "sympy==1.14.0": "sympy",
        TRANSFORMERS: "transformers",
        "twilio==9.13.0": "twilio",
    },
}
"""Of each tree, the releases, and the top-level package that is taken from each. All are pure Python."""

_PYTHON = "3.14"
"""The releases are picked for this version, whatever runs the benchmarks: some refuse older ones."""
_LARGE = 100_000
"""A file that is no code and larger than this is left out: no tool looks at it, but it fills the disk."""
_OTHERS = ("/ruff.toml", "/.ruff.toml", "/pyproject.toml", "/tach.toml")
"""Configuration that was released with the code: ruff would follow it to files that were not."""
_WITHOUT = {"namespace": "msgraph_beta/__init__.py"}
"""The only `__init__.py` of that release: without it, all its packages are namespace packages."""


def make(work: Path, name: str) -> Tree:
    """Return the tree of that name in the working folder, fetched and unpacked where it is not there yet."""
    releases = CORPORA[name]
    tree = Tree(
        name=name, folder=_folder(work, name), roots=sorted(releases.values()), releases=sorted(releases)
    )
    done = tree.folder.with_suffix(".done")
    wanted = "\n".join(tree.releases)
    if not (done.exists() and done.read_text() == wanted):
        done.unlink(missing_ok=True)
        shutil.rmtree(tree.folder, ignore_errors=True)
        for release, package in releases.items():
            _unpack(_fetch(work / "wheels", release), package, tree.folder)
        if name in _WITHOUT:
            (tree.folder / _WITHOUT[name]).unlink()
        done.write_text(wanted)
    return tree


def set_git(tree: Tree, *, wanted: bool) -> None:
    """Make the tree a git repository with one commit of all that is in it, or none."""
    if not wanted:
        shutil.rmtree(tree.folder / ".git", ignore_errors=True)
    elif not (tree.folder / ".git").exists():
        who = ["-c", "user.name=benchmarks", "-c", "user.email=benchmarks@example.com"]
        for words in (
            ["init", "--quiet"],
            ["add", "--all"],
            [*who, "commit", "--quiet", "--message", "As released"],
        ):
            subprocess.run(["git", *words], cwd=tree.folder, check=True)


def _folder(work: Path, name: str) -> Path:
    return work / "trees" / name.replace(", ", "-").replace(" ", "-")


def _fetch(wheels: Path, release: str) -> Path:
    stem = re.sub(r"[-_.]+", "_", release.partition("==")[0])
    pattern = f"{stem}-{release.partition('==')[2]}-*.whl"
    if not [*wheels.glob(pattern)]:
        print(f"fetching {release}", file=sys.stderr)
        options = ["--quiet", "--no-deps", "--only-binary=:all:", "--python-version", _PYTHON]
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
        subprocess.run([*pip, "download", *options, "--dest", str(wheels), release], check=True)
    return next(wheels.glob(pattern))


def _unpack(wheel: Path, package: str, folder: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(
            folder,
            [
                each
                for each in archive.infolist()
                if each.filename.startswith(f"{package}/")
                and (each.filename.endswith(".py") or each.file_size <= _LARGE)
                and not each.filename.endswith(_OTHERS)
            ],
        )
