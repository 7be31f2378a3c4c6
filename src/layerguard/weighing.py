"""Weighs edits: whether a file still names the same modules as before, as far as a check looks at them."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import msgspec

from layerguard.imports import find_imports
from layerguard.imports.base import Findings, WrittenImport
from layerguard.model import Report
from layerguard.reporters import render
from layerguard.verdicts import ANY, Verdict

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


def recounted(verdict: Verdict, more: int) -> Verdict:
    """Return an outcome with so many imports more."""
    report = msgspec.msgpack.decode(verdict.report, type=Report)
    summary = msgspec.structs.replace(report.summary, imports=report.summary.imports + more)
    report = msgspec.structs.replace(report, summary=summary)
    text = render(report, verdict.form)
    return Verdict(verdict.notes, verdict.marks, verdict.form, text, _encode(report))
