"""What modules are called: a file's path below the deepest source root that holds it, with dots."""

from __future__ import annotations

from bisect import bisect_left
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from layerguard.errors import UserError
from layerguard.model import Module

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

SOURCES = (".py", ".pyw")
"""The suffixes of Python code."""
_SUFFIXES = (*SOURCES, ".so", ".pyd", ".pyx", ".pyi")
"""The files that make a module exist. Where several make the same one, the first of these is its file."""
_COMPILED = frozenset({".so", ".pyd"})


def split_file(path: str) -> tuple[str, str]:
    """Return a file's name without and with only its suffix; both are empty for what makes no module.

    The name of a compiled module ends at its first dot: `fast.cpython-311-x86_64-linux-gnu.so` is `fast`.
    """
    name = path[path.rfind("/") + 1 :]
    dot = name.rfind(".")
    suffix = name[dot:] if dot > 0 else ""
    if suffix not in _SUFFIXES:
        return "", ""
    stem = name[: name.find(".")] if suffix in _COMPILED else name[:dot]
    return (stem, suffix) if stem else ("", "")


def shown(path: str) -> str:
    """Return a path fit to be printed: bytes that are no UTF-8 become U+FFFD."""
    if path.isascii():
        return path
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def find_roots(
    paths: Sequence[str], globs: Sequence[str] | None, where: str = "'source-roots'"
) -> frozenset[str]:
    """Return the source roots among the folders of `paths`, sorted; the project root, "", is always one.

    Without globs the rule is: `src`, where it is a folder and no package. `where` begins the message of a
    UserError, raised for a glob that matches no folder, or that leaves the project.
    """
    if globs is None:
        place = bisect_left(paths, "src/")
        is_root = place < len(paths) and paths[place].startswith("src/") and "src/__init__.py" not in paths
        return frozenset({"", "src"} if is_root else {""})
    folders = folders_of(paths)
    roots = {""}
    for glob in globs:
        parts = [part for part in glob.split("/") if part not in {"", "."}]
        if glob.startswith("/") or ".." in parts:
            raise UserError(f"{where}: '{glob}' is outside the project.")
        matched = {folder for folder in folders if _matches(folder.split("/") if folder else [], parts)}
        if not matched:
            hint = "A source root is a folder below the project root that holds files of the project."
            raise UserError(f"{where}: '{glob}' matches no folder.", hint)
        roots |= matched
    return frozenset(roots)


class Names:
    """The modules that a list of files makes.

    - `files`: by the path of each file that makes a module, the module's name and whether it is a package;
    - `modules`: by name, the folders above the files among them;
    - `siblings`: the names of the folders that hold Python files and are no packages.
    """

    def __init__(self, paths: Iterable[str], roots: frozenset[str]) -> None:
        """Name the modules of `paths`, which are relative to the project root and have `/`."""
        self._roots = roots
        self._folders: dict[str, str] = {}
        self.files: dict[str, tuple[str, bool]] = {}
        self.modules: dict[str, Module] = {}
        ranks: dict[str, tuple[int, int]] = {}
        packages: set[str] = set()
        scripts: set[str] = set()
        for path in paths:
            if not path.endswith(_SUFFIXES):
                continue
            stem, suffix = split_file(path)
            if not suffix:
                continue
            folder = parent(path)
            package = self._of_folder(folder)
            is_package = stem == "__init__" and package != ""
            module = package if is_package else f"{package}.{shown(stem)}" if package else shown(stem)
            self.files[path] = module, is_package
            rank = (not is_package, _SUFFIXES.index(suffix))
            if module not in ranks or rank < ranks[module]:
                ranks[module] = rank
                self.modules[module] = Module(
                    name=module, path=shown(path), is_package=is_package, has_file=True
                )
            if stem == "__init__":
                packages.add(folder)
            if suffix in SOURCES:
                scripts.add(folder)
        self.siblings = frozenset(self._of_folder(folder) for folder in scripts - packages)
        for folder, name in sorted(self._folders.items()):
            if name and name not in self.modules:
                self.modules[name] = Module(name=name, path=shown(folder), is_package=True, has_file=False)

    def _of_folder(self, folder: str) -> str:
        """Return the name of a folder as a module, empty for a source root; keep it and those above it."""
        try:
            return self._folders[folder]
        except KeyError:
            name = ""
            if folder not in self._roots:
                package = self._of_folder(parent(folder))
                base = shown(folder[folder.rfind("/") + 1 :])
                name = f"{package}.{base}" if package else base
            self._folders[folder] = name
            return name


def parent(path: str) -> str:
    """Return the folder that a path lies in; empty for the root."""
    return path[: max(path.rfind("/"), 0)]


def folders_of(paths: Iterable[str]) -> set[str]:
    """Return the folders above these paths, the root's "" among them."""
    folders = {""}
    for folder in {path.rpartition("/")[0] for path in paths}:
        each = folder
        while each not in folders:
            folders.add(each)
            each = parent(each)
    return folders


def _matches(parts: list[str], pattern: list[str]) -> bool:
    """Tell whether the parts of a path match a glob; `**` stands for any number, hidden ones aside."""
    if not pattern:
        return not parts
    if pattern[0] == "**":
        hidden = bool(parts) and parts[0].startswith(".")
        return _matches(parts, pattern[1:]) or (bool(parts) and not hidden and _matches(parts[1:], pattern))
    if not parts or (parts[0].startswith(".") and not pattern[0].startswith(".")):
        return False
    return fnmatchcase(parts[0], pattern[0]) and _matches(parts[1:], pattern[1:])
