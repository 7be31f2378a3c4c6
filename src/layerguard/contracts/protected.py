"""The `protected` contract."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from layerguard.chains import step_of
from layerguard.contracts.base import Contract, empty_targets
from layerguard.contracts.seeds import SCOPE, Ground, Seed
from layerguard.graph import Graph, within
from layerguard.hits import hits, may_hit
from layerguard.model import Reach, Via, Violation
from layerguard.patterns import Importers, Patterns

if TYPE_CHECKING:
    from collections.abc import Iterator


class Protected(Contract, frozen=True, kw_only=True):
    """Only the importers import the modules.

    A protected package may import its own modules. What is protected can be a package of the project,
    an external package, or a name in a module (`huggingface_hub.HfApi`). Strings that are the dotted path
    of a protected module count too, unless `via` says otherwise.

    ```toml
    [[contract]]
    id = "images-loader"
    kind = "protected"
    modules = ["app.images"]
    importers = ["app.server:Server.load_images"]
    ```

    This breaks it:

    ```python
    # app/ops.py
    from app.images import codec  # LG104
    ```

    The cure: ask one of the importers for it, or move what is needed out of the protected package.

    Options:

    - `modules`: patterns of what is protected.
    - `importers`: patterns of the modules that may import it; `app.server:Server.load` means that function
      or class alone, with what is nested in it. It need not exist. An empty list: nobody outside the package.
    - `reach` (default `"direct"`): `"transitive"` gives the same verdict, as whoever enters the package is
      told anyway; `"load"` looks only at imports that run on load, and at the parent packages they run.
    """

    kind: ClassVar[str] = "protected"
    code: ClassVar[str] = "LG104"
    default_via: ClassVar[tuple[Via, ...]] = ("import", "dynamic", "string")
    reaches: ClassVar[tuple[Reach, ...]] = ("direct", "transitive", "load")

    modules: tuple[str, ...]
    importers: tuple[str, ...]

    def check(self, graph: Graph, tolerated: frozenset[str]) -> Iterator[Violation]:  # noqa: ARG002
        """Yield every import of a protected module by another than itself and the importers."""
        protected = Patterns(self.modules)
        importers = Importers(self.importers)
        for found in self.looked_at(graph).naming(may_hit(protected, graph.modules, self.reach)):
            if importers.match(found.importer, found.scope):
                continue
            seen: set[str] = set()
            for hit in hits(found, protected, graph.modules, self.reach):
                if hit.imported not in seen and not within(found.importer, hit.unit):
                    seen.add(hit.imported)
                    step = step_of(found, hit.loaded, hit.location, hit.imported)
                    chain = (step,) if step.as_parent else ()
                    yield self.violation(found, imported=hit.imported, location=hit.location, chain=chain)

    def plants(self, ground: Ground) -> Iterator[Seed]:
        """Yield imports by another than the importers, and by those of them that are only a scope."""
        protected = Patterns(self.modules)
        importers = Importers(self.importers)
        scoped = Patterns(text.partition(":")[0] for text in self.importers if ":" in text)
        for goal in ground.targets(protected):
            unit = str(protected.find(goal.whole))

            def is_outside(name: str, unit: str = unit) -> bool:
                allowed = importers.match(name, "") or importers.match(name, SCOPE)
                return not allowed and not within(name, unit) and self.heeds(name)

            homes = [ground.first(is_outside)]
            homes += [name for name in ground.sources if name in scoped and is_outside(name)][:1]
            yield from (Seed(home, goal) for home in dict.fromkeys(filter(None, homes)))

    @property
    def targeted(self) -> set[str]:
        """The top-level names of the modules."""
        return {pattern.partition(".")[0] for pattern in self.modules}

    def empty_patterns(self, graph: Graph) -> Iterator[str]:
        """Yield protected modules of the project that mean nothing.

        An importer may be missing: one that is allowed and not there makes the promise no weaker.
        """
        yield from empty_targets(graph, self.modules)
        yield from super().empty_patterns(graph)
