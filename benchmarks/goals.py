"""How fast layerguard is to be: ratios between runs made in turn, so that they hold on any machine."""

from __future__ import annotations

from benchmarks.lanes import Measure

LIMITS: dict[tuple[str, str, str, Measure], float] = {
    ("cold", "transformers", "lint-imports", "wall"): 0.8,
    ("cold", "homeassistant", "lint-imports", "wall"): 0.8,
    ("cold", "twelve", "lint-imports", "wall"): 0.8,
    ("cold", "namespace", "lint-imports", "wall"): 0.3,
    ("cold", "transformers", "tach", "wall"): 1.0,
    ("cold", "homeassistant", "tach", "wall"): 1.0,
    ("cold", "twelve", "tach", "wall"): 1.0,
    ("cold", "homeassistant", "lint-imports", "peak"): 1.0,
    ("unchanged", "django", "lint-imports", "wall"): 0.15,
    ("unchanged", "homeassistant", "lint-imports", "wall"): 0.06,
    ("unchanged", "twelve", "lint-imports", "wall"): 0.06,
    ("unchanged", "homeassistant", "ruff", "wall"): 1.2,
    ("unchanged", "twelve", "ruff", "wall"): 1.2,
    ("unchanged", "homeassistant", "lint-imports", "peak"): 0.25,
    ("edited", "homeassistant", "lint-imports, unchanged", "wall"): 0.12,
    ("edited", "homeassistant", "lint-imports", "peak"): 0.5,
    ("touched", "homeassistant", "lint-imports, unchanged", "wall"): 0.2,
    ("growth", "twelve", "layerguard, transformers", "per file"): 1.25,
    ("siblings", "made", "lint-imports, many siblings", "wall"): 0.02,
    ("siblings", "made", "layerguard, few siblings", "wall"): 1.5,
    ("contracts", "django, many contracts", "lint-imports", "wall"): 0.1,
    ("contracts, warm", "django, many contracts", "lint-imports", "wall"): 0.1,
    ("contracts, warm", "homeassistant, many contracts", "lint-imports", "wall"): 0.1,
    ("contracts, edited", "homeassistant, many contracts", "lint-imports", "wall"): 0.1,
    ("broken", "made", "lint-imports", "wall"): 0.05,
    ("allowances", "made", "layerguard, nothing to allow", "wall"): 1.1,
    ("start", "none", "python -c pass", "wall"): 2.0,
}
"""The largest ratio by scenario, tree, the lane that layerguard is compared with, and what is compared."""


def limit(scenario: str, tree: str, under: str, measure: Measure) -> float | None:
    """Return the largest ratio that is good enough; None where there is no goal."""
    return LIMITS.get((scenario, tree, under, measure))
