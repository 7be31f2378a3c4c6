"""What the allowance file has that it did not have at the base, and what of it is no growth.

The file may only shrink. An entry of a contract that the base had is no growth when the base had it too, or
when it is the rewritten entry of a module that moved or of a function that was renamed, one for one. An entry
of a contract that is new is none when the same import stood in the base's code.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from layerguard.allowances import Allowances, Entry, Judgement, complaint
from layerguard.allowances.moves import Moves
from layerguard.allowances.past import Past
from layerguard.code import Code
from layerguard.code.blocks import Blocks
from layerguard.code.decoding import Unreadable, decode
from layerguard.contracts import Contract
from layerguard.model import Violation
from layerguard.regex import regex

Texts = Callable[[str], list[bytes]]
"""Gives the bytes of the files that a module has in the work tree."""

_SCOPE = regex(r"^([^:/]+)(?::(\S+))? -> (.+)$")


def find_growth(
    allowances: Allowances,
    past: Past,
    moves: Callable[[], Moves],
    contracts: Iterable[Contract],
    texts: Texts,
    *,
    rewritten: Collection[tuple[str, str]] = (),
) -> list[Violation]:
    """Return LG202 for each entry of these contracts that has grown since the base.

    Those in `rewritten` (contract and key) are left out: the ratchet is to rewrite them first.
    """
    found = []
    for contract in contracts:
        entries = [entry for entry in allowances.entries if entry.contract == contract.id]
        if contract.id in past.contracts:
            grown = _grown(entries, past, moves, texts)
            message = "the allowance '{}' was added since {}; a contract that is there already takes none"
        else:
            grown = _unproven(entries, past, moves, contract)
            message = "the allowance '{}' is of an import that did not stand in the code at {}"
        found += [
            complaint(
                "LG202",
                message.format(entry.key, past.base.commit[:7]),
                allowances.path,
                entry,
                "Mend the import and remove the entry.",
            )
            for entry in grown
            if (entry.contract, entry.key) not in rewritten
        ]
    return found


def _grown(entries: Sequence[Entry], past: Past, moves: Callable[[], Moves], texts: Texts) -> list[Entry]:
    if not entries:
        return []
    had = {entry.key for entry in past.allowances.entries if entry.contract == entries[0].contract}
    new = [entry for entry in entries if entry.key not in had]
    gone = had - {entry.key for entry in entries}
    if not new or not gone:
        return new
    left = _without_moved(new, gone, moves())
    # What is left of the base's entries, by the names that they would have now.
    old = {moves().follow(key) for key in gone}
    renamed = find_renamed(old, [entry.key for entry in left], past, moves(), texts)
    return [entry for entry in left if entry.key not in renamed.values()]


def _without_moved(new: Sequence[Entry], gone: set[str], moves: Moves) -> list[Entry]:
    """Return the new entries that are not the rewritten ones of modules that moved; those leave `gone`."""
    by_name: dict[str, list[str]] = {}
    for key in sorted(gone):
        for name in moves.names(key):
            by_name.setdefault(name, []).append(key)
    left = []
    for entry in new:
        old = next((key for key in by_name.get(entry.key, ()) if key in gone), None)
        if old is None:
            left.append(entry)
        else:
            gone.remove(old)
    return left


def find_renamed(
    old_keys: Iterable[str],
    new_keys: Iterable[str],
    past: Past,
    moves: Moves,
    texts: Texts,
    *,
    certain: bool = False,
) -> dict[str, str]:
    """Return the new keys of entries that differ from an old one in nothing but a renamed function.

    The old function is gone from the file, and the new one was not in it at the base. There is one new key,
    and where it has to be `certain` which entry it is, one old.
    """
    old_by_rest, new_by_rest = _by_rest(old_keys), _by_rest(new_keys)
    found = {}
    for rest in sorted(old_by_rest.keys() & new_by_rest.keys()):
        importer = rest[0]
        before = _scopes(data for name in moves.origins(importer) for data in past.text_of(name))
        now = _scopes(texts(importer))
        olds = [key for key, scope in old_by_rest[rest] if scope and scope not in now]
        news = [key for key, scope in new_by_rest[rest] if scope and scope not in before]
        if len(news) == 1 and olds and (len(olds) == 1 or not certain):
            found[olds[0]] = news[0]
    return found


def _by_rest(keys: Iterable[str]) -> dict[tuple[str, str], list[tuple[str, str]]]:
    """Return keys and their scopes by what else is in them: importer, and imported with its mark."""
    found: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for key in sorted(keys):
        match = _SCOPE.match(key)
        if match:
            found.setdefault((match[1], match[3]), []).append((key, match[2] or ""))
    return found


def _scopes(files: Iterable[bytes]) -> set[str]:
    found: set[str] = set()
    for data in files:
        try:
            found.update(Blocks(Code(decode(data)), ()).scopes())
        except Unreadable:
            continue
    return found


def _unproven(
    entries: Sequence[Entry], past: Past, moves: Callable[[], Moves], contract: Contract
) -> list[Entry]:
    """Return the entries of a new contract whose import did not stand in the base's code."""
    if not entries:
        return []
    stood = old_debt([entry.key for entry in entries], past, moves(), contract)
    return [entry for entry in entries if entry.key not in stood]


def old_debt(keys: Collection[str], past: Past, moves: Moves, contract: Contract) -> frozenset[str]:
    """Return those of the keys whose import stood in the base's code, in the same scope, moves aside."""
    importers = {key.rpartition(" -> ")[0].partition(":")[0] for key in keys}
    importers |= {key.rpartition(" -> ")[0] for key in keys if "/" in key}
    origins = {origin for importer in importers for origin in moves.origins(importer)}
    then = past.keys(origins, contract)
    return frozenset(keys) & (then | {moves.follow(key) for key in then})


def _moved_again(
    stale: Collection[Entry],
    open_keys: Collection[tuple[str, str]],
    entries: Collection[Entry],
    moves: Moves,
    past: Past,
) -> dict[tuple[str, str], str]:
    """Return the new keys of entries that were rewritten since the base, and whose module moved once more.

    Git tells of one move from the base to now. The entry between is the one that says the same of another
    importer or another imported module; there must be one such entry and one such key.
    """
    here = {(entry.contract, entry.key) for entry in entries}
    old = {(entry.contract, entry.key) for entry in past.allowances.entries}
    now = {(each, name) for each, key in old - here for name in moves.names(key)} & set(open_keys)
    between = [entry for entry in stale if (entry.contract, entry.key) not in old]
    found: dict[tuple[str, str], str] = {}
    for contract, key in sorted(now):
        alike = [each for each in between if each.contract == contract and _is_before(each.key, key, moves)]
        rivals = [
            name for each, name in now if alike and each == contract and _is_before(alike[0].key, name, moves)
        ]
        if len(alike) == len(rivals) == 1:
            found[contract, alike[0].key] = key
    return found


def _is_before(one: str, other: str, moves: Moves) -> bool:
    """Tell whether two keys differ in one module alone, whose name in the first was one between two moves."""
    (importer, _, imported), (now, _, target) = one.rpartition(" -> "), other.rpartition(" -> ")
    module, _, scope = importer.partition(":")
    if imported == target:
        return scope == now.partition(":")[2] and moves.was_between(module)
    name, space, mark = imported.partition(" ")
    same_mark = space + mark == "".join(target.partition(" ")[1:])
    return importer == now and same_mark and moves.was_between(name)


def follow(
    judgement: Judgement,
    entries: Collection[Entry],
    moves: Callable[[], Moves],
    past: Past | None,
    texts: Texts,
    *,
    frozen: Collection[str],
) -> Judgement:
    """Let the stale entries follow their modules: mark what they allow by their new names, one for one."""
    open_keys = {(each.contract, each.key) for each in judgement.violations if each.key and not each.allowed}
    stale = [entry for entry in judgement.stale if entry.contract not in frozen]
    if not open_keys or not stale:
        return judgement
    moved: dict[tuple[str, str], str] = {}
    for entry in stale:
        names = (name for name in moves().names(entry.key) if (entry.contract, name) in open_keys)
        if key := next(names, ""):
            open_keys.discard((entry.contract, key))
            moved[entry.contract, entry.key] = key
    if past:
        left = [entry for entry in stale if (entry.contract, entry.key) not in moved]
        for identity, key in _moved_again(left, open_keys, entries, moves(), past).items():
            open_keys.discard((identity[0], key))
            moved[identity] = key
    renamed: dict[tuple[str, str], str] = {}
    for contract in sorted({entry.contract for entry in stale}) if past else ():
        old = {moves().follow(entry.key): entry.key for entry in stale if entry.contract == contract}
        old = {key: before for key, before in old.items() if (contract, before) not in moved}
        new = [key for each, key in open_keys if each == contract]
        assert past is not None  # noqa: S101 - the loop is empty without it
        for key, now in find_renamed(old, new, past, moves(), texts, certain=True).items():
            renamed[contract, old[key]] = now
    return _marked(judgement, moved, renamed)


def _marked(
    judgement: Judgement, moved: Mapping[tuple[str, str], str], renamed: Mapping[tuple[str, str], str]
) -> Judgement:
    from msgspec.structs import replace  # noqa: PLC0415

    allowed = {(contract, key) for (contract, _), key in moved.items()}
    like = {(contract, new): old for (contract, old), new in renamed.items()}
    violations = []
    for violation in judgement.violations:
        each = violation
        identity = (violation.contract, violation.key)
        if identity in allowed:
            each = replace(violation, allowed=True)
        elif identity in like:
            match = _SCOPE.match(like[identity])
            said = f"It looks like the allowance of '{match[2] if match else like[identity]}'."
            each = replace(violation, hint=f"{violation.hint}\n{said}".strip())
        violations.append(each)
    return replace(judgement, violations=tuple(violations), moved=dict(moved), renamed=dict(renamed))
