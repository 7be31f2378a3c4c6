"""Keeps what a check has found out, so that the next one need not.

One keeper serves one check: it notes the time, then what the check depends on, and at the end the outcome.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from pathlib import Path

import msgspec

from layerguard.cache import Cache, find_cache
from layerguard.config import Config, find_root
from layerguard.git import find_index
from layerguard.layout import find_layout, keep_layout
from layerguard.likeness import NO_MARK, marks_of
from layerguard.memory import Memory
from layerguard.model import Report
from layerguard.reporters import render
from layerguard.snapshots import Glance
from layerguard.sources import Tree, read_tree
from layerguard.standing import bytes_of_recent
from layerguard.stores import SIZE
from layerguard.verdicts import Basis, Verdict, key_of, place_of, seal_of, to_bytes, today
from layerguard.watching import Environment, Layout, Watch, find_shaping, take_numbers


def outcome(report: Report, form: str) -> Verdict:
    """Return the outcome of a check, with its report as text in a form (see `render`)."""
    notes = [f"note: {note}" for note in (*report.notes, *report.weakened)]
    marks = {"failed": report.failed, "weakened": bool(report.weakened)}
    text = render(report, form)
    return Verdict(notes, [mark for mark in marks if marks[mark]], form, text, msgspec.msgpack.encode(report))


_EVENT = "GITHUB_EVENT_PATH"


def open_keeper(cache_dir: str | None, glance: Glance | None = None) -> Keeper:
    """Return a keeper for a check of the project that holds the current folder. Raises UserError for none."""
    return Keeper(find_root(Path())[0], cache_dir, glance)


class Keeper:
    """What is kept of one check; `environment` is to be asked in place of the real one."""

    def __init__(self, root: Path, cache_dir: str | None = None, glance: Glance | None = None) -> None:
        """Begin, before anything of the project at `root` is read."""
        self.cache = Cache(find_cache(root, cache_dir))
        self.environment = Environment(os.environ)
        self._moment = self.cache.moment(root)
        # What was seen before the cache was made is out of date.
        self._glance = glance if glance and not self.cache.has_made else Glance()
        self._watch: Watch | None = None
        self._memory: Memory | None = None
        self._layout: Layout | None = None
        self._sought: tuple[Collection[str], Collection[str]] = ((), ())
        self._today = today()
        self._dated = False

    def tree(self, config: Config, *, files: bool) -> Tree:
        """Return the tree of the project: that of an earlier run, where it is still good.

        Without `files` it may lack those that are no sources.
        """
        if not self._moment:
            return read_tree(config.root, config.source_roots, config.exclude, config.path)
        self._layout = find_layout(self.cache, config, self._glance, self._moment, files=files)
        if self._layout:
            return self._layout.tree
        tree = read_tree(config.root, config.source_roots, config.exclude, config.path)
        if self._is_tracked(config.root, tree):
            self._moment = 0
            return tree
        shaping = find_shaping(config.root, tree.inventory, str(self.cache.folder))
        if shaping is not None:
            links = {f"{config.root}/{path}" for path in tree.inventory.links}
            linked = [source.place for source in tree.sources if source.place in links] if links else []
            index = find_index(config.root) if tree.inventory.in_git else None
            indexes = {index: str(config.root)} if index else {}
            folders = {f"{config.root}/{folder}".rstrip("/") for folder in tree.inventory.folders}
            marked = folders.union(indexes, map(os.path.dirname, indexes))
            marks = marks_of(shaping, marked, indexes, self._moment)
            self._layout = Layout(tree, shaping, linked, marks, indexes)
            numbers = self._glance.numbers_of(shaping)
            keep_layout(self.cache, config, self._layout, numbers, self._moment, files=files)
        return tree

    def take(
        self,
        config: Config,
        tree: Tree,
        wanted: Collection[str],
        revisions: Sequence[str | None],
        *,
        others: Collection[str],
        texts: bool,
        dated: bool,
    ) -> None:
        """Note what the check depends on, before any source is read.

        `revisions` are those that were asked for, `others` further paths that matter, `texts` says whether
        text files are read; `dated` that the outcome may be another tomorrow.
        """
        if not self._moment:
            return
        further = [f"{config.root}/{path}" for path in (*wanted, *others)]
        further += [path for path in [self.environment.asked.get(_EVENT)] if path]
        layout, glance = self._layout, self._glance
        watch = take_numbers(Path.cwd(), config, tree, layout, further, glance, self._moment, texts=texts)
        # What a revision means may depend on when it is asked for.
        is_fleeting = any(text and ("@{" in text or ":/" in text) for text in revisions)
        self._watch = msgspec.structs.replace(watch, whole=watch.whole and not is_fleeting)
        self._dated = dated

    def memory(
        self, tree: Tree, via: Collection[str], outside: Collection[str], tops: Collection[str]
    ) -> Memory | None:
        """Return what earlier runs have found in the sources of the tree.

        `via` and `outside` are what is looked for (see `read_imports`), `tops` what is looked at (see
        `tops_of`).
        """
        if self._watch is not None:
            self._memory = Memory(self.cache, tree, self._watch, via, outside)
            self._sought = sorted(via), tops
        return self._memory

    def keep(self, verdict: Verdict, asked: tuple[Sequence[str], Sequence[str], str | None, bool]) -> None:
        """Keep the outcome for those who ask the same (see `key_of`)."""
        watch, memory = self._watch, self._memory
        is_plain = not any("\0" in note for note in verdict.notes)  # a key of an allowance may hold anything
        if watch and watch.whole and memory and is_plain:
            flags = memory.flags
            if flags is not None:
                ways, tops = self._sought
                layout = self._layout
                marks, others = _marks(layout), watch.paths[len(flags) :]
                basis = Basis(
                    watch.paths,
                    watch.numbers,
                    memory.kept_digests,
                    flags,
                    self.environment.asked,
                    marks=b"".join([marks.get(path, NO_MARK) for path in others]),
                    indexes=layout.indexes if layout else {},
                    day=self._today if self._dated else "",
                    ways=ways,
                    tops=tops,
                    stores=memory.stores,
                    recent=bytes_of_recent(memory.recent),
                )
                key = key_of(os.getcwd(), *asked)  # noqa: PTH109 - a text
                name = os.path.basename(place_of("", key))  # noqa: PTH119 - a text
                self.cache.write(name, to_bytes(key, seal_of(str(self.cache.folder)), basis, verdict))
                self.cache.tidy()

    @property
    def notes(self) -> list[str]:
        """What the user should be told of the cache."""
        return [f"note: {note}" for note in self.cache.notes]

    def _is_tracked(self, root: Path, tree: Tree) -> bool:
        """Tell whether git tracks the cache, or a link that it is behind: a commit may bring one along."""
        cache = self.cache
        real = Path(os.path.realpath(cache.folder))
        if cache.top.is_relative_to(root) and not real.is_relative_to(os.path.realpath(root)):
            cache.notes.append(f"'{cache.top.relative_to(root).as_posix()}' is a link, so it is not used.")
            return True
        for folder, top in ((cache.folder, root), (real, Path(os.path.realpath(root)))):
            if tree.inventory.in_git and folder.is_relative_to(top):
                inside = f"{folder.relative_to(top).as_posix()}/"
                start = inside.casefold()  # a file system may take `.Layerguard_cache` for the same
                if any(path.casefold().startswith(start) for path in tree.inventory.regular):
                    cache.notes.append(f"git tracks '{inside}', so this cache is not used.")
                    return True
        return False


def _marks(layout: Layout | None) -> dict[str, bytes]:
    """Return the marks of a layout by path."""
    if layout is None:
        return {}
    marks = (layout.marks[start : start + SIZE] for start in range(0, len(layout.marks), SIZE))
    return dict(zip(layout.paths, marks, strict=True))
