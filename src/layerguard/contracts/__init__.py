"""The kinds of contract. To add one: a file beside this one, and a line in `KINDS`."""

from __future__ import annotations

from layerguard.contracts.acyclic import Acyclic
from layerguard.contracts.base import Contract
from layerguard.contracts.existing import Existing
from layerguard.contracts.forbidden import Forbidden
from layerguard.contracts.independence import Independence
from layerguard.contracts.layers import Layers
from layerguard.contracts.private import Private
from layerguard.contracts.protected import Protected
from layerguard.contracts.removed import Removed

KINDS: dict[str, type[Contract]] = {
    "layers": Layers,
    "forbidden": Forbidden,
    "independence": Independence,
    "protected": Protected,
    "acyclic": Acyclic,
    "private": Private,
    "existing": Existing,
    "removed": Removed,
}

__all__ = ["KINDS", "Contract"]
