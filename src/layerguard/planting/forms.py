"""The ways to write an import that is planted: from a seed to code."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from textwrap import indent

import msgspec

from layerguard.contracts import Contract
from layerguard.contracts.seeds import PLANTED, SCOPE, Seed
from layerguard.graph import Graph
from layerguard.model import Via, When

FIRST = "an import"
"""The name of the plainest form."""


class Form(msgspec.Struct, frozen=True):
    """A way to write an import. `write` takes a seed and the importer's package; empty where it cannot be."""

    name: str
    via: Via
    write: Callable[[Seed, str], str]


def _import(seed: Seed, _: str) -> str:
    return "" if seed.target.name else f"import {seed.target.module}"


def _aliased(seed: Seed, _: str) -> str:
    return "" if seed.target.name else f"import {seed.target.module} as it"


def _from(seed: Seed, _: str) -> str:
    taken = seed.target.name or (PLANTED if seed.content else "")
    return f"from {seed.target.module} import {taken}" if taken else ""


def _from_parent(seed: Seed, _: str) -> str:
    parent, _, last = seed.target.module.rpartition(".")
    fits = parent and seed.target.by_parent and not seed.target.name
    return f"from {parent} import {last} as it" if fits else ""


def _star(seed: Seed, _: str) -> str:
    return "" if seed.target.name else f"from {seed.target.module} import *"


def _relative(seed: Seed, package: str) -> str:
    """Return the relative form of what `_from` or `_from_parent` writes, with the fewest dots."""
    folder = package.split(".") if package else []
    parts = seed.target.module.split(".")
    taken = seed.target.name or (PLANTED if seed.content else "")
    if not taken and seed.target.by_parent:
        taken = parts.pop()
    shared = 0
    while shared < min(len(folder), len(parts)) and folder[shared] == parts[shared]:
        shared += 1
    if not shared or not taken:
        return ""
    return f"from {'.' * (len(folder) - shared + 1)}{'.'.join(parts[shared:])} import {taken}"


def _import_module(seed: Seed, _: str) -> str:
    call = f'importlib.import_module("{seed.target.module}")'
    return "" if seed.target.name else f"import importlib\n{call}"


def _import_relative(seed: Seed, _: str) -> str:
    parent, _, last = seed.target.module.rpartition(".")
    if seed.target.name or not parent:
        return ""
    return f'from importlib import import_module as load\nload(".{last}", package="{parent}")'


def _dunder(seed: Seed, _: str) -> str:
    return "" if seed.target.name else f'__import__("{seed.target.module}")'


def _resolve_name(seed: Seed, _: str) -> str:
    return f'import pkgutil\npkgutil.resolve_name("{seed.target.whole}")' if seed.target.name else ""


def _string(seed: Seed, _: str) -> str:
    whole = f"{seed.target.module}:{seed.target.name}" if seed.target.name else seed.target.module
    return f'PLANTED = "{whole}"' if {".", ":"} & set(whole) else ""


def _string_of_name(seed: Seed, _: str) -> str:
    return f'PLANTED = "{seed.target.module}:Planted"' if seed.content and not seed.target.name else ""


def _comment(seed: Seed, _: str) -> str:
    return f"# See `{seed.target.whole}`." if seed.prose else ""


def _docstring(seed: Seed, _: str) -> str:
    return f'def {SCOPE}():\n    """See `{seed.target.whole}`."""' if seed.prose else ""


FORMS = (
    Form(FIRST, "import", _import),
    Form("a from import", "import", _from),
    Form("an aliased import", "import", _aliased),
    Form("an import from the parent", "import", _from_parent),
    Form("a relative import", "import", _relative),
    Form("a star import", "import", _star),
    Form("a dynamic load", "dynamic", _import_module),
    Form("a relative dynamic load", "dynamic", _import_relative),
    Form("a call of __import__", "dynamic", _dunder),
    Form("a dynamic load of a name", "dynamic", _resolve_name),
    Form("a string", "string", _string),
    Form("a string with a name", "string", _string_of_name),
    Form("a comment", "text", _comment),
    Form("a docstring", "text", _docstring),
)
"""Every way to write an import; the first of each `via` that fits is its plainest."""

PLACES: dict[When, Callable[[str], str]] = {
    "load": lambda code: code,
    "deferred": lambda code: f"def {SCOPE}():\n{indent(code, '    ')}",
    "typing": lambda code: f"from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n{indent(code, '    ')}",
}
"""What is put around code so that it runs then."""

_CALLED: dict[When, str] = {"load": "", "deferred": ", in a function", "typing": ", for type checkers"}
_SHOWN_IN_TEXT = "a mention in a text file"


class Written(msgspec.Struct, frozen=True):
    """Code that must break a contract, and what it is called; `back` is what is planted in the target."""

    form: str
    code: str
    back: str = ""


def write_forms(
    contract: Contract, seed: Seed, graph: Graph, package: str, *, thorough: bool
) -> Iterator[Written]:
    """Yield the seed in every form that the contract counts; the plainest of each `via` comes first.

    `package` is the package that relative imports of the importer count from. What is not `thorough` is
    the plainest form of each `via` alone, at the first moment that counts.
    """
    if seed.in_text:
        if "text" in contract.ways and "load" in contract.when:
            yield Written(_SHOWN_IN_TEXT, f"See `{seed.target.whole}`.")
            yield Written(_SHOWN_IN_TEXT, f"See {seed.target.whole.replace('.', '/')}.py.")
        return
    moments = [
        when for when in PLACES if when in contract.when and (when == "load" or contract.reach != "load")
    ]
    written = [
        (form, form.write(seed, package)) for form in FORMS if _counts(contract, form.via, seed, graph)
    ]
    fitting = [(form, code) for form, code in written if code]
    plainest = [next((each for each in fitting if each[0].via == via), None) for via in contract.ways]
    first = [each for each in plainest if each]
    for when in moments if thorough else moments[:1]:
        # The first moment shows every form; that the others count too is shown by the plainest.
        every = fitting if thorough and when == moments[0] else []
        for form, code in (*first, *(each for each in every if each not in first)):
            if form.via != "text" or when == "load":
                yield Written(form.name + _CALLED[when], PLACES[when](code), _back(form, seed, when))
    if thorough and "load" in moments and first and first[0][0].via == "import" and not seed.back:
        yield Written(f"{first[0][0].name}, in a class", f"class Planted:\n{indent(first[0][1], '    ')}")


def _back(form: Form, seed: Seed, when: When) -> str:
    """Return the same the other way round, in the plainest form of the same via."""
    if not seed.back:
        return ""
    turned = msgspec.structs.replace(
        seed, target=msgspec.structs.replace(seed.target, module=seed.importer), importer=seed.target.module
    )
    codes = (each.write(turned, "") for each in FORMS if each.via == form.via)
    return PLACES[when](next(filter(None, codes), ""))


def _counts(contract: Contract, via: Via, seed: Seed, graph: Graph) -> bool:
    """Tell whether a form counts: its via, and whether a string can name the target."""
    if via not in contract.ways or (contract.reach == "load" and via not in {"import", "dynamic"}):
        return False
    # A string that names what is not there counts only for a contract that looks for such names.
    known = graph.exists(seed.target.module) or not graph.owns(seed.target.module) or contract.knows_unknown
    return via != "string" or known or seed.back
