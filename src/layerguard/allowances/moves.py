"""Where modules went: what an allowance of before is called now.

A module moved where a `removed` contract says so, and where git is certain of a rename.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from layerguard.graph import parents
from layerguard.regex import regex

_KEY = regex(r"(?P<importer>.+?)(?P<scope>:[^/]*?)? -> (?P<imported>\S+)(?P<mark> \(\w+\))?")


class Moves:
    """Old names of modules and paths, and the new ones.

    `tables` are from `removed` contracts and cover submodules; `renames` are single modules or paths.
    `before` are the modules that there were at the base, `now` those of today.
    """

    def __init__(
        self,
        tables: Mapping[str, str],
        renames: Mapping[str, str],
        before: Collection[str],
        now: Collection[str] = (),
    ) -> None:
        """Keep the moves; a table's empty new name is none."""
        self._tables = {old: new for old, new in tables.items() if new}
        self._renames = dict(renames)
        self._before = before
        self._known = {*before, *now}
        self._packages = {parent for name in self._known for parent in parents(name)}

    def was_between(self, name: str) -> bool:
        """Tell whether a module can have had this name between the base and today, and at neither."""
        parent = name.rpartition(".")[0]
        return name not in self._known and parent in self._packages

    def follow(self, key: str) -> str:
        """Return an allowance's identity after the moves; the same where nothing of it moved."""
        match = _KEY.fullmatch(key)
        if not match:
            return key
        importer, imported = self._importer(match["importer"]), self._imported(match["imported"])
        return f"{importer}{match['scope'] or ''} -> {imported}{match['mark'] or ''}"

    def names(self, key: str) -> list[str]:
        """Return what an allowance may be called now, the likeliest first; nothing where nothing of it moved.

        A moved importer may name what it imports by the old name still: that is what a `removed` contract
        tolerates.
        """
        match = _KEY.fullmatch(key)
        if not match:
            return []
        importers = dict.fromkeys((self._importer(match["importer"]), match["importer"]))
        imported = dict.fromkeys((self._imported(match["imported"]), match["imported"]))
        scope, mark = match["scope"] or "", match["mark"] or ""
        names = [f"{importer}{scope} -> {target}{mark}" for importer in importers for target in imported]
        return [name for name in names if name != key]

    def origins(self, importer: str) -> list[str]:
        """Return the names that an importer may have had at the base, its own name first."""
        names = [importer]
        names += [old for old, new in sorted(self._renames.items()) if new == importer]
        for old, new in sorted(self._tables.items()):
            if importer == new or importer.startswith(f"{new}."):
                names.append(old + importer[len(new) :])
        return list(dict.fromkeys(names))

    def _importer(self, name: str) -> str:
        return self._renames.get(name) or self._by_table(name)

    def _imported(self, name: str) -> str:
        # Of a package whose `__init__` alone was renamed, only its names moved, not its modules.
        for each in (name, *reversed(parents(name))):
            if each in self._renames:
                return self._renames[each] + name[len(each) :]
            if each in self._before:
                break
        return self._by_table(name)

    def _by_table(self, name: str) -> str:
        for each in (name, *reversed(parents(name))):
            if each in self._tables:
                return self._tables[each] + name[len(each) :]
        return name
