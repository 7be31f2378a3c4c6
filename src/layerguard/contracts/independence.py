"""The `independence` contract."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from layerguard.chains import between
from layerguard.contracts.base import Contract, empty_packages
from layerguard.contracts.seeds import Ground, Seed, Target, fitting
from layerguard.graph import Graph, parents, within
from layerguard.model import Import, Reach, Violation
from layerguard.patterns import Patterns

if TYPE_CHECKING:
    from collections.abc import Iterator

_FEW = 10


class Independence(Contract, frozen=True, kw_only=True):
    """No member imports another member.

    A member may import its own modules, and whatever is no member. Inside a member, naming the package
    that holds the members (`from app import api` in `app.api.images`) reaches every sibling, and so it
    breaks the contract too; a name defined in that package's `__init__` does not.

    ```toml
    [[contract]]
    id = "endpoints"
    kind = "independence"
    modules = ["app.api.*", "!app.api.base"]
    ```

    This breaks it:

    ```python
    # app/api/ops/system.py
    from app.api.images import codec  # LG103
    ```

    The cure: put what both members need where both may import it (here into `app.api.base`).

    Options:

    - `modules`: patterns of the members; each module that a pattern matches as a whole is one member,
      with all that is in it.
    - `allow-container` (default false): with true, a member may name the package that holds the members.
    - `reach` (default `"direct"`): `"transitive"` follows chains of imports from member to member through
      modules that are no members, `"load"` what importing a member really loads. Each import that enters
      a member is told once, with the shortest chain to it.
    """

    kind: ClassVar[str] = "independence"
    code: ClassVar[str] = "LG103"
    reaches: ClassVar[tuple[Reach, ...]] = ("direct", "transitive", "load")

    modules: tuple[str, ...]
    allow_container: bool = False

    def check(self, graph: Graph, tolerated: frozenset[str]) -> Iterator[Violation]:  # noqa: ARG002
        """Yield every import that enters a member from another, and those of the members' container."""
        patterns = Patterns(self.modules)
        numbers = {name: n for n, name in enumerate(patterns.members(graph.modules))}
        looked = self.looked_at(graph)
        units: dict[str, int | None] = {}

        def unit_of(name: str) -> int | None:
            if name not in units:
                # What a `!` takes away is no part of the member that it lies in.
                each = name if name in patterns else ""
                while each and each not in numbers and each not in units:
                    each = each.rpartition(".")[0]
                units[name] = numbers[each] if each in numbers else units.get(each)
            return units[name]

        packages = None if any(text.startswith("!") for text in self.modules) else numbers
        told: set[int] = set()
        for arrival in between(looked, self.reach, unit_of, _banned(numbers), graph.modules, packages):
            told.add(id(arrival.found))
            yield self.arrived(arrival)
        if not self.allow_container:
            containers = {member.rpartition(".")[0] for member in numbers}
            naming = looked.naming(containers.__contains__)
            yield from self._containers([found for found in naming if id(found) not in told], numbers)

    def plants(self, ground: Ground) -> Iterator[Seed]:
        """Yield imports of a member by another one, by a new one, and of the members' container."""
        patterns = Patterns(self.modules)
        members = patterns.members(ground.graph.modules)
        homes: dict[str, str] = {}
        for member in members:
            text = next(text for text in self.modules if member in Patterns([text]))
            apart = [each for each in members if within(each, member) and each != member]
            home = ground.importer(
                text,
                patterns,
                lambda name, own=member, apart=apart: (  # type: ignore[misc]
                    within(name, own) and self.heeds(name) and not any(within(name, each) for each in apart)
                ),
            )
            if home:
                homes[member] = home
        pairs = [(home, other) for one, home in homes.items() for other in _strangers(one, members)[:1]]
        yield from (Seed(home, Target(other)) for home, other in pairs[:_FEW])
        for text in self.modules:
            new = fitting(text)
            if "*" in text and new in patterns and new not in members and self.heeds(new):
                yield from (Seed(new, Target(other)) for other in _strangers(new, members)[:1])
        for member, home in homes.items():
            container = member.rpartition(".")[0]
            beside = [each for each in _strangers(member, members) if each.rpartition(".")[0] == container]
            if container and beside and container not in patterns and not self.allow_container:
                yield Seed(home, Target(container), content=False)
                break

    @property
    def looked_at_packages(self) -> tuple[str, ...]:
        """The patterns of the modules."""
        return self.modules

    def empty_patterns(self, graph: Graph) -> Iterator[str]:
        """Yield the members' patterns that match no module."""
        yield from empty_packages(graph, self.modules)
        yield from super().empty_patterns(graph)

    def _containers(self, imports: list[Import], numbers: dict[str, int]) -> Iterator[Violation]:
        members: dict[str, list[str]] = {}
        for member in numbers:
            members.setdefault(member.rpartition(".")[0], []).append(member)
        for found in imports:
            held = members.get(found.imported)
            if held is None or any(name.name != "*" for name in found.names):
                continue
            own = [each for each in (*parents(found.importer), found.importer) if each in numbers]
            others = [each for each in held if each not in own]
            if own and others and not within(found.imported, own[-1]):
                yield self.violation(found)


def _strangers(member: str, members: list[str]) -> list[str]:
    """Return the members that neither hold a member nor lie in it."""
    return [each for each in members if not within(each, member) and not within(member, each)]


def _banned(numbers: dict[str, int]) -> list[int]:
    """Return for each member the bits of those that must not reach it: all that do not overlap it."""
    related = [1 << number for number in numbers.values()]
    for name, number in numbers.items():
        for parent in parents(name):
            if parent in numbers:
                related[number] |= 1 << numbers[parent]
                related[numbers[parent]] |= 1 << number
    everything = (1 << len(related)) - 1
    return [everything & ~bits for bits in related]
