"""Which top-level names a check may look at: what is imported besides is only counted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from layerguard.contracts import Contract
from layerguard.regex import regex
from layerguard.sources import Tree
from layerguard.verdicts import ANY

_WORDS = {"id", "because", "hint", "plant"}
"""The options of a contract in which no patterns stand."""
_BETWEEN = regex(r"[\s!|:()]+")


def tops_of(contracts: Iterable[Contract], tree: Tree) -> set[str]:
    """Return the first components of all names that a check may look at; `ANY` where it may be any.

    They are those of the project's modules, also as a script calls its neighbours, and of whatever stands in
    the options of the contracts.
    """
    tops = {name.partition(".")[0] for name in tree.modules}
    tops |= {name.rpartition(".")[2] for name in tree.modules if name.rpartition(".")[0] in tree.siblings}
    for contract in contracts:
        for option in contract.__struct_fields__:
            if option not in _WORDS:
                tops.update(*map(_tops_in, _texts(getattr(contract, option))))
    return tops


def _tops_in(text: str) -> Iterator[str]:
    for word in _BETWEEN.split(text) if _BETWEEN.search(text) else [text]:
        top = word.partition(".")[0]
        if top:
            yield top if top.isidentifier() else ANY


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from _texts([*value, *value.values()])
    elif isinstance(value, list | tuple):
        for each in value:
            yield from [each] if isinstance(each, str) else _texts(each)
