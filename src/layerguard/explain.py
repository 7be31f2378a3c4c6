"""The texts of `layerguard explain`: what a code means, and what a contract says, holds and allows today."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from layerguard.allowances import Entry
from layerguard.config import load_config
from layerguard.contracts import KINDS, Contract
from layerguard.errors import UserError
from layerguard.findings import Findings
from layerguard.model import CODES
from layerguard.reporters.base import count, plain
from layerguard.run import examine
from layerguard.tables import known, quoted, suggest

_TEXTS = {
    "LG201": """
An entry of the allowance file suppresses nothing: the violation is gone, or its contract is frozen. It
must go too, or the violation could come back unseen.

The cure: run `layerguard ratchet`, which removes the entry and leaves the rest of the file as it is.
""",
    "LG202": """
An entry stands in the allowance file that the file did not have at the base, for a contract that the base
had; or for a new contract, and the import did not stand in the base's code. The allowance file only shrinks.

The cure: mend the import instead of allowing it. The first entries of a new contract are written by
`layerguard ratchet --adopt ID`.
""",
    "LG203": """
The allowance file has an entry for a contract that does not exist: it was renamed or deleted.

The cure: give the contract its old id back, or run `layerguard ratchet`, which removes the entry.
""",
    "LG301": """
A pattern of a contract names the project's own modules, and matches none: the contract, or that part of it,
is about nothing. A module may have moved, or the name is misspelt.

The cure: mend the pattern. Where it may match nothing, say `allow-empty = true` in the contract.
""",
    "LG302": """
A module that a `removed` contract calls removed exists, still or again.

The cure: delete or move the module, or take it out of the contract.
""",
    "LG401": """
A file could not be analysed: it is no Python of any version, cannot be decoded or read, or is a broken link;
or a relative import in it goes above the top. What such a file imports is unknown, so no contract can be said
to hold for it.

The cure: mend the file, or leave it out with `exclude`.
""",
}


def explain(topic: str, root: Path | str = ".") -> str:
    """Return the text for a code (`LG103`), a kind (`layers`) or the id of a contract at `root`.

    A contract goes before a kind of the same name, which its code explains too. Raises UserError for anything
    else, and when the project cannot be checked.
    """
    code = topic.upper()
    kinds = {kind.code: kind for kind in KINDS.values()}
    if code in _TEXTS:
        return f"{code}: {CODES[code]}\n{_TEXTS[code]}"
    if code in kinds:
        return _kind(kinds[code])
    if re.fullmatch(r"LG[0-9]+", code):
        raise UserError(f"'{topic}' is no code.", suggest(code, CODES) or known(CODES))
    try:
        ids = [contract.id for contract in load_config(Path(root)).contracts]
    except UserError:
        if topic in KINDS:
            return _kind(KINDS[topic])
        raise
    if topic in ids:
        found = examine(root, contracts=[topic], compare=False)
        return "\n".join(_lines(found.contracts[0], found)) + "\n"
    if topic in KINDS:
        return _kind(KINDS[topic])
    hint = suggest(topic, [*ids, *KINDS]) or suggest(code, CODES) or known([*ids, *CODES])
    raise UserError(f"'{topic}' is no code, no kind and no contract.", hint)


def _kind(kind: type[Contract]) -> str:
    return f"{kind.code}: {kind.kind}\n\n{inspect.getdoc(kind)}\n"


def _lines(contract: Contract, found: Findings) -> Iterator[str]:
    path, line = found.config.places[contract.id]
    promise = (inspect.getdoc(type(contract)) or "").partition("\n")[0]
    yield f"{contract.id}: {contract.kind} ({type(contract).code}), {path}:{line}"
    yield f"  {promise}"
    for label, text in (("because", contract.because), ("hint", contract.hint)):
        if text.strip():
            first, *rest = text.strip().splitlines()
            yield f"  {label}: {plain(first)}"
            yield from (f"  {' ' * len(label)}  {plain(line)}".rstrip() for line in rest)
    yield ""
    for field in msgspec.structs.fields(contract):
        value = getattr(contract, field.name)
        if field.name not in {"id", "because", "hint", "plant"} and (
            field.required or value != field.default
        ):
            yield plain(f"  {field.encode_name} = {_toml(value)}")
    if contract.plant:
        yield f"  {count(len(contract.plant), 'plant')}, for `layerguard test`"
    open_ones = [each for each in found.judgement.violations if not each.allowed]
    yield ""
    yield f"  It {'is broken' if open_ones else 'holds'} today: {count(len(open_ones), 'violation')}."
    for each in sorted(open_ones, key=lambda violation: violation.order):
        yield plain(f"    {each.location.path}:{each.location.line}:{each.location.column}: {each.message}")
    unread = sorted({problem.path for problem in found.reading.problems})
    if unread:
        yield plain(f"  Not all could be analysed: {quoted(unread)}.")
    yield from _allowances(f"It allows {count(len(found.judgement.used), 'import')}", found.judgement.used)
    stale = found.judgement.stale
    if stale:
        yield from _allowances(f"{count(len(stale), 'allowance')} no longer needed", stale)


def _allowances(heading: str, entries: Iterable[Entry]) -> Iterator[str]:
    """Yield the heading, and below it each entry with its metadata, as the allowance file has them."""
    in_order = sorted(entries, key=lambda entry: entry.line)
    yield f"  {heading}{':' if in_order else '.'}"
    for entry in in_order:
        details = [entry.reason, entry.ticket, f"review by {entry.review_by}" if entry.review_by else ""]
        yield plain("    " + "; ".join([entry.key, *filter(None, details)]))


def _toml(value: object) -> str:
    """Write an option as TOML does, which is as JSON does but for tables."""
    if isinstance(value, dict):
        pairs = (f"{_toml(key)} = {_toml(item)}" for key, item in value.items())
        return f"{{ {', '.join(pairs)} }}"
    return json.dumps(value, ensure_ascii=False)
