"""The texts of `layerguard explain`: what a code means, and what a contract says, holds and allows today."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from pathlib import Path

import msgspec

from layerguard.contracts import KINDS, Contract
from layerguard.errors import UserError
from layerguard.model import CODES
from layerguard.run import Findings, examine
from layerguard.tables import suggest

_TEXTS = {
    "LG201": """
An entry of the allowance file suppresses nothing: the violation is gone, or its contract is frozen. It
must go too, or the violation could come back unseen.

The cure: run `layerguard ratchet`, which removes the entry and leaves the rest of the file as it is.
""",
    "LG202": """
An entry stands in the allowance file that the file did not have at the base, for a contract that the base
had. The allowance file only shrinks.

The cure: mend the import instead of allowing it.
""",
    "LG203": """
The allowance file has an entry for a contract that there is not: it was renamed or deleted.

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

    Raises UserError for anything else, and when the project cannot be checked.
    """
    code = topic.upper()
    kinds = {kind.code: kind for kind in KINDS.values()}
    if code in _TEXTS:
        return f"{code}: {CODES[code]}\n{_TEXTS[code]}"
    if code in kinds or topic in KINDS:
        kind = kinds.get(code) or KINDS[topic]
        return f"{kind.code}: {kind.kind}\n\n{inspect.getdoc(kind)}\n"
    try:
        return _contract(topic, root)
    except UserError as error:
        if str(error).startswith("there is no contract"):
            hint = suggest(code, CODES) or error.hint
            raise UserError(f"'{topic}' is no code and no contract.", hint) from None
        raise


def _contract(topic: str, root: Path | str) -> str:
    found = examine(root, contracts=[topic])
    return "\n".join(_lines(found.contracts[0], found)) + "\n"


def _lines(contract: Contract, found: Findings) -> Iterator[str]:
    path, line = found.config.places[contract.id]
    promise = (inspect.getdoc(type(contract)) or "").partition("\n")[0]
    yield f"{contract.id}: {contract.kind} ({type(contract).code}), {path}:{line}"
    yield f"  {promise}"
    if contract.because:
        yield f"  because: {contract.because}"
    if contract.hint:
        yield f"  hint: {contract.hint}"
    yield ""
    for field in msgspec.structs.fields(contract):
        value = getattr(contract, field.name)
        if field.name not in {"id", "because", "hint"} and (field.required or value != field.default):
            yield f"  {field.encode_name} = {json.dumps(value, ensure_ascii=False)}"
    open_ones = [each for each in found.judgement.violations if not each.allowed]
    yield ""
    yield f"  It {'is broken' if open_ones else 'holds'} today: {_count(len(open_ones), 'violation')}."
    for each in sorted(open_ones, key=lambda violation: violation.order):
        yield f"    {each.location.path}:{each.location.line}:{each.location.column}: {each.message}"
    used = sorted(found.judgement.used, key=lambda entry: entry.line)
    yield f"  It allows {_count(len(used), 'import')}."
    for entry in used:
        details = [entry.reason, entry.ticket, f"review by {entry.review_by}" if entry.review_by else ""]
        yield "    " + "; ".join([entry.key, *filter(None, details)])


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
