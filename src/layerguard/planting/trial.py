"""The trial of contracts: what is planted is caught, and what is not meant is let pass."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from textwrap import indent

import msgspec

from layerguard.config import load_config
from layerguard.contracts import Contract
from layerguard.contracts.seeds import Seed
from layerguard.errors import UserError
from layerguard.graph import within
from layerguard.model import Violation
from layerguard.planting import Garden, Site
from layerguard.planting.forms import Written, write_forms
from layerguard.reading import Progress
from layerguard.reporters.base import count, plain
from layerguard.run import choose

_THOROUGH = 2
"""So many derived imports of a contract are written in every form, the others in the plainest ones."""


class Outcome(msgspec.Struct, frozen=True):
    """What came of one plant. `number` counts the contract's own plants from 1; 0 is a derived one."""

    contract: str
    place: str
    number: int
    form: str
    module: str
    code: str
    expected: bool
    caught: tuple[Violation, ...]

    @property
    def is_right(self) -> bool:
        """Whether it was caught just when it should be."""
        return bool(self.caught) == self.expected


class Trial(msgspec.Struct, frozen=True):
    """What came of all plants; `idle` are the places and ids of contracts that catch nothing."""

    outcomes: tuple[Outcome, ...]
    idle: tuple[tuple[str, str], ...]
    contracts: int

    @property
    def failed(self) -> bool:
        """Whether a plant was not treated as it should be, or a contract catches nothing."""
        return bool(self.idle) or not all(outcome.is_right for outcome in self.outcomes)

    @property
    def text(self) -> str:
        """The result as it is printed: each fault with its code, then one line that counts."""
        lines = [line for outcome in self.outcomes if not outcome.is_right for line in _told(outcome)]
        lines += [
            f"{place}: [{contract}] catches nothing that could be derived" for place, contract in self.idle
        ]
        planted = f"{count(len(self.outcomes), 'plant')} in {count(self.contracts, 'contract')}"
        wrong = [outcome for outcome in self.outcomes if not outcome.is_right]
        missed = sum(outcome.expected for outcome in wrong)
        faults = [
            words.format(number, "was" if number == 1 else "were")
            for number, words in (
                (missed, "{} {} missed"),
                (len(wrong) - missed, "{} {} caught but should not be"),
            )
            if number
        ]
        if self.idle:
            verb = "catches" if len(self.idle) == 1 else "catch"
            faults.append(f"{count(len(self.idle), 'contract')} {verb} nothing")
        lines.append(f"{planted}: {', '.join(faults) or 'all as they should be'}.")
        return "".join(f"{line}\n" for line in lines)


def try_contracts(
    root: Path | str = ".",
    *,
    contracts: Collection[str] = (),
    auto: bool = False,
    progress: Progress | None = None,
) -> Trial:
    """Plant what the contracts name, one after the other, and with `auto` imports that must break each.

    `contracts` are the ids of those to try, all where there are none. Raises UserError when there is nothing
    to plant, or something cannot be planted.
    """
    config = load_config(Path(root))
    chosen = choose(config.contracts, contracts)
    if not auto and not any(contract.plant for contract in chosen):
        raise UserError(
            "there is nothing to plant: no contract has a [[contract.plant]].",
            "Write one with 'in' and 'code', or let --auto derive imports that must break the contracts.",
        )
    tried = [contract for contract in chosen if auto or contract.plant]
    garden = Garden(config, tried, progress)
    outcomes: list[Outcome] = []
    idle: list[tuple[str, str]] = []
    for contract in tried:
        place = "{}:{}".format(*config.places[contract.id])
        outcomes += _declared(contract, garden, place)
        if auto:
            derived = list(_derived(contract, garden, place))
            outcomes += derived
            if not any(outcome.caught for outcome in derived):
                idle.append((place, contract.id))
    return Trial(tuple(outcomes), tuple(idle), len(tried))


def _declared(contract: Contract, garden: Garden, place: str) -> Iterator[Outcome]:
    for number, plant in enumerate(contract.plant, 1):
        try:
            found = garden.violations(contract, [Site(plant.module, plant.code)])
        except UserError as error:
            message = f"{place}: contract '{contract.id}': plant {number}: {error.message}"
            raise UserError(message, error.hint) from None
        yield Outcome(contract.id, place, number, "", plant.module, plant.code, plant.caught, tuple(found))


def _derived(contract: Contract, garden: Garden, place: str) -> Iterator[Outcome]:
    ground = garden.ground(contract)
    for number, seed in enumerate(contract.plants(ground)):
        package = garden.package_of(seed.importer)
        seen: set[str] = set()
        for written in write_forms(contract, seed, ground.graph, package, thorough=number < _THOROUGH):
            if written.code not in seen:
                seen.add(written.code)
                found = garden.violations(contract, _sites(seed, written))
                caught = tuple(each for each in found if _is_meant(each, seed, contract))
                form, code = written.form, written.code
                yield Outcome(contract.id, place, 0, form, seed.importer, code, expected=True, caught=caught)


def _sites(seed: Seed, written: Written) -> list[Site]:
    sites = [Site(seed.importer, written.code + "\n", is_text=seed.in_text)]
    if written.back:
        sites.append(Site(seed.target.module, written.back + "\n"))
    return sites


def _is_meant(violation: Violation, seed: Seed, contract: Contract) -> bool:
    """Tell whether a violation is about what was planted, and not about where."""
    return violation.via != "" and (
        not contract.looks_at_one or within(violation.imported, seed.target.whole)
    )


def _told(outcome: Outcome) -> Iterator[str]:
    what = f"plant {outcome.number}" if outcome.number else outcome.form
    verb = "was missed" if outcome.expected else "was caught, but should not be"
    yield plain(f"{outcome.place}: [{outcome.contract}] {what} {verb}, in '{outcome.module}':")
    yield from (plain(line) for line in indent(outcome.code.strip("\n"), "    ").splitlines())
    for each in outcome.caught:
        place = each.location
        yield plain(f"    = {place.path}:{place.line}:{place.column}: {each.code} {each.message}")
