"""Contracts that promise less than they did at the base, so that a reviewer sees it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

import msgspec

from layerguard.config import Config
from layerguard.contracts import Contract
from layerguard.tables import quoted

_LOOKED_AT = ("sources", "targets", "modules", "packages", "containers", "text")
"""Lists of which a contract looks at less when an item is gone."""
_LEFT_OUT = ("importers", "exclude_importers", "exhaustive_ignores", "generated")
"""Lists of which a contract looks at less when an item comes."""
_WEAKER = {
    "severity": "warning",
    "frozen": False,
    "exhaustive": False,
    "allow_empty": True,
    "allow_container": True,
    "as_packages": False,
}
"""The values to which a change makes a contract weaker."""


def find_weaker(before: Mapping[str, Contract], now: Mapping[str, Contract]) -> Iterator[str]:
    """Yield a sentence for each way in which a contract is gone or looks at less, sorted by its id."""
    for name, old in sorted(before.items()):
        new = now.get(name)
        if new is None:
            yield f"the contract '{name}' is gone."
        elif new.kind != old.kind:
            yield f"the contract '{name}' was of kind '{old.kind}' and is of kind '{new.kind}'."
        else:
            yield from (f"the contract '{name}' {change}." for change in _changes(old, new))


def find_less_read(before: Config, now: Config) -> Iterator[str]:
    """Yield a sentence for each way in which less of the project is read for all contracts."""
    new = [pattern for pattern in now.exclude if pattern not in before.exclude]
    new += [pattern for pattern in before.exclude if pattern.startswith("!") and pattern not in now.exclude]
    if new:
        yield f"less is analysed: 'exclude' is not what it was; see {quoted(new)}."
    if now.source_roots != before.source_roots:
        yield "the modules have other names: 'source-roots' is not what it was."
    gone = [f"{each.module}:{each.name}" for each in before.registries if each not in now.registries]
    if gone:
        yield f"less is analysed: the registry {quoted(gone)} is gone."


def _changes(old: Contract, new: Contract) -> Iterator[str]:
    for field in msgspec.structs.fields(old):
        before, now = getattr(old, field.name), getattr(new, field.name)
        if before == now:
            continue
        if field.name in _LOOKED_AT:
            if now is not None:  # which is everything
                yield from _lists(field.encode_name, _items(before), _items(now), all_before=before is None)
        elif field.name in _LEFT_OUT:
            yield from _more(field.encode_name, before, now)
        elif field.name in _WEAKER and now == _WEAKER[field.name]:
            yield f"has {field.encode_name} = {_toml(now)} now"
        elif field.name == "depth" and now is not None and (before is None or now < before):
            yield f"looks at less: 'depth' is {now} now"
        elif field.name == "reach" and (now == "direct" or before == "transitive"):
            yield f"looks at less: 'reach' was '{before}' and is '{now}'"
    lost = sorted(old.promises - new.promises)
    if lost:
        source, target = lost[0]
        others = f" (and {len(lost) - 1} more)" if len(lost) > 1 else ""
        yield f"looks at less: '{source}' may import '{target}' now{others}"
    yield from _fewer("via", old.ways, new.ways)
    yield from _fewer("when", old.when, new.when)


def _fewer(key: str, before: Collection[str], now: Collection[str]) -> Iterator[str]:
    gone = [item for item in before if item not in now]
    if gone:
        yield f"looks at less: '{key}' has no {quoted(gone)} any more"


def _more(key: str, before: Collection[str], now: Collection[str]) -> Iterator[str]:
    # What a `!` took away of those that are left out, and takes away no longer, is left out too.
    come = [item for item in now if item not in before and not item.startswith("!")]
    back = [item for item in before if item not in now and item.startswith("!")]
    if come:
        yield f"leaves out more: '{key}' has {quoted(come)} now"
    if back:
        yield f"leaves out more: '{key}' has no {quoted(back)} any more"


def _lists(key: str, before: Collection[str], now: Collection[str], *, all_before: bool) -> Iterator[str]:
    gone = [item for item in before if item not in now and not item.startswith("!")]
    taken = [item for item in now if item not in before and item.startswith("!")]
    if all_before:
        yield f"looks at less: '{key}' is no longer everything"
    if gone:
        yield f"looks at less: '{key}' has no {quoted(gone)} any more"
    if taken:
        yield f"looks at less: '{key}' has {quoted(taken)} now"


def _items(value: Collection[str] | None) -> list[str]:
    return [] if value is None else list(value)


def _toml(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else f"'{value}'"
