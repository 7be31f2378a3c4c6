"""Writes the same contracts in the words of each tool, as far as it has words for them.

import-linter has the same three kinds. tach looks at direct imports between modules that are declared, and
ruff at the names that are imported, so both get what follows from the contracts for direct
imports: less work.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from benchmarks.trees import KINDS, Contract, Tree

_THEIR_OPTIONS = {"sources": "source_modules", "targets": "forbidden_modules"}

_ALIKE = {"independence": ("allow-container = true",)}
"""What makes layerguard answer import-linter's question: there a member may name the package around it."""

LAYERGUARD = "layerguard.toml"
IMPORT_LINTER = ".importlinter"
TACH = "tach.toml"
RUFF = "ruff.toml"


def write(tree: Tree, contracts: Sequence[Contract]) -> None:
    """Write the configuration of every tool into the tree."""
    texts = {
        LAYERGUARD: for_layerguard(contracts),
        IMPORT_LINTER: _for_import_linter(tree, contracts),
        TACH: _for_tach(tree, contracts),
        RUFF: _for_ruff(contracts),
    }
    for name, text in texts.items():
        path = tree.folder / name
        # What is there already stays as old as it is: a tool may look at the times of its configuration.
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


def for_layerguard(contracts: Sequence[Contract]) -> str:
    """Return the text of a layerguard.toml."""
    lines = []
    for contract in contracts:
        lines += [
            "[[contract]]",
            f'id = "{contract.id}"',
            f'kind = "{contract.kind}"',
            *(f"{name} = {json.dumps(modules)}" for name, modules in contract.options.items()),
            f'reach = "{contract.reach}"',
            *_ALIKE.get(contract.kind, ()),
            "",
        ]
    return "\n".join(lines)


def _for_import_linter(tree: Tree, contracts: Sequence[Contract]) -> str:
    lines = ["[importlinter]", *_listed("root_packages", tree.roots), "include_external_packages = False", ""]
    for contract in contracts:
        lines += [
            f"[importlinter:contract:{contract.id}]",
            f"name = {contract.id}",
            f"type = {contract.kind}",
        ]
        for name in KINDS[contract.kind]:
            lines += _listed(_THEIR_OPTIONS.get(name, name), contract.options[name])
        lines.append("")
    return "\n".join(lines)


def _listed(name: str, values: Sequence[str]) -> list[str]:
    return [f"{name} =", *(f"    {value}" for value in values)]


def _for_tach(tree: Tree, contracts: Sequence[Contract]) -> str:
    # A declared module for each top-level package: what lies in none would be outside the check.
    bans: dict[str, set[str]] = {root: set() for root in tree.roots}
    for contract in contracts:
        for module, others in contract.bans.items():
            bans.setdefault(module, set()).update(others)
            for each in others:
                bans.setdefault(each, set())
    lines = ['source_roots = ["."]', "exclude = []", "respect_gitignore = false", ""]
    for module, banned in sorted(bans.items()):
        lines += ["[[modules]]", f'path = "{module}"']
        if banned:
            lines.append(f"cannot_depend_on = {json.dumps(sorted(banned))}")
        lines.append("")
    return "\n".join(lines)


def _for_ruff(contracts: Sequence[Contract]) -> str:
    """Return a configuration for the first `forbidden` contract; a ban holds everywhere, or not in a file."""
    lines = [
        'target-version = "py314"',
        "exclude = []",
        "respect-gitignore = false",
        "",
        "[lint]",
        'select = ["TID251"]',
        "",
    ]
    forbidden = [contract for contract in contracts if contract.kind == "forbidden"][:1]
    for contract in forbidden:
        lines.append("[lint.flake8-tidy-imports.banned-api]")
        lines += [f'"{target}".msg = "{contract.id}"' for target in contract.options["targets"]]
        lines += ["", "[lint.per-file-ignores]"]
        lines += [
            f'"!{source.replace(".", "/")}{{.py,/**}}" = ["TID251"]' for source in contract.options["sources"]
        ]
    return "\n".join([*lines, ""])
