"""Weighs edits: whether a file still names the same modules as before, as far as a check looks at them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

import msgspec

from layerguard.contracts import Contract
from layerguard.imports import find_imports
from layerguard.imports.base import Findings, WrittenImport
from layerguard.model import Report
from layerguard.regex import regex
from layerguard.reporters import render
from layerguard.sources import Tree
from layerguard.verdicts import Verdict

ANY = "*"
"""In place of the first component of a name: it may be any."""
_WORDS = {"id", "because", "hint", "plant"}
"""The options of a contract in which no patterns stand."""
_BETWEEN = regex(r"[\s!|:()]+")

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Findings).decode


def weigh(
    pairs: Iterable[tuple[bytes, bytes]], ways: Collection[str], tops: Collection[str]
) -> tuple[int, list[bytes]] | None:
    """Compare what was found in files with what they hold now.

    `pairs` has the old findings of each as msgpack, and its bytes; `ways` and `tops` are those of `Basis`.
    Returns how many imports there are more, and the new findings; None where a check may tell the difference.
    """
    more, news = 0, []
    for kept, data in pairs:
        old, new = _decode(kept), find_imports(data, ways)
        if old.fault or new.fault:
            return None
        was, beside_then = _weighed(old, tops)
        now, beside_now = _weighed(new, tops)
        if was != now:
            return None
        more += beside_now - beside_then
        news.append(_encode(new))
    return more, news


def _weighed(found: Findings, tops: Collection[str]) -> tuple[list[object], int]:
    """Return what of each import may matter, without its place, and the number of those that cannot."""
    matters = [each for each in found.imports if _matters(each, tops)]
    return [*map(_weight, matters)], len(found.imports) - len(matters)


def _weight(found: WrittenImport) -> object:
    """Return all of an import but where it stands."""
    fields = msgspec.structs.asdict(found)
    return fields | {"span": None, "taken": None if found.taken is None else found.words}


def _matters(found: WrittenImport, tops: Collection[str]) -> bool:
    """Tell whether an import may be one of the project, or name what some contract names."""
    top = found.module.partition(".")[0]
    return found.via != "import" or not top or top in tops or ANY in tops


def tops_of(contracts: Iterable[Contract], tree: Tree) -> set[str]:
    """Return the first components of all names that a check may look at; `ANY` where it may be any.

    They are those of the project's modules, also as a script calls its neighbours, and of whatever stands in
    the options of the contracts.
    """
    tops = {name.partition(".")[0] for name in tree.modules}
    tops |= {name.rpartition(".")[2] for name in tree.modules if name.rpartition(".")[0] in tree.siblings}
    for contract in contracts:
        options = {
            name: value for name, value in msgspec.structs.asdict(contract).items() if name not in _WORDS
        }
        for text in _texts(msgspec.to_builtins(options)):
            found = {word.partition(".")[0] for word in _BETWEEN.split(text)} - {""}
            tops |= {top if top.isidentifier() else ANY for top in found}
    return tops


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from _texts([*value, *value.values()])
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _texts(each)


def recounted(verdict: Verdict, more: int) -> Verdict:
    """Return an outcome with so many imports more."""
    report = msgspec.msgpack.decode(verdict.report, type=Report)
    summary = msgspec.structs.replace(report.summary, imports=report.summary.imports + more)
    report = msgspec.structs.replace(report, summary=summary)
    text = render(report, verdict.form)
    return Verdict(verdict.notes, verdict.marks, verdict.form, text, _encode(report))
