"""The tree of an earlier run: good as long as no folder has changed, nor what git ignores and tracks."""

from __future__ import annotations

import os
from binascii import crc32

import msgspec

from layerguard.cache import Cache, written_by
from layerguard.config import Config
from layerguard.inventory import Inventory
from layerguard.likeness import are_alike
from layerguard.model import Module
from layerguard.snapshots import Glance, are_same, are_young, bytes_of, joined, pairs_of, text_of, texts_of
from layerguard.sources import Problem, Source, Tree
from layerguard.surroundings import find_git, git_variables
from layerguard.verdicts import seal_of
from layerguard.watching import Layout

_Content = tuple[
    tuple[tuple[str, str, bool], ...],
    tuple[Module, ...],
    tuple[Problem, ...],
    tuple[str, ...],
    tuple[str, ...],
]
"""What of a tree is kept as msgpack: all but the paths as the system has them, which may be no UTF-8."""
_decoder = msgspec.msgpack.Decoder(_Content)


def find_layout(cache: Cache, config: Config, glance: Glance, moment: int, *, files: bool) -> Layout | None:
    """Return the tree of an earlier run, where it must be the same still; its files only where asked for."""
    key = _key(config, files=files)
    parts = cache.read(_name(key), _kind())
    seal = seal_of(str(cache.folder))
    if parts is None or text_of(parts[0]) != key or not seal or parts[6] != seal:
        return None
    paths = texts_of(parts[1])
    numbers, marks, indexes = glance.numbers_of(paths), bytes(parts[7]), pairs_of(parts[8])
    if not are_same(numbers, parts[2]):
        before = parts[2].cast("q").tolist()
        if not are_alike(paths, before, numbers, marks, indexes):
            return None
        if not are_young(numbers, moment):
            cache.write_parts(_name(key), _kind(), [*parts[:2], bytes_of(numbers), *parts[3:]])
    named, modules, problems, siblings, noted = _decoder.decode(parts[3])
    places, linked, roots = map(texts_of, parts[9:12])
    tree = Tree(
        sources=tuple(
            [Source(*names, place=place) for names, place in zip(named, places, strict=True)],
        ),
        modules={module.name: module for module in modules},
        problems=problems,
        files=tuple(texts_of(parts[4])),
        siblings=frozenset(siblings),
        roots=frozenset(roots),
        noted=noted,
        inventory=Inventory(regular=texts_of(parts[5])),
    )
    return Layout(tree, paths, linked, marks, indexes)


def keep_layout(
    cache: Cache, config: Config, layout: Layout, numbers: list[int], moment: int, *, files: bool
) -> None:
    """Keep a tree with the numbers of its paths, as they were before it was read; not if one is too young."""
    if are_young(numbers, moment):
        return
    key, tree = _key(config, files=files), layout.tree
    named = [(source.path, source.module, source.is_package) for source in tree.sources]
    content = (named, [*tree.modules.values()], tree.problems, sorted(tree.siblings), tree.noted)
    parts = [
        key.encode("utf-8", "surrogateescape"),
        joined(layout.paths),
        bytes_of(numbers),
        msgspec.msgpack.encode(content),
        joined(tree.files if files else ()),
        joined(tree.inventory.regular if files else ()),
        seal_of(str(cache.folder)),
        layout.marks,
        joined([text for pair in sorted(layout.indexes.items()) for text in pair]),
        joined([source.place for source in tree.sources]),
        joined(layout.linked),
        joined(sorted(tree.roots)),
    ]
    cache.write_parts(_name(key), _kind(), parts)


def _kind() -> str:
    return f"layout {written_by('inventory.py', 'layout.py', 'model.py', 'names.py', 'sources.py')}"


def _key(config: Config, *, files: bool) -> str:
    roots = ["default"] if config.source_roots is None else ["these", *config.source_roots]
    facts = [f"{name}={value}" for name, value in sorted(git_variables(os.environ).items())]
    parts = [str(config.root), config.path, str(files), *roots, "", *config.exclude, ""]
    return "\0".join([*parts, find_git(os.environ), *facts])


def _name(key: str) -> str:
    return f"layout-{crc32(key.encode('utf-8', 'surrogateescape')):08x}"
